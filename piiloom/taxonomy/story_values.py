"""Checks of how the values of a story's facts are defined: by a list, by rows, or by a number and its spellings."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from piiloom.foundation.errors import ConfigError
from piiloom.foundation.yaml_files import KeyPath
from piiloom.taxonomy.grammar import all_expansions, combinations, slot_counts
from piiloom.taxonomy.story_files import MOST_NUMBER, Cell, FactEntry, NumberRule, StoryEntry
from piiloom.taxonomy.story_reading import VALUE, cell_of
from piiloom.taxonomy.type_faults import Fault

MOST_STEPS = 1_000_000_000  # of a number, from its lowest to its highest
MOST_EXPANSIONS = 1_000  # of a value
NUMBER_SLOT = re.compile(r"\{(n|n:,|words)\}")
_BRACES = re.compile(r"\{[^{}]*\}|[{}]")
_WAYS = "any, rows, number or draw: true"


def source_faults(path: KeyPath, name: str, found: FactEntry, entry: StoryEntry) -> Iterator[Fault]:
    """Yield what is wrong with the definition of an entry's values."""
    given = [key for key in ("any", "rows", "number") if getattr(found, key) is not None] + ["draw"] * found.draw
    if len(given) > 1:
        yield path, f"{' and '.join(given)}: a fact has one of {_WAYS}"
        return
    if not given and found.of is None:
        yield path, f"nothing says what its values are; give {_WAYS} (or, for names and ages, of: PERSON)"
    if found.rows is not None:
        yield from _rows_faults(path, name, found)
        return
    if found.type is None:
        yield path, "has no type; write type: type.subtype"
    if found.number is not None:
        yield from _number_faults(path, name, found, entry)
    elif found.spelled is not None:
        yield (*path, "as"), "spellings (as) are for numbers only"
    for number, cell in enumerate(found.any or ()):
        yield from (((*path, "any", number), fault) for fault in cell_faults(cell))


def cell_faults(cell: Cell) -> Iterator[str]:
    """Yield what is wrong with a value as written."""
    if isinstance(cell, dict) and VALUE not in cell:
        yield f"has no key {VALUE!r} for the value"
        return
    text = cell_of(cell).text
    try:
        if slot_counts(text):
            yield "a value has no slots"
        elif any(not value for value in all_expansions(text, MOST_EXPANSIONS)):
            yield "one choice of its alternatives leaves no text at all"
        elif combinations(text) > MOST_EXPANSIONS:
            yield f"has more than {MOST_EXPANSIONS:,} expansions"
    except ConfigError as error:
        yield error.message


def _rows_faults(path: KeyPath, name: str, found: FactEntry) -> Iterator[Fault]:
    if not isinstance(found.spelled, dict) or not found.spelled:
        yield (*path, "as"), "rows need 'as: {fact: type.subtype, …}', a name and type for each column"
        return
    if found.type is not None:
        yield (*path, "type"), "the types of rows stand in 'as'"
    wide = len(found.spelled)
    for number, row in enumerate(found.rows or ()):
        if len(row) != wide:
            yield (*path, "rows", number), f"{name} has {wide} columns ({', '.join(found.spelled)}), this row has {len(row)}"
        for cell in row:
            yield from (((*path, "rows", number), fault) for fault in cell_faults(cell))


def _number_faults(path: KeyPath, name: str, found: FactEntry, entry: StoryEntry) -> Iterator[Fault]:
    if not isinstance(found.spelled, list) or not found.spelled:
        yield (*path, "as"), 'a number needs its spellings: as: ["${n:,}"]'
    else:
        for number, spelling in enumerate(found.spelled):
            if not NUMBER_SLOT.search(spelling) or _BRACES.search(NUMBER_SLOT.sub("", spelling)):
                yield (*path, "as", number), "a spelling holds {n}, {n:,} or {words}, and no other slot"
    rule = found.number
    if isinstance(rule, NumberRule):
        if (rule.times is None) == (rule.plus is None):
            yield (*path, "number"), "give either times or plus"
        entries = entry.facts | entry.likes
        faults = list(_reference_faults(name, entries))
        yield from (((*path, "number"), fault) for fault in faults)
        if not faults and _greatest(name, entries) > MOST_NUMBER:
            yield (*path, "number"), f"can grow beyond {MOST_NUMBER:,}"
    elif rule is not None and (not 2 <= len(rule) <= 3 or rule[0] > rule[1] or min(rule[2:], default=1) <= 0):
        yield (*path, "number"), "a number is [low, high, step], low to high, step above 0 (1 where there is none)"
    elif rule is not None and (rule[1] - rule[0]) / (*rule, 1)[2] > MOST_STEPS:
        yield (*path, "number"), f"has more than {MOST_STEPS:,} steps"


def _reference_faults(name: str, facts: Mapping[str, FactEntry]) -> Iterator[str]:
    """Yield why the number of the fact *name* cannot be derived: its rule refers to no number, or in the end to itself."""
    seen, at = {name}, facts[name].number
    while isinstance(at, NumberRule):
        following = facts.get(at.of)
        if following is None or following.number is None:
            yield f"of: {at.of!r} is not a fact with a number"
            return
        if at.of in seen:
            yield f"of: {at.of!r} follows from this number itself"
            return
        seen.add(at.of)
        at = following.number


def _greatest(name: str, facts: Mapping[str, FactEntry]) -> float:
    """Return the largest absolute value that the number of a fact can have. Its references must be valid."""
    rule = facts[name].number
    if not isinstance(rule, NumberRule):
        return max((abs(number) for number in (rule or ())[:2]), default=0)
    based_on = _greatest(rule.of, facts)
    factor = max((abs(number) for number in rule.times or ()), default=1)
    return based_on * factor + max((abs(number) for number in rule.plus or ()), default=0) + (rule.round or 0)
