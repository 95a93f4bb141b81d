"""Labels of other detectors as types of ours, and their findings as spans; what gives no span is set aside with its reason.

A label means one of the types, and the entity of the catalogue, if it is just that. A map is a YAML file of ``LABEL: type``,
``LABEL: type/subtype`` or ``LABEL: null`` (no personal information). The subtype is the id of an entity of the catalogue, or a subtype of
the taxonomy; only the first, or the second where an entity has the same name and type, becomes the subtype of a span. Maps are laid over
each other: those of ``taxonomy/label_maps``, which imports use too, then those of ``label_maps`` here, then a user's own. A label that none
has may still be spelled as a type, or as an alias of one.

Languages and countries of locales as libraries name them, and models loaded from local files without network and progress bars.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, Final, NamedTuple

from piiloom.detection.detector import Findings, ScoredSpan, SetAside, disjoint_spans
from piiloom.foundation.errors import ConfigError, UsageError
from piiloom.foundation.words import trimmed
from piiloom.foundation.yaml_files import YamlDocument, key_name, read_document
from piiloom.taxonomy.entities.entity_catalogue import find_shipped
from piiloom.taxonomy.entity_types import Taxonomy, bare_spelling, shipped_taxonomy
from piiloom.taxonomy.label_maps import label_key, label_map, shipped_label_maps

# Languages that spaCy knows under another code.
_SPACY: Final = {"no": "nb", "nn": "nb"}
# One of these files is what a tokenizer is loaded from.
TOKENIZERS: Final = ("tokenizer.json", "vocab.txt", "tokenizer.model", "spiece.model", "sentencepiece.bpe.model", "vocab.json")
ANY_LANGUAGE: Final = "xx"  # spaCy's code of pipelines for all


def locale_language(locale: str) -> str:
    """Return "pl" for "pl_PL"."""
    return locale.replace("-", "_").partition("_")[0].lower()


def locale_region(locale: str) -> str | None:
    """Return "PL" for "pl_PL"; None for a locale without a country."""
    return locale.replace("-", "_").partition("_")[2].upper() or None


def spacy_language(locale: str) -> str:
    """Return the code that spaCy has for the language of *locale*."""
    language = locale_language(locale)
    return _SPACY.get(language, language)


@contextmanager
def local_and_quiet() -> Iterator[None]:
    """Within the block, libraries of Hugging Face neither look anything up on the network nor draw progress bars."""
    from huggingface_hub import constants  # noqa: PLC0415 - comes with transformers, an extra
    from transformers.utils import logging  # noqa: PLC0415 - an extra

    told: Any = logging
    offline, bars = constants.HF_HUB_OFFLINE, told.is_progress_bar_enabled()
    constants.HF_HUB_OFFLINE = True
    told.disable_progress_bar()
    try:
        yield
    finally:
        constants.HF_HUB_OFFLINE = offline
        if bars:
            told.enable_progress_bar()


def unusable(model: object, problem: str, remedy: str) -> UsageError:
    """Return the error for a *model* that cannot be used."""
    return UsageError(problem, where=f"--model-path {model}", remedy=remedy)


def first_line(error: Exception) -> str:
    """Return the kind of *error* and the first line of its message."""
    return f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0][:300]}"


def has_tokenizer(folder: Path) -> bool:
    """Whether *folder* has the files of a tokenizer."""
    return any((folder / name).is_file() for name in TOKENIZERS)


_SUFFIX: Final = ".yaml"


class LabelTarget(NamedTuple):
    """A type, and the id of an entity of the catalogue or None."""

    entity_type: str
    subtype: str | None


LabelMapping = Mapping[str, LabelTarget | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelTargets:
    """Looks labels up: as they are spelled, then by letters and digits only, then among the names of types and their aliases."""

    targets: LabelMapping
    bare: LabelMapping
    taxonomy: Taxonomy

    def knows(self, label: str) -> bool:
        """Whether it is known what *label* means, and be it nothing personal."""
        return label in self.targets or bare_spelling(label) in self.bare or self.taxonomy.resolve(label) is not None

    def of(self, label: str) -> LabelTarget | None:
        """Return what *label* means; None if that is nothing personal, or not known."""
        if label in self.targets:
            return self.targets[label]
        bare = bare_spelling(label)
        if bare in self.bare:
            return self.bare[bare]
        named = self.taxonomy.resolve(label)
        return LabelTarget(named, None) if named else None


def label_targets(names: Sequence[str], own: Path | None, taxonomy: Taxonomy) -> LabelTargets:
    """Return the shipped maps *names*, later ones over earlier ones, under the user's map *own*: a file, or the name of a shipped map.

    Raises ``ConfigError`` (file, line, label) for the first fault in a file, and ``UsageError`` if there is no file *own*.
    """
    targets: dict[str, LabelTarget | None] = {}
    for name in names:
        targets |= shipped_targets(name)
    if own is not None:
        targets |= _given(own, taxonomy)
    bare = {bare_spelling(label): target for label, target in targets.items()}
    return LabelTargets(targets=targets, bare=bare, taxonomy=taxonomy)


def shipped_targets(name: str) -> dict[str, LabelTarget | None]:
    """Return the map *name* of the taxonomy, with that of the same name here laid over it; one of the two may be missing."""
    found: dict[str, LabelTarget | None] = {}
    if name in shipped_label_maps():
        found |= {label: None if said is None else _known(said) for label, said in label_map(name, shipped_taxonomy()).items()}
    over = _folder() / f"{name}{_SUFFIX}"
    return found | read_targets(over, shipped_taxonomy()) if over.is_file() else found


def likeliest_map(labels: Collection[str], names: Sequence[str]) -> str | None:
    """Return which of the maps *names* has most of *labels*, the first of equals; None if none has any."""
    bare = {bare_spelling(label) for label in labels}
    shares = {name: len(bare & {bare_spelling(label) for label in shipped_targets(name)}) for name in names}
    best = max(names, key=lambda name: shares[name], default=None)
    return best if best is not None and shares[best] else None


def detection_maps() -> list[str]:
    """Return the names of all maps, of the taxonomy and of this room."""
    here = [file.name.removesuffix(_SUFFIX) for file in _folder().iterdir() if file.name.endswith(_SUFFIX)]
    return sorted({*here, *shipped_label_maps()})


def read_targets(source: Traversable | Path, taxonomy: Taxonomy) -> dict[str, LabelTarget | None]:
    """Return the map in the file *source*. Raises ``ConfigError`` (file, line, label) for the first fault."""
    document = read_document(source)
    if not isinstance(document.data, dict) or not document.data:
        raise ConfigError("is no label map", where=document.where(), remedy="Write a line a label, such as: PER: name")
    return {label_key(document, key): _target(document, key, value, taxonomy) for key, value in document.data.items()}


def _given(own: Path, taxonomy: Taxonomy) -> dict[str, LabelTarget | None]:
    if str(own) in detection_maps():
        return shipped_targets(str(own))
    if not own.is_file():
        raise UsageError(
            f"there is no label map {str(own)!r}", where="--label-map", remedy=f"Name a YAML file, or one of: {', '.join(detection_maps())}"
        )
    return read_targets(own, taxonomy)


def _folder() -> Traversable:
    return files("piiloom.detection.adapters") / "label_maps"


def _target(document: YamlDocument, label: str, value: object, taxonomy: Taxonomy) -> LabelTarget | None:
    if value is None:
        return None
    where = document.where([label])
    if not isinstance(value, str):
        raise ConfigError(
            f"{key_name([label])}: must be text or null",
            where=where,
            remedy="Write a type, type/subtype, or null for what is no personal information.",
        )
    name, slash, subtype = value.partition("/")
    found = taxonomy.resolve(name) or name
    try:
        taxonomy.get(found)
        if slash and _entity_of(found, subtype) is None:
            taxonomy.subtype(found, subtype)
    except UsageError as error:
        raise ConfigError(f"{key_name([label])}: {error.message}", where=where, remedy=error.remedy) from error
    return LabelTarget(found, _entity_of(found, subtype))


def _known(said: str) -> LabelTarget:
    """The target of an entry of the taxonomy's maps, which have been checked."""
    name, _, subtype = said.partition("/")
    return LabelTarget(name, _entity_of(name, subtype))


