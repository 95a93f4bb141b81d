"""Slips that show only once alternatives are chosen (a wrong article, a word said twice, a lost capital), and facts outside slots."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from piiloom.foundation.articles import article

FIRST_PERSON = re.compile(r"\b(?:I|my|me|mine|myself|we|our|us)\b", re.IGNORECASE)

# "a" is also a letter ("vitamin a is …") and what Romance languages begin with, so only words of some length are looked at;
# those with an h are left alone: "a <small|honest> mistake" of released banks, whose digests are part of record ids.
_ARTICLE = re.compile(r"\b([Aa]n?) ([a-gi-z][a-z'’-]+)")
_SAID_TWICE = re.compile(r"\b((?!that\b|had\b|very\b)[a-z]+) \1\b", re.IGNORECASE)
_OPENS = re.compile(r"[A-Z0-9\"(*-]|\{")


# Words that disclose something of a writer wherever they stand, so no fixed text may hold one.
_KIN = (
    "mother|mom|mum|mommy|mama|father|dad|daddy|husband|hubby|wife|spouse|fianc[eé]e?|boyfriend|girlfriend|sisters?|brothers?|siblings?|sons?|daughters?|"
    "uncles?|aunts?|aunties?|nephews?|nieces?|cousins?|grand(?:mother|father|ma|pa|parents?|son|daughter|child|children|kids)|stepson|stepdaughter|"
    "stepmother|stepfather|in-laws?|toddler|newborn|widow(?:er|ed)?|divorced?|married|engaged"
)
_TIME = (
    "january|february|march(?= \\d)|april|june|july|august|september|october|november|december|"
    "monday|tuesday|wednesday|thursday|friday|saturday|sunday"
)
_HEALTH = "asthma|diabet\\w+|cancer|depress(?:ed|ion)|migraines?|pregnan\\w+|adhd|autis\\w+|hiv|epilep\\w+|arthritis|dementia"
_BELIEF = "christian|catholic|muslim|jewish|hindu|buddhist|atheist|islam|mormon|lesbian|bisexual|heterosexual|gay"
_DISCLOSES = re.compile(rf"\b(?:{_KIN}|{_TIME}|{_HEALTH}|{_BELIEF})\b|\d|[$£€₹]", re.IGNORECASE)
_SLOTS = re.compile(r"\{[^{}]*\}")


def disclosures(pattern: str) -> Iterator[str]:
    """The words of a pattern's fixed text that disclose something of somebody; each is told once."""
    found = dict.fromkeys(match.group().casefold() for match in _DISCLOSES.finditer(_SLOTS.sub(" ", pattern)))
    for word in found:
        yield f"holds {word!r} outside a slot"


def slips(expansions: Sequence[str]) -> Iterator[str]:
    """What is wrong in any of the *expansions* of one pattern; each kind of slip is told once."""
    if any(article(found[2]) != found[1].lower() for text in expansions for found in _ARTICLE.finditer(text)):
        yield '"a" before a vowel or "an" before a consonant'
    if any(_SAID_TWICE.search(text) for text in expansions):
        yield "a word is said twice in a row"


def sentence_slips(expansions: Sequence[str]) -> Iterator[str]:
    """``slips``, and what a whole sentence must have: a capital at its start."""
    yield from slips(expansions)
    if not all(_OPENS.match(text) for text in expansions):
        yield "an expansion does not open with a capital"
