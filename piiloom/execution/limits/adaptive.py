"""Adaptive concurrency: how many calls may be in flight, up to the user's maximum.

The limit starts at 32 and doubles every 0.06 s until something speaks against it, as TCP's slow start doubles every round trip.
A refusal, or a call that was not answered in time, cuts it to what the server was seen to accept. Then it follows the curve of
CUBIC (RFC 9438): flat at the level known to work, for a time that doubles with each failed probe, then upward, slowly first and
steeply later, so that a recovered server is soon used again. The limit grows only while it is what holds calls back (RFC 7661).

An overloaded server refuses a smaller share of calls when fewer are sent. A busy gateway or a shared account may refuse a tenth
whatever is sent, and a limit that falls with every refusal would drop to nothing there. So the share is measured before the limit
has fallen far and after. If it is much the same, the limit is restored and that share is tolerated for some time. (TCP undoes
spurious cuts likewise: RFC 9438, section 4.9.)
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf, log2

_FALLEN_FAR = 0.6
# Calls, started after the fall, on which the judgment rests.
_ENOUGH_CALLS = 48
# The share counts as unchanged if it is at least this part of the one before the fall; chance alone rarely makes it less.
_UNCHANGED = 0.4
_LARGEST_SHARE = 0.5
_TOLERATED_S = 120.0
_QUIET_S = 10.0
_RECENT_CALLS = 64


@dataclass(slots=True)
class _Share:
    refused: int = 0
    ended: int = 0

    def add(self, *, refused: bool) -> None:
        self.refused += refused
        self.ended += 1

    @property
    def value(self) -> float:
        return self.refused / max(1, self.ended)


@dataclass(slots=True)
class _Fall:
    """Refusals that follow one another: the limit before the first (``top``) and the shares of refused calls before and after the fall.

    ``fallen_at`` is the number of calls started when the limit had fallen far (None: it has not yet). Only when the ``pending`` calls,
    which were in flight then, have ended does the server see fewer calls; those started after that (``lower_from``) count as after.
    """

    top: float
    last_at: float
    fallen_at: int | None = None
    pending: int = 0
    lower_from: int | None = None
    before: _Share = field(default_factory=_Share)
    after: _Share = field(default_factory=_Share)


class UnrelatedRefusals:
    """Decides which refusals should not lower the limit. Calls are numbered in the order of their starts."""

    def __init__(self) -> None:
        self._fall: _Fall | None = None
        self._recent_share = 0.0
        self._tolerated_share, self._tolerated_until = 0.0, -inf

    def tolerates(self, now: float) -> bool:
        """Whether refusals at the recent share are known to be unrelated to the number of calls in flight."""
        return now < self._tolerated_until and self._recent_share <= self._tolerated_share

    def cut(self, before: float, after: float, now: float, *, started: int, in_flight: int) -> None:
        """Note that a refusal has lowered the limit from *before* to *after*, when *started* calls had started in all."""
        if self._fall is None or now - self._fall.last_at > _QUIET_S:
            self._fall = _Fall(before, now)
        fall = self._fall
        fall.last_at = now
        if fall.fallen_at is None and after <= _FALLEN_FAR * fall.top:
            fall.fallen_at, fall.pending = started, in_flight
            fall.lower_from = None if in_flight else started

    def ended(self, number: int, *, refused: bool | None, started: int) -> None:
        """Count the end of call *number*, refused or answered (None: neither), when *started* calls had started in all."""
        if refused is not None:
            self._recent_share += (refused - self._recent_share) / _RECENT_CALLS
        fall = self._fall
        if fall is None:
            return
        if refused is not None:
            lower = fall.lower_from is not None and number > fall.lower_from
            (fall.after if lower else fall.before).add(refused=refused)
        if fall.fallen_at is not None and number <= fall.fallen_at:
            fall.pending -= 1
            if not fall.pending:
                fall.lower_from = started

    def restored(self, now: float) -> float | None:
        """Return the limit to go back to if the refusals since the fall were unrelated to it, else None."""
        fall = self._fall
        if fall is None or fall.after.ended < _ENOUGH_CALLS:
            return None
        self._fall = None
        share = fall.after.value
        if not _UNCHANGED * fall.before.value <= share <= _LARGEST_SHARE:
            return None
        self._tolerated_share = max(2 * share, self._recent_share) + 0.02
        self._tolerated_until = now + _TOLERATED_S
        return fall.top


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
