"""Shapes of the texts that a model writes (``taxonomy/text_shapes.yaml``): voice, purpose, outcome, mood, beginning and end, requests.

A model that gets nothing but a matter writes one text again and again. So the plan draws a shape for each text, and the prompts tell it.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from types import MappingProxyType

from pydantic import BaseModel, ConfigDict, Field

from piiloom.foundation.seeding import digest
from piiloom.foundation.yaml_files import data_folder, load_yaml
from piiloom.taxonomy.entities.entity import UNIVERSAL
from piiloom.taxonomy.entities.entity_catalogue import find_shipped
from piiloom.taxonomy.registers import Chance, TextKind, load_registers

Identifier = tuple[str, str]  # (entity type, subtype)

_FILE = "text_shapes.yaml"
_SCENES, _OFFERED = 3, 2  # scenes drawn per text, and identifiers offered per scene
_ADDRESSEE_SHARE = 0.75  # share of texts with an addressee whose questions are for the addressee
_TO_ASSISTANT = "an assistant, to whom the text is written"
_SHOWN = "an assistant; a line of the writer's own, above the text, shows it to the assistant"


class Voice(TextKind):
    """A kind of text as a model is told it; the comments in the data file explain the fields."""

    form: str
    dates: str = ""
    scenes: tuple[str, ...] = ()
    always: tuple[str, ...] = ()
    keeps: tuple[int, int] = (0, 0)
    carrying: Chance = 1.0
    purposes: tuple[str, ...] = ()
    casual: bool = False
    addressed: bool = False
    asked: str = _TO_ASSISTANT
    impersonal: bool = False
    fixed: bool = False


class _VoiceEntry(Voice):
    words: tuple[int, int, int] | None = None  # type: ignore[assignment]
    low_spans: int = 8


class _Purpose(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    wants: tuple[str, ...]
    outcomes: tuple[str, ...] = ()
    text: str = Field(alias="is")


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    identifiers: dict[str, tuple[str, ...]]
    dates: str
    voices: dict[str, _VoiceEntry] = Field(min_length=1)
    purposes: dict[str, _Purpose]
    outcomes: dict[str, str]
    line_share: Chance
    matters: tuple[str, ...]
    moods: tuple[str, ...]
    companies: tuple[str, ...]
    times: tuple[str, ...]
    openings: tuple[str, ...]
    endings: tuple[str, ...]
    slips: tuple[str, ...]
    slip_share: Chance
    catalogue_kinds: dict[str, tuple[str, ...]]
    requests: dict[str, str]
    of_adviser_only: tuple[str, ...]
    request_about_identifier: str
    request_about_identifier_share: Chance
    look_alikes: tuple[str, ...]
    look_alike_share: Chance


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """The shape of one text.

    ``requests``: the kind of help that each question is for. ``asked``: whom the questions are for. Lines that are left to the writer
    are empty. ``carried``: ids of the values that are identifiers the text may carry, ``keeps`` the fewest and most of
    them. ``impersonal``: the text needs no first person.
    """

    form: str
    dates: str
    purpose: str
    outcome: str
    matter: str
    mood: str
    company: str
    time: str
    opening: str
    ending: str
    slips: str
    requests: tuple[str, ...]
    asked: str
    look_alike: str
    impersonal: bool
    carried: tuple[str, ...] = ()
    keeps: tuple[int, int] = (0, 0)


@lru_cache(maxsize=1)
def _file() -> _File:
    return load_yaml(data_folder("taxonomy") / _FILE, _File)


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


def draw_identifiers(voice: Voice, locale: str, rng: random.Random) -> tuple[Identifier, ...]:
    """Draw the identifiers that are offered to a text of *voice*, more than it will keep; none for most texts of some voices."""
    if not voice.scenes or rng.random() >= voice.carrying:
        return ()
    groups = [(name, 1) for name in voice.always] + [(name, _OFFERED) for name in rng.sample(voice.scenes, min(_SCENES, len(voice.scenes)))]
    found: list[Identifier] = []
    for name, count in groups:
        known = [one for one in _of_scene(name, locale) if one not in found]
        found += rng.sample(known, min(count, len(known)))
    return tuple(found)


@cache
def _of_scene(name: str, locale: str) -> tuple[Identifier, ...]:
    pairs = [tuple(entry.split("/")) for entry in _file().identifiers[name]]
    return tuple((kind, subtype) for kind, subtype in pairs if _is_of(subtype, locale))


def _is_of(subtype: str, locale: str) -> bool:
    entity = find_shipped(subtype)
    return entity is None or entity.locale in (UNIVERSAL, locale)


def draw_shape(register: str, questions: int, rng: random.Random, *, carried: tuple[str, ...] = ()) -> Shape:
    """Draw the shape of a text of the voice *register* with *questions* questions and the values *carried* as identifiers."""
    file, voice = _file(), load_voices()[register]
    purpose = file.purposes[rng.choice(voice.purposes or tuple(file.purposes))]
    fit = [name for name in purpose.wants if name not in file.of_adviser_only]
    to_addressee = voice.addressed and len(fit) >= min(questions, 2) and rng.random() < _ADDRESSEE_SHARE
    requests = _requests(purpose.wants, questions, rng, to_addressee=to_addressee)
    if carried and rng.random() < file.request_about_identifier_share:
        requests[-1] = file.request_about_identifier

    def line(entries: Sequence[str], *, drawn: bool = True) -> str:
        return rng.choice(entries) if rng.random() < file.line_share and drawn else ""

    return Shape(
        form=voice.form,
        dates=voice.dates,
        purpose=purpose.text,
        outcome=file.outcomes[rng.choice(purpose.outcomes or tuple(file.outcomes))],
        matter="" if voice.purposes else rng.choice(file.matters),
        mood=rng.choice(file.moods),
        company=line(file.companies),
        time=line(file.times),
        opening=line(file.openings, drawn=not voice.fixed),
        ending="" if voice.fixed else rng.choice(file.endings),
        slips=rng.choice(file.slips) if voice.casual and rng.random() < file.slip_share else "",
        requests=tuple(requests),
        asked="whoever gets the text" if to_addressee else _SHOWN if voice.addressed else voice.asked,
        look_alike=rng.choice(file.look_alikes) if rng.random() < file.look_alike_share else "",
        impersonal=voice.impersonal,
        carried=carried,
        keeps=(min(voice.keeps[0], len(carried)), min(voice.keeps[1], len(carried))),
    )


def _requests(wants: Sequence[str], questions: int, rng: random.Random, *, to_addressee: bool) -> list[str]:
    """Draw a kind of help for each of *questions* questions: of *wants* first, then any."""
    file = _file()
    unfit = file.of_adviser_only if to_addressee else ()
    fit = [name for name in wants if name not in unfit]
    others = [name for name in file.requests if name not in (*wants, *unfit)]
    names = [*rng.sample(fit, len(fit)), *rng.sample(others, len(others))]
    return [file.requests[name] for name in names[:questions]]
