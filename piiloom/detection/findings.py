"""What a detector makes of a text: spans, and what it set aside, with reasons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from types import TracebackType
from typing import Any, NamedTuple, Protocol, Self, runtime_checkable

from piiloom.detection.detector import AsyncDetector, ScoredSpan
from piiloom.execution.call_totals import CallTotals


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
