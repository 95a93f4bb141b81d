"""What a record is: a context, a question and the spans that disclose something.

Spans are half-open ``[start, end)`` Unicode code-point offsets into exactly the stored ``context``. A record checks
itself when it is made: spans sorted by start, inside the context, never overlapping, with unique ids.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from piiloom.foundation.errors import DataError

Relevance = Literal["high", "low"]
# How the group key begins that the records of one text share.
CONTRAST_GROUP = "text:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """One mention. ``value_id`` joins the mentions of one value; ``subject`` is whose it is ("self", "sister" …)."""

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
    """What the record was planned to be; kept so that a label can be explained."""

    pair: tuple[str, str]
    topic: str | None = None
    subtopic: str | None = None
    scenario: str | None = None
    rationale: str | None = None
    register: str | None = None
    cue_level: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LostValue:
    """A value or mention that an imported row had and its record has not, and why; ``start`` and ``end`` where it had a place."""

    text: str
    entity_type: str
    reason: str
    relevance: Relevance | None = None
    start: int | None = None
    end: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceReference:
    """Where an imported text came from: file name (no machine path), line (1-based) and the id it had there.

    ``lost`` is what its record lacks; ``relevance_as`` how the row spelt relevance, where that was "high/low" in CAPID's "1/0".
    """

    file: str
    line: int | None = None
    id: str | None = None
    lost: tuple[LostValue, ...] = ()
    relevance_as: Literal["high/low"] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """Who made the record. ``templates`` are (name, sha256) of the prompt templates in stage order."""

    stage: str
    provider: str | None = None
    model: str | None = None
    templates: tuple[tuple[str, str], ...] = ()
    seed: int | None = None
    parents: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One immutable record; an edit makes a new one with a higher ``revision``.

    Raises ``DataError`` when a span lies outside the context, is empty, is out of order or overlaps its neighbour.
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
        """What the records of one text with several questions share; None where the text has one question.

        Their spans are at the same places, and high or low as each question has it. They are never split between train and test.
        """
        return next((key for key in self.group_keys if key.startswith(CONTRAST_GROUP)), None)


def check_spans(context: str, spans: tuple[Span, ...], *, where: str) -> None:
    """Refuse spans that are not sorted, non-empty, disjoint, inside *context* and uniquely named (``DataError``)."""
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