def _entity_of(entity_type: str, subtype: str) -> str | None:
    """The entity *subtype* of the catalogue, if there is one and it has this type."""
    entity = find_shipped(subtype) if subtype else None
    return entity.id if entity is not None and entity.entity_type == entity_type else None


WITHOUT_PHASES: Final = 0
UNMAPPED: Final = "unmapped_label"  # nobody said what the label means
NOT_PERSONAL: Final = "not_personal"  # the label map says null
OVERLAPPED: Final = "overlapped"
EMPTY: Final = "empty"  # white space alone


class LabelledRange(NamedTuple):
    """``text[start:end]`` as another detector has it, with its own label."""

    start: int
    end: int
    label: str
    score: float


def mapped_findings(text: str, found: Iterable[LabelledRange], targets: LabelTargets, detector: str) -> Findings:
    """Return the spans of *found*, disjoint and in text order, named *detector*.

    White space at the edges of a range, which some patterns take in, is no part of a span. Set aside are those whose label is not known
    ("unmapped_label: LABEL"), means nothing personal ("not_personal: LABEL"), or that overlap a surer one ("overlapped: LABEL"): each code
    point counts as 0.01, so that of about equally sure ones the longer is kept; of equals the earlier one.
    """
    spans: list[tuple[ScoredSpan, LabelledRange]] = []
    set_aside: list[SetAside] = []
    for one in sorted({LabelledRange(*trimmed(text, one.start, one.end), one.label, one.score) for one in found}):
        target = targets.of(one.label)
        if one.start == one.end:
            set_aside.append(_aside(text, one, EMPTY, None))
            continue
        if target is None:
            reason = NOT_PERSONAL if targets.knows(one.label) else UNMAPPED
            set_aside.append(_aside(text, one, reason, None))
            continue
        span = ScoredSpan(
            start=one.start, end=one.end, entity_type=target.entity_type, subtype=target.subtype, score=one.score, detector=detector
        )
        spans.append((span, one))
    kept = disjoint_spans([span for span, _ in spans])
    chosen = {id(span) for span in kept}
    set_aside += [_aside(text, one, OVERLAPPED, span.subtype) for span, one in spans if id(span) not in chosen]
    return Findings(spans=kept, set_aside=tuple(set_aside))


def _aside(text: str, one: LabelledRange, reason: str, subtype: str | None) -> SetAside:
    return SetAside(
        phase=WITHOUT_PHASES,
        reason=f"{reason}: {one.label}",
        subtype=subtype,
        value=text[one.start : one.end],
        start=one.start,
        end=one.end,
    )
