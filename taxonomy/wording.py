"""Slips that show only once alternatives are chosen: a wrong article, a word said twice, a sentence that lost its capital or its "I"."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

FIRST_PERSON = re.compile(r"\b(?:I|me|my|mine|myself|we|us|our|ours|ourselves)\b", re.IGNORECASE)

# Letters, not sounds: "u" and "h" are left alone, so are "one", "once" and "eu"; an acronym ("an MRI") is no word here.
_WRONG_ARTICLE = re.compile(r"\b(?:[Aa] (?:[ai]|e(?!u)|o(?!n[ce]))[a-z]+|[Aa]n [bcdfgjklmnpqrstvwxyz][a-z]+)")
_SAID_TWICE = re.compile(r"\b((?!that\b|had\b|very\b)[a-z]+) \1\b", re.IGNORECASE)
_OPENS = re.compile(r"[A-Z0-9\"]|\{")


def peripheral_slips(expansions: Sequence[str]) -> Iterator[str]:
    """What is wrong in any of the *expansions* of one pattern; each kind of slip is told once."""
    if any(_WRONG_ARTICLE.search(text) for text in expansions):
        yield '"a" before a vowel or "an" before a consonant'
    if any(_SAID_TWICE.search(text) for text in expansions):
        yield "a word is said twice in a row"


def sentence_slips(expansions: Sequence[str]) -> Iterator[str]:
    """``peripheral_slips``, and what a whole sentence must have: a capital at its start and the writer in it."""
    yield from peripheral_slips(expansions)
    if not all(_OPENS.match(text) for text in expansions):
        yield "an expansion does not open with a capital"
    if not all(FIRST_PERSON.search(text) for text in expansions):
        yield "an expansion is not in the first person"
