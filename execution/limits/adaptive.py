"""Adaptive concurrency: how many calls may be in flight, up to the user's maximum.

The limit starts at 32 and doubles every 0.06 s until something speaks against it, as TCP's slow start doubles every round trip.
A refusal cuts it to what the server was seen to accept, at most once per round trip. Then it follows the curve of CUBIC
(RFC 9438): flat at the level known to work, for a time that doubles with each failed probe, then upward, slowly first and
steeply later, so that a recovered server is soon used again. The limit grows only while it is what holds calls back (RFC 7661).
Servers that queue calls instead of refusing them are handled by ``QueueWatch``.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, log2

from piiloom.execution.limits.queue_watch import QueueWatch
from piiloom.execution.limits.stray_refusals import StrayRefusals

_START = 32
_DOUBLING_S = 0.06
# RFC 9438, section 5: the constant C of the cubic curve, in calls per cubic second.
_CUBIC = 0.4
_SHORTEST_HOLD_S, _LONGEST_HOLD_S = 1.0, 60.0
_LONGEST_HOLD_FOR_WAIT_S = 20.0


@dataclass(slots=True)
class Start:
    """What a call remembers of its start.

    ``level``: calls in flight then, itself included; ``generation``: how often the limit had been reset; ``refused_before``: refusals.
    """

    level: int
    generation: int
    refused_before: int


@dataclass(slots=True)
class _Round:
    """A round trip with refusals: the limit *before* it, and the number of calls in flight then that have not ended (*pending*)."""

    before: float
    pending: int


class AdaptiveLimit:
    """Counts the calls in flight and moves their limit between 1 and *most*. Times (*now*) are seconds of one clock."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.in_flight = 0
        self.refused_count = 0
        self.round_trip_s = 0.0
        self._value = float(min(most, _START))
        self._ramp_began: float | None = None
        self._ramping = most > _START
        self._generation = 0
        self._plateau: float | None = None
        self._hold_s, self._flat_since = 0.0, 0.0
        self._round: _Round | None = None
        self._strays = StrayRefusals()
        self._watch = QueueWatch()

    def limit(self, now: float) -> int:
        """Return how many calls may be in flight at *now*."""
        if self._ramping and self._ramp_began is not None:
            self._value = min(float(self.most), _START * 2.0 ** ((now - self._ramp_began) / _DOUBLING_S))
            self._ramping = self._value < self.most
        return int(self._value)

    def opens_at(self, now: float) -> float:
        """Return when one more call may start: *now*, soon (during the ramp-up), or ``inf``: not before another call ends."""
        if self.in_flight < self.limit(now):
            return now
        if self._ramping and self._ramp_began is not None:
            return self._ramp_began + _DOUBLING_S * log2((self.in_flight + 1) / _START)
        return inf

    def start(self, now: float) -> Start:
        """Count one more call in flight."""
        if self._ramp_began is None:
            self._ramp_began = now
        self.in_flight += 1
        return Start(self.in_flight, self._generation, self.refused_count)

    def failed(self, start: Start, now: float) -> None:
        """End a call whose outcome says nothing about the limit."""
        self.in_flight -= 1
        self._settle(start, now, refused=False)

    def answered(self, start: Start, now: float, stage: str, latency_s: float) -> None:
        """End a call of *stage* that was answered after *latency_s*, and adapt the limit."""
        self.in_flight -= 1
        self.round_trip_s += (latency_s - self.round_trip_s) * (0.05 if self.round_trip_s else 1.0)
        self._settle(start, now, refused=False)
        if self._round is not None:
            return
        wish = self._watch.answered(stage, latency_s, start.level, start.generation, self._value)
        if wish is not None:
            self._obey(wish, now)
        elif start.level >= int(self._value) and not self._ramping and self._watch.is_calm:
            self._grow(now)

    def refused(self, start: Start, now: float, wait_s: float) -> None:
        """End a call that the server refused because of too many calls; *wait_s* is the requested wait. Cuts the limit."""
        self.in_flight -= 1
        others = self.refused_count - start.refused_before
        self.refused_count += 1
        self._ramping = False
        if self._strays.tolerates(now):
            self._settle(start, now, refused=True)
            return
        if self._round is None:
            self._begin_round(now, wait_s)
        # Accepted: the calls in flight at its start, less those refused since. This may be too low, so it is at least the calls
        # still in flight.
        accepted = max(start.level - 1 - others, self.in_flight, 1)
        self._value = self._plateau = min(self._value, float(accepted))
        self._settle(start, now, refused=True)

    def refused_for_rate(self, start: Start, now: float) -> None:
        """End a call refused because a rate was exhausted; that says nothing about the concurrency."""
        self.in_flight -= 1
        self.refused_count += 1
        self._settle(start, now, refused=False)

    def _begin_round(self, now: float, wait_s: float) -> None:
        self._flatten(now, wait_s)
        self._round = _Round(self._value, self.in_flight + 1)
        self._watch.abandon_trial()

    def _settle(self, start: Start, now: float, *, refused: bool) -> None:
        self._strays.note(refused=refused, generations_ago=self._generation - start.generation)
        if self._round is None or start.generation == self._generation:
            return
        self._round.pending -= 1
        if self._round.pending:
            return
        restored = self._strays.judge(self._round.before, now)
        self._round = None
        if restored is not None:
            self._value = self._plateau = restored

    def _flatten(self, now: float, wait_s: float) -> None:
        """Start a new generation and the flat part of the curve at the present level, after the server's wait of *wait_s*.

        The flat part lasts twice as long as the last one if the limit had risen only a little above its last plateau.
        """
        self._generation += 1
        self._strays.begin_generation()
        self._watch.forget_window(self._generation)
        if self._plateau is None or self._value > self._plateau + max(2.0, 0.1 * self._plateau):
            self._hold_s = max(_SHORTEST_HOLD_S, 4 * self.round_trip_s)
        elif self._value > self._plateau:
            self._hold_s = min(2 * self._hold_s, _LONGEST_HOLD_S)
        self._hold_s = max(self._hold_s, min(4 * wait_s, _LONGEST_HOLD_FOR_WAIT_S))
        self._flat_since = now + wait_s

    def _obey(self, wish: float, now: float) -> None:
        self._ramping = False
        self._flatten(now, 0.0)
        self._value = self._plateau = max(1.0, min(wish, float(self.most)))

    def _grow(self, now: float) -> None:
        risen_s = now - self._flat_since - self._hold_s
        if risen_s > 0 and self._plateau is not None:
            curve = self._plateau + _CUBIC * risen_s**3
            self._value = max(self._value, min(float(self.most), self._value + 1, curve))
