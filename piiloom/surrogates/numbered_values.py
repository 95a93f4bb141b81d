"""Owners of numbered values: redactors by models number each kind by itself, "[NAME_1] (DOB [DATE_OF_BIRTH_1]), [AGE_1], [CITY_1]".

A number alone joins nothing: "[NAME_1]" and "[CITY_1]" far apart are only the first of their kinds. A value belongs to the person whom the
text has beside it: in brackets or commas behind the name, after a possessive, under the name in a form, or right before the name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from piiloom.surrogates.documents import Mention
from piiloom.surrogates.kinds.amounts import KIN
from piiloom.surrogates.placeholders.settling import ADDRESS_PARTS, BLANK, OWN_INDEX
from piiloom.surrogates.placeholders.vocabulary import vocabulary

NOBODY: Final = -1
DATING: Final = frozenset({"age", "birth_date", "birth_year"})  # kinds that must agree on when a person was born
_PERSON: Final = "person"
_LONGEST: Final = 48  # code points between a person and a value beside them
_APART: Final = re.compile(
    r"(?<!\btel)(?<!\bno)(?<!\bnr)(?<!\bph)(?<!\bgeb)(?<!\bd\.o\.b)[.!?](?:\s|$)|;|\n(?!\s*[^\n]{0,24}[:=]\s*$)", re.IGNORECASE
)
_BEFORE: Final = re.compile(r"[-\s]?[\w\s-]{0,24}")  # what stands between a value and the person behind it: "[AGE_1]-year-old [NAME_1]"
_APPOSITION: Final = re.compile(r"[-\s]?[\w\s,-]{0,32}")  # the same, with one number: "[AGE_1]-year-old man, [NAME_1]"
_TOGETHER: Final = re.compile(r"\s*(?:,|&|\band\b|\ben\b|\bund\b|\bet\b|\by\b|\be\b|\boch\b|\bog\b)\s*", re.IGNORECASE)
_RELATIVE: Final = re.compile(
    r"(?:['’]s|\b(?:his|her|their|my|your|our|zijn|haar|mijn|hun|seine?[rnm]?|ihre?[rnm]?|meine?[rnm]?|son|sa|ses|mon|ma|su|sus|mi"
    r"|suo|sua|mio|mia|seu|meu|minha|hans|hennes|min|mitt))\s+(?:[^\W\d_]+\s+)?([^\W\d_]+)",
    re.IGNORECASE,
)
Key = tuple[str, str, str]


def is_numbered(mention: Mention) -> bool:
    """Whether *mention* is a value with a number that its tag bears."""
    return mention.kind != _PERSON and bool(mention.index) and not mention.original and not mention.index.startswith(OWN_INDEX)


def give_numbered(text: str, values: Sequence[int], mentions: Sequence[Mention], owners: list[int]) -> None:
    """Set the *owners* of numbered *values* that nobody owns yet: the persons beside whom the text has them.

    Equal values have one owner, whichever mention tells it. Beside one mention of a person stand one age and one birth date of theirs.
    """
    numbered = [n for n in values if owners[n] == NOBODY and is_numbered(mentions[n]) and mentions[n].form not in KIN]
    found: dict[Key, int] = {}
    taken: set[tuple[int, str]] = set()
    for number in numbered:
        key, kind = _key(mentions[number]), mentions[number].kind
        person = _beside(text, mentions, number) if key not in found else None
        if person is not None and not (kind in DATING and (person, kind) in taken):
            found[key] = owners[person]
            taken.add((person, kind))
    for run in _addresses(text, numbered, mentions):
        told = next((found[key] for key in map(_key, (mentions[n] for n in run)) if key in found), NOBODY)
        found.update((_key(mentions[n]), told) for n in run if told != NOBODY)
    for number in numbered:
        owners[number] = found.get(_key(mentions[number]), NOBODY)


def give_places(text: str, values: Sequence[int], mentions: Sequence[Mention], owners: list[int], nobody: Callable[[], int]) -> None:
    """Let the parts of an address that nobody owns, with equal numbers, lie in one place; *nobody* makes somebody whom nothing names."""
    numbered = [n for n in values if is_numbered(mentions[n])]
    found = {_key(mentions[n]): owners[n] for n in numbered if owners[n] != NOBODY}
    for run in _addresses(text, numbered, mentions):
        keys = [_key(mentions[n]) for n in run]
        told = next((found[key] for key in keys if key in found), None)
        told = nobody() if told is None else told
        found.update((key, told) for key in keys if key not in found)
    for number in numbered:
        owners[number] = found.get(_key(mentions[number]), owners[number])


def _key(mention: Mention) -> Key:
    return mention.kind, mention.role, mention.index


def _addresses(text: str, numbered: Sequence[int], mentions: Sequence[Mention]) -> Iterator[list[int]]:
    """Yield the parts of each address with equal numbers that only signs separate: "[CITY_1], [STATE_1] [ZIPCODE_1]"."""
    run: list[int] = []
    for number in [n for n in numbered if mentions[n].kind in ADDRESS_PARTS]:
        joined = run and run[-1] == number - 1 and BLANK.fullmatch(text, mentions[run[-1]].end, mentions[number].start)
        if joined and mentions[run[-1]].index == mentions[number].index:
            run.append(number)
            continue
        if len(run) > 1:
            yield run
        run = [number]
    if len(run) > 1:
        yield run


def _beside(text: str, mentions: Sequence[Mention], number: int) -> int | None:
    """Return the number of the mention of the person beside whom the value at mention *number* stands, or None."""
    at = number
    while at and _joins(text, mentions[at - 1], mentions[at]):
        at -= 1
        if mentions[at].kind == _PERSON:
            return _meant(text, mentions, at, number)
    value, after = mentions[number], mentions[number + 1] if number + 1 < len(mentions) else None
    if after is None or after.kind != _PERSON or _of_relative(text[value.end : after.start]):
        return None
    between = _APPOSITION if after.index == value.index else _BEFORE
    return number + 1 if between.fullmatch(text, value.end, after.start) is not None else None


def _meant(text: str, mentions: Sequence[Mention], person: int, number: int) -> int:
    """Return the mention of the person meant: *person*, or of several that are named together the one with the number of the value.

    So "[NAME_1] and [NAME_2], [AGE_1] and [AGE_2] years old" is read; in "[NAME_1] and [NAME_2] ([AGE_1])" the nearest is meant.
    """
    value = mentions[number]
    end = next((n for n in range(number + 1, len(mentions)) if not _joins(text, mentions[n - 1], mentions[n])), len(mentions))
    if not any(mentions[n].kind == value.kind and mentions[n].index != value.index for n in range(person + 1, end)):
        return person
    at = person
    while at and mentions[at - 1].kind == _PERSON and _TOGETHER.fullmatch(text, mentions[at - 1].end, mentions[at].start):
        at -= 1
    return next((n for n in range(at, person + 1) if mentions[n].index == value.index), person)


def _joins(text: str, one: Mention, two: Mention) -> bool:
    gap = text[one.end : two.start]
    return len(gap) <= _LONGEST and _APART.search(gap) is None and not _of_relative(gap)


def _of_relative(gap: str) -> bool:
    """Whether *gap* speaks of somebody of another person's: "[NAME_1] and her mother, [AGE_1]"."""
    words = [found[1].casefold() for found in _RELATIVE.finditer(gap)]
    return any((word := vocabulary().get(one)) is not None and word.what == "role" for one in words)
