"""A limit per minute, of requests or of tokens, enforced as a steady pace.

Servers enforce such a limit over the last 60 seconds (sliding window), per clock minute (fixed window), or with a bucket that
refills steadily (token bucket; Turner 1986, and GCRA in ITU-T I.371). A steady pace just below the limit, with a burst of about a
second, satisfies all three. A sliding window is checked in addition: calls that are large against the limit come in
lumps, and the bucket alone would let one too many into some minutes.
"""

from __future__ import annotations

from math import inf, sqrt

from piiloom.execution.limits.minute_window import Cell, MinuteWindow

# The pace as a share of the limit; the rest is the burst. pace * 60 s + burst never exceeds the limit of a minute.
_PACE = 0.985
_BURST_S = (1 - _PACE) * 60
# Minimum burst in mean calls, for calls so large that a second's worth is less than one. The bucket must not add to the
# window's delays.
_BURST_CALLS = 2.0
# Room that the window leaves for calls larger than charged: this many standard deviations, at most 3% of the limit.
_MARGIN_DEVIATIONS, _LARGEST_MARGIN = 2.0, 0.03
_ROUNDING = 1e-6


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

    def take(self, need: float, now: float) -> Cell:
        """Charge *need* for a call that starts now; return the cell for ``settle``."""
        if self.limit is not None:
            self._refill(now, self.limit)
            self._level -= need
        self._uncertain += 1
        self._mean_need += (need - self._mean_need) * 0.05
        return self._window.add(need, now)

    def settle(self, cell: Cell, by: float, *, learn: bool = False) -> None:
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
