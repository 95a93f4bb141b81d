"""One brake for all calls: nobody starts until it is over, and then not all in the same instant."""

from __future__ import annotations

from math import inf

# After a brake, calls start over a tenth of a round trip, within these bounds.
_SPREAD_OF_ROUND_TRIP = 0.1
_SHORTEST_SPREAD_S, _LONGEST_SPREAD_S = 0.02, 1.0


class Brake:
    """Holds back all starts until a moment, and spaces those that come right after it."""

    def __init__(self) -> None:
        self._until = -inf
        self._spread_until = -inf
        self._gap_s = 0.0
        self._next_start = -inf

    def pull(self, seconds: float, now: float, *, calls: int, round_trip_s: float) -> None:
        """Nobody starts for *seconds*; then up to *calls* at once will want to. A longer brake is not shortened."""
        if seconds <= 0 or now + seconds <= self._until:
            return
        spread = min(_LONGEST_SPREAD_S, max(_SHORTEST_SPREAD_S, _SPREAD_OF_ROUND_TRIP * round_trip_s))
        self._until = self._next_start = now + seconds
        self._spread_until = self._until + spread
        self._gap_s = spread / max(1, calls)

    def ready_at(self, now: float) -> float:
        """When the next call may start."""
        if now >= self._spread_until:
            return now
        return max(now, self._next_start)

    def started(self, now: float) -> None:
        """A call started."""
        if now < self._spread_until:
            # From its own time on, not from now: a timer that rings late must not slow down all that follow.
            self._next_start = max(self._next_start, self._until) + self._gap_s

    def left_s(self, now: float) -> float:
        """For how long the brake holds yet."""
        return max(0.0, self._until - now)
