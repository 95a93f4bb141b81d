"""A limit per minute, of requests or of tokens, kept evenly.

Servers enforce such a limit in one of three ways: over the last 60 seconds (sliding window), by the minute of the clock
(fixed window), or with a bucket that refills steadily (token bucket; Turner 1986, and GCRA in ITU-T I.371). What fits all
three is a steady pace just below the limit with a burst of about a second. A window over the last minute stands guard
beside the bucket: calls that are large against the limit come in lumps, and a bucket alone would let one lump too many
into some minutes.
"""

from __future__ import annotations

from math import inf, sqrt

from piiloom.execution.limits.minute_window import Cell, MinuteWindow

# The pace, as a share of the limit. What is left over is the burst: pace * 60 s + burst never passes a minute's limit.
_PACE = 0.985
_BURST_S = (1 - _PACE) * 60
# Calls so large that a second's worth is less than one of them: what the window delays must not be lost to the bucket.
_BURST_CALLS = 2.0
# Calls may turn out larger than charged: how many standard deviations the window leaves for that, at most 3% of it.
_MARGIN_DEVIATIONS, _LARGEST_MARGIN = 2.0, 0.03
_ROUNDING = 1e-6
# A refusal in spite of the pace: the server counts otherwise than we do, or a call was larger than thought. Down a little,
# at most every 5 s, and back slowly.
_STRICTER = 0.99
_STRICTEST = 0.25
_EASING_PER_S = 0.0025 / 60
_CUT_EVERY_S = 5.0


class RateBucket:
    """One limit per minute: *declared* by the user, told by the server, or unknown (then it only counts)."""

    def __init__(self, declared: float | None) -> None:
        self._declared = declared
        self._told: float | None = None
        self.limit = declared
        self._level = 0.0
        self._filled_at: float | None = None
        self._hold_until = -inf
        self._bound_at = -inf
        self._strictness, self._strict_at, self._cut_at = 1.0, -inf, -inf
        self._window = MinuteWindow()
        self._mean_need = 1.0
        self._uncertain, self._mean_square_error = 0, 0.0

    def ready_at(self, need: float, now: float) -> float:
        """When a call that takes *need* may start."""
        at = max(now, self._hold_until)
        if self.limit is not None:
            limit = self._refill(now, self.limit)
            # Debt, as larger calls leave it, is paid off before the next one; so every call gets through some time.
            short = min(need, self._burst(limit)) - self._level
            if short > _ROUNDING:
                at = max(at, now + short / (limit * _PACE / 60))
            at = max(at, self._window.fits_at(need, limit - self._margin(limit), now))
        if at > now:
            self._bound_at = now
        return at

    def take(self, need: float, now: float) -> Cell:
        """Charge a call that starts now."""
        if self.limit is not None:
            self._refill(now, self.limit)
            self._level -= need
        self._uncertain += 1
        self._mean_need += (need - self._mean_need) * 0.05
        return self._window.add(need, now)

    def settle(self, cell: Cell, by: float, *, learn: bool = False) -> None:
        """A call is over and took *by* more than charged (less: a refund); *learn* from that how far charges are off."""
        self._uncertain -= 1
        if by:
            self._window.correct(cell, by)
            if self.limit is not None:
                self._level -= by
        if learn:
            self._mean_square_error += (by * by - self._mean_square_error) * 0.05

    def is_tight(self, now: float) -> bool:
        """Whether calls wait for this limit, or nearly: a refusal is then likely to be its doing."""
        if self._hold_until > now or now - self._bound_at < 2.0:
            return True
        self._window.expire(now)
        return self.limit is not None and self._window.total >= 0.8 * self.limit * self._strictness

    def be_stricter(self, now: float) -> None:
        """The server refused in spite of the pace: drop the burst and slow down a little."""
        self._level = min(self._level, 0.0)
        if now - self._cut_at >= _CUT_EVERY_S:
            self._strictness = max(_STRICTEST, self._ease(now) * _STRICTER)
            self._cut_at = now

    def observe(self, limit: float | None, remaining: float | None, reset_s: float | None, now: float) -> None:
        """Take over what the headers of a response say; the lower of declared and told limit holds."""
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
            return reset_s  # faster than a minute's steady refill: a fixed window is about to end, all comes back then
        return min(reset_s, max(self._burst(limit), self._mean_need) / refill)

    def _margin(self, limit: float) -> float:
        """What the calls under way, and the next, may have taken beyond their charges (the errors are independent)."""
        return min(_LARGEST_MARGIN * limit, _MARGIN_DEVIATIONS * sqrt(self._mean_square_error * (self._uncertain + 1)))

    def _burst(self, limit: float) -> float:
        return max(limit * _BURST_S / 60, _BURST_CALLS * self._mean_need)

    def _ease(self, now: float) -> float:
        if self._strictness < 1.0:
            self._strictness = min(1.0, self._strictness + max(0.0, now - self._strict_at) * _EASING_PER_S)
        self._strict_at = now
        return self._strictness

    def _refill(self, now: float, limit: float) -> float:
        """Let time fill the bucket; gives the limit as it holds at the moment."""
        since, self._filled_at = self._filled_at, now
        limit *= self._ease(now)
        if since is None:
            self._level = max(limit * _BURST_S / 60, 1.0)
        else:
            # Refunds may lift the level above the burst for a moment; time never does.
            self._level = max(self._level, min(self._level + (now - since) * limit * _PACE / 60, self._burst(limit)))
        return limit
