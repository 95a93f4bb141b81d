"""Records and their spans, other values in the place of these, and the names of splits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from piiloom.foundation.errors import DataError

TRAIN, VALIDATION, TEST = "train", "validation", "test"
_FOLD = "fold"
_ORDER = (TRAIN, VALIDATION, TEST)


def fold_name(number: int) -> str:
    """Return the name of fold *number* (from 1 on): "fold1"; a name that Hugging Face datasets accepts."""
    return f"{_FOLD}{number}"


def in_order(names: Iterable[str]) -> list[str]:
    """Return the distinct *names*: train, validation, test, then the folds by number."""
    return sorted(set(names), key=_place)


def _place(name: str) -> tuple[int, int, str]:
    if name in _ORDER:
        return _ORDER.index(name), 0, name
    number = name.removeprefix(_FOLD)
    return len(_ORDER), int(number) if number.isdigit() else 0, name


Relevance = Literal["high", "low"]
# Prefix of the group key that is shared by the records of one text with several questions.
CONTRAST_GROUP = "text:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """One mention of a value.

    Mentions of the same value share a ``value_id``. ``subject`` is the person that the value is about ("self", "sister" …).
    """

    id: str
    start: int
    end: int
    entity_type: str
    relevance: Relevance | None = None
    subtype: str | None = None
    value_id: str | None = None
    subject: str | None = None

    def text_in(self, context: str) -> str:
        """The surface form: ``context[start:end]``."""
        return context[self.start : self.end]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordPlan:
    """The generation plan of the record, kept so that its labels can be explained. ``lookalikes`` are the kinds of those in the text."""

    pair: tuple[str, str]
    topic: str | None = None
    subtopic: str | None = None
    scenario: str | None = None
    rationale: str | None = None
    register: str | None = None
    cue_level: str | None = None
    lookalikes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LostValue:
    """A value or mention of an imported row that its record lacks, and why. ``start`` and ``end`` are set if its place is known."""

    text: str
    entity_type: str
    reason: str
    relevance: Relevance | None = None
    start: int | None = None
    end: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceReference:
    """The origin of an imported text: file name (without folder), 1-based line and the id it had there.

    ``lost`` are the values that its record lacks. ``relevance_as`` is set if a CAPID row spelled relevance as high/low and not
    as the usual 1/0.
    """

    file: str
    line: int | None = None
    id: str | None = None
    lost: tuple[LostValue, ...] = ()
    relevance_as: Literal["high/low"] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """How the record was made.

    ``templates`` are (name, sha256) of the prompt templates, in stage order. ``parents`` are the records it was derived from,
    as ``id@revision``.
    """

    stage: str
    provider: str | None = None
    model: str | None = None
    templates: tuple[tuple[str, str], ...] = ()
    seed: int | None = None
    parents: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One immutable record; an edit makes a new one with a higher ``revision``.

    Raises ``DataError`` if a span lies outside the context, is empty or out of order, overlaps another, or if a span id repeats.
    """

    id: str
    context: str
    locale: str = "en_US"
    revision: int = 0
    question: str | None = None
    spans: tuple[Span, ...] = ()
    plan: RecordPlan | None = None
    source: SourceReference | None = None
    group_keys: tuple[str, ...] = ()
    provenance: Provenance | None = None

    def __post_init__(self) -> None:
        check_spans(self.context, self.spans, where=f"record {self.id}")

    @property
    def contrast_group(self) -> str | None:
        """The group key shared by the records of one text with several questions; None if the text has a single question.

        The spans of these records have the same ranges, but their relevance depends on the question. A split never separates them.
        """
        return next((key for key in self.group_keys if key.startswith(CONTRAST_GROUP)), None)


def check_spans(context: str, spans: tuple[Span, ...], *, where: str) -> None:
    """Raise ``DataError`` unless the spans are sorted, non-empty, disjoint, inside *context* and have unique ids."""
    previous = 0
    seen: set[str] = set()
    for span in spans:
        if not 0 <= span.start < span.end <= len(context):
            raise DataError(f"span {span.id} [{span.start}, {span.end}) is empty or outside the context", where=where)
        if span.start < previous:
            raise DataError(f"span {span.id} overlaps the span before it or is out of order", where=where)
        if span.id in seen:
            raise DataError(f"span id {span.id} is used twice", where=where)
        seen.add(span.id)
        previous = span.end


def with_parts(text: str, parts: Iterable[tuple[int, int, str]]) -> str:
    """Return *text* with each of *parts* (start, end, new text; sorted, disjoint) in its place."""
    pieces: list[str] = []
    done = 0
    for start, end, new in parts:
        pieces += (text[done:start], new)
        done = end
    return "".join((*pieces, text[done:]))


def with_span_values(record: Record, values: Sequence[str | None]) -> Record:
    """Return *record* with ``values[n]`` in the place of its span number n, and all offsets moved; None keeps the text.

    An empty value removes the text, and the span with it. The question is left as it is. Raises ``ValueError`` if there is not
    one value for each span.
    """
    pieces: list[str] = []
    spans: list[Span] = []
    done, length = 0, 0
    for span, value in zip(record.spans, values, strict=True):
        between, new = record.context[done : span.start], span.text_in(record.context) if value is None else value
        pieces += (between, new)
        start = length + len(between)
        done, length = span.end, start + len(new)
        if new:
            spans.append(replace(span, start=start, end=length))
    pieces.append(record.context[done:])
    return replace(record, context="".join(pieces), spans=tuple(spans))
