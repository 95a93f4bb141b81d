"""Shapes of the texts that a model writes (``taxonomy/text_shapes.yaml``): a voice and a purpose, and a look-alike for some.

A model that gets nothing but a matter writes one text again and again; one that gets many orders writes stiff ones.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from types import MappingProxyType

from pydantic import BaseModel, ConfigDict, Field

from piiloom.foundation.seeding import digest
from piiloom.foundation.yaml_files import data_folder, load_yaml
from piiloom.taxonomy.entities.entity import UNIVERSAL
from piiloom.taxonomy.entities.entity_catalogue import find_shipped
from piiloom.taxonomy.registers import Chance, TextKind, load_registers

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
