"""A sliding window over the last minute, in memory that does not grow with the number of calls."""

from __future__ import annotations

from collections import deque

# A little more than the server's minute, since requests take different times to arrive.
_WINDOW_S = 60.25
_CELL_S = 0.25
_ROUNDING = 1e-6


class Cell:
    """The amount charged within a quarter of a second. It can be corrected until the cell leaves the window (``gone``)."""

    __slots__ = ("amount", "gone", "last_at", "opened_at")

    def __init__(self, now: float) -> None:
        self.opened_at = self.last_at = now
        self.amount = 0.0
        self.gone = False


class MinuteWindow:
    """The sum of the amounts charged in the last minute, in about 240 cells at most."""

    def __init__(self) -> None:
        self._cells: deque[Cell] = deque()
        self.total = 0.0

    def add(self, amount: float, now: float) -> Cell:
        """Add *amount* and return the cell that holds it, for later corrections."""
        if not self._cells or now - self._cells[-1].opened_at >= _CELL_S:
            self._cells.append(Cell(now))
        cell = self._cells[-1]
        cell.last_at = now
        cell.amount += amount
        self.total += amount
        return cell

    def correct(self, cell: Cell, by: float) -> None:
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
