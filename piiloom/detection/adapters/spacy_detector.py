"""The detector "spacy": any spaCy pipeline that finds entities, with its labels brought to our types."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from piiloom.corpus.formats.token_labels import import_spacy
from piiloom.detection.adapters.label_targets import LabelledRange, label_targets, mapped_findings
from piiloom.detection.detector import DetectorText, Findings, TextDetector, cut_text
from piiloom.detection.detector_settings import LocalModel
from piiloom.foundation.errors import UsageError
from piiloom.tagging.model_folder import CARD, read_about
from piiloom.taxonomy.entity_types import Taxonomy
from piiloom.taxonomy.own_types import extended

# Of what these find, nothing shapes the entities of a recognizer that was trained.
_NOT_NEEDED: Final = frozenset(
    "tagger parser attribute_ruler lemmatizer trainable_lemmatizer morphologizer senter sentencizer textcat textcat_multilabel".split()
)
_TRAINED: Final = frozenset({"ner", "beam_ner"})
_FINDS: Final = "doc.ents"


def load_entity_pipeline(name: str, *, where: str = "--model-path") -> Any:
    """Load the pipeline *name*. Raises ``UsageError`` if spaCy is missing, if it cannot be loaded, or if it finds no entities."""
    nlp = load_any(name, where=where)
    finders = [one for one in nlp.pipe_names if _FINDS in nlp.get_pipe_meta(one).assigns]
    if not finders:
        parts = ", ".join(nlp.pipe_names) or "nothing"
        remedy = "Use a pipeline with the component ner; piiloom train spacy trains one"
        raise UsageError(f"this pipeline finds no entities (it has {parts})", where=f"{where} {name}", remedy=remedy)
    factories = {one: nlp.get_pipe_meta(one).factory for one in nlp.pipe_names}
    if {factories[one] for one in finders} <= _TRAINED:  # rules may ask for parts of speech or lemmas
        for one, factory in factories.items():
            if factory in _NOT_NEEDED:
                nlp.disable_pipe(one)
    return nlp


def load_any(name: str, *, where: str) -> Any:
    """Load the pipeline *name*, whatever it has."""
    spacy = import_spacy()
    try:
        return spacy.load(name)
    except Exception as error:  # a config may name what is not installed, data may be cut off: spaCy raises a dozen kinds
        if not Path(name).exists() and isinstance(error, OSError):
            remedy = "Name the folder of one, or an installed package: piiloom downloads nothing"
            raise UsageError("there is no such spaCy pipeline here", where=f"{where} {name}", remedy=remedy) from error
        problem = f"spaCy cannot load this pipeline ({type(error).__name__})"
        remedy = "Copy the whole folder again, or install what it needs; --debug shows the cause"
        raise UsageError(problem, where=f"{where} {name}", remedy=remedy) from error


NAME: Final = "spacy"
FAMILY: Final = "spacy"
SCORE: Final = 0.85  # that of all findings, as Presidio has it: an entity recognizer of spaCy tells none
MAPS: Final = ("spacy", "conll", "ontonotes")  # later ones go before
_LONGEST: Final = 100_000  # characters at once: the memory of a recognizer grows with the length


class SpacyDetector(TextDetector):
    """Finds the entities of the pipeline *local*, a folder or the name of an installed package.

    The labels of a pipeline that piiloom has trained are its types. Of others the shipped label maps say what labels mean; a map
    of one's own goes before them. All findings have the score ``SCORE``; a higher *threshold* leaves none.

    Raises ``UsageError`` for a pipeline that cannot be loaded or finds no entities, and ``ConfigError`` (file, line) for a fault in the
    label map.
    """

    name = NAME

    def __init__(self, local: LocalModel, *, threshold: float = 0.0, taxonomy: Taxonomy | None = None) -> None:  # noqa: ARG002 - it has its own
        self._threshold, self._batch_size = threshold, local.batch_size
        folder = Path(local.model_path)
        ours = (folder / CARD).is_file()
        known = extended(read_about(folder, FAMILY).own_types if ours else ())
        self._targets = label_targets([] if ours else MAPS, local.label_map, known)
        self._nlp = load_entity_pipeline(local.model_path)

    def examine_batch(self, texts: Sequence[DetectorText]) -> list[Findings]:
        """Return the findings of each of *texts*; the pipeline reads them in batches."""
        pieces = [(number, *piece) for number, one in enumerate(texts) for piece in _pieces(one.text)]
        docs = self._nlp.pipe((texts[number].text[start:end] for number, start, end in pieces), batch_size=self._batch_size)
        found: list[list[LabelledRange]] = [[] for _ in texts]
        altered: set[int] = set()
        for (number, start, end), doc in zip(pieces, docs, strict=True):
            if doc.text != texts[number].text[start:end]:
                altered.add(number)
            elif self._threshold <= SCORE:
                found[number] += _entities(doc, start)
        return [
            Findings(spans=(), failed="the tokenizer of the spaCy pipeline changes this text, so that no place in it is known")
            if number in altered
            else mapped_findings(one.text, found[number], self._targets, self.name)
            for number, one in enumerate(texts)
        ]


def _pieces(text: str) -> list[tuple[int, int]]:
    if len(text) <= _LONGEST:
        return [(0, len(text))]
    ends = [at + 1 for at, character in enumerate(text) if character == "\n"]
    return cut_text(text, ends, (), _LONGEST)


def _entities(doc: Any, offset: int) -> Iterator[LabelledRange]:
    """Yield the entities of *doc* without white space at their edges, which some pipelines take in."""
    for entity in doc.ents:
        words = entity.text
        start = entity.start_char + len(words) - len(words.lstrip())
        end = start + len(words.strip())
        if start < end:
            yield LabelledRange(offset + start, offset + end, entity.label_, SCORE)
