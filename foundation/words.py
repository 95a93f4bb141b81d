"""What a word is, in one place: stages, repair, gates and splits count and compare alike."""

from __future__ import annotations

import re

WORD = re.compile(r"\w+(?:['’]\w+)*")

# Function words carry no content: they are never what a question leaks, nor what makes two texts alike.
STOP_WORDS = frozenset(
    "a an the of in on at to for with and or but my your his her hers their our its i me mine we us you he him she it they them "
    "is am are was were be been being do does did doing have has had having this that these those as by from about into over "
    "after before so not no nor if than then how what when where why who whom whose which can could should would will shall may might must "
    "more most some any each such own same too very just only also up down out off again once here there all both few other "
    "s t m re ve ll d don".split()
)


def words(text: str) -> list[str]:
    """The words of *text* in order, as written."""
    return WORD.findall(text)


def count_words(text: str) -> int:
    """How many words *text* has."""
    return sum(1 for _ in WORD.finditer(text))


def content_words(text: str) -> frozenset[str]:
    """The case-folded words of *text* that are not function words."""
    return frozenset(w for w in (m.casefold() for m in WORD.findall(text)) if w not in STOP_WORDS)


def whole_word(value: str) -> re.Pattern[str]:
    """A pattern that finds *value* where no word character touches it on either side."""
    return re.compile(rf"(?<!\w){re.escape(value)}(?!\w)")
