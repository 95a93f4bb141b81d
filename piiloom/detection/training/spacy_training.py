"""Train the entity recognizer of a spaCy pipeline: from records to the finished folder.

From a base it takes tokenizer, word vectors and the layers that read words. The layers above them begin anew, since its labels are others.

The folder is a pipeline as ``spacy.load`` takes it, and has ``piiloom.json`` as its last file. Until then it has a checkpoint of
the last epoch and one of the best. A training that goes on from there sees the records in the same order; the optimizer's memory of
earlier gradients begins anew, so that the result is near that of a training that was not stopped, and not equal to it.
"""

from __future__ import annotations

import json
import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from piiloom.corpus.formats.base import WriteOptions
from piiloom.corpus.formats.token_formats import DocBinFormat
from piiloom.corpus.formats.token_labels import blank_pipeline, import_spacy, label_of
from piiloom.corpus.record import Record
from piiloom.detection.adapters.label_targets import ANY_LANGUAGE, locale_language
from piiloom.detection.adapters.spacy_detectors import load_any
from piiloom.detection.training.training_data import TrainedReport, TrainingData, TrainingNote, UnfinishedTraining, damaged
from piiloom.detection.training.training_options import SpacyPlace, SpacySettings
from piiloom.foundation.errors import Interrupted
from piiloom.foundation.noop import noop
from piiloom.foundation.seeding import derive_rng, derive_seed, digest
from piiloom.foundation.whole_files import output_errors
from piiloom.foundation.words import counted
from piiloom.tagging.model_folder import CARD, write_about
from piiloom.taxonomy.entity_types import Taxonomy

RECOGNIZER: Final = "ner"
_WORDS: Final = "tok2vec"
_BEGUN_WITH: Final = ("vectors", "lookups", "vocab_data", "init_tok2vec", "before_init", "after_init")


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """A pipeline that is ready to be trained; ``note`` says what of the base it could not use."""

    nlp: Any
    base: dict[str, Any]
    note: str | None = None


def language_for(records: Iterable[Record]) -> str:
    """Return the language of *records*, or that of all languages if there are several."""
    found = {locale_language(record.locale) for record in records}
    return found.pop() if len(found) == 1 else ANY_LANGUAGE


def make_pipeline(base: str | None, language: str) -> Made:
    """Return the pipeline to train, with a recognizer that knows nothing yet. Raises ``UsageError`` for a base that cannot be loaded."""
    if base is None:
        nlp = blank_pipeline(language)
        nlp.add_pipe(RECOGNIZER)
        return Made(nlp=nlp, base={"name": f"blank {nlp.lang}"})
    nlp = load_any(base, where="--model")
    about = {"name": f"{nlp.meta['lang']}_{nlp.meta['name']}", "version": nlp.meta.get("version"), "vectors": nlp.vocab.vectors_length}
    old = nlp.get_pipe(RECOGNIZER) if nlp.has_pipe(RECOGNIZER) else None
    config = nlp.get_pipe_config(RECOGNIZER) if old is not None else {}
    for name in list(nlp.pipe_names):
        nlp.remove_pipe(name)
    for name in list(nlp.disabled):
        nlp.remove_pipe(name)
    if old is not None and nlp.lang and _has_own_words(old):
        nlp.add_pipe(RECOGNIZER, config={"model": config["model"]})
        return Made(nlp=nlp, base=about | {"layers": True, "_words": old.model.get_ref(_WORDS).to_bytes()})
    nlp.add_pipe(RECOGNIZER, config=_with_vectors(nlp) if nlp.vocab.vectors_length else {})
    return Made(
        nlp=nlp, base=about, note="of the base, only tokenizer and word vectors are used: its recognizer has no word layers of its own"
    )


def _has_own_words(recognizer: Any) -> bool:
    """Whether the layers that read words belong to *recognizer*, and not to a component that it listens to."""
    model = recognizer.model
    return bool(model.has_ref(_WORDS)) and not any("listener" in node.name for node in model.get_ref(_WORDS).walk())


def _with_vectors(nlp: Any) -> dict[str, Any]:
    config: dict[str, Any] = nlp.get_factory_meta(RECOGNIZER).default_config["model"]
    return {"model": {**config, _WORDS: {**config[_WORDS], "pretrained_vectors": True}}}


def initialize(made: Made, examples: Sequence[Any], seed: int) -> Any:
    """Give the recognizer its labels and first weights, those of the base where it has some; return the optimizer."""
    spacy = import_spacy()
    spacy.util.fix_random_seed(seed)
    words = made.base.pop("_words", None)
    # What the base was begun with (tables, vectors) is in its vocabulary, and need not be installed here.
    made.nlp.config["initialize"] = {**made.nlp.config["initialize"], **dict.fromkeys(_BEGUN_WITH)}
    optimizer = made.nlp.initialize(lambda: examples)
    if words is not None:
        made.nlp.get_pipe(RECOGNIZER).model.get_ref(_WORDS).from_bytes(words)
    return optimizer


