"""Shapes of the texts that a model writes (``taxonomy/text_shapes.yaml``): a voice and a purpose, and a look-alike for some.

A model that gets nothing but a matter writes one text again and again; one that gets many orders writes stiff ones.

How people write: registers, habits, and words that agree with a person (``registers.yaml``, ``habits.yaml``, ``pronouns.yaml``).

A register is a setting and is independent of language; its texts are in the banks. A habit departs from the standard, for example all
lower case; each voice has its shares. Pronouns are such as "he" or "she".

The published share of each type's values that matter (``data/relevance_shares.yaml``), and the weights that give these shares.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from types import MappingProxyType
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from piiloom.foundation.seeding import digest
from piiloom.foundation.yaml_files import FileModel, data_folder, load_yaml
from piiloom.taxonomy.entities.catalogue_file import UNIVERSAL
from piiloom.taxonomy.entities.entity_catalogue import find_shipped

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


CarriedKind = tuple[str, str]  # (entity type, subtype)

_FILE = "text_shapes.yaml"
_SCENES = 3  # drawn per text; one identifier of each is offered
_TO_ASSISTANT = "an assistant"


class Voice(TextKind):
    """A kind of text as a model is told it; the comments in the data file explain the fields."""

    form: str
    dates: str = ""
    scenes: tuple[str, ...] = ()
    always: tuple[str, ...] = ()
    purposes: tuple[str, ...] = ()
    casual: bool = False
    asked: str = _TO_ASSISTANT
    impersonal: bool = False


class _VoiceEntry(Voice):
    words: tuple[int, int, int] | None = None  # type: ignore[assignment]
    low_spans: int = 5  # readers find texts with many values invented


class _Shapes(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    identifiers: dict[str, tuple[str, ...]]
    dates: str
    voices: dict[str, _VoiceEntry] = Field(min_length=1)
    purposes: dict[str, str]
    wants: tuple[str, ...] = Field(min_length=2)
    catalogue_kinds: dict[str, tuple[str, ...]]
    look_alikes: tuple[str, ...]
    look_alike_share: Chance


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """The shape of one text.

    ``asked``: whom the questions are for. ``wants``: two kinds of help that they may ask for. ``carried``: ids of the values that are
    identifiers the text may carry. ``impersonal``: the text needs no first person.
    """

    form: str
    dates: str
    purpose: str
    asked: str
    look_alike: str
    impersonal: bool
    carried: tuple[str, ...] = ()
    wants: tuple[str, ...] = ()


@lru_cache(maxsize=1)
def _file() -> _Shapes:
    return load_yaml(data_folder("taxonomy") / _FILE, _Shapes)


@lru_cache(maxsize=1)
def load_voices() -> Mapping[str, Voice]:
    """The voices by name, in file order."""
    found = {}
    for name, entry in _file().voices.items():
        words = entry.words or load_registers()[name].words
        found[name] = Voice(**entry.model_dump(exclude={"words", "dates"}), words=words, dates=entry.dates or _file().dates)
    return MappingProxyType(found)


@lru_cache(maxsize=1)
def shapes_digest() -> str:
    """Return the digest of all shapes, part of that of a run."""
    return digest(_file().model_dump(mode="json"))


def catalogue_kinds(voice: Voice) -> Mapping[str, tuple[str, ...]]:
    """Return the subtypes, by type, that texts of *voice* are not to hold since their values read like a catalogue."""
    return _file().catalogue_kinds if voice.casual else {}


def draw_identifiers(voice: Voice, locale: str, rng: random.Random) -> tuple[CarriedKind, ...]:
    """Draw the identifiers that are offered to a text of *voice*, more than it will keep; none if its form carries none."""
    found: list[CarriedKind] = []
    for name in (*voice.always, *rng.sample(voice.scenes, min(_SCENES, len(voice.scenes)))):
        known = [one for one in _of_scene(name, locale) if one not in found]
        found += rng.sample(known, min(1, len(known)))
    return tuple(found)


@cache
def _of_scene(name: str, locale: str) -> tuple[CarriedKind, ...]:
    pairs = [tuple(entry.split("/")) for entry in _file().identifiers[name]]
    return tuple((kind, subtype) for kind, subtype in pairs if _is_of(subtype, locale))


def _is_of(subtype: str, locale: str) -> bool:
    entity = find_shipped(subtype)
    return entity is None or entity.locale in (UNIVERSAL, locale)


def draw_shape(register: str, rng: random.Random, *, carried: tuple[str, ...] = ()) -> Shape:
    """Draw the shape of a text of the voice *register* with the values *carried* as identifiers."""
    file, voice = _file(), load_voices()[register]
    return Shape(
        form=voice.form,
        dates=voice.dates,
        purpose=file.purposes[rng.choice(voice.purposes or tuple(file.purposes))],
        asked=voice.asked,
        look_alike=rng.choice(file.look_alikes) if rng.random() < file.look_alike_share else "",
        impersonal=voice.impersonal,
        carried=carried,
        wants=tuple(rng.sample(file.wants, 2)),
    )


class TypeShare(BaseModel):
    """The published figures of one type, and its weights (see the file)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    spans: int = Field(gt=0)
    high: float = Field(ge=0, le=1)
    question: float
    aside: float = Field(gt=0, le=2)


class RelevanceShares(BaseModel):
    """The shares of all types. *more_asides*: how many values that do not matter are drawn for one that is drawn otherwise."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    more_asides: float = Field(gt=0)
    types: Mapping[str, TypeShare]


@lru_cache(maxsize=1)
def published_shares() -> RelevanceShares:
    """Return the shares of CAPID's table 1."""
    return load_yaml(data_folder("taxonomy") / "relevance_shares.yaml", RelevanceShares)
