"""What a word is, in one place: stages, repair, gates and splits count and compare alike."""

from __future__ import annotations

import re
from importlib.resources import files

WORD = re.compile(r"\w+(?:['’]\w+)*")

# Function words carry no content: they are never what a question leaks, nor what makes two texts alike. One file a language; words
# that carry content in another language stay out of it, as all languages are looked at together.
STOP_WORDS = frozenset(
    word for source in (files("piiloom.foundation") / "function_words").iterdir() for word in source.read_text("utf-8").split()
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