def spacy_examples(nlp: Any, taxonomy: Taxonomy, *splits: Sequence[Record]) -> tuple[list[list[Any]], Counter[str]]:
    """Return the records of *splits* as examples for *nlp*, by our export for spaCy; and how many spans that changes, by reason."""
    spacy = import_spacy()
    with TemporaryDirectory() as folder:
        pipeline, written = Path(folder) / "pipeline", Path(folder) / "records.spacy"
        blank = spacy.blank(nlp.lang)
        blank.tokenizer = nlp.tokenizer
        blank.to_disk(pipeline)
        records = [record for split in splits for record in split]
        losses = DocBinFormat().write(records, written, WriteOptions(taxonomy=taxonomy, tokenizer=f"spacy:{pipeline}"))
        docs = iter(list(spacy.tokens.DocBin().from_disk(written).get_docs(nlp.vocab)))
    examples = [[spacy.training.Example(nlp.make_doc(doc.text), doc) for doc in islice(docs, len(split))] for split in splits]
    return examples, Counter(entry.reason for entry in losses.entries)


@dataclass(frozen=True, slots=True, kw_only=True)
class SpacyProgress:
    """``epoch`` is done. ``f1`` and ``best`` are on the validation records, None without such; ``best_epoch`` is that of ``best``."""

    epoch: int
    epochs: int
    loss: float
    f1: float | None
    best: float | None
    best_epoch: int

    def line(self) -> str:
        """Return it as a line."""
        shown = f"epoch {self.epoch} of at most {self.epochs} · loss {self.loss:,.1f}"
        if self.f1 is None:
            return shown
        return f"{shown} · validation F1 {self.f1:.3f}, best {self.best or 0:.3f} after epoch {self.best_epoch}"


FAMILY: Final = "spacy"
_NAME: Final = "pii"
_DESCRIPTION: Final = "Finds personal information; trained by piiloom (see piiloom.json)."
_STATE: Final = "state.json"
_PIPELINE: Final = "pipeline"
_BEST: Final = "best"


@dataclass(slots=True)
class _State:
    """Where a training is."""

    epoch: int = 0
    best: float = -1.0
    best_epoch: int = 0


def train_spacy(
    data: TrainingData,
    settings: SpacySettings,
    place: SpacyPlace,
    *,
    watch: Callable[[SpacyProgress], object] = noop,
    tell: Callable[[str], object] = noop,
) -> TrainedReport:
    """Train on *data*; *watch* hears of each epoch, *tell* of what goes otherwise than one might expect.

    Raises ``UsageError`` for a base that cannot be loaded, ``OutputError`` for a folder that cannot be used, ``DataError`` for a damaged
    checkpoint, and ``Interrupted`` after Ctrl-C.
    """
    began = time.monotonic()
    made = make_pipeline(place.model, language_for(data.train))
    about_base = {name: value for name, value in made.base.items() if not name.startswith("_")}
    (train, validation), changed = spacy_examples(made.nlp, data.taxonomy, data.train, data.validation)
    notes = [*([made.note] if made.note else []), *_told(changed, has_validation=bool(validation))]
    for note in notes:
        tell(note)
    unfinished = UnfinishedTraining(place.out, finished=CARD, state=_STATE)
    unfinished.begin(
        TrainingNote(digest=digest(data.digest, settings.identity, about_base, place.model)), resume=place.resume, force=place.force
    )
    session = _SpacySession(made, settings, train, validation, unfinished, watch)
    try:
        state = session.train()
    except KeyboardInterrupt:
        raise Interrupted("the training is stopped", remedy="Go on from its last epoch: the same command with --resume") from None
    nlp = made.nlp.from_disk(unfinished.checkpoints / f"{_BEST}-{state.best_epoch}")
    figures = {
        "epochs": state.epoch,
        "best_epoch": state.best_epoch,
        "spans_changed": dict(changed),
        "seconds": round(time.monotonic() - began, 1),
        **({"validation": _scores(nlp, validation)} if validation else {}),
    }
    # The base's own name and figures are not those of what was made of it; its licence stays.
    nlp.meta |= {"name": _NAME, "version": "0.0.0", "description": _DESCRIPTION, "performance": figures.get("validation", {})}
    with output_errors(place.out):
        nlp.to_disk(place.out)
    unfinished.finish()
    shown = settings.identity | {"language": nlp.lang, "labels": {label_of(one): one for one in data.types}}
    write_about(place.out, data.card(FAMILY, about_base, shown, figures))
    return TrainedReport(out=place.out, base=str(about_base["name"]), figures=figures, notes=tuple(notes))


