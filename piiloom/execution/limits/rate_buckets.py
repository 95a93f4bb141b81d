"""Limits per minute, of requests or of tokens, enforced as a steady pace; token estimates corrected; a pause for all calls.

Servers enforce such a limit over the last 60 seconds (sliding window), per clock minute (fixed window), or with a bucket that
refills steadily (token bucket; Turner 1986, and GCRA in ITU-T I.371). A steady pace just below the limit, with a burst of about a
second, satisfies all three. A sliding window is checked in addition: calls that are large against the limit come in
lumps, and the bucket alone would let one too many into some minutes. Its memory does not grow with the number of calls.

Estimates of tokens are made without a tokenizer and may be off by a factor that differs between languages and stages. With the running
ratio of actual to estimated tokens of each stage, the long-run usage matches a token limit whatever the factor.

After a pause calls start spread over a short time.
"""

from __future__ import annotations

from collections import deque
from math import inf, sqrt

# A little more than the server's minute, since requests take different times to arrive.
_WINDOW_S = 60.25
_CELL_S = 0.25
_ROUNDING = 1e-6


class BucketCell:
    """The amount charged within a quarter of a second. It can be corrected until the cell leaves the window (``gone``)."""

    __slots__ = ("amount", "gone", "last_at", "opened_at")

    def __init__(self, now: float) -> None:
        self.opened_at = self.last_at = now
        self.amount = 0.0
        self.gone = False


class MinuteWindow:
    """The sum of the amounts charged in the last minute, in about 240 cells at most."""

    def __init__(self) -> None:
        self._cells: deque[BucketCell] = deque()
        self.total = 0.0

    def add(self, amount: float, now: float) -> BucketCell:
        """Add *amount* and return the cell that holds it, for later corrections."""
        if not self._cells or now - self._cells[-1].opened_at >= _CELL_S:
            self._cells.append(BucketCell(now))
        cell = self._cells[-1]
        cell.last_at = now
        cell.amount += amount
        self.total += amount
        return cell

    def correct(self, cell: BucketCell, by: float) -> None:
        """Add *by* (may be negative) to *cell*, unless it has left the window."""
        if not cell.gone:
            cell.amount += by
            self.total += by

    def fits_at(self, need: float, most: float, now: float) -> float:
        """Return when *need* more fits into the window under the limit *most*.

        A *need* above *most* fits when the window is empty.
        """
        self.expire(now)
        excess = self.total + min(need, most) - most
        if excess <= _ROUNDING:
            return now
        for cell in self._cells:
            excess -= cell.amount
            if excess <= _ROUNDING:
                return cell.last_at + _WINDOW_S
        return now

    def expire(self, now: float) -> None:
        """Drop the cells that are over a minute old."""
        cells = self._cells
        while cells and cells[0].last_at + _WINDOW_S <= now:
            cell = cells.popleft()
            cell.gone = True
            self.total -= cell.amount
        if not cells:
            self.total = 0.0


# The pace as a share of the limit; the rest is the burst. pace * 60 s + burst never exceeds the limit of a minute.
_PACE = 0.985
_BURST_S = (1 - _PACE) * 60
# Minimum burst in mean calls, for calls so large that a second's worth is less than one. The bucket must not add to the
# window's delays.
_BURST_CALLS = 2.0
# Room that the window leaves for calls larger than charged: this many standard deviations, at most 3% of the limit.
_MARGIN_DEVIATIONS, _LARGEST_MARGIN = 2.0, 0.03


