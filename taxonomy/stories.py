"""Stories: one person's text that can come out in many ways, the facts in it, and questions on which other facts turn.

A story is read from a file (``story_reading``), told by the composer (``generation.composer.telling``), and linted
(``story_checks`` for what would keep it from being told, ``story_style`` for what makes it a bad one).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from piiloom.taxonomy.entity_types import Pair

WRITER = "writer"

Attributes = Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Somebody of the cast; ``ages`` (inclusive) and ``gender`` where the story needs them."""

    name: str
    ages: tuple[int, int] | None = None
    gender: Literal["female", "male"] | None = None


@dataclass(frozen=True, slots=True)
class Cell:
    """A value as a pattern, and the words that agree with it."""

    text: str
    attributes: Attributes


@dataclass(frozen=True, slots=True)
class Listed:
    """The value is one of a list."""

    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class InRows:
    """The value stands in a column of rows that several facts share."""

    rows: str
    column: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """The value is a number in one of its spellings: low to high by step, or one that follows from another fact's."""

    spellings: tuple[str, ...]
    low: float = 0
    high: float = 0
    step: float = 1
    of: str | None = None
    times: tuple[float, ...] = ()
    plus: tuple[float, ...] = ()
    round: float | None = None


@dataclass(frozen=True, slots=True)
class FromGenerator:
    """The value is drawn by the subtype's generator, for the person whose it is."""


Source = Listed | InRows | Counted | FromGenerator


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """A piece of personal information; ``person`` is whose it is, by the name in the cast."""

    name: str
    entity_type: str
    subtype: str
    person: str
    source: Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """One way to say a step: the pattern, the facts it tells, and what else its slots name ("tie.she", "friend.he")."""

    pattern: str
    tells: frozenset[str]
    agreements: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step; ``chance`` 1 and no ``after``: always told. ``after``: facts that must have been told before."""

    wordings: tuple[Wording, ...]
    chance: float
    paragraph: bool
    group: str | None
    after: frozenset[str]
    name: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoryQuestion:
    """A question: what it needs is always told with it, what helps may be; both are high. What is moot is never told with it."""

    id: str
    wordings: tuple[str, ...]
    needs: Mapping[str, str]
    helps: Mapping[str, str]
    moot: frozenset[str]
    said: frozenset[str]

    def decides(self, fact: str) -> bool:
        """Whether *fact* is high where it is told with this question."""
        return fact in self.needs or fact in self.helps


@dataclass(frozen=True, kw_only=True, eq=False)
class Story:
    """A whole story; two are the same when they are one object. ``origin`` is its ``file:line``."""

    id: str
    pair: Pair
    topic: str
    subtopics: tuple[str, ...]
    voice: str
    cast: Mapping[str, Person]
    facts: Mapping[str, Fact]
    rows: Mapping[str, tuple[tuple[Cell, ...], ...]]
    steps: tuple[Step, ...]
    questions: tuple[StoryQuestion, ...]
    origin: str
