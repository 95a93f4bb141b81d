"""A limit per minute, of requests or of tokens, kept evenly.

Servers enforce such a limit in one of three ways: over the last 60 seconds (sliding window), by the minute of the clock
(fixed window), or with a bucket that refills steadily (token bucket; Turner 1986, and GCRA in ITU-T I.371). What fits all
three is a steady pace just below the limit with a burst of about a second. A window over the last minute stands guard
beside the bucket: calls that are large against the limit come in lumps, and a bucket alone would let one lump too many
into some minutes.
"""

from __future__ import annotations

from collections import deque
from math import inf, sqrt

# The pace, as a share of the limit. What is left over is the burst: pace * 60 s + burst never passes a minute's limit.
_PACE = 0.985
_BURST_S = (1 - _PACE) * 60
# A little more than the server's minute, since requests take unequally long to get there.
_WINDOW_S = 60.25
_CELL_S = 0.25
_BURST_CALLS = 2.0
_MARGIN_DEVIATIONS, _LARGEST_MARGIN = 2.0, 0.03
_ROUNDING = 1e-6
# A refusal in spite of the pace: the server counts otherwise than we do. Down by 2%, back by half a percent a minute.
_STRICTER = 0.98
_STRICTEST = 0.5
_EASING_PER_S = 0.005 / 60
_CUT_EVERY_S = 5.0


class Cell:
    """What was taken within a quarter of a second; charges can be corrected until the cell is a minute old."""

    __slots__ = ("amount", "gone", "last_at", "opened_at")

    def __init__(self, now: float) -> None:
        self.opened_at = self.last_at = now
        self.amount = 0.0
        self.gone = False


class MinuteWindow:
    """The sum over the last minute, in at most some 240 cells however many calls there are."""

    def __init__(self) -> None:
        self._cells: deque[Cell] = deque()
        self.total = 0.0

    def add(self, amount: float, now: float) -> Cell:
        """Count *amount*; the cell that holds it takes corrections."""
        if not self._cells or now - self._cells[-1].opened_at >= _CELL_S:
            self._cells.append(Cell(now))
        cell = self._cells[-1]
        cell.last_at = now
        cell.amount += amount
        self.total += amount
        return cell

    def correct(self, cell: Cell, by: float) -> None:
        """Count *by* more (or less) in *cell*, unless its minute is over."""
        if not cell.gone:
            cell.amount += by
            self.total += by

    def fits_at(self, need: float, most: float, now: float) -> float:
        """When *need* more stays within *most*. More than *most* fits when nothing else is in the window."""
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
        """Forget what is over a minute old."""
        cells = self._cells
        while cells and cells[0].last_at + _WINDOW_S <= now:
            cell = cells.popleft()
            cell.gone = True
            self.total -= cell.amount
        if not cells:
            self.total = 0.0


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
            limit = self._refill(now)
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
        self._refill(now)
        self._level -= need
        self._uncertain += 1
        self._mean_need += (need - self._mean_need) * 0.05
        return self._window.add(need, now)

    def settle(self, cell: Cell, by: float, *, learn: bool = False) -> None:
        """A call is over and took *by* more than charged (less: a refund); *learn* from that how far charges are off."""
        self._uncertain -= 1
        self._level -= by
        self._window.correct(cell, by)
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
        self._refill(now)
        self._level = min(self._level, 0.0)
        if now - self._cut_at >= _CUT_EVERY_S:
            self._strictness = max(_STRICTEST, self._ease(now) * _STRICTER)
            self._cut_at = now

    def observe(self, limit: float | None, remaining: float | None, reset_s: float | None, now: float) -> None:
        """Take over what the headers of a response say; the lower of declared and told limit holds."""
        if limit is not None and limit > 0 and limit != self._told:
            self._told = limit
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

    def _refill(self, now: float) -> float:
        """Let time fill the bucket; gives the limit as it holds at the moment."""
        since, self._filled_at = self._filled_at, now
        if self.limit is None:
            self._level = 0.0
            return inf
        limit = self.limit * self._ease(now)
        if since is None:
            self._level = max(limit * _BURST_S / 60, 1.0)
        else:
            # Refunds may lift the level above the burst for a moment; time never does.
            self._level = max(self._level, min(self._level + (now - since) * limit * _PACE / 60, self._burst(limit)))
        return limit
