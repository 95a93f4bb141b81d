"""The protocols of detectors: ``detect(text, locale, question=None) -> spans``, and findings with what was set aside, and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from types import TracebackType
from typing import Any, NamedTuple, Protocol, Self, runtime_checkable

from piiloom.corpus.record import Relevance
from piiloom.execution.call_totals import CallTotals


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredSpan:
    """``text[start:end]`` (code points, half-open) is taken for personal information. Spans of one text may overlap.

    ``entity_type`` is one of the 15 types, ``subtype`` the id of the entity in the catalogue. ``score`` is the detector's confidence, 0
    to 1. ``detector`` names who found it: "patterns", "model", "names index" …. ``validated``: the entity's validator accepted the value;
    None: it has none. ``candidates`` are the ids of all entities that it may be, if there are several, the likeliest first.
    ``relevance_score`` is the probability that the relevance is "high", from detectors that know one.
    """

    start: int
    end: int
    entity_type: str
    subtype: str | None
    score: float
    detector: str
    validated: bool | None = None
    relevance: Relevance | None = None
    candidates: tuple[str, ...] = ()
    relevance_score: float | None = None


@runtime_checkable
class Detector(Protocol):
    """Finds personal information in texts."""

    @property
    def name(self) -> str:
        """How ``--detector`` calls it."""
        ...

    def detect(self, text: str, locale: str, question: str | None = None) -> Sequence[ScoredSpan]:
        """Return the spans of *text* in text order. *question* is for detectors that judge relevance; others ignore it.

        Raises ``UsageError`` for a locale that the detector does not know.
        """
        ...


@runtime_checkable
class AsyncDetector(Detector, Protocol):
    """A detector that waits for a model; many texts can be under way at once."""

    async def detect_async(self, text: str, locale: str, question: str | None = None, *, item_id: str = "") -> Sequence[ScoredSpan]:
        """As ``detect``. *item_id* names the text in the journal of calls."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class SetAside:
    """Something that gave no span, or was settled otherwise than by a usable answer.

    ``phase`` is 1, 2 or 3, or 0 for a detector without phases. ``reason`` is a stable code. Phase I, of what a model names: "invented",
    "altered", "inside_word" (the text does not have it so), "empty", "common_word" (no value), "unknown_type". Phase III: "refused_number".
    "left_to_rules: <code>": no usable answer came, and a rule decided. Of "capid": ``capid.entries``, ``capid.placing``; there "altered"
    has the place that was taken for it, and ``subtype`` is a type. Of a verifier: "refused_by_verifier",
    "verifier_left_to_default: <code>". ``value`` is what the text or the model says; it may be personal information. ``start`` and ``end``
    are None for what the text does not have. ``note`` is what a model says for its refusal.
    """

    phase: int
    reason: str
    subtype: str | None = None
    value: str = ""
    start: int | None = None
    end: int | None = None
    note: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON values; a note only if there is one."""
        told = asdict(self)
        return told if self.note else {name: value for name, value in told.items() if name != "note"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """The spans of a text, disjoint and in text order, and what was set aside.

    ``failed`` says why nothing could be found out about the text: then it has no spans, is rejected for that reason, and others go on.
    """

    spans: Sequence[ScoredSpan]
    set_aside: Sequence[SetAside] = ()
    failed: str | None = None


class DetectorText(NamedTuple):
    """What a detector is given."""

    text: str
    locale: str
    question: str | None = None


@runtime_checkable
class ExaminingDetector(Protocol):
    """A detector that also tells what it set aside."""

    def examine(self, text: str, locale: str, question: str | None = None) -> Findings:
        """As ``detect``."""
        ...


@runtime_checkable
class BatchDetector(Protocol):
    """A detector that is faster with many texts at once."""

    def examine_batch(self, texts: Sequence[DetectorText]) -> list[Findings]:
        """Return the findings of each of *texts*, as ``ExaminingDetector.examine`` would."""
        ...


@runtime_checkable
class ModelDetector(AsyncDetector, Protocol):
    """A detector that asks a model: an async context manager, within which many texts can be under way.

    Entering opens its store, journal and connections; leaving waits for the calls in flight, whose replies are kept. ``detect`` and
    ``examine`` do both for one text. One process at a time can have a store open.
    """

    async def __aenter__(self) -> Self: ...

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None: ...

    async def examine_async(
        self, text: str, locale: str, question: str | None = None, *, item_id: str = "", group_keys: Sequence[str] = ()
    ) -> Findings:
        """As ``detect_async``; *group_keys* are those of the text: no example that a model is shown is of its groups."""
        ...

    @property
    def totals(self) -> CallTotals:
        """What all sessions of the run asked and paid so far; usable while it is open and afterwards."""
        ...
