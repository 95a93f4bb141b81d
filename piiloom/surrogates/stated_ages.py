"""Ages that stand in a text and were not redacted ("a 54-year-old man", "Edad: 54 años"), near a birth date that was."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Final, NamedTuple

from piiloom.foundation.yaml_files import FileModel, load_yaml
from piiloom.surrogates.documents import Mention

_NEAR: Final = 600  # code points on either side of the birth date
_OLDEST: Final = 119
_PHRASE: Final = 40


class _AgesFile(FileModel):
    patterns: list[str]
    months: list[str]
    children: list[str]


@cache
def _file() -> _AgesFile:
    return load_yaml(files("piiloom.surrogates") / "data" / "words" / "stated_ages.yaml", _AgesFile)


@cache
def _pattern() -> re.Pattern[str]:
    """Return the pattern of stated ages; the group "months" is there if it is one in months."""
    years, months = (
        "|".join(pattern.replace("{n}", r"(?<![\d.,/-])(?:1[01])?\d{1,2}") for pattern in patterns)
        for patterns in (_file().patterns, _file().months)
    )
    return re.compile(f"(?P<months>{months})|{years}")


_NUMBER: Final = re.compile(r"\d{1,3}")


class StatedAge(NamedTuple):
    """An age in years, or in ``months``."""

    number: int
    months: bool


@cache
def _child() -> re.Pattern[str]:
    words = _file().children
    return re.compile(rf"[\])}}>*]*[- ](?:[\w.’'-]+ ){{0,4}}?(?:{'|'.join(words)})\b", re.IGNORECASE)


def child_follows(text: str, end: int) -> bool:
    """Whether a word for a child follows the age that ends at *end*, in the same noun phrase: "year old boy", "-jarig meisje"."""
    return _child().match(text, end, end + _PHRASE) is not None


def stated_age(text: str, mentions: Sequence[Mention], number: int) -> StatedAge | None:
    """Return the age that the text states nearest to the birth date at mention *number*, or None.

    The next person named on either side ends the search if the birth date has a person of its own between.
    """
    start, end = mentions[number].start, mentions[number].end
    low, high = max(0, start - _NEAR), min(len(text), end + _NEAR)
    other = next((one.start for one in mentions[number + 1 :] if one.kind == mentions[number].kind), high)
    before = next((one.end for one in reversed(mentions[:number]) if one.kind == mentions[number].kind), low)
    best: tuple[int, StatedAge] | None = None
    for found in _pattern().finditer(text, max(low, before), min(high, other)):
        stated = StatedAge(int(_NUMBER.findall(found.group())[0]), found["months"] is not None)
        distance = start - found.end() if found.end() <= start else found.start() - end
        if stated.number <= _OLDEST and distance >= 0 and (best is None or distance < best[0]):
            best = distance, stated
    return best[1] if best is not None else None
