"""Conversion of a story as written (``story_files``) into a ``Story``. The entry must have passed ``story_checks``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from types import MappingProxyType

from piiloom.taxonomy.grammar import slot_counts
from piiloom.taxonomy.stories import (
    NO_PAIR,
    WRITER,
    Cell,
    Counted,
    Fact,
    FromGenerator,
    InRows,
    Listed,
    Person,
    Source,
    Step,
    Story,
    StoryQuestion,
    Wording,
)
from piiloom.taxonomy.story_files import Cell as CellEntry
from piiloom.taxonomy.story_files import ColumnEntry, FactEntry, NumberRule, PersonEntry, QuestionEntry, StepEntry, StoryEntry

VALUE = "t"  # the key of a cell's value; its other keys are words that agree with it


def read_story(entry: StoryEntry, origin: str) -> Story:
    """Return the story that *entry* describes. *origin* is its ``file:line``."""
    first, second = (*sorted(spelled_type(name) for name in entry.pair), *NO_PAIR)[:2]
    facts = {fact.name: fact for fact in facts_of_entry(entry)}
    return Story(
        id=entry.id,
        pair=(first, second),
        topic=entry.topic,
        subtopics=tuple(entry.subtopics),
        voice=entry.voice,
        cast=MappingProxyType({name: _person(name, person) for name, person in {WRITER: None, **entry.cast}.items()}),
        facts=MappingProxyType(facts),
        likes=MappingProxyType({like.name: like for like in likes_of(entry)}),
        rows=MappingProxyType({name: _rows(found.rows) for name, found in entry.facts.items() if found.rows is not None}),
        steps=tuple(_step(step, facts) for step in entry.text),
        questions=tuple(_question(question) for question in entry.questions),
        origin=origin,
    )


def facts_of_entry(entry: StoryEntry) -> Iterator[Fact]:
    """Yield the facts of a story in the order in which they are written; those of rows column by column."""
    for name, found in entry.facts.items():
        if found.rows is None:
            kind, _, subtype = (found.type or "").partition(".")
            yield Fact(name=name, entity_type=spelled_type(kind), subtype=subtype, person=found.of or WRITER, source=_source(found))
            continue
        for number, (column, told) in enumerate(columns(found).items()):
            kind, _, subtype = told.type.partition(".")
            person = told.of or found.of or WRITER
            yield Fact(name=column, entity_type=spelled_type(kind), subtype=subtype, person=person, source=InRows(name, number))


def likes_of(entry: StoryEntry) -> Iterator[Fact]:
    """Yield the look-alikes of a story in the order in which they are written."""
    for name, found in entry.likes.items():
        yield Fact(name=name, entity_type="", subtype=found.type or "", person=WRITER, source=_source(found))


def fact_names(entry: StoryEntry) -> Iterator[str]:
    """Yield the names of the facts as written, with duplicates. This also works for a story with faults."""
    for name, found in entry.facts.items():
        yield from [name] if found.rows is None else columns(found)


def columns(found: FactEntry) -> Mapping[str, ColumnEntry]:
    """Return the facts in the rows of an entry, by name; empty if ``as`` is not a mapping."""
    given = found.spelled if isinstance(found.spelled, dict) else {}
    return {name: ColumnEntry(type=told) if isinstance(told, str) else told for name, told in given.items()}


def spelled_type(name: str) -> str:
    """Return a type as it is spelled: blanks instead of ``_``."""
    return name.replace("_", " ")


@lru_cache(maxsize=65_536)
def slots_of(pattern: str) -> tuple[tuple[str, str | None], ...]:
    """Return the slots of *pattern* as (owner, word), without duplicates.

    The owner is a fact or a person. The word agrees with it ("tie", "she"); it is None for the value of a fact.
    """
    return tuple((owner, word or None) for owner, _, word in (name.partition(".") for name in slot_counts(pattern)))


def cell_of(entry: CellEntry) -> Cell:
    """Return the value of *entry* with the words that agree with it."""
    if isinstance(entry, str):
        return Cell(entry, MappingProxyType({}))
    return Cell(entry.get(VALUE, ""), MappingProxyType({key: word for key, word in entry.items() if key != VALUE}))


def _person(name: str, entry: PersonEntry | None) -> Person:
    if entry is None:
        return Person(name=name)
    return Person(name=name, ages=(entry.age[0], entry.age[1]) if entry.age else None, gender=entry.gender)


def _source(entry: FactEntry) -> Source:
    if entry.any is not None:
        return Listed(_cells(entry.any))
    if entry.number is None:
        return FromGenerator()
    spellings = tuple(entry.spelled) if isinstance(entry.spelled, list) else ()
    if isinstance(entry.number, NumberRule):
        rule = entry.number
        return Counted(spellings=spellings, of=rule.of, times=tuple(rule.times or ()), plus=tuple(rule.plus or ()), round=rule.round)
    low, high, step = (*entry.number, 1)[:3]
    return Counted(spellings=spellings, low=low, high=high, step=step)


def _cells(entries: Iterable[CellEntry]) -> tuple[Cell, ...]:
    return tuple(cell_of(entry) for entry in entries)


def _rows(rows: Iterable[list[CellEntry]] | None) -> tuple[tuple[Cell, ...], ...]:
    return tuple(_cells(row) for row in rows or ())


def _step(entry: StepEntry, facts: Mapping[str, Fact]) -> Step:
    return Step(
        wordings=tuple(_wording(pattern, facts) for pattern in entry.say),
        chance=1.0 if entry.p is None else entry.p,
        paragraph=entry.para,
        group=entry.group,
        after=frozenset(entry.after),
        name=entry.id,
    )


def _wording(pattern: str, facts: Mapping[str, Fact]) -> Wording:
    slots = slots_of(pattern)
    return Wording(
        pattern=pattern,
        tells=frozenset(owner for owner, word in slots if word is None and owner in facts),
        agreements=tuple((owner, word) for owner, word in slots if word is not None),
    )


def _question(entry: QuestionEntry) -> StoryQuestion:
    return StoryQuestion(
        id=entry.id,
        wordings=tuple(entry.ask),
        needs=MappingProxyType(dict(entry.needs)),
        helps=MappingProxyType(dict(entry.helps)),
        moot=frozenset(entry.moot),
        said=frozenset(entry.said),
    )