class _SpacySession:
    """One session of a training."""

    def __init__(
        self,
        made: Made,
        settings: SpacySettings,
        train: Sequence[Any],
        validation: Sequence[Any],
        unfinished: UnfinishedTraining,
        watch: Callable[[SpacyProgress], object],
    ) -> None:
        self._nlp, self._settings, self._train, self._validation = made.nlp, settings, train, validation
        self._unfinished, self._watch = unfinished, watch
        self._optimizer = initialize(made, train, settings.seed)
        self._optimizer.learn_rate = settings.learning_rate

    def train(self) -> _State:
        """Train from the last checkpoint on to the end."""
        state = self._resumed()
        while state.epoch < self._settings.epochs and not self._is_stale(state):
            loss = self._epoch(state.epoch + 1)
            state.epoch += 1
            f1 = float(self._nlp.evaluate(self._validation)["ents_f"] or 0.0) if self._validation else None
            better = f1 is None or f1 > state.best
            if better:
                state.best, state.best_epoch = (f1 or 0.0), state.epoch
            self._keep(state, better=better)
            self._watch(
                SpacyProgress(
                    epoch=state.epoch,
                    epochs=self._settings.epochs,
                    loss=loss,
                    f1=f1,
                    best=None if f1 is None else state.best,
                    best_epoch=state.best_epoch,
                )
            )
        return state

    def _is_stale(self, state: _State) -> bool:
        # A recognizer finds nothing at all in its first epochs, which is no reason to stop.
        return bool(self._validation) and state.best > 0 and state.epoch - state.best_epoch >= self._settings.patience

    def _epoch(self, number: int) -> float:
        # Seeded anew for each epoch, so that a resumed training draws the same.
        import_spacy().util.fix_random_seed(derive_seed("spacy epoch", self._settings.seed, number) % 2**32)
        examples = list(self._train)
        derive_rng("spacy order", self._settings.seed, number).shuffle(examples)
        losses: dict[str, float] = {}
        for batch in _batches(examples, self._settings.words):
            self._nlp.update(batch, sgd=self._optimizer, drop=self._settings.dropout, losses=losses)
        return sum(losses.values())

    def _keep(self, state: _State, *, better: bool) -> None:
        """Write the checkpoint of an epoch, its state last; then what was kept before can go."""
        place = self._unfinished.checkpoints
        folder, best = place / f"checkpoint-{state.epoch}", place / f"{_BEST}-{state.best_epoch}"
        with output_errors(place):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            self._nlp.to_disk(folder / _PIPELINE)
            if better:
                shutil.rmtree(best, ignore_errors=True)
                shutil.copytree(folder / _PIPELINE, best)
            (folder / _STATE).write_text(json.dumps(asdict(state)), encoding="utf-8")
            for old in place.iterdir():
                if old not in {folder, best}:
                    shutil.rmtree(old, ignore_errors=True)

    def _resumed(self) -> _State:
        checkpoint = self._unfinished.last_checkpoint()
        if checkpoint is None:
            return _State()
        try:
            state = _State(**json.loads((checkpoint / _STATE).read_text(encoding="utf-8")))
            self._nlp.from_disk(checkpoint / _PIPELINE)
        except Exception as error:  # spaCy raises a dozen kinds for data that are cut off
            raise damaged(checkpoint) from error
        return state


def _batches(examples: Sequence[Any], words: int) -> Iterator[list[Any]]:
    """Yield *examples* in batches of at most so many *words*, and one example at least."""
    batch: list[Any] = []
    size = 0
    for one in examples:
        length = len(one.reference)
        if batch and size + length > words:
            yield batch
            batch, size = [], 0
        batch.append(one)
        size += length
    if batch:
        yield batch


def _scores(nlp: Any, validation: Sequence[Any]) -> dict[str, Any]:
    """Precision, recall and F1 of exact spans, as tokens have them, over all and by label."""
    found = nlp.evaluate(validation)
    by_label = {label: {name[0]: round(value, 4) for name, value in one.items()} for label, one in (found["ents_per_type"] or {}).items()}
    whole = {name: round(found[f"ents_{name}"] or 0.0, 4) for name in "prf"}
    return {**whole, "by_label": dict(sorted(by_label.items()))}


def _told(changed: Counter[str], *, has_validation: bool) -> list[str]:
    notes = [f"{counted(number, 'span')}: {reason}" for reason, number in sorted(changed.items())]
    return notes if has_validation else [*notes, "there are no validation records: all epochs are trained, and the last is kept"]
