"""Stories: one person's text with many possible wordings, the facts in it, and questions that depend on different facts.

A story is read from a file (``story_reading``) and rendered by the composer (``generation.composer.telling``). ``story_checks`` finds
what would prevent that, ``story_style`` what makes it a bad story.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Final, Literal

from piiloom.taxonomy.entity_types import Pair

WRITER = "writer"
NO_PAIR: Final[Pair] = ("", "")  # the pair of a plain story, which has no facts
# Kinds of look-alikes: values that resemble personal data but belong to no private person.
LOOKALIKES: Final = (
    *("order_number", "product_number", "version_number", "public_figure", "fictional_example"),
    *("error_code", "placeholder", "price", "hotline", "public_address", "public_event"),
)
LINE_VOICES = frozenset({"chat", "list", "agent", "booking", "call", "cv", "form", "log"})  # voices whose paragraphs are lines

Attributes = Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """A person in the cast. ``ages`` (inclusive) and ``gender`` are set where the story needs them."""

    name: str
    ages: tuple[int, int] | None = None
    gender: Literal["female", "male"] | None = None


@dataclass(frozen=True, slots=True)
class Cell:
    """A value as a pattern. ``attributes`` are the words that agree with it, by key."""

    text: str
    attributes: Attributes


@dataclass(frozen=True, slots=True)
class Listed:
    """The value is one of a list."""

    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class InRows:
    """The value is in column ``column`` of the rows ``rows``, which several facts share."""

    rows: str
    column: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """The value is a number, written in one of ``spellings``.

    It is a number from ``low`` to ``high`` by ``step``, or derived from that of the fact ``of``: multiplied by one of ``times`` or
    increased by one of ``plus``. It is rounded to a multiple of ``round``.
    """

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
    """The value is drawn by the subtype's generator, for the person to whom it belongs."""


Source = Listed | InRows | Counted | FromGenerator


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """A piece of personal information. ``person`` is the name of the person it is about, as in the cast."""

    name: str
    entity_type: str
    subtype: str
    person: str
    source: Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """One way to say a step.

    ``tells`` are the facts that it states, ``agreements`` its other slots as (owner, word), such as ("tie", "she").
    """

    pattern: str
    tells: frozenset[str]
    agreements: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step of a story. It is always told if ``chance`` is 1 and ``after`` is empty.

    ``after`` are the facts that must have been told before it.
    """

    wordings: tuple[Wording, ...]
    chance: float
    paragraph: bool
    group: str | None
    after: frozenset[str]
    name: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoryQuestion:
    """A question on a story. Facts in ``needs`` are always told with it, those in ``helps`` may be.

    Both have high relevance. Facts in ``moot`` are never told with it. ``said`` are the ids of the steps that must be told with it.
    """

    id: str
    wordings: tuple[str, ...]
    needs: Mapping[str, str]
    helps: Mapping[str, str]
    moot: frozenset[str]
    said: frozenset[str]

    def decides(self, fact: str) -> bool:
        """Return whether *fact* has high relevance if it is told with this question."""
        return fact in self.needs or fact in self.helps


@dataclass(frozen=True, kw_only=True, eq=False)
class Story:
    """A whole story. ``origin`` is its ``file:line``. Stories are compared by identity.

    The values of ``likes`` are look-alikes of a kind (``subtype``); they are no spans. Each text tells one of the facts ``demanded``, if
    there are any.
    """

    id: str
    pair: Pair
    topic: str
    subtopics: tuple[str, ...]
    voice: str
    cast: Mapping[str, Person]
    facts: Mapping[str, Fact]
    likes: Mapping[str, Fact]
    rows: Mapping[str, tuple[tuple[Cell, ...], ...]]
    steps: tuple[Step, ...]
    questions: tuple[StoryQuestion, ...]
    origin: str
    demanded: frozenset[str] = frozenset()

    @cached_property
    def named(self) -> Mapping[str, Fact]:
        """The facts and the look-alikes by name."""
        return MappingProxyType({**self.facts, **self.likes})
