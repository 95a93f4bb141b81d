"""Whether a name or role is announced as standing for several people together, and who was named before it."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Final

from piiloom.foundation.words import any_of
from piiloom.foundation.yaml_files import FileModel, load_yaml
from piiloom.surrogates.mentions import Mention

_BEFORE: Final = 60  # code points before a mention within which it is announced
_NEAR: Final = 500  # code points before it within which the people are named


class _JointlyFile(FileModel):
    jointly: list[str]
    against: list[str]


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    known = load_yaml(files("piiloom.surrogates") / "data" / "jointly.yaml", _JointlyFile)
    announcing, between = any_of(known.jointly), any_of(known.against)
    # Between the word and the mention stand a few more words at most, and no end of a sentence.
    return re.compile(rf"\b(?:{announcing})\b[^.;\n\[\]<>]*$", re.IGNORECASE), re.compile(rf"\b(?:{between})\b", re.IGNORECASE)


def announced_together(text: str, start: int) -> bool:
    """Whether the text right before *start* says that what follows stands for several people together."""
    return _patterns()[0].search(text[max(0, start - _BEFORE) : start]) is not None


def named_before(text: str, number: int, mentions: Sequence[Mention], numbers: Sequence[int]) -> list[int]:
    """Return the mentions of people on the same side of the case, in the same paragraph, before mention *number*, in text order.

    *numbers* are the numbers of all mentions of people.
    """
    start = mentions[number].start
    first = max(0, start - _NEAR)
    first = max(first, text.rfind("\n\n", first, start))
    for found in _patterns()[1].finditer(text, first, start):
        first = found.end()
    place = bisect_left(numbers, number)
    found_before = []
    while place and mentions[numbers[place - 1]].start >= first:
        place -= 1
        found_before.append(numbers[place])
    return found_before[::-1]
