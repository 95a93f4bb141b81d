"""Validity checks of stories: known types, pairs and names, values that can be made, slots that can be filled."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches

from piiloom.foundation.errors import ConfigError
from piiloom.foundation.yaml_files import KeyPath
from piiloom.taxonomy.entities.entity_catalogue import find_shipped
from piiloom.taxonomy.entity_types import Taxonomy
from piiloom.taxonomy.grammar import Choice, Text, all_expansions, combinations, parse, slot_counts
from piiloom.taxonomy.grammar import Sequence as PatternSequence
from piiloom.taxonomy.stories import LOOKALIKES, WRITER, Fact, InRows, Listed
from piiloom.taxonomy.story_files import MOST_NUMBER, Cell, FactEntry, NumberRule, QuestionEntry, StepEntry, StoryEntry
from piiloom.taxonomy.story_reading import VALUE, cell_of, fact_names, facts_of_entry, likes_of, slots_of, spelled_type
from piiloom.taxonomy.text_shapes import pronouns

Fault = tuple[KeyPath, str]


def pair_faults(pair: Sequence[str], taxonomy: Taxonomy) -> Iterator[str]:
    """Yield why *pair* is not a valid pair."""
    for name in pair:
        if name not in taxonomy.types:
            yield f"unknown type {name!r}"
        elif not taxonomy.types[name].pairable:
            yield f"type {name!r} cannot be part of a pair"
    if len(set(pair)) != 2:
        yield "a pair is two different types"
    elif all(name in taxonomy.types and taxonomy.types[name].pairable for name in pair) and (min(pair), max(pair)) not in taxonomy.pairs:
        yield f"the types file does not pair {pair[0]!r} with {pair[1]!r}"


def subtype_faults(name: str, subtypes: Iterable[str], taxonomy: Taxonomy) -> Iterator[str]:
    """Yield a message for each of *subtypes* that the type *name* does not have, or one if the type is unknown.

    The ids of catalogue entities of the type are subtypes too.
    """
    if name not in taxonomy.types:
        yield f"unknown type {name!r}"
        return
    known = {subtype.name for subtype in taxonomy.types[name].subtypes}
    for subtype in subtypes:
        entity = None if subtype in known else find_shipped(subtype)
        if subtype not in known and (entity is None or entity.entity_type != name):
            close = get_close_matches(subtype, sorted(known), n=1)
            hint = f"; did you mean {close[0]!r}?" if close else ""
            yield f"type {name!r} has no subtype {subtype!r}{hint}"


MOST_STEPS = 1_000_000_000  # of a number, from its lowest to its highest
_MOST_SPELLINGS = 1_000  # of a value
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
        elif any(not value for value in all_expansions(text, _MOST_SPELLINGS)):
            yield "one choice of its alternatives leaves no text at all"
        elif combinations(text) > _MOST_SPELLINGS:
            yield f"has more than {_MOST_SPELLINGS:,} expansions"
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


MOST_EXPANSIONS = 10_000  # of one wording, value or question


def story_faults(path: KeyPath, entry: StoryEntry, taxonomy: Taxonomy, language: str) -> Iterator[Fault]:
    """Yield (path, message) for everything that would keep *entry* from being told."""
    for fault in pair_faults([spelled_type(name) for name in entry.pair], taxonomy) if entry.pair or entry.facts else ():
        yield (*path, "pair"), fault
    if entry.pair and not entry.facts:
        yield (*path, "facts"), "a story of a pair has facts; write pair: [] if it is without personal data"
    yield from _cast_faults((*path, "cast"), entry)
    found = [*_fact_faults((*path, "facts"), entry, taxonomy), *_like_faults((*path, "likes"), entry)]
    yield from found
    if found:  # later checks would only repeat these faults
        return
    facts = {fact.name: fact for fact in facts_of_entry(entry)}
    known = {**facts, **{like.name: like for like in likes_of(entry)}}
    words = _agreeing(entry, known, language)
    for number, step in enumerate(entry.text):
        yield from (((*path, "text", number, "with"), f"{name!r} is not a fact of this story") for name in step.after if name not in facts)
        yield from _step_faults((*path, "text", number), step, known, words)
    named = Counter(step.id for step in entry.text if step.id is not None)
    yield from ((((*path, "text")), f"two steps have the id {name!r}; give each its own") for name, count in named.items() if count > 1)
    asked = Counter(question.id for question in entry.questions)
    yield from (((*path, "questions"), f"two questions have the id {name!r}; give each its own") for name, n in asked.items() if n > 1)
    for number, question in enumerate(entry.questions):
        yield from _question_faults((*path, "questions", number), question, facts, named)


def _cast_faults(path: KeyPath, entry: StoryEntry) -> Iterator[Fault]:
    for name, person in entry.cast.items():
        if person is not None and person.age is not None and person.age[0] > person.age[1]:
            yield (*path, name, "age"), "ages are given as [youngest, oldest]"
        if name in set(fact_names(entry)):
            yield (*path, name), f"{name!r} is a person and a fact; call one of them otherwise"


def _fact_faults(path: KeyPath, entry: StoryEntry, taxonomy: Taxonomy) -> Iterator[Fault]:
    people = {WRITER, *entry.cast}
    for name, found in entry.facts.items():
        yield from source_faults((*path, name), name, found, entry)
        for place, told, person in _declared((*path, name), found):
            kind, dot, subtype = told.partition(".")
            faults = subtype_faults(spelled_type(kind), [subtype], taxonomy) if dot else [f"write {told!r} as type.subtype"]
            yield from ((place, fault) for fault in faults)
            if person is not None and person not in people:
                yield place, f"{person!r} is not in the cast; add {person} to cast, or leave out 'of'"
    counted = Counter(fact_names(entry))
    yield from ((path, f"two facts are called {name!r}; rename one") for name, count in counted.items() if count > 1)


def _like_faults(path: KeyPath, entry: StoryEntry) -> Iterator[Fault]:
    names = {*fact_names(entry), *entry.cast}
    for name, found in entry.likes.items():
        yield from source_faults((*path, name), name, found, entry)
        if found.type not in LOOKALIKES:
            yield (*path, name, "type"), f"a look-alike is one of {', '.join(LOOKALIKES)}"
        if found.any is None and found.number is None:
            yield (*path, name), "a look-alike has a list (any) or a number"
        if name in names:
            yield (*path, name), f"{name!r} is a fact or a person, too; rename one"


def _declared(path: KeyPath, found: FactEntry) -> Iterator[tuple[KeyPath, str, str | None]]:
    """Yield (path, type, person) for each fact that an entry declares."""
    if found.rows is None:
        yield (*path, "type"), found.type or "", found.of
    elif isinstance(found.spelled, dict):
        for column, told in found.spelled.items():
            if isinstance(told, str):
                yield (*path, "as", column), told, found.of
            else:
                yield (*path, "as", column), told.type, told.of or found.of


def _agreeing(entry: StoryEntry, facts: Mapping[str, Fact], language: str) -> Mapping[str, frozenset[str]]:
    """Return the words allowed after the dot of a slot, by fact or person.

    For a fact they are the keys that all its values have, for a person the pronouns.
    """
    words: dict[str, frozenset[str]] = {name: frozenset(pronouns(language)) for name in (WRITER, *entry.cast)}
    for name, fact in facts.items():
        cells = _cells(entry, fact)
        words[name] = frozenset.intersection(*(frozenset(cell_of(c).attributes) for c in cells)) if cells else frozenset()
    return words


def _cells(entry: StoryEntry, fact: Fact) -> list[Cell]:
    if isinstance(fact.source, Listed):
        return (entry.facts | entry.likes)[fact.name].any or []
    if isinstance(fact.source, InRows):
        return [row[fact.source.column] for row in entry.facts[fact.source.rows].rows or ()]
    return []


def _step_faults(path: KeyPath, step: StepEntry, facts: Mapping[str, Fact], words: Mapping[str, frozenset[str]]) -> Iterator[Fault]:
    for number, pattern in enumerate(step.say):
        faults = list(wording_faults(pattern)) or list(_slot_faults(pattern, facts, words))
        yield from (((*path, "say", number), fault) for fault in faults)


def _slot_faults(pattern: str, facts: Mapping[str, Fact], words: Mapping[str, frozenset[str]]) -> Iterator[str]:
    for owner, word in slots_of(pattern):
        if word is None and owner not in facts:
            yield f"{{{owner}}} is not a fact of this story; add it to facts or correct the name"
        elif word is not None and owner not in words:
            yield f"{{{owner}.{word}}}: {owner!r} is neither a fact nor in the cast"
        elif word is not None and word not in words[owner]:
            yield f"{{{owner}.{word}}}: {_lacking(owner, word, facts, words)}"
    for slot, (low, high) in slot_counts(pattern).items():
        if "." not in slot and low == 0 < high:
            yield f"{{{slot}}} is in some of the alternatives only; make two wordings of it, so that each tells the same facts"


def _lacking(owner: str, word: str, facts: Mapping[str, Fact], words: Mapping[str, frozenset[str]]) -> str:
    if owner in facts:
        known = ", ".join(sorted(words[owner])) or "none"
        return f"not every value of {owner} has the key {word!r} (all have: {known}); write the values as {{{VALUE}: value, {word}: …}}"
    return f"a person has {', '.join(sorted(words[owner]))}"


def _question_faults(path: KeyPath, question: QuestionEntry, facts: Mapping[str, Fact], steps: Iterable[str]) -> Iterator[Fault]:
    for key, names in (("needs", question.needs), ("helps", question.helps), ("moot", question.moot)):
        for name in names:
            if name not in facts:
                yield (*path, key), f"{name!r} is not a fact of this story"
    for name in question.needs:
        for key, others in (("helps", question.helps), ("moot", question.moot)):
            if name in others:
                yield (*path, key), f"{name!r} is needed already; name it once"
    yield from (((*path, "moot"), f"{name!r} helps already; name it once") for name in question.helps if name in question.moot)
    if facts and not question.needs:
        yield (*path, "needs"), "a question needs at least one fact; without any, nothing of the text is high"
    known = set(steps)
    yield from (((*path, "said"), f"no step has the id {name!r}; give a step 'id: {name}'") for name in question.said if name not in known)
    for number, pattern in enumerate(question.ask):
        faults = list(wording_faults(pattern))
        yield from (((*path, "ask", number), fault) for fault in faults)
        if not faults and slots_of(pattern):
            yield (*path, "ask", number), "a question has no slots: it must not say what the text tells"


def wording_faults(pattern: str) -> Iterator[str]:
    """Yield why *pattern* cannot be parsed, may expand to nothing, or has too many expansions."""
    try:
        number = combinations(pattern)
    except ConfigError as error:
        yield error.message
        return
    if may_be_empty(parse(pattern)):
        yield "one choice of its alternatives leaves no text at all"
    if number > MOST_EXPANSIONS:
        yield f"has {number:,} expansions, more than {MOST_EXPANSIONS:,}"


def may_be_empty(tree: PatternSequence) -> bool:
    """Return whether some expansion has no text."""
    return all(
        any(may_be_empty(option) for option in part.options) if isinstance(part, Choice) else isinstance(part, Text) and part.text.isspace()
        for part in tree.parts
    )
