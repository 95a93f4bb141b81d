"""Asides for own types that are in no story: a sentence next to the story mentions a value of the type, with low relevance.

Asides are for identifiers only: types whose values have the form of codes, drawn from a pattern or the entity catalogue. The sentences
are data, ``taxonomy/own_type_asides.yaml``.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Final

from pydantic import RootModel

from piiloom.foundation.yaml_files import FileModel, data_folder, load_yaml
from piiloom.taxonomy.own_types import ALL_TYPES, OwnType, OwnTypes
from piiloom.taxonomy.scenarios import Bank, Frame
from piiloom.taxonomy.stories import LINE_VOICES, WRITER, Fact, FromGenerator, Step, Story, Wording

_SHARE: Final = 0.5  # of the texts
_HEADED: Final = 0.3  # of the texts of these voices that have one
_HEADED_VOICES: Final = frozenset({"mail", "letter", "note"})
_FACT: Final = "own_aside"


class _Sentences(FileModel):
    asides: list[str]
    headings: list[str]


class _AsidesFile(RootModel[dict[str, _Sentences]]):
    pass


def fits_an_aside(one: OwnType) -> bool:
    """Return whether an aside can mention a value of *one*. The types file leaves its pairs open, or gives it none."""
    return one.pairs in (ALL_TYPES, ()) and all(
        subtype.form == "code" and subtype.generator.kind in ("pattern", "entity") for subtype in one.subtypes
    )


def types_for_asides(own: OwnTypes, in_stories: Collection[str]) -> OwnTypes:
    """Return the types of *own* that asides can mention and whose names are not *in_stories*."""
    return tuple(one for one in own if one.name not in in_stories and fits_an_aside(one))


def asides_digest(own: OwnTypes) -> dict[str, str]:
    """Return the digest of the asides for *own*, as an entry of a run's digest; nothing without any."""
    content = _source().read_bytes() + repr([one.name for one in own]).encode()
    return {"asides of own types": hashlib.sha256(content).hexdigest()} if own else {}


def with_own_frames(bank: Bank, own: OwnTypes) -> Bank:
    """Return *bank* with frames (asides) of the types *own*."""
    if not own:
        return bank
    frames, by_slot = list(bank.frames), dict(bank.frames_by_slot)
    for one in own:
        for subtype in one.subtypes:
            slot = (one.name, subtype.name)
            for text in _sentences(bank.language).asides:
                filled = _named(text, one, f"{one.name.replace(' ', '_')}.{subtype.name}")
                frame = Frame(text=filled, slots=(slot,), subjects={}, last=False, index=len(frames), origin=_source().name)
                frames.append(frame)
                by_slot[slot] = (*by_slot.get(slot, ()), frame)
    single = tuple(frame for frame in frames if len(frame.slots) == 1)
    by_size = MappingProxyType({**bank.frames_by_size, 1: single})
    return replace(bank, frames=tuple(frames), frames_by_slot=MappingProxyType(by_slot), frames_by_size=by_size)


def with_own_aside(story: Story, own: OwnTypes, rng: random.Random, language: str) -> Story:
    """Return *story*, in half of the texts with a step that mentions a value of one of *own*."""
    if not own or rng.random() >= _SHARE:
        return story
    one = own[int(rng.random() * len(own))]
    subtype = one.subtypes[int(rng.random() * len(one.subtypes))]
    headed = story.voice in _HEADED_VOICES and rng.random() < _HEADED
    if headed:
        place = 0
    elif story.voice in LINE_VOICES:
        place = 1 + int(rng.random() * len(story.steps))
    else:
        # A last paragraph of its own or a name is how a mail or letter ends.
        last = story.steps[-1]
        place = len(story.steps) - (len(story.steps) > 1 and (last.paragraph or not _has_full_stops(last)))
        if not _has_full_stops(story.steps[place - 1]):
            return story
    apart = story.voice in LINE_VOICES or rng.random() < _SHARE
    return _with_step(story, one, subtype.name, place, language, paragraph=apart)


def _has_full_stops(step: Step) -> bool:
    return all(wording.pattern.endswith((".", "?", "!")) for wording in step.wordings)


@lru_cache(maxsize=4096)
def _with_step(story: Story, one: OwnType, subtype: str, place: int, language: str, *, paragraph: bool) -> Story:
    sentences = _sentences(language)
    patterns = sentences.headings if place == 0 else sentences.asides
    wordings = tuple(Wording(pattern=_named(text, one, _FACT), tells=frozenset({_FACT}), agreements=()) for text in patterns)
    step = Step(wordings=wordings, chance=1.0, paragraph=paragraph or place == 0, group=None, after=frozenset(), name=None)
    following: Sequence[Step] = story.steps[place:]
    if place == 0:
        following = (replace(following[0], paragraph=True), *following[1:])
    fact = Fact(name=_FACT, entity_type=one.name, subtype=subtype, person=WRITER, source=FromGenerator())
    facts: Mapping[str, Fact] = MappingProxyType({**story.facts, _FACT: fact})
    return replace(story, facts=facts, steps=(*story.steps[:place], step, *following))


def _named(text: str, one: OwnType, slot: str) -> str:
    return text.replace("{type}", one.name).replace("{value}", f"{{{slot}}}")


@lru_cache(maxsize=4)
def _sentences(language: str) -> _Sentences:
    return load_yaml(_source(), _AsidesFile).root[language]


def _source() -> Path:
    return data_folder("taxonomy") / "own_type_asides.yaml"