class RateBucket:
    """One limit per minute: *declared* by the user, told by the server, or unknown (then charges are only counted)."""

    def __init__(self, declared: float | None) -> None:
        self._declared = declared
        self._told: float | None = None
        self.limit = declared
        self._level = 0.0
        self._filled_at: float | None = None
        self._hold_until = -inf
        self._bound_at = -inf
        self._window = MinuteWindow()
        self._mean_need = 1.0
        self._uncertain, self._mean_square_error = 0, 0.0

    def ready_at(self, need: float, now: float) -> float:
        """Return when a call that takes *need* may start."""
        at = max(now, self._hold_until)
        if self.limit is not None:
            limit = self.limit
            self._refill(now, limit)
            # Larger calls leave a debt that is paid off before the next call starts. So calls above the burst pass, too.
            short = min(need, self._burst(limit)) - self._level
            if short > _ROUNDING:
                at = max(at, now + short / (limit * _PACE / 60))
            at = max(at, self._window.fits_at(need, limit - self._margin(limit), now))
        if at > now:
            self._bound_at = now
        return at

    def take(self, need: float, now: float) -> BucketCell:
        """Charge *need* for a call that starts now; return the cell for ``settle``."""
        if self.limit is not None:
            self._refill(now, self.limit)
            self._level -= need
        self._uncertain += 1
        self._mean_need += (need - self._mean_need) * 0.05
        return self._window.add(need, now)

    def settle(self, cell: BucketCell, by: float, *, learn: bool = False) -> None:
        """Correct the charge of a call that has ended: it took *by* more than charged (negative: a refund).

        *learn* uses the difference to estimate how far charges are off.
        """
        self._uncertain -= 1
        if by:
            self._window.correct(cell, by)
            if self.limit is not None:
                self._level -= by
        if learn:
            self._mean_square_error += (by * by - self._mean_square_error) * 0.05

    def is_tight(self, now: float) -> bool:
        """Whether calls wait for this limit, or nearly do, so that a refusal is probably due to it."""
        if self._hold_until > now or now - self._bound_at < 2.0:
            return True
        self._window.expire(now)
        return self.limit is not None and self._window.total >= 0.8 * self.limit

    def observe(self, limit: float | None, remaining: float | None, reset_s: float | None, now: float) -> None:
        """Apply a response's rate headers: the limit, what remains of it, and the seconds until it resets.

        The lower of the declared limit and the told one holds.
        """
        if limit is not None and limit > 0 and limit != self._told:
            self._told = limit
            if self.limit is None:
                self._filled_at = now
            self.limit = limit if self._declared is None else min(limit, self._declared)
        if remaining is None:
            return
        self._hold_until = now + self._hold_s(limit, remaining, reset_s) if remaining < self._mean_need else -inf

    def _hold_s(self, limit: float | None, remaining: float, reset_s: float | None) -> float:
        if reset_s is None or reset_s <= 0:
            return 0.0
        if not limit or limit <= remaining:
            return reset_s
        refill = (limit - remaining) / reset_s
        if refill > 1.2 * limit / 60:
            return reset_s  # faster than a steady refill: a fixed window, whose whole limit is back at its end
        return min(reset_s, max(self._burst(limit), self._mean_need) / refill)

    def _margin(self, limit: float) -> float:
        """Return the room kept for what calls in progress and the next one may take beyond their charges (errors are independent)."""
        return min(_LARGEST_MARGIN * limit, _MARGIN_DEVIATIONS * sqrt(self._mean_square_error * (self._uncertain + 1)))

    def _burst(self, limit: float) -> float:
        return max(limit * _BURST_S / 60, _BURST_CALLS * self._mean_need)

    def _refill(self, now: float, limit: float) -> None:
        """Refill the bucket for the time passed."""
        since, self._filled_at = self._filled_at, now
        if since is None:
            self._level = max(limit * _BURST_S / 60, 1.0)
        else:
            # Refunds may lift the level above the burst for a moment; refilling never does.
            self._level = max(self._level, min(self._level + (now - since) * limit * _PACE / 60, self._burst(limit)))


# Decay per call: about the last fifty calls count.
_FADING = 0.98
_LEAST, _MOST = 0.02, 50.0


class TokenRatios:
    """Actual over estimated tokens for each stage; a new stage uses the ratio of all calls."""

    def __init__(self) -> None:
        self._all = _Sums()
        self._stages: dict[str, _Sums] = {}

    def corrected(self, estimated: float, stage: str) -> float:
        """Return the tokens that a call of *stage* is likely to take, at least 1."""
        return max(1.0, estimated * self._stages.get(stage, self._all).ratio)

    def learn(self, estimated: float, actual: float, stage: str) -> None:
        """Record that a call of *stage* took *actual* tokens."""
        self._all.add(estimated, actual)
        sums = self._stages.get(stage)
        if sums is None:
            sums = self._stages[stage] = _Sums()
        sums.add(estimated, actual)


class _Sums:
    __slots__ = ("_actual", "_estimated", "ratio")

    def __init__(self) -> None:
        self._actual = self._estimated = 0.0
        self.ratio = 1.0

    def add(self, estimated: float, actual: float) -> None:
        self._actual = self._actual * _FADING + actual
        self._estimated = self._estimated * _FADING + max(1.0, estimated)
        self.ratio = min(_MOST, max(_LEAST, self._actual / self._estimated))


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
