"""The holder of an id: the personal data that national ids encode, and the choices of their other digits; the rules that form one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date
from functools import cache
from importlib import import_module
from typing import NamedTuple

from piiloom.pii_values.numbering.choices import Choices


class Holder(NamedTuple):
    """The person whose id is drawn. ``given`` and ``family`` are ASCII capitals, "" if they cannot be transliterated or are not known.

    A number may tell that its holder is a hundred years old; ``anchor`` is the day of that.
    """

    choices: Choices
    born: date
    female: bool
    given: str
    family: str
    anchor: date
    region: str = ""  # whose citizen, as two letters; "" if it is not known

    @property
    def since_2000(self) -> bool:
        """Whether the holder was born in 2000 or later."""
        return self.born.year >= 2000

    def sex_digit(self, since_2000: int, before: int) -> int:
        """Return the digit for sex and century: *since_2000* or *before* for men, by year of birth, and one more for women."""
        return (since_2000 if self.since_2000 else before) + self.female

    def number(self, salt: int, low: int, high: int) -> int:
        """Draw a number from *low* to *high*, both included."""
        return self.choices.number(salt, low, high)

    def digits(self, salt: int, count: int) -> str:
        """Draw *count* digits."""
        return self.choices.digits(salt, count)

    def serial(self, salt: int, count: int) -> str:
        """Draw *count* digits, the first of which is not 0."""
        return self.choices.serial(salt, count)

    def one_of(self, salt: int, items: Sequence[str]) -> str:
        """Draw one of *items*; a string is a sequence of characters."""
        return self.choices.one_of(salt, items)

    def sexed(self, salt: int, low: int, high: int, *, male_odd: bool = True) -> int:
        """Draw a number from *low* to *high* that is odd for men and even for women, or the reverse with ``male_odd=False``."""
        number = self.number(salt, low, high)
        odd = self.female != male_odd
        return number if number % 2 == odd else number ^ 1 if low <= number ^ 1 <= high else number - 1 if number > low else number + 1


@cache
def rule_of(place: str) -> Callable[[Holder], str]:
    """Return the rule of an id named *place*, as "module:function" ("eastern_european_ids:pesel"); its module is imported on first use."""
    module, _, name = place.partition(":")
    rule: Callable[[Holder], str] = getattr(import_module(f"piiloom.pii_values.numbering.{module}"), name)
    return rule
