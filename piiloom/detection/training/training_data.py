"""The records that a detector is trained on, as rows and tokens, the local model that a training starts from, and its unfinished folder.

Validation records come from the release or from a file, or are taken from the training records. Then they are chosen as a release chooses
its test split: groups (contrast groups, stories, persons, near-duplicates) stay together, so that validation measures what is new.

A detector asks with the same instruction and the same layout (``piiloom.corpus.formats.instruction_tuning``), and the same code makes the
tokens (``piiloom.providers.local.loading``), so a trained model is asked just what it has learnt.

An example of more tokens than fit is left out and counted: cut, it would teach answers whose text the model does not see.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import Any, Final

from piiloom.corpus.formats.base import Format, LossReport, ReadOptions, ReadTally, RowReject, WriteOptions
from piiloom.corpus.formats.capid import CapidAlpacaFormat, CapidFormat
from piiloom.corpus.formats.instruction_tuning import ChatFormat, OpenAIFineTuningFormat, chat_row
from piiloom.corpus.formats.registry import NativeFormat, get_readable_format
from piiloom.corpus.formats.verifier import FILES, VerifierFormat
from piiloom.corpus.markers import TYPES, MarkerSet
from piiloom.corpus.record import TEST, TRAIN, VALIDATION, Record
from piiloom.corpus.releases.manifest import types_beside
from piiloom.corpus.releases.release_options import SplitSettings, parse_size
from piiloom.corpus.releases.splits import split_records
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.opening import open_to_read
from piiloom.corpus.store.releases import count_members, get_release, iter_release_records, types_in, types_of
from piiloom.detection.adapters.label_targets import TOKENIZERS, has_tokenizer
from piiloom.detection.families import CAPID, MARKERS
from piiloom.detection.training.training_options import CAPID_ALPACA, DEFAULT_SEED, VERIFIER_1, VERIFIER_2, TrainingInput
from piiloom.foundation.errors import DataError, PiiloomError, UsageError
from piiloom.foundation.noop import noop
from piiloom.foundation.whole_files import check_folder, drafted, output_errors, sha256_of
from piiloom.foundation.words import counted
from piiloom.providers.local.loading import PromptLayout
from piiloom.providers.protocol import Message
from piiloom.tagging.model_folder import About
from piiloom.taxonomy.entity_types import Taxonomy, shipped_taxonomy
from piiloom.taxonomy.own_types import OwnTypes, extended, only

NOTE: Final = "unfinished.json"
CHECKPOINTS: Final = "checkpoints"
_CHECKPOINT: Final = re.compile(r"checkpoint-(\d+)")
ANEW: Final = "Begin anew with --force"


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingNote:
    """``digest`` is of all that shapes the model; ``in_force`` are numbers that a session has changed and the next one goes on with."""

    digest: str
    in_force: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainedReport:
    """What was trained. ``figures`` are those of ``piiloom.json``; ``notes`` is what went otherwise than one might expect."""

    out: Path
    base: str
    figures: dict[str, Any]
    notes: tuple[str, ...]
    task: str = ""


class UnfinishedTraining:
    """The folder *out* while it is trained in.

    *finished* names the file that it has at the end, *state* the JSON file that is written last to each checkpoint.
    """

    def __init__(self, out: Path, *, finished: str, state: str) -> None:
        self._out, self._finished, self._state = out, finished, state
        self.checkpoints = out / CHECKPOINTS

    def begin(self, wanted: TrainingNote, *, resume: bool, force: bool) -> TrainingNote:
        """Make the folder ready, and return what is in force there: *wanted*, or, if *resume* goes on with it, what was noted before.

        Raises ``OutputError`` if the folder is not empty, and ``UsageError`` if what is unfinished there was trained otherwise.
        """
        if resume and force:
            raise UsageError("--resume goes on, and --force begins anew", where="--resume, --force", remedy="Give one of them")
        if resume and (self._out / self._finished).is_file():
            raise UsageError("the training there is finished", where=f"--out {self._out}", remedy=f"Use it, or: {ANEW}")
        if resume and (self._out / NOTE).is_file():
            known = self._read()
            if known.digest != wanted.digest:
                raise UsageError(
                    "what is unfinished there was begun with other data, settings or another base model",
                    where=f"--out {self._out}",
                    remedy=f"Give the same again, or: {ANEW}",
                )
            return known
        check_folder(self._out, force=force)
        with output_errors(self._out):
            shutil.rmtree(self.checkpoints, ignore_errors=True)
            (self._out / self._finished).unlink(missing_ok=True)
        self.note(wanted)
        return wanted

    def note(self, note: TrainingNote) -> None:
        """Keep *note*."""
        with drafted(self._out / NOTE) as fh:
            fh.write(json.dumps(asdict(note)).encode())

    def last_checkpoint(self) -> Path | None:
        """Return the newest complete checkpoint (a folder ``checkpoint-N``). Raises ``DataError`` if it is damaged."""
        found = sorted(self._numbered(), reverse=True)
        if not found:
            return None
        newest = found[0][1]
        try:
            json.loads((newest / self._state).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            raise damaged(newest) from None
        return newest

    def finish(self) -> None:
        """Remove what only an unfinished training needs."""
        with output_errors(self._out):
            shutil.rmtree(self.checkpoints, ignore_errors=True)
            (self._out / NOTE).unlink(missing_ok=True)

    def _read(self) -> TrainingNote:
        path = self._out / NOTE
        try:
            note = TrainingNote(**json.loads(path.read_text(encoding="utf-8")))
            return replace(note, in_force={name: int(number) for name, number in note.in_force.items()})
        except (OSError, ValueError, TypeError, AttributeError):
            raise DataError("the note of the unfinished training is damaged", where=str(path), remedy=ANEW) from None

    def _numbered(self) -> Iterable[tuple[int, Path]]:
        """The whole checkpoints with their numbers."""
        for path in self.checkpoints.iterdir() if self.checkpoints.is_dir() else ():
            match = _CHECKPOINT.fullmatch(path.name)
            if match and (path / self._state).is_file():
                yield int(match[1]), path


def damaged(checkpoint: Path) -> DataError:
    """Return the error for a checkpoint that cannot be gone on with."""
    remedy = f"Remove this folder to go on from the one before, or: {ANEW}"
    return DataError("the checkpoint is damaged", where=str(checkpoint), remedy=remedy)


_LONGEST_ROW: Final = 1 << 24


@dataclass(frozen=True, slots=True, kw_only=True)
class OneFile:
    """A file that was read: its records, the own types of the export that it belongs to, and notes for the user."""

    path: Path
    records: list[Record]
    own_types: OwnTypes
    sha256: str
    notes: tuple[str, ...]


def read_file(path: Path, format_name: str | None, *, skip_values: bool, where: str) -> OneFile:
    """Read *path*; *where* is the option that named it. *format_name* None: native or CAPID, as its first row is.

    Raises ``DataError`` (file, line, field) for what cannot be read and ``UsageError`` for an unknown format.
    """
    if not path.exists():
        raise DataError("there is no such file", where=f"{where} {path}", remedy="Check the path")
    chosen = get_readable_format(format_name or _guessed(path))
    own_types, tally, records, left_out = types_beside(path), ReadTally(), [], 0
    options = ReadOptions(taxonomy=extended(own_types), blank_contexts=True, skip_values=skip_values)
    for row in chosen.read(path, options, tally):
        if isinstance(row, RowReject) and row.left_out:
            left_out += 1
            continue
        if isinstance(row, RowReject):
            raise DataError(
                row.reason,
                where=f"{path}:{row.line}",
                remedy="Correct the row, or leave such values out with --skip-values"
                if chosen.name == CapidFormat.name
                else "Correct the row",
            )
        records.append(row)
    notes = [f"{path.name}: {counted(left_out, 'row')} that nobody accepted left out"] if left_out else []
    if tally.skipped_values:
        notes.append(f"{path.name}: {counted(len(tally.skipped_values), 'value')} without an exact place left out")
    if tally.overlapping:
        notes.append(f"{path.name}: {counted(len(tally.overlapping), 'mention')} inside longer ones left out")
    return OneFile(path=path, records=records, own_types=own_types, sha256=sha256_of(path), notes=tuple(notes))


def _guessed(path: Path) -> str:
    """Return "capid" if the first row has ``piis``, else "native", whose reader says what is wrong with it."""
    if path.is_dir():
        raise DataError("this is a folder", where=str(path), remedy="Name a file, or the format with --format")
    with path.open("rb") as fh:
        for line in fh:
            if line.strip():
                try:
                    row = json.loads(line[:_LONGEST_ROW])
                except ValueError:
                    break
                return CapidFormat.name if isinstance(row, dict) and "piis" in row and "spans" not in row else NativeFormat.name
    return NativeFormat.name


RELEASE_OPTION, TRAIN_OPTION, VALIDATION_OPTION = "--release", "--train", "--validation"


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingData:
    """The records of the three splits, ``test`` and ``validation`` possibly empty.

    ``types``: those of the training spans, in the order of the taxonomy. ``own_types``: definitions of the user's own among them.
    ``about`` is for the trained folder: where the records come from, how many, and a digest of them. ``notes`` are for the user.
    """

    train: tuple[Record, ...]
    validation: tuple[Record, ...]
    test: tuple[Record, ...]
    types: tuple[str, ...]
    own_types: OwnTypes
    about: Mapping[str, Any]
    notes: tuple[str, ...] = ()

    @property
    def taxonomy(self) -> Taxonomy:
        """The types that ship and ``own_types``."""
        return extended(self.own_types)

    def card(self, family: str, base: Mapping[str, Any], settings: Mapping[str, Any], figures: Mapping[str, Any]) -> About:
        """Return the card of the model that is trained on them from *base*."""
        return About(
            family=family, types=self.types, own_types=self.own_types, base=base, data=self.about, settings=settings, figures=figures
        )

    @property
    def digest(self) -> str:
        """The digest of the training and validation records: equal if a training would see the same."""
        return str(self.about["digest"])


def read_input(
    asked: TrainingInput,
    seed: int = DEFAULT_SEED,
    *,
    relevance: bool = False,
    without_relevance: str = "Train on records that have questions, and spans with relevance",
    tell: Callable[[str], object] = noop,
    opening: Callable[[Path], AbstractContextManager[Store]] = open_to_read,
) -> TrainingData:
    """Return the records of *asked*; *opening* opens its store, *tell* gets the notes.

    *relevance*: it is to be learnt, so that a lack of it is an error, for which *without_relevance* is the remedy.

    Raises ``UsageError`` unless there is either a release or files, and for splits or a validation that cannot be, ``ReleaseError`` for an
    unknown release, and ``DataError`` for files that cannot be read, no records or spans to train on, or no relevance where it is wanted.
    """
    if (asked.release is None) == (not asked.train):
        raise UsageError(
            "give a release or files to train on" if asked.release is None else "a release and files are both given",
            where=f"{RELEASE_OPTION}, {TRAIN_OPTION}",
            remedy="Give one of the two",
        )
    validation_size = parse_size(asked.validation_size, VALIDATION)
    if asked.release is None:
        found = _of_files(asked)
    else:
        with opening(asked.store) as store:
            found = _of_release(asked, asked.release, store)
    notes = list(found.notes)
    train, validation = found.splits[TRAIN], found.splits.get(VALIDATION, [])
    if not train:
        raise DataError("there are no records to train on", where=found.where, remedy="Give data with at least one record")
    if not validation and validation_size:
        train, validation, told = _split_off(train, validation_size, seed, extended(found.own_types))
        notes += told
    _check_spans(train, found.where, without_relevance if relevance else None)
    for note in notes:
        tell(note)
    return TrainingData(
        train=tuple(train),
        validation=tuple(validation),
        test=tuple(found.splits.get(TEST, [])),
        types=_types(train),
        own_types=found.own_types,
        about={
            **found.about,
            "counts": {TRAIN: len(train), VALIDATION: len(validation)},
            "seed": seed,
            "digest": _digest(train, validation),
        },
        notes=tuple(notes),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _FoundSplits:
    splits: Mapping[str, list[Record]]
    own_types: OwnTypes
    about: Mapping[str, Any]
    where: str
    notes: tuple[str, ...] = ()


def _of_release(asked: TrainingInput, name: str, store: Store) -> _FoundSplits:
    row, train_splits = get_release(store, name), tuple(dict.fromkeys(asked.split)) or (TRAIN,)
    there = count_members(store, row)
    for split in train_splits:
        if not there.get(split):
            having = ", ".join(one for one, count in there.items() if count) or "none"
            raise UsageError(f"the release {name!r} has no records in the split {split!r}", where="--split", remedy=f"Its splits: {having}")
    splits = {TRAIN: [record for split in train_splits for record in iter_release_records(store, row, split)]}
    for split in {VALIDATION, TEST} - set(train_splits):
        splits[split] = list(iter_release_records(store, row, split))
    if asked.validation is not None:
        splits[VALIDATION] = _validation_of_file(asked, asked.validation).records
    return _FoundSplits(
        splits=splits,
        own_types=only(types_of(store), types_in(store, row)),
        about={
            "release": row.name,
            "version": row.version,
            "content_sha256": row.content_sha256,
            "splits": list(train_splits),
        },
        where=f"release {row.name}",
    )


def _of_files(asked: TrainingInput) -> _FoundSplits:
    read = [read_file(path, asked.input_format, skip_values=asked.skip_values, where=TRAIN_OPTION) for path in asked.train]
    splits = {TRAIN: [record for one in read for record in one.records]}
    if asked.validation is not None:
        read.append(_validation_of_file(asked, asked.validation))
        splits[VALIDATION] = read[-1].records
    own = {one.name: one for file in read for one in file.own_types}
    return _FoundSplits(
        splits=splits,
        own_types=tuple(own.values()),
        about={"files": [{"name": one.path.name, "sha256": one.sha256} for one in read]},
        where=", ".join(str(path) for path in asked.train),
        notes=tuple(note for one in read for note in one.notes),
    )


def _validation_of_file(asked: TrainingInput, path: Path) -> OneFile:
    found = read_file(path, asked.input_format, skip_values=asked.skip_values, where=VALIDATION_OPTION)
    if not found.records:
        raise DataError("there are no records to validate on", where=str(path), remedy="Give a file with at least one record")
    return found


def _split_off(train: Sequence[Record], size: float, seed: int, taxonomy: Taxonomy) -> tuple[list[Record], list[Record], list[str]]:
    """Take validation records off *train*; ids of several files may repeat, so records are known by their number here."""
    numbered = [replace(record, id=f"{number:09d}", provenance=None) for number, record in enumerate(train)]
    settings = SplitSettings(test_size=0, validation_size=size, seed=seed)
    try:
        split = split_records(numbered, settings, taxonomy)
    except PiiloomError as error:
        raise UsageError(
            f"no validation records can be taken off: {error.message}",
            where="--validation-size",
            remedy="Give validation records of their own with --validation, or 0 as --validation-size to train without",
        ) from error
    parts = {name: [train[int(number)] for number in split.ids.get(name, ())] for name in (TRAIN, VALIDATION)}
    notes = [f"validation: {counted(len(parts[VALIDATION]), 'record')} of {len(train):,}, whose groups are not trained on"]
    if split.withheld:
        notes.append(f"{counted(len(split.withheld), 'record')} in neither: a group too large for validation must not be parted")
    # A small validation split lacks most pairs; what is missing from training matters.
    warnings = [f"warning: {warning}" for warning in split.warnings if not warning.startswith(f"{VALIDATION} has no record")]
    return parts[TRAIN], parts[VALIDATION], notes + warnings


def _check_spans(train: Sequence[Record], where: str, without_relevance: str | None) -> None:
    """Raise ``DataError`` if there is nothing to learn; *without_relevance* is the remedy if relevance is to be learnt."""
    if not any(record.spans for record in train):
        raise DataError("no record to train on has a span", where=where, remedy="Train on annotated records")
    if without_relevance is None:
        return
    judged = {span.relevance for record in train if record.question for span in record.spans} - {None}
    if len(judged) == 2:
        return
    problem = "no span has a relevance to a question, so that relevance cannot be learnt"
    for only_one in judged:
        problem = f"all spans with a relevance have {only_one} relevance, so that nothing can be learnt of it"
    raise DataError(problem, where=where, remedy=without_relevance)


def _types(train: Iterable[Record]) -> tuple[str, ...]:
    """Return the types of the spans: those that ship in their order, then others by name."""
    found = {span.entity_type for record in train for span in record.spans}
    shipped = [name for name in shipped_taxonomy().types if name in found]
    return (*shipped, *sorted(found.difference(shipped)))


def _digest(*splits: Iterable[Record]) -> str:
    """Return a SHA-256 over all that a training reads of the records, in their order."""
    found = hashlib.sha256()
    for records in splits:
        found.update(b"\0split\0")
        for one in records:
            spans = [(span.start, span.end, span.entity_type, span.relevance) for span in one.spans]
            found.update(json.dumps([one.context, one.question, one.contrast_group, spans]).encode())
    return found.hexdigest()


_CONFIG: Final = "config.json"


def base_facts(folder: Path, *, where: str = "--model") -> dict[str, Any]:
    """Return what the card says of the base model in *folder* (its name and the SHA-256 of its configuration).

    Raises ``UsageError`` if *folder* is no local model: no folder, no ``config.json`` or no tokenizer.
    """
    example = "Name the folder of a local model, with config.json, tokenizer and weights; docs/training.md says where one comes from"
    if not folder.is_dir():
        raise UsageError("there is no such folder", where=f"{where} {folder}", remedy=example)
    if not (folder / _CONFIG).is_file():
        raise UsageError(f"the folder has no {_CONFIG}", where=f"{where} {folder}", remedy=example)
    if not has_tokenizer(folder):
        raise UsageError(f"the folder has no tokenizer (none of {', '.join(TOKENIZERS)})", where=f"{where} {folder}", remedy=example)
    return {"name": folder.resolve().name, "config_sha256": sha256_of(folder / _CONFIG)}


NO_LOSS: Final = -100  # the label of a token that is not learnt, in transformers

# The format, and of one that is a folder the file.
_FORMATS: Final[Mapping[str, tuple[Format, str]]] = MappingProxyType(
    {
        CAPID: (ChatFormat(), ""),
        CAPID_ALPACA: (CapidAlpacaFormat(), ""),
        MARKERS: (OpenAIFineTuningFormat(), ""),
        VERIFIER_1: (VerifierFormat(), FILES[0]),
        VERIFIER_2: (VerifierFormat(), FILES[1]),
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenExample:
    """The tokens of prompt and answer; ``prompt`` of them are the prompt's."""

    tokens: tuple[int, ...]
    prompt: int

    @property
    def row(self) -> dict[str, list[int]]:
        """What a trainer takes."""
        return {"input_ids": list(self.tokens), "labels": [NO_LOSS] * self.prompt + list(self.tokens[self.prompt :])}


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenExamples:
    """The examples of one split. ``left_out`` were too long, the longest with ``longest`` tokens."""

    kept: tuple[TokenExample, ...]
    left_out: int = 0
    longest: int = 0


