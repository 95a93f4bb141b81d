"""Figures of a run so far, stage by stage, counted from its events in memory that does not grow with the number of calls.

Latencies are counted in a histogram whose bucket bounds grow by 4%, from a millisecond to a day, so the relative error of a quantile
is at most 2%. Latencies outside this range count in the first or last bucket.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable
from dataclasses import dataclass, field

from piiloom.execution.watching.events import (
    Braked,
    CallAnswered,
    CallFailed,
    CallJudged,
    CallReplayed,
    CallStarted,
    Event,
    ItemRejected,
    RecordAccepted,
    StageEntered,
    StagePassed,
)

SHORTEST_S, LONGEST_S = 1e-3, 86_400.0
_GROWTH = math.log(1.04)
_BUCKETS = math.ceil(math.log(LONGEST_S / SHORTEST_S) / _GROWTH) + 1


class LatencyHistogram:
    """Counts latencies in seconds and returns any quantile to within 2%."""

    __slots__ = ("_counts", "number")

    def __init__(self) -> None:
        self._counts = array("Q", bytes(8 * _BUCKETS))
        self.number = 0

    def add(self, seconds: float) -> None:
        """Count one latency."""
        at = int(math.log(seconds / SHORTEST_S) / _GROWTH) if seconds > SHORTEST_S else 0
        self._counts[min(at, _BUCKETS - 1)] += 1
        self.number += 1

    def quantile(self, share: float) -> float | None:
        """Return the latency (s) that *share* of the calls did not exceed (nearest rank); None if there were no calls."""
        if not self.number:
            return None
        rank = max(1, math.ceil(share * self.number))
        passed = 0
        for at, count in enumerate(self._counts):
            passed += count
            if passed >= rank:
                return min(SHORTEST_S * math.exp((at + 0.5) * _GROWTH), LONGEST_S)
        return LONGEST_S  # another thread counted a call during the loop


@dataclass(slots=True, kw_only=True)
class StageMetrics:
    """Figures of one stage. ``in_flight`` are calls sent and not answered; ``failures`` only final ones.

    ``retries`` are failed tries that were made again, ``refused`` replies that could not be used or that a validator rejected.
    """

    entered: int = 0
    done: int = 0
    rejected: int = 0
    in_flight: int = 0
    answered: int = 0
    replayed: int = 0
    retries: int = 0
    failures: int = 0
    refused: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    unpriced: int = 0
    cost_usd: float = 0.0
    latencies: LatencyHistogram = field(default_factory=LatencyHistogram)

    @property
    def queued(self) -> int:
        """Estimated number of items in the stage without a call in flight: they wait for the limiter, a retry, or their turn."""
        return max(0, self.entered - self.done - self.rejected - self.in_flight)

    @property
    def p50_s(self) -> float | None:
        """Median latency of the answered calls, to within 2%."""
        return self.latencies.quantile(0.5)

    @property
    def p95_s(self) -> float | None:
        """The latency that 95% of the answered calls did not exceed, to within 2%."""
        return self.latencies.quantile(0.95)


class RunMetrics:
    """An event sink that counts. *stages* are the expected stages in order; others are added as they appear.

    The run's thread feeds it. Other threads may read it at any time and see figures of about the same moment.
    """

    def __init__(self, stages: Iterable[str] = ()) -> None:
        self._stages = {name: StageMetrics() for name in stages}
        self.accepted = 0
        self.brakes = 0
        self.braked_s = 0.0

    def __call__(self, event: Event) -> None:
        """Count *event*."""
        match event:
            case RecordAccepted():
                self.accepted += 1
            case Braked(seconds):
                self.brakes += 1
                self.braked_s += seconds
            case _:
                stage = self._stages.get(event.stage)
                if stage is None:
                    stage = self._stages[event.stage] = StageMetrics()
                _count(stage, event)

    @property
    def stages(self) -> dict[str, StageMetrics]:
        """Figures of the stages in which something has happened, in order."""
        return {name: stage for name, stage in list(self._stages.items()) if _has_begun(stage)}

    @property
    def in_flight(self) -> int:
        """Calls sent and not answered yet."""
        return sum(stage.in_flight for stage in list(self._stages.values()))

    @property
    def cost_usd(self) -> float:
        """Total cost of the answered calls whose cost is known, in USD."""
        return sum(stage.cost_usd for stage in list(self._stages.values()))


def _has_begun(stage: StageMetrics) -> bool:
    return bool(stage.entered or stage.rejected or stage.done or stage.in_flight or stage.answered or stage.replayed or stage.failures)


def _count(stage: StageMetrics, event: Event) -> None:
    match event:
        case CallStarted():
            stage.in_flight += 1
        case CallAnswered():
            _count_answer(stage, event)
        case CallReplayed():
            stage.replayed += 1
        case CallFailed(final=final):
            stage.in_flight -= 1
            stage.failures += final
            stage.retries += not final
        case CallJudged(accepted=accepted):
            stage.refused += not accepted
        case StageEntered():
            stage.entered += 1
        case StagePassed():
            stage.done += 1
        case ItemRejected():
            stage.rejected += 1


def _count_answer(stage: StageMetrics, event: CallAnswered) -> None:
    stage.in_flight -= 1
    stage.answered += 1
    stage.input_tokens += event.input_tokens
    stage.cached_tokens += event.cached_tokens
    stage.output_tokens += event.output_tokens
    stage.latencies.add(event.latency_s)
    if event.cost_usd is None:
        stage.unpriced += 1
    else:
        stage.cost_usd += event.cost_usd
