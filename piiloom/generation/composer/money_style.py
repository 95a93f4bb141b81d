"""Keep the way of writing money the same within a text: nobody writes "$28000" and then "US$8,800" or "4,000 dollars"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

_CURRENCY: Final = re.compile(r"[A-Z]*[$£€]|USD|bucks|dollars|reais|kronor|kr\b")
_GROUPED: Final = "{n:,}"
_FIRST_GROUPED: Final = 1000  # below it, both ways look the same


class MoneyStyle:
    """How amounts are written in one text; the first amount decides."""

    def __init__(self) -> None:
        self._currency: str | None = None
        self._grouped: bool | None = None

    def fitting(self, spellings: Sequence[str], number: float) -> Sequence[str]:
        """Return those of the *spellings* of *number* that match the earlier amounts; all if none does."""
        same = spellings if self._currency is None else _as(spellings, self._currency)
        if self._grouped is None or number < _FIRST_GROUPED:
            return same
        return [one for one in same if (_GROUPED in one) == self._grouped] or same

    def keep(self, spelling: str, number: float) -> None:
        """Note that *number* is written in the text as *spelling*."""
        if self._currency is None:
            self._currency = _currency(spelling)
        if self._grouped is None and number >= _FIRST_GROUPED:
            self._grouped = _GROUPED in spelling


def _as(spellings: Sequence[str], currency: str) -> Sequence[str]:
    """Return the spellings with *currency*; else those with a currency of the same form (sign or word); else all."""
    same = [one for one in spellings if _currency(one) == currency]
    return same or [one for one in spellings if _currency(one).isalpha() == currency.isalpha()] or spellings


def _currency(spelling: str) -> str:
    found = _CURRENCY.search(spelling)
    return found.group() if found else ""