def chat_rows(records: Sequence[Record], task: str, taxonomy: Taxonomy, markers: MarkerSet = TYPES) -> Iterator[list[dict[str, str]]]:
    """Yield the conversations in which *records* teach *task*: what ``piiloom export`` writes, which a file in between makes sure."""
    for line in written_rows(records, task, taxonomy, markers)[0]:
        row: Any = json.loads(line)
        if task == CAPID_ALPACA:
            row = chat_row(*row.values())
        yield row["messages"]


def written_rows(records: Sequence[Record], task: str, taxonomy: Taxonomy, markers: MarkerSet = TYPES) -> tuple[list[bytes], LossReport]:
    """Return the lines that ``piiloom export`` writes of *records* for *task*, and what its format cannot express."""
    file_format, file_name = _FORMATS[task]
    with TemporaryDirectory(prefix="piiloom-") as folder:
        written = Path(folder) / "rows"
        loss = file_format.write(records, written, WriteOptions(taxonomy=taxonomy, markers=markers))
        with (written / file_name if file_name else written).open("rb") as rows:
            return [line for line in rows if line.strip()], loss


def examples_of(
    records: Sequence[Record], task: str, taxonomy: Taxonomy, layout: PromptLayout, most: int, markers: MarkerSet = TYPES
) -> TokenExamples:
    """Return the examples of *records* that have at most *most* tokens."""
    kept: list[TokenExample] = []
    left_out = longest = 0
    for messages in chat_rows(records, task, taxonomy, markers):
        one = example_of(messages, layout)
        longest = max(longest, len(one.tokens))
        if len(one.tokens) <= most:
            kept.append(one)
        else:
            left_out += 1
    return TokenExamples(kept=tuple(kept), left_out=left_out, longest=longest)


def example_of(messages: Sequence[dict[str, Any]], layout: PromptLayout) -> TokenExample:
    """Return the tokens of a conversation that ends with the answer."""
    *asked, answer = messages
    prompt = layout.prompt([Message(role=one["role"], content=one["content"]) for one in asked])
    return TokenExample(tokens=(*prompt, *layout.answer(answer["content"])), prompt=len(prompt))


def check_enough(examples: TokenExamples, most: int, task: str) -> None:
    """Raise ``DataError`` if no example is left to train on."""
    if examples.kept:
        return
    if examples.left_out:
        raise DataError(
            f"all {examples.left_out:,} examples have more than {most:,} tokens (the longest {examples.longest:,})",
            where="--max-tokens",
            remedy="Raise it, or use a model with a longer context",
        )
    raise DataError(f"the records give no example for the task {task!r}", where="--task", remedy="Train on records with spans")
