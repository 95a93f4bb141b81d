"""The protocols of detectors: ``detect(text, locale, question=None) -> spans``, and findings with what was set aside, and why."""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self, runtime_checkable

from piiloom.corpus.record import Relevance
from piiloom.execution.call_entries import CallTotals
from piiloom.foundation.errors import UsageError
from piiloom.foundation.event_loops import run_in_own_loop
from piiloom.patterns.resolving import PER_CHARACTER

if TYPE_CHECKING:
    from piiloom.detection.detector_settings import DetectorSettings
    from piiloom.execution.call_channel import CallPolicy
    from piiloom.providers.protocol import Provider


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


class TextDetector:
    """A detector on this machine: a subclass has ``examine`` or, if it is faster with many texts at once, ``examine_batch``."""

    name: str

    @classmethod
    def made(cls, settings: DetectorSettings, provider: Provider | None = None, policy: CallPolicy | None = None) -> Self:  # noqa: ARG003
        """Return the detector of *settings*, whose trained model is its first argument; see ``registry.make_detector``."""
        make: Callable[..., Self] = cls
        return make(settings.local, taxonomy=settings.taxonomy, threshold=settings.threshold)

    def detect(self, text: str, locale: str, question: str | None = None) -> Sequence[ScoredSpan]:
        """Return disjoint spans in text order; see ``Detector``."""
        return self.examine(text, locale, question).spans

    def examine(self, text: str, locale: str, question: str | None = None) -> Findings:
        """As ``detect``, with what was set aside."""
        return self.examine_batch([DetectorText(text, locale, question)])[0]

    def examine_batch(self, texts: Sequence[DetectorText]) -> list[Findings]:
        """Return the findings of each of *texts*."""
        return [self.examine(*one) for one in texts]


class ModelDetector(ABC):
    """A detector that asks a model or a service: an async context manager, within which many texts can be under way.

    Entering opens its store, journal and connections; leaving waits for the calls in flight, whose replies are kept. ``detect`` and
    ``examine`` do both for one text. One process at a time can have a store open.
    """

    name: str

    def __init__(self) -> None:
        self._totals = CallTotals()

    @abstractmethod
    async def __aenter__(self) -> Self: ...

    @abstractmethod
    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None: ...

    @abstractmethod
    async def examine_async(
        self, text: str, locale: str, question: str | None = None, *, item_id: str = "", group_keys: Sequence[str] = ()
    ) -> Findings:
        """Return the findings of *text*, which *item_id* names in the journal of calls. Raises errors that would hit every other text.

        *group_keys* are those of the text: no example that a model is shown is of its groups.
        """

    @property
    def totals(self) -> CallTotals:
        """Calls and costs of all sessions of the run so far; usable while it is open and afterwards."""
        return self._totals

    def detect(self, text: str, locale: str, question: str | None = None) -> Sequence[ScoredSpan]:
        """Open, examine one text, and close. Raises ``UsageError`` if nothing could be found out about it."""
        found = self.examine(text, locale, question)
        if found.failed is not None:
            raise UsageError(f"the text was not detected: {found.failed}", where=f"--detector {self.name}")
        return found.spans

    def examine(self, text: str, locale: str, question: str | None = None) -> Findings:
        """Open, examine one text, and close."""

        async def alone() -> Findings:
            async with self:
                return await self.examine_async(text, locale, question)

        return run_in_own_loop(alone)


def examine_texts(detector: Detector, texts: Sequence[DetectorText]) -> list[Findings]:
    """Return the findings of *detector* in each of *texts*, all at once if it is a ``TextDetector``."""
    if isinstance(detector, TextDetector):
        return detector.examine_batch(texts)
    return [Findings(spans=detector.detect(*one)) for one in texts]


def disjoint_spans(spans: Sequence[ScoredSpan]) -> list[ScoredSpan]:
    """Return *spans* in text order, without those that overlap a surer one."""
    ordered = sorted(spans, key=lambda one: (one.start, one.end))
    if all(one.end <= following.start for one, following in pairwise(ordered)):
        return ordered
    kept: list[tuple[int, int, ScoredSpan]] = []
    for span in sorted(ordered, key=lambda one: (-one.score - PER_CHARACTER * (one.end - one.start), one.start, one.subtype or "")):
        at = bisect_left(kept, span.start, key=lambda other: other[0])
        if (at == 0 or kept[at - 1][1] <= span.start) and (at == len(kept) or span.end <= kept[at][0]):
            kept.insert(at, (span.start, span.end, span))
    return [span for _, _, span in kept]
