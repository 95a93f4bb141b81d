"""A user's own entity types besides those that ship: what a types file defines, and the taxonomy extended by it.

``own_types_file`` reads the file. The definitions are kept in the settings of a run and in its store, so the file is not needed again.

Asides for own types that are in no story: a sentence next to the story mentions a value of the type, with low relevance.

Asides are for identifiers only: types whose values have the form of codes, drawn from a pattern or the entity catalogue. The sentences
are data, ``taxonomy/own_type_asides.yaml``.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Literal

from pydantic import RootModel, TypeAdapter, ValidationError

from piiloom.foundation.errors import ConfigError, DataError
from piiloom.foundation.yaml_files import FileModel, KeyPath, data_folder, load_yaml
from piiloom.taxonomy.entity_types import (
    EntityType,
    Form,
    Pair,
    Subtype,
    Taxonomy,
    bare_spelling,
    shipped_taxonomy,
)
from piiloom.taxonomy.scenarios import Bank, Frame
from piiloom.taxonomy.stories import LINE_VOICES, WRITER, Fact, FromGenerator, Step, Story, Wording
from piiloom.taxonomy.value_patterns import ValueGenerator

ALL_TYPES: Literal["all"] = "all"
VALUE = "value"  # name of the only subtype of a type that defines none
# Slot names that bank texts use for something else.
_RESERVED = frozenset({"both", "values", "any"})


@dataclass(frozen=True, kw_only=True)
class OwnSubtype:
    """One kind of value of an own type, and where its values come from."""

    name: str
    definition: str
    examples: tuple[str, ...]
    form: Form
    generator: ValueGenerator


@dataclass(frozen=True, kw_only=True)
class OwnType:
    """One type as a types file defines it. ``pairs`` are the types with which it forms pairs, "all", or empty."""

    name: str
    definition: str
    subtypes: tuple[OwnSubtype, ...]
    pairs: tuple[str, ...] | Literal["all"]
    counts: tuple[str, ...] = ()
    does_not_count: tuple[str, ...] = ()
    type_words: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()

    def asks_model(self) -> bool:
        """Return whether some of its values have to come from the model."""
        return any(subtype.generator.kind == "model" for subtype in self.subtypes)

    def frozen(self) -> EntityType:
        """Return the type as the ``EntityType`` that stages and screens use."""
        return EntityType(
            name=self.name,
            definition=self.definition,
            counts=self.counts,
            does_not_count=self.does_not_count,
            subtypes=tuple(
                Subtype(name=s.name, definition=s.definition, form=s.form, examples=s.examples, open=True, generator=s.generator)
                for s in self.subtypes
            ),
            pairable=bool(self.pairs),
            open=True,
            type_words=frozenset(self.type_words or (word for word in self.name.split())),
            aliases=self.aliases,
            own=True,
        )


OwnTypes = tuple[OwnType, ...]
# The type of spans whose detector states no types; to an evaluation, they have none.
UNTYPED: Final = OwnType(
    name="untyped", definition="Personal information of a kind that the detector does not state.", subtypes=(), pairs=()
)
_JSON: TypeAdapter[OwnTypes] = TypeAdapter(OwnTypes)


@lru_cache(maxsize=16)
def extended(own: OwnTypes) -> Taxonomy:
    """Return the shipped types followed by *own* as one taxonomy. Raises ``ConfigError`` if they clash (see ``clashes``)."""
    shipped = shipped_taxonomy()
    if not own:
        return shipped
    for path, fault in clashes(own):
        name = own[int(path[0])].name
        raise ConfigError(f"type {name!r}: {fault}", remedy="Correct the types file")
    types = {**shipped.types, **{one.name: one.frozen() for one in own}}
    spellings = dict(shipped.spellings)
    for one in own:
        spellings.update(dict.fromkeys((bare_spelling(spelling) for spelling in (one.name, *one.aliases)), one.name))
    digest = hashlib.sha256(f"{shipped.digest}\0{json.dumps(to_json(own), ensure_ascii=False)}".encode()).hexdigest()
    return Taxonomy(
        types=MappingProxyType(types),
        pairs=(*shipped.pairs, *_own_pairs(own, shipped)),
        spellings=MappingProxyType(spellings),
        digest=digest,
    )


def only(own: OwnTypes, names: Container[str]) -> OwnTypes:
    """Return those of *own* that are among *names*, paired with each other and the shipped types only."""
    left = {one.name for one in own if one.name not in names}
    kept = (one for one in own if one.name in names)
    return tuple(
        one if one.pairs == ALL_TYPES else replace(one, pairs=tuple(other for other in one.pairs if other not in left)) for one in kept
    )


def _own_pairs(own: OwnTypes, shipped: Taxonomy) -> Iterator[Pair]:
    pairable = [name for name, kind in shipped.types.items() if kind.pairable] + [one.name for one in own if one.pairs]
    seen: set[Pair] = set()
    for one in own:
        for other in pairable if one.pairs == ALL_TYPES else one.pairs:
            pair = (min(one.name, other), max(one.name, other))
            if other != one.name and pair not in seen:
                seen.add(pair)
                yield pair


def clashes(own: Sequence[OwnType]) -> Iterator[tuple[KeyPath, str]]:
    """Yield (path in the list of types, message) where *own* conflicts with the shipped types or with itself."""
    shipped = shipped_taxonomy()
    spellings: dict[str, str] = dict(shipped.spellings)
    for number, one in enumerate(own):
        if one.name in _RESERVED:
            yield (number, "name"), f"the name {one.name!r} is taken: bank texts use it for something else"
        listed = (((number, "name"), one.name), *(((number, "aliases", place), alias) for place, alias in enumerate(one.aliases)))
        for path, spelling in listed:
            bare = bare_spelling(spelling)
            taken = spellings.setdefault(bare, one.name)
            if not bare:
                yield path, "it has no letter or digit"
            elif taken != one.name or taken in shipped.types or (path[1] == "name" and taken in {earlier.name for earlier in own[:number]}):
                whose = "that ships with piiloom" if taken in shipped.types else "of this file"
                yield path, f"{spelling!r} means the type {taken!r} {whose} already"
    pairable = {name for name, kind in shipped.types.items() if kind.pairable} | {one.name for one in own if one.pairs}
    for number, one in enumerate(own):
        for place, other in enumerate(one.pairs if one.pairs != ALL_TYPES else ()):
            if other == one.name or other not in pairable:
                known = other in shipped.types or any(other == known.name for known in own)
                why = "it cannot pair with itself" if other == one.name else f"{other!r} cannot be part of a pair"
                yield (number, "pairs", place), why if known else f"there is no type {other!r}"


def to_json(own: OwnTypes) -> list[dict[str, Any]]:
    """Return *own* as JSON values."""
    return [json.loads(json.dumps(asdict(one))) for one in own]


def from_json(data: object) -> OwnTypes:
    """Parse what ``to_json`` returned. Raises ``DataError`` for anything else."""
    try:
        return _JSON.validate_python(data)
    except ValidationError:
        raise DataError("the definitions of own types are damaged", remedy="Give the types file again") from None


def differences(kept: OwnTypes, given: OwnTypes) -> list[str]:
    """Return how *given* differs from *kept*: changed keys as "type.key", types that are gone, and new types."""
    before, after = ({one.name: asdict(one) for one in types} for types in (kept, given))
    found = [f"{name} (not there before)" for name in after if name not in before]
    found += [f"{name} (gone)" for name in before if name not in after]
    for name in before.keys() & after.keys():
        found += [f"{name}.{key}" for key, value in before[name].items() if after[name][key] != value]
    return sorted(found)


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
