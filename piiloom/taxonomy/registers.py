"""How people write: registers, habits, and words that agree with a person (``registers.yaml``, ``habits.yaml``, ``pronouns.yaml``).

A register is a setting and is independent of language; its texts are in the banks. A habit departs from the standard, for example all
lower case; each voice has its shares. Pronouns are such as "he" or "she".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from types import MappingProxyType
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from piiloom.foundation.yaml_files import FileModel, data_folder, load_yaml

ANY_REGISTER: Final = "any"
SECOND_HAND: Final = "second-hand"

Chance = Annotated[float, Field(ge=0, le=1)]


class TextKind(BaseModel):
    """A kind of text: how often it is drawn, its shortest, median and longest length in words, and its most low-relevance values."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    weight: float = Field(gt=0)
    words: tuple[int, int, int]
    low_spans: int = Field(ge=0, le=8)


class Register(TextKind):
    """How texts of one register look: chances and shares."""

    lower: Chance
    unpointed: Chance
    typos: Chance
    abbreviations: Chance
    emoji: Chance
    hesitations: Chance
    typographic: Chance
    paragraphs: Chance
    opener: Chance
    closer: Chance
    layout: Literal["prose", "list", "mail"]


class _Registers(BaseModel):
    model_config = ConfigDict(extra="forbid")

    registers: dict[str, Register] = Field(min_length=1)


@lru_cache(maxsize=1)
def load_registers() -> Mapping[str, Register]:
    """The registers by name, in file order."""
    return MappingProxyType(load_yaml(data_folder("taxonomy") / "registers.yaml", _Registers).registers)


Habit = Literal[
    "lower_case",
    "no_apostrophes",
    "dots",
    "no_final_stop",
    "double_spaces",
    "misspelling",
    "untidy",
    "fields_capital",
    "fields_dotted",
    "fields_dashed",
    "fields_bare",
    "fields_below",
    "fields_hash",
    "fields_equal",
]
HabitShares = Mapping[Habit, float]


class FieldLabels(BaseModel):
    """Labels that mean the same before an identifier: of a field on a line of its own, and within a sentence."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    field: tuple[str, ...]
    inline: tuple[str, ...] = ()


class _Habits(FileModel):
    shares: dict[str, dict[Habit, Annotated[float, Field(ge=0, le=100, strict=False)]]]
    other: dict[Habit, Annotated[float, Field(ge=0, le=100, strict=False)]]
    misspelled: dict[str, dict[str, str]]
    labels: dict[str, dict[str, list[FieldLabels]]]


@cache
def _habits() -> _Habits:
    return load_yaml(data_folder("taxonomy") / "habits.yaml", _Habits)


def habit_shares(voice: str) -> HabitShares:
    """Return the percentage of a voice's texts that have each habit."""
    known = _habits()
    return known.shares.get(voice, known.other)


def misspelled(language: str) -> Mapping[str, str]:
    """Return words of a language and how they are misspelled; empty for a language without an entry."""
    return _habits().misspelled.get(language, {})


def labels(language: str) -> Mapping[str, Sequence[FieldLabels]]:
    """Return the groups of labels of identifiers of a language by subtype; empty for a language without an entry."""
    return _habits().labels.get(language, {})


class _Pronouns(FileModel):
    pronouns: dict[str, dict[str, str]]


@cache
def pronouns(language: str) -> Mapping[str, str]:
    """Return a mapping of masculine words to feminine ones; empty for a language without an entry."""
    return load_yaml(data_folder("taxonomy") / "pronouns.yaml", _Pronouns).pronouns.get(language, {})


def pronoun(word: str, gender: str, language: str) -> str:
    """Return the masculine *word* in the form for *gender*. Raises ``KeyError`` for an unknown word if the gender is not "male"."""
    return word if gender == "male" else pronouns(language)[word]
