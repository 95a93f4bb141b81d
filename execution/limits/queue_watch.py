"""Seeing a queue inside a server that refuses nothing: latency climbs, throughput does not.

In the line of TCP Vegas (Brakmo & Peterson 1995) and of the gradient limits in Netflix's concurrency-limits: what a call
takes is compared with what such a call took when nothing queued. Two things differ from a network. Stages, and replies
within a stage, differ in length: so each stage has its own baseline, a low quantile, and latencies count as multiples of
it. And a server may simply have become slower: so every cut is an experiment. By Little's law the work a server really
does at once is calls in flight x (latency without a queue / latency now). Does that stay as it was with fewer calls in
flight, they did nothing but queue; does it fall with them, there was no queue, and the cut is taken back.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, exp, inf, log

from piiloom.execution.limits.baselines import StageBaselines, low_quantile

_SMALLEST_WINDOW, _SMALLEST_TRIAL = 32, 64
# What a coarse clock calls 0 s still has a logarithm.
_SHORTEST_LATENCY_S = 1e-6
# Up to twice the baseline is variance; once a queue was proven, half of that is drained as well.
_TOLERANCE, _TOLERANCE_PROVEN = log(2.0), log(1.5)
_CALM = log(1.3)
# A queue shorter than this is not worth a cut: on such a server the noise of our own machine is larger.
_SHORTEST_QUEUE_S = 0.05
# Work above this part of what was done before is as much, noise taken off; below the other it is less beyond doubt.
_SAME_WORK, _CLEARLY_LESS = 0.93, 0.8
_HEADROOM = 1.4
# So far the limit may rise from where it was last proven before it is tried again.
_UNPROVEN_RISE = 1.5
# One cut leaves at least half of what was in flight; near the goal, where noise is as large as the queue, more.
_LEAST_LEFT, _LEAST_LEFT_NEAR = 0.5, 0.75
# The effect of a cut is judged by more answers than its occasion, since the judgement lasts.
_TRIAL_ROUND_TRIPS = 3


@dataclass(frozen=True, slots=True)
class _Trial:
    """A cut whose effect is awaited: the limit and the calls in flight before it, and the work that was done then."""

    in_flight: float
    work: float
    limit: float


class QueueWatch:
    """Looks at the answers of one server, a window at a time, and says how many calls in flight are worth having."""

    def __init__(self) -> None:
        self._baselines = StageBaselines()
        self._trial: _Trial | None = None
        self._proven = self._descending = False
        self._capacity, self._proven_at = 0.0, inf
        self.is_calm = True
        # The first answers to come are the shortest of the first wave: they say little about all.
        self._first_wave = True
        self._since = 0
        self._clear()

    def forget_window(self, generation: int) -> None:
        """The limit changed: only calls that started in *generation* or later count from here on."""
        self._since = generation
        self._clear()

    def abandon_trial(self) -> None:
        """Something else changed the limit: what is seen next proves nothing about the last cut."""
        self._trial = None
        self._descending = False

    def answered(self, stage: str, latency_s: float, in_flight: int, generation: int, limit: float) -> float | None:
        """Note an answer to a call that started with *in_flight* others; the new limit, when there is reason for one."""
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
            # While calls queue the server is busy to the last: what it does now is what it can do.
            self._capacity += (work - self._capacity) * (0.3 if self._capacity else 1.0)
            wish = least if self._descending else max(in_flight / exp(level) * _HEADROOM + 1, least)
        elif in_flight >= self._proven_at * _UNPROVEN_RISE:
            # A baseline that ages could follow a queue that grows as slowly: look whether the rise was of any use.
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
        """Whether there is reason for a cut, as latencies are *level* (in logarithms) above their baseline."""
        if self._descending:
            return True
        if latency_s * (1 - exp(-level)) < _SHORTEST_QUEUE_S:
            return False
        # From a long queue it goes down step by step until work is lost: the baseline may hold part of the queue itself.
        self._descending = level > _TOLERANCE
        return level > (_TOLERANCE_PROVEN if self._proven else _TOLERANCE)

    def _end_trial(self, trial: _Trial, in_flight: float, work: float, level: float) -> float | None:
        self._trial = None
        if work >= trial.work * _SAME_WORK:
            self._proven, self._proven_at = True, in_flight
            return None
        self._descending = False
        if work <= trial.work * _CLEARLY_LESS:
            # Nothing queued any more, for certain: what calls take now is what they take without a queue.
            self._baselines.shift(level)
            self._capacity, self.is_calm = 0.0, True
        # As many as would have done the work that was done before, and a little more to be sure.
        wish = min(trial.limit, in_flight * trial.work / work * 1.1)
        self._proven = wish < trial.limit * 0.95
        self._proven_at = wish
        return wish

    def _clear(self) -> None:
        self._excesses: list[float] = []
        self._in_flight = 0
        self._latency = self._unqueued = 0.0
