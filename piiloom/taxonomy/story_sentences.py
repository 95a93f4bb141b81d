"""Checks of the sentences of a story: values and PII outside slots, articles, capitals, and wording slips."""

from __future__ import annotations

import re
from collections.abc import Iterator

from piiloom.foundation.articles import article
from piiloom.foundation.words import whole_word
from piiloom.foundation.yaml_files import KeyPath
from piiloom.taxonomy.bank_style import StyleFinding
from piiloom.taxonomy.grammar import all_expansions
from piiloom.taxonomy.stories import Fact, InRows, Listed, Story
from piiloom.taxonomy.wording import disclosures, slips

_LOOKED_AT = 40  # expansions of a wording or value
_SLOT = re.compile(r"\{(?:([aA^]):)?([a-z][a-z0-9_]*)(\.[a-z0-9_]+)?\}")
_LAST_WORD = re.compile(r"([\w'’]+) $")
_FIRST_WORD = re.compile(r"[\w'’]+")
_DETERMINERS = frozenset("a an the my our his her their your its this that".split())
_SENTENCE_END = re.compile(r"(?:^|[.!?][\"')]* |\n)$")
_WEEKDAYS = re.compile(r"'(?:mon|tues|wednes|thurs|fri|satur|sun)day'")  # fine where they stand alone
_PART = re.compile(r"'(?:\d|[$£€₹])'")
_NUMBER = re.compile(r"[$£€₹]?\d[\d.,:/-]*\d|[$£€₹]\d?")  # "2 of us" tells no more than "two of us"
_FLAT_PLACE = re.compile(
    r"(?:^|[.!?]\s+)(?:(?:all )?(?:this|it|that) is|(?:it|that)'s|we're|i'm|(?:we|i) (?:am|are|live)) in \{(\w+)\}(?=[.!?]|$)",
    re.IGNORECASE,
)
_FEIGNED_REPLY = re.compile(
    r"(?:^|[.!?]\s+)(?:(?:since|because|well,?|yes,|no,) )?you (?:asked|were asking|wanted to know)\b(?! me to)", re.IGNORECASE
)
_LABELLED = re.compile(r"\{[aA]:(\w+)\} (?:man|woman|guy|girl|dude|person)\b")
_LABELS = frozenset({"sexual orientation", "demographic", "belief"})
_LOWER_CASE_VOICES = frozenset({"chat", "note", "list", "log"})


def values_of(story: Story, fact: Fact) -> tuple[str, ...]:
    """Return the values that a fact takes from a list or rows; empty for numbers and generators."""
    if isinstance(fact.source, Listed):
        cells = fact.source.cells
    elif isinstance(fact.source, InRows):
        cells = tuple(row[fact.source.column] for row in story.rows[fact.source.rows])
    else:
        return ()
    return tuple(value for cell in cells for value in all_expansions(cell.text, _LOOKED_AT))


def sentence_findings(path: KeyPath, story: Story, language: str) -> Iterator[StyleFinding]:
    """Yield all findings on the wordings of a story."""
    values = {name: values_of(story, fact) for name, fact in story.named.items()}
    patterns = [(value, name, whole_word(value)) for name in story.facts for value in dict.fromkeys(values[name])]
    for number, step in enumerate(story.steps):
        for place, wording in enumerate(step.wordings):
            where = (*path, "text", number, "say", place)
            expansions = all_expansions(wording.pattern, _LOOKED_AT)
            yield from ((where, rule, message) for rule, message in _unmarked(expansions, patterns))
            yield from ((where, rule, message) for rule, message in _joints(expansions, values, story, language))
            if language == "en":
                yield from ((where, "wording", slip) for slip in slips(expansions))
                yield from ((where, "disclosure", f"{told}; a slot makes it a fact") for told in told_outside(wording.pattern))
                yield from ((where, "tell", message) for message in _tells(wording.pattern, story))


