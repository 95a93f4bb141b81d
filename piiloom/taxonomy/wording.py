"""Wording slips that show only in expansions (wrong article, doubled word, lost capital), and words that disclose PII outside slots."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from piiloom.foundation.articles import article

FIRST_PERSON = re.compile(r"\b(?:I|my|me|mine|myself|we|our|us)\b", re.IGNORECASE)

# Matches an article and the word after it. Words of one letter are skipped, since "a" is also a letter and a word of Romance languages.
# Words that begin with h are skipped, too: released banks hold "a <small|honest> mistake", and their digests are part of record ids.
# "A" is a letter behind what is named by letters ("vitamin a"), and before words that no noun phrase begins with ("a is").
_ARTICLE = re.compile(
    r"(?<!\b[Vv]itamin )(?<!\b[Hh]epatitis )(?<!\b[Ii]nfluenza )\b([Aa]n?) "
    r"(?!(?:is|are|isn['’]t|aren['’]t|am|and|or|of|in|on|at|as|if|it|its|into|onto)(?![\w/-]))([a-gi-z][a-z'’-]+)"
)
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
    """Yield a message for each word in the pattern's fixed text that discloses something about somebody, without duplicates."""
    found = dict.fromkeys(match.group().casefold() for match in _DISCLOSES.finditer(_SLOTS.sub(" ", pattern)))
    for word in found:
        yield f"holds {word!r} outside a slot"


def slips(expansions: Sequence[str]) -> Iterator[str]:
    """Yield what is wrong in any of the *expansions* of one pattern, each kind of slip once."""
    if any(article(found[2]) != found[1].lower() for text in expansions for found in _ARTICLE.finditer(text)):
        yield '"a" before a vowel or "an" before a consonant'
    if any(_SAID_TWICE.search(text) for text in expansions):
        yield "a word is said twice in a row"


def sentence_slips(expansions: Sequence[str]) -> Iterator[str]:
    """Yield ``slips``, and a message if an expansion does not start with a capital, as a whole sentence must."""
    yield from slips(expansions)
    if not all(_OPENS.match(text) for text in expansions):
        yield "an expansion does not open with a capital"
