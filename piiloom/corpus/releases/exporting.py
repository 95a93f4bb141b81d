"""Write a release to a folder: ``train.*``, ``test.*`` … and ``release.json``.

All files are written to a folder of drafts and moved when all are complete. ``release.json`` is moved last, so a folder that has it
is complete. The same release gives the same bytes, and a release whose rows are no longer those that were frozen is refused. Files that no
export wrote are never replaced.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass, replace
from filecmp import cmp
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Any, Final, Self

from piiloom.corpus.formats.base import Format, FormatWithExtras, Json, LossReport, WriteOptions
from piiloom.corpus.formats.instruction_tuning import OpenAIFineTuningFormat
from piiloom.corpus.formats.native_rows import row_line, row_of
from piiloom.corpus.formats.registry import FORMATS, NativeFormat, get_format
from piiloom.corpus.markers import TYPES, MarkerChoice, MarkerSet
from piiloom.corpus.record import TEST, TRAIN, VALIDATION, Record
from piiloom.corpus.releases.manifest import MANIFEST, ExportedFile, ImportLosses, ManifestFacts, SplitCounts, files_to_json, manifest
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.judgements import judged_in_release, suggested_spans
from piiloom.corpus.store.releases import (
    count_members,
    count_statuses,
    get_release,
    iter_release_records,
    new_values_of,
    types_in,
    types_of,
    withheld_of,
)
from piiloom.foundation.errors import OutputError, ReleaseError, UsageError
from piiloom.foundation.frames import Framed, Row
from piiloom.foundation.seeding import secret_key
from piiloom.foundation.settings import setting
from piiloom.foundation.whole_files import OWNER_AND_GROUP, created_without, new_folders, sha256_of, write_errors
from piiloom.taxonomy.own_types import extended, only

__all__ = ["MANIFEST", "ContentHash", "ExportReport", "export_formats", "export_release"]

_PIECE = 1 << 20


class ContentHash:
    """SHA-256 over the name and the native rows of each split, updated while the records pass through ``watching``."""

    def __init__(self) -> None:
        self._sha256 = hashlib.sha256()

    def watching(self, split: str, records: Iterable[Record]) -> Iterator[Record]:
        """Yield *records*, all those of *split*, unchanged."""
        self._add({"split": split})
        for record in records:
            self._add(row_of(record))
            yield record

    def add_file(self, split: str, path: Path) -> None:
        """Add all rows of *split* as they stand in the native file *path*, which is cheaper than making them again."""
        self._add({"split": split})
        with path.open("rb") as fh:
            while chunk := fh.read(_PIECE):
                self._sha256.update(chunk)

    def hexdigest(self) -> str:
        """Return the hash of what has passed so far."""
        return self._sha256.hexdigest()

    def _add(self, row: Json) -> None:
        self._sha256.update(row_line(row))


WRITTEN_FORMATS: Final = f"Format of what is written: {', '.join(FORMATS)}; repeatable: several go to a folder each, DIR/FORMAT."


class ExportSettings(MarkerChoice):
    """The settings of an export."""

    format: str | Sequence[str] = setting("native", WRITTEN_FORMATS)
    splits: Sequence[str] = setting((), "Only this split (train, validation, test, fold1 …); repeatable.", flags="--split", metavar="SPLIT")
    tokenizer: str = setting("whitespace", "Tokenizer of formats with tokens; others ignore it.", metavar="NAME")
    seed: int | None = setting(None, "Seed of the surrogates of the format masked; without it they differ at each export.")
    force: bool = setting(False, "Write into a folder that is not empty; an export there is replaced, other files never.")

    def formats(self) -> list[Format]:
        """Return the formats to write. Raises ``UsageError`` for one that is not known, and for markers without a format that has them."""
        found = [get_format(name) for name in ([self.format] if isinstance(self.format, str) else self.format)]
        if self.marker_set.pairs and all(one.name != OpenAIFineTuningFormat.name for one in found):
            raise UsageError("no format that is written has markers", where="--markers", remedy="Add --format openai, or leave it out")
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportReport(Framed):
    """The written files, the number of withheld records, and the losses of the format."""

    release: str
    format: str
    out: Path
    files: tuple[ExportedFile, ...]
    withheld: int
    loss: LossReport

    def frame_rows(self) -> Iterator[Row]:
        """Return a row for each file."""
        return ({"release": self.release, "format": self.format, "out": str(self.out), **asdict(file)} for file in self.files)

    def to_json(self) -> Json:
        """Return the report as JSON values (``out`` as it was given)."""
        return {
            "release": self.release,
            "format": self.format,
            "out": str(self.out),
            "files": [{"name": name, **about} for name, about in files_to_json(self.files).items()],
            "withheld": self.withheld,
            "loss": self.loss.to_json(),
        }


def export_release(
    store: Store,
    name: str,
    file_format: Format | str,
    out: Path,
    *,
    splits: Sequence[str] = (),
    tokenizer: str = "whitespace",
    seed: int | None = None,
    force: bool = False,
) -> ExportReport:
    """Write release *name* (only *splits* of it, if any are given) to the folder *out*; see ``export_formats``."""
    chosen = get_format(file_format) if isinstance(file_format, str) else file_format
    return export_formats(store, name, [chosen], out, splits=splits, tokenizer=tokenizer, seed=seed, force=force)[0]


def export_formats(
    store: Store,
    name: str,
    formats: Sequence[Format],
    out: Path,
    *,
    splits: Sequence[str] = (),
    tokenizer: str = "whitespace",
    markers: MarkerSet = TYPES,
    seed: int | None = None,
    force: bool = False,
) -> list[ExportReport]:
    """Write release *name* (only *splits* of it, if any are given) to *out*: one format into it, several into folders of their names.

    For *tokenizer* see ``formats.token_labels``; with *seed*, anybody can compute the surrogates. Files have mode 0640, or less by the
    umask.

    *out* must be new or empty, unless *force* allows replacing an earlier export. Only what the ``release.json`` there lists
    and that is unchanged is replaced; any other file with the name of a split file is an error. Nothing is moved to its place before
    all formats are written. Raises ``ReleaseError`` for an unknown release, or one whose rows have another hash than when they were
    frozen, ``UsageError`` for an unknown split or a format whose library is missing, and ``OutputError`` if the folder is not empty,
    has such a file or cannot be written.
    """
    _refuse_repeated([one.name for one in formats], "format")
    facts = _facts(store, name)
    wanted = _wanted_splits(facts, splits)
    options = WriteOptions(taxonomy=extended(facts.own_types), tokenizer=tokenizer, markers=markers, key=secret_key(seed))
    places = [out] if len(formats) == 1 else [out / one.name for one in formats]
    with write_errors(out, "the export", remedy="Name another folder with --out"):
        for one in formats:
            try_out(one, options)
        if len(formats) > 1:
            check_export_folder(out, (), force=force)
        for place, one in zip(places, formats, strict=True):
            check_export_folder(place, {f"{split}{one.suffix}" for split in [*wanted, TRAIN, VALIDATION, TEST]}, force=force)
        with created_without(OWNER_AND_GROUP), new_folders(places), ExitStack() as stack:
            drafts = [stack.enter_context(ExportDrafts(place)) for place in places]
            reports = []
            for number, (one, draft) in enumerate(zip(formats, drafts, strict=True)):
                reports.append(_write(store, facts, one, draft, wanted, options, check=number == 0))
            for draft, report in zip(drafts, reports, strict=True):
                draft.publish([file.name for file in report.files])
    return reports


def _write(
    store: Store,
    facts: ManifestFacts,
    file_format: Format,
    drafts: ExportDrafts,
    wanted: Sequence[str],
    options: WriteOptions,
    *,
    check: bool,
) -> ExportReport:
    """Write one export into the folder of *drafts*. *check*: whether to compare the content hash, for which all splits are read."""
    release, folder = facts.row, drafts.folder
    files: list[ExportedFile] = []
    counts = {split: SplitCounts() for split in wanted}
    losses: list[LossReport] = []
    lost, content = ImportLosses(), ContentHash()
    for split in facts.splits:
        if split not in wanted and not check:
            continue
        records = iter_release_records(store, release, split)
        is_native = file_format.name == NativeFormat.name and split in wanted
        if check and not is_native:
            records = content.watching(split, records)
        if split in wanted:
            draft = folder / f"{split}{file_format.suffix}"
            losses.append(file_format.write(lost.watching(counts[split].counting(records)), draft, options))
            files.append(_described(draft, split, counts[split].records))
            if check and is_native:
                content.add_file(split, draft)
        else:
            for _ in records:
                pass
    if check:
        _check_content(store, facts, content.hexdigest())
    entries = (*lost.entries, *(entry for part in losses for entry in part.entries))
    loss = LossReport(fields=losses[0].fields if losses else (), entries=entries)
    about = manifest(facts, file_format.name, counts=counts, files=files, loss=loss)
    if options.markers.pairs and file_format.name == OpenAIFineTuningFormat.name:
        about["markers"] = options.markers.name
    if isinstance(file_format, FormatWithExtras):
        files += (_described(folder / extra, None, 0) for extra in file_format.write_extras(folder, about, options.taxonomy))
        about["files"] = files_to_json(files)
    (folder / MANIFEST).write_text(json.dumps(about, ensure_ascii=False, indent=2) + "\n", encoding="utf-8", newline="\n")
    return ExportReport(
        release=release.name, format=file_format.name, out=drafts.out, files=tuple(files), withheld=len(facts.withheld), loss=loss
    )


def _facts(store: Store, name: str) -> ManifestFacts:
    release = get_release(store, name)
    return ManifestFacts(
        row=release,
        splits=tuple(count_members(store, release)),
        withheld=withheld_of(store, release),
        statuses=count_statuses(store, release),
        judged=judged_in_release(store, name),
        new_values=len(new_values_of(store, release)),
        own_types=only(types_of(store), types_in(store, release)),
        suggested=suggested_spans(store, name),
    )


def _check_content(store: Store, facts: ManifestFacts, found: str) -> None:
    if facts.row.content_sha256 not in {None, found}:
        raise ReleaseError(
            f"the rows of release {facts.row.name!r} are no longer those that were frozen: their SHA-256 is {found}, "
            f"and was {facts.row.content_sha256}",
            where=str(store.path),
            remedy="Nothing was written. The store was changed by other means than piiloom: go back to a copy of it",
        )


def _wanted_splits(facts: ManifestFacts, splits: Sequence[str]) -> list[str]:
    _refuse_repeated(splits, "split")
    for split in splits:
        if split not in facts.splits:
            raise UsageError(f"the release {facts.row.name!r} has no split {split!r}", remedy=f"Its splits: {', '.join(facts.splits)}")
    return [split for split in facts.splits if not splits or split in splits]


def _refuse_repeated(names: Sequence[str], what: str) -> None:
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"the {what} {name!r} is named twice", where=f"--{what}", remedy="Name it once")


def try_out(file_format: Format, options: WriteOptions) -> None:
    """Write no record to a scratch folder, so that a missing library or a wrong tokenizer is told before anything is written."""
    with TemporaryDirectory(prefix="piiloom-export-") as folder:
        file_format.write(iter(()), Path(folder) / f"{TRAIN}{file_format.suffix}", options)


def _described(draft: Path, split: str | None, records: int) -> ExportedFile:
    return ExportedFile(name=draft.name, split=split, records=records, sha256=sha256_of(draft))


def refuse_foreign(out: Path, manifest: str, names: Collection[str]) -> None:
    """Raise ``OutputError`` naming the first file in *out* that would be replaced though no export wrote it, or it was changed since.

    The file *manifest* in *out* lists what an export wrote, with SHA-256 hashes: these files would be replaced, and *names*. A
    manifest that piiloom did not write is an error, too.
    """
    listed = listed_files(out / manifest)
    if listed is None and _is_there(out / manifest):
        raise _foreign(out / manifest, "was not written by an export of piiloom")
    for name in sorted({*names, *(listed or ())}):
        path = out / name
        if not _is_there(path):
            continue
        if listed is None or name not in listed:
            raise _foreign(path, f"was not written by an export of piiloom: no {manifest} lists it")
        if path.is_symlink() or sha256_of(path) != listed[name]:
            raise _foreign(path, f"was changed since it was exported: {manifest} has another SHA-256")


def listed_files(path: Path) -> dict[str, str] | None:
    """Return the files and folders that a manifest of piiloom lists, with their hashes; None if it is absent or not ours.

    Names that lead out of the manifest's folder make it a manifest that piiloom did not write.
    """
    try:
        about: Any = json.loads(path.read_text(encoding="utf-8"))
        ours = isinstance(about["schema"], int) and isinstance(about["piiloom"], str)
        listed = {str(name): str(file["sha256"]) for name, file in about["files"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    return listed if ours and all(Path(name).name == name for name in listed) else None


def _is_there(path: Path) -> bool:
    return path.exists() or path.is_symlink()


def _foreign(path: Path, why: str) -> OutputError:
    return OutputError(f"the file {why}", where=str(path), remedy="Nothing was changed. Move it away, or name another folder with --out")


_DRAFTS = ".export.part"


def check_export_folder(out: Path, names: Collection[str], *, force: bool) -> None:
    """Raise ``OutputError`` unless an export with the files *names* may be written to *out*; nothing is changed.

    A folder that is new, empty, or holds only what a killed export left may be written to, and with *force* also one in which no other
    file would be replaced than those of an earlier export.
    """
    if out.exists() and not out.is_dir():
        raise OutputError("this is not a folder", where=str(out), remedy="Name a new folder with --out")
    begun = _begun(out)
    held = {path.name for path in out.iterdir()} - {_DRAFTS} - begun if out.exists() else set()
    if held and not force:
        remedy = "Name another with --out, or replace the export there with --force"
        raise OutputError("the folder is not empty", where=str(out), remedy=remedy)
    refuse_foreign(out, MANIFEST, set(names) - begun)


class ExportDrafts:
    """Context manager for new files of the existing folder *out*; what is not published when the block ends is removed."""

    def __init__(self, out: Path) -> None:
        self.out = out
        self.folder = out / _DRAFTS

    def __enter__(self) -> Self:
        for name in _begun(self.out):
            _remove(self.out / name)
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    def publish(self, names: Iterable[str]) -> None:
        """Move the files and folders *names*, and then the manifest, to their places.

        The old manifest is removed first, because a folder with a manifest is complete by definition. Then all that an earlier
        export wrote is removed.
        """
        earlier = listed_files(self.out / MANIFEST) or {}
        (self.out / MANIFEST).unlink(missing_ok=True)
        for name in earlier:
            _remove(self.out / name)
        for name in [*names, MANIFEST]:
            (self.folder / name).replace(self.out / name)


def _begun(out: Path) -> set[str]:
    """Return the names in *out* that an export had published when it was killed: its manifest is still a draft and lists them."""
    listed = listed_files(out / _DRAFTS / MANIFEST) or {}
    found = {name for name in listed if (out / name).exists() and not (out / name).is_symlink()}
    return {name for name in found if sha256_of(out / name) == listed[name]}


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        with suppress(FileNotFoundError):
            path.unlink()


def export_or_confirm(
    store: Store,
    name: str,
    formats: Sequence[Format],
    out: Path,
    *,
    splits: Sequence[str] = (),
    tokenizer: str = "whitespace",
    markers: MarkerSet = TYPES,
    seed: int | None = None,
) -> list[ExportReport]:
    """Like ``export_formats``, but leave *out* unchanged if it already holds the same exports, byte for byte.

    Raises ``OutputError`` if the folder holds something else.
    """
    if any(out.glob(MANIFEST)) or any(out.glob(f"*/{MANIFEST}")):
        with TemporaryDirectory(prefix="piiloom-export-") as folder:
            place = Path(folder) / "export"
            made = export_formats(store, name, formats, place, splits=splits, tokenizer=tokenizer, markers=markers, seed=seed)
            places = [out / report.out.relative_to(Path(folder) / "export") for report in made]
            if all(_holds(place, report.out) for place, report in zip(places, made, strict=True)):
                return [replace(report, out=place) for place, report in zip(places, made, strict=True)]
    return export_formats(store, name, formats, out, splits=splits, tokenizer=tokenizer, markers=markers, seed=seed)


def _holds(folder: Path, wanted: Path) -> bool:
    """Whether *folder* has every file of *wanted*, at any depth, with the same content. Other files in *folder* are ignored."""
    files = [path.relative_to(wanted) for path in wanted.rglob("*") if path.is_file()]
    return all((folder / file).is_file() and cmp(folder / file, wanted / file, shallow=False) for file in files)
