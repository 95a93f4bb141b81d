"""Adaptive concurrency: how many calls may be in flight, up to the user's maximum.

The limit starts at 32 and doubles every 0.06 s until something speaks against it, as TCP's slow start doubles every round trip.
A refusal, or a call that was not answered in time, cuts it to what the server was seen to accept. Then it follows the curve of
CUBIC (RFC 9438): flat at the level known to work, for a time that doubles with each failed probe, then upward, slowly first and
steeply later, so that a recovered server is soon used again. The limit grows only while it is what holds calls back (RFC 7661).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, log2

from piiloom.execution.limits.unrelated_refusals import UnrelatedRefusals

_START = 32
_DOUBLING_S = 0.06
# RFC 9438, section 5: the constant C of the cubic curve, in calls per cubic second.
_CUBIC = 0.4
_SHORTEST_HOLD_S, _LONGEST_HOLD_S = 1.0, 60.0
_LONGEST_HOLD_FOR_WAIT_S = 20.0


@dataclass(slots=True)
class Start:
    """What a call remembers of its start.

    ``number``: calls started by then; ``level``: calls in flight (both include itself); ``refused_before``: refusals.
    """

    number: int
    level: int
    refused_before: int


class AdaptiveLimit:
    """Counts the calls in flight and moves their limit between 1 and *most*. Times (*now*) are seconds of one clock.

    ``refused_count`` counts refusals of any cause and time-outs; ``round_trip_s`` is the mean latency of recent answers.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self.in_flight = 0
        self.refused_count = 0
        self.round_trip_s = 0.0
        self._value = float(min(most, _START))
        self._ramp_began: float | None = None
        self._ramping = most > _START
        self._started = 0
        # Calls that had started when the limit was cut; what happens to them says nothing about the new limit.
        self._started_at_cut = 0
        self._plateau: float | None = None
        self._hold_s, self._flat_since = 0.0, 0.0
        self._unrelated = UnrelatedRefusals()

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
        self._started += 1
        self.in_flight += 1
        return Start(self._started, self.in_flight, self.refused_count)

    def failed(self, start: Start) -> None:
        """End a call whose outcome says nothing about the limit."""
        self.in_flight -= 1
        self._unrelated.ended(start.number, refused=None, started=self._started)

    def answered(self, start: Start, now: float, latency_s: float) -> None:
        """End a call that was answered after *latency_s*, and adapt the limit."""
        self.in_flight -= 1
        self.round_trip_s += (latency_s - self.round_trip_s) * (0.05 if self.round_trip_s else 1.0)
        self._count(start, now, refused=False)
        if start.level >= int(self._value) and not self._ramping:
            self._grow(now)

    def refused(self, start: Start, now: float, wait_s: float) -> None:
        """End a call that was refused or not answered in time: too many are in flight. *wait_s* is the wait that the server asks for."""
        self.in_flight -= 1
        others = self.refused_count - start.refused_before
        self.refused_count += 1
        self._ramping = False
        if not self._unrelated.tolerates(now):
            self._cut(start, max(start.level - 1 - others, self.in_flight, 1), now, wait_s)
        self._count(start, now, refused=True)

    def refused_for_rate(self, start: Start) -> None:
        """End a call refused because a rate was exhausted; that says nothing about the concurrency."""
        self.refused_count += 1
        self.failed(start)

    def _cut(self, start: Start, accepted: int, now: float, wait_s: float) -> None:
        """Lower the limit to *accepted*: the calls in flight at the start of the refused one, less those refused since.

        That may be too low, so it is at least the calls still in flight. Refusals of calls that were in flight together are one event.
        """
        before = self._value
        if start.number > self._started_at_cut:
            self._started_at_cut = self._started
            self._flatten(now, wait_s)
        self._value = self._plateau = min(before, float(accepted))
        self._unrelated.cut(before, self._value, now, started=self._started, in_flight=self.in_flight)

    def _count(self, start: Start, now: float, *, refused: bool) -> None:
        self._unrelated.ended(start.number, refused=refused, started=self._started)
        restored = self._unrelated.restored(now)
        if restored is not None:
            self._value = self._plateau = restored

    def _flatten(self, now: float, wait_s: float) -> None:
        """Start the flat part of the curve at the present level, after the server's wait of *wait_s*.

        The flat part lasts twice as long as the last one if the limit had risen only a little above its last plateau.
        """
        if self._plateau is None or self._value > self._plateau + max(2.0, 0.1 * self._plateau):
            self._hold_s = max(_SHORTEST_HOLD_S, 4 * self.round_trip_s)
        elif self._value > self._plateau:
            self._hold_s = min(2 * self._hold_s, _LONGEST_HOLD_S)
        self._hold_s = max(self._hold_s, min(4 * wait_s, _LONGEST_HOLD_FOR_WAIT_S))
        self._flat_since = now + wait_s

    def _grow(self, now: float) -> None:
        risen_s = now - self._flat_since - self._hold_s
        if risen_s > 0 and self._plateau is not None:
            curve = self._plateau + _CUBIC * risen_s**3
            self._value = max(self._value, min(float(self.most), self._value + 1, curve))
