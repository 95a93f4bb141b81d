"""Detect a queue inside a server that refuses nothing: latency rises, but throughput does not.

As in TCP Vegas (Brakmo & Peterson 1995) and the gradient limits of Netflix's concurrency-limits, the latency of calls is compared
with the latency of such calls without a queue. Two things differ from a network. First, stages, and replies within a stage, differ
in length. So each stage has its own baseline, a low quantile, and latencies count as multiples of it. Second, a server may simply
have become slower. So every cut of the limit is an experiment. By Little's law, the work that a server really does at once is
calls in flight x (latency without a queue / latency now). If it stays the same with fewer calls in flight, the others were
only queueing. If it falls with them, there was no queue, and the cut is undone.

Excess latencies and their thresholds are natural logarithms of latency / baseline.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, exp, inf, log

from piiloom.execution.limits.baselines import StageBaselines, low_quantile

_SMALLEST_WINDOW, _SMALLEST_TRIAL = 32, 64
# A coarse clock may measure 0 s, which has no logarithm.
_SHORTEST_LATENCY_S = 1e-6
# Up to twice the baseline counts as variance; once a queue was proven, up to 1.5 times.
_TOLERANCE, _TOLERANCE_PROVEN = log(2.0), log(1.5)
_CALM = log(1.3)
# A shorter queue is not worth a cut: timing noise of our own machine is larger.
_SHORTEST_QUEUE_S = 0.05
# Work relative to before a cut: from the first on it counts as unchanged (noise), up to the second as clearly less.
_SAME_WORK, _CLEARLY_LESS = 0.93, 0.8
_HEADROOM = 1.4
# The limit may rise by this factor above the level last proven useful before a cut tests it again.
_UNPROVEN_RISE = 1.5
# A cut keeps at least this part of the calls in flight; the larger one applies to short queues, where noise matters more.
_LEAST_LEFT, _LEAST_LEFT_NEAR = 0.5, 0.75
# A cut is judged over more answers than led to it, since the judgment lasts.
_TRIAL_ROUND_TRIPS = 3


@dataclass(frozen=True, slots=True)
class _Trial:
    """A cut whose effect is being measured: calls in flight, work done at once, and the limit, all from before it."""

    in_flight: float
    work: float
    limit: float


class QueueWatch:
    """Examines the answers of one server, one window at a time, and proposes how many calls in flight are useful."""

    def __init__(self) -> None:
        self._baselines = StageBaselines()
        self._trial: _Trial | None = None
        self._proven = self._descending = False
        self._capacity, self._proven_at = 0.0, inf
        self.is_calm = True
        # The first answers are the shortest of the first calls and not representative, so the first window is skipped.
        self._first_wave = True
        self._since = 0
        self._clear()

    def forget_window(self, generation: int) -> None:
        """Start a new window after a change of the limit; only calls started in *generation* or later count."""
        self._since = generation
        self._clear()

    def abandon_trial(self) -> None:
        """Drop the running experiment, since something else changed the limit."""
        self._trial = None
        self._descending = False

    def answered(self, stage: str, latency_s: float, in_flight: int, generation: int, limit: float) -> float | None:
        """Record an answer to a call that started with *in_flight* calls in flight, itself included; *limit* is the present limit.

        Return a new limit if there is reason for one, else None.
        """
        latency_s = max(latency_s, _SHORTEST_LATENCY_S)
        excess = self._baselines.excess(stage, latency_s, frozen=self._trial is not None)
        if excess is None or generation < self._since:
            return None
        self._excesses.append(excess)
        self._in_flight += in_flight
        self._latency += latency_s
        self._unqueued += latency_s * exp(-excess)
        enough = max(_SMALLEST_WINDOW, limit) if self._trial is None else max(_SMALLEST_TRIAL, _TRIAL_ROUND_TRIPS * limit)
        if len(self._excesses) < enough:
            return None
        wish = None if self._first_wave else self._judge(limit)
        self._first_wave = False
        self._clear()
        return wish

    def _judge(self, limit: float) -> float | None:
        count = len(self._excesses)
        level = low_quantile(self._excesses)
        in_flight = self._in_flight / count
        work = in_flight * self._unqueued / self._latency
        self.is_calm = level < _CALM
        if self._trial is not None:
            wish = self._end_trial(self._trial, in_flight, work, level)
            if wish is not None:
                return wish
        least = in_flight * (_LEAST_LEFT if level > _TOLERANCE else _LEAST_LEFT_NEAR)
        if self._queues(level, self._latency / count):
            # While calls queue, the server works at full capacity: its present work is its capacity.
            self._capacity += (work - self._capacity) * (0.3 if self._capacity else 1.0)
            wish = least if self._descending else max(in_flight / exp(level) * _HEADROOM + 1, least)
        elif in_flight >= self._proven_at * _UNPROVEN_RISE:
            # A slowly growing queue could raise the baseline unnoticed, so test whether the rise of the limit was useful.
            self._capacity, wish = work, in_flight / _UNPROVEN_RISE
        else:
            return None
        wish = float(ceil(wish))
        if wish >= limit:
            self._descending = False
            return None
        self._trial = _Trial(in_flight, self._capacity, limit)
        return wish

    def _queues(self, level: float, latency_s: float) -> bool:
        """Whether there is reason for a cut. *level* is the excess (logarithm) of the window, *latency_s* its mean latency."""
        if self._descending:
            return True
        if latency_s * (1 - exp(-level)) < _SHORTEST_QUEUE_S:
            return False
        # A long queue is reduced step by step until work is lost, because the baseline itself may include part of it.
        self._descending = level > _TOLERANCE
        return level > (_TOLERANCE_PROVEN if self._proven else _TOLERANCE)

    def _end_trial(self, trial: _Trial, in_flight: float, work: float, level: float) -> float | None:
        self._trial = None
        if work >= trial.work * _SAME_WORK:
            self._proven, self._proven_at = True, in_flight
            return None
        self._descending = False
        if work <= trial.work * _CLEARLY_LESS:
            # Surely nothing queues now, so the present latencies become the baseline.
            self._baselines.shift(level)
            self._capacity, self.is_calm = 0.0, True
        # The calls needed for the work that was done before, plus 10% to be sure.
        wish = min(trial.limit, in_flight * trial.work / work * 1.1)
        self._proven = wish < trial.limit * 0.95
        self._proven_at = wish
        return wish

    def _clear(self) -> None:
        self._excesses: list[float] = []
        self._in_flight = 0
        self._latency = self._unqueued = 0.0
