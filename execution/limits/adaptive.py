"""How many calls may be in flight: as many as the server takes, up to what the user allows.

Upward it starts high and doubles every few hundredths of a second until something speaks against it, as TCP's slow start
doubles every round trip. A refusal cuts the limit to what the server was seen to accept, at most once a round trip. Then
the curve of CUBIC (RFC 9438) leads: flat at what is known to work, for a time that doubles with each probe that fails,
then upward, slowly first and steeply later, so that a server that got better is soon used again. The limit grows only
while it is what holds calls back (RFC 7661). Servers that queue instead of refusing are ``QueueWatch``'s business.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, log2

from piiloom.execution.limits.queue_watch import QueueWatch
from piiloom.execution.limits.stray_refusals import StrayRefusals

_START = 32
_DOUBLING_S = 0.06
# RFC 9438, section 5: the constant of the curve, in calls per cubic second.
_CUBIC = 0.4
_SHORTEST_HOLD_S, _LONGEST_HOLD_S = 1.0, 60.0
_LONGEST_HOLD_FOR_WAIT_S = 20.0


@dataclass(slots=True)
class Start:
    """A call's start: how many were in flight with it, in which generation of the limit, after how many refusals."""

    level: int
    generation: int
    refused_before: int


@dataclass(slots=True)
class _Round:
    """A round trip that had refusals: the limit *before* it, and how many calls of then are *pending*."""

    before: float
    pending: int


class AdaptiveLimit:
    """Counts the calls in flight and moves their limit between 1 and *most*."""

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
        """How many may be in flight at *now*."""
        if self._ramping and self._ramp_began is not None:
            self._value = min(float(self.most), _START * 2.0 ** ((now - self._ramp_began) / _DOUBLING_S))
            self._ramping = self._value < self.most
        return int(self._value)

    def opens_at(self, now: float) -> float:
        """When one more may start: now, soon (while the limit ramps up), or not before another one ends."""
        if self.in_flight < self.limit(now):
            return now
        if self._ramping and self._ramp_began is not None:
            return self._ramp_began + _DOUBLING_S * log2((self.in_flight + 1) / _START)
        return inf

    def start(self, now: float) -> Start:
        """One more is in flight."""
        if self._ramp_began is None:
            self._ramp_began = now
        self.in_flight += 1
        return Start(self.in_flight, self._generation, self.refused_count)

    def failed(self, start: Start, now: float) -> None:
        """A call ended in a way that says nothing about the limit."""
        self.in_flight -= 1
        self._settle(start, now, refused=False)

    def answered(self, start: Start, now: float, stage: str, latency_s: float) -> None:
        """A call was answered."""
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
        """The server took one call fewer than were sent; it asks to wait for *wait_s*."""
        self.in_flight -= 1
        others = self.refused_count - start.refused_before
        self.refused_count += 1
        self._ramping = False
        if self._strays.tolerates(now):
            self._settle(start, now, refused=True)
            return
        if self._round is None:
            self._begin_round(now, wait_s)
        # In flight at its start without those refused since; or, as that may miss some, what is in flight still.
        accepted = max(start.level - 1 - others, self.in_flight, 1)
        self._value = self._plateau = min(self._value, float(accepted))
        self._settle(start, now, refused=True)

    def refused_for_rate(self, start: Start, now: float) -> None:
        """A rate was exhausted: that says nothing about how many calls may be in flight."""
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
        """Begin the flat part of the curve here; twice as long as the last when the curve had risen only a little since."""
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
