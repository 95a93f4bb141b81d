"""A pause for all calls: none starts until it is over, and then they start spread over a short time."""

from __future__ import annotations

from math import inf

# After a pause, starts are spread over a tenth of a round trip, within these bounds.
_SPREAD_OF_ROUND_TRIP = 0.1
_SHORTEST_SPREAD_S, _LONGEST_SPREAD_S = 0.02, 1.0


class RetryAfterPause:
    """Delays all starts until a given time and spaces those right after it."""

    def __init__(self) -> None:
        self._until = -inf
        self._spread_until = -inf
        self._gap_s = 0.0
        self._next_start = -inf

    def begin(self, seconds: float, now: float, *, calls: int, round_trip_s: float) -> None:
        """Pause all starts for *seconds* from *now*. A longer pause that is running is not shortened.

        *calls* is how many may want to start afterwards; their starts are spaced over about a tenth of *round_trip_s*.
        """
        if seconds <= 0 or now + seconds <= self._until:
            return
        spread = min(_LONGEST_SPREAD_S, max(_SHORTEST_SPREAD_S, _SPREAD_OF_ROUND_TRIP * round_trip_s))
        self._until = self._next_start = now + seconds
        self._spread_until = self._until + spread
        self._gap_s = spread / max(1, calls)

    def ready_at(self, now: float) -> float:
        """Return when the next call may start."""
        if now >= self._spread_until:
            return now
        return max(now, self._next_start)

    def started(self, now: float) -> None:
        """Note that a call started, so that the next one keeps its distance."""
        if now < self._spread_until:
            # Count from the scheduled time, not from now: a late timer must not delay all calls that follow.
            self._next_start = max(self._next_start, self._until) + self._gap_s

    def left_s(self, now: float) -> float:
        """Return the seconds that the pause still lasts."""
        return max(0.0, self._until - now)
