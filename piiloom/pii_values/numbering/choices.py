"""What the rules of numbers draw from: ``Choices``, and the one that reads a random generator."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import NamedTuple, Protocol


class Choices(Protocol):
    """A source of random choices.

    A source that has a seed gives each *salt* a result of its own, in any order. A generator ignores the salt and gives the next result;
    so the order in which a rule makes its choices must not change either.
    """

    def number(self, salt: int, low: int, high: int) -> int:
        """Draw a number from *low* to *high*, both included."""

    def digits(self, salt: int, count: int) -> str:
        """Draw *count* digits."""

    def serial(self, salt: int, count: int) -> str:
        """Draw *count* digits, the first of which is not 0."""

    def one_of(self, salt: int, items: Sequence[str]) -> str:
        """Draw one of *items*; a string is a sequence of characters."""


class Stream(NamedTuple):
    """Choices in the order of a random generator."""

    rng: random.Random

    def number(self, salt: int, low: int, high: int) -> int:  # noqa: ARG002 - a generator needs no salt
        """As in ``Choices``."""
        return self.rng.randint(low, high)

    def digits(self, salt: int, count: int) -> str:  # noqa: ARG002
        """As in ``Choices``."""
        return digits(count, self.rng)

    def serial(self, salt: int, count: int) -> str:
        """As in ``Choices``."""
        return str(self.number(salt, 1, 9)) + digits(count - 1, self.rng)

    def one_of(self, salt: int, items: Sequence[str]) -> str:  # noqa: ARG002
        """As in ``Choices``."""
        return self.rng.choice(items)


def digits(count: int, rng: random.Random) -> str:
    """*count* random digits."""
    return f"{int(rng.random() * 10**count):0{count}d}"