def _tells(pattern: str, story: Story) -> Iterator[str]:
    """Yield the habits of writers of stories by which blind readers recognized made-up texts."""
    types = {name: fact.entity_type for name, fact in story.facts.items()}
    if any(types.get(found[1]) == "location" for found in _FLAT_PLACE.finditer(pattern)):
        yield "a sentence gives the place and nothing else; let the place matter where it is named"
    if _FEIGNED_REPLY.search(pattern):
        yield "answers a question that nobody asked in the text; begin with the matter"
    if any(types.get(found[1]) in _LABELS for found in _LABELLED.finditer(pattern)):
        yield "labels a person with a noun phrase; say what happened, or leave the noun out"


def told_outside(pattern: str) -> Iterator[str]:
    """Yield what the fixed text of *pattern* discloses.

    Weekdays alone disclose nothing. Numbers are reported as a whole instead of by their digits.
    """
    for told in disclosures(pattern):
        if not _PART.search(told) and not _WEEKDAYS.search(told):
            yield told
    numbers = dict.fromkeys(_NUMBER.findall(_SLOT.sub(" ", pattern)))
    yield from (f"holds {number!r} outside a slot" for number in numbers)


def _unmarked(expansions: tuple[str, ...], patterns: list[tuple[str, str, re.Pattern[str]]]) -> Iterator[tuple[str, str]]:
    """Yield (rule, message) for values in fixed text: they would be mentions without a span."""
    fixed = " ".join(_SLOT.sub(" \n ", text) for text in expansions)
    folded = fixed.lower()
    found: dict[str, str] = {}
    for value, name, pattern in patterns:
        low = value == value.lower()
        if value in (folded if low else fixed) and pattern.search(folded if low else fixed):
            found.setdefault(value, name)
    for value, name in found.items():
        yield "unmarked", f"holds {value!r}, a value of {name}, outside a slot; say it otherwise or take the value out"


def _joints(expansions: tuple[str, ...], values: dict[str, tuple[str, ...]], story: Story, language: str) -> Iterator[tuple[str, str]]:
    """Yield (rule, message) for problems where text and values meet: articles, doubled words, sentences without a capital."""
    found: dict[str, str] = {}
    for text in expansions:
        for slot in _SLOT.finditer(text):
            mark, name, agreeing = slot.groups()
            before = text[: slot.start()]
            if agreeing and mark is None and _begins_sentence(before, story.voice):
                found.setdefault(f"a sentence begins with {{{name}{agreeing}}} in small letters; write {{^:{name}{agreeing}}}", "capital")
            if language != "en" and mark in {"a", "A"}:
                found.setdefault(f"{{{mark}:{name}}} is English; let the value have a key for its article", "article")
            if agreeing or name not in values:
                continue
            for value in values[name]:
                for rule, message in _joint(before, mark, name, value, story.voice, language):
                    found.setdefault(message, rule)
    yield from ((rule, message) for message, rule in found.items())


def _joint(before: str, mark: str | None, name: str, value: str, voice: str, language: str) -> Iterator[tuple[str, str]]:
    starts = _FIRST_WORD.match(value)
    first = starts.group().casefold() if starts else ""
    if language == "en":
        ends = _LAST_WORD.search(before)
        last = ends.group(1).casefold() if ends else ""
        if mark in {"a", "A"} and first in _DETERMINERS:
            yield "article", f"{{{mark}:{name}}} puts an article before {value!r}, which has one"
        if mark is None and last in {"a", "an"} and first not in _DETERMINERS and article(value) != last:
            yield "article", f"{last!r} before {value!r}; write {{a:{name}}}"
        if mark in {None, "^"} and last and (last == first or (last in _DETERMINERS and first in _DETERMINERS)):
            yield "wording", f"{last!r} stands before {value!r}"
    if mark is None and value[:1].islower() and _begins_sentence(before, voice):
        yield "capital", f"a sentence begins with {value!r} in small letters; write {{^:{name}}}"


def _begins_sentence(before: str, voice: str) -> bool:
    return voice not in _LOWER_CASE_VOICES and _SENTENCE_END.search(before) is not None
