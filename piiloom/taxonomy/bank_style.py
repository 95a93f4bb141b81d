"""Style checks of bank texts: lengths, openings, wording, and no PII outside slots.

A finding is (path, rule, message) and quotes no text. The word lists are English: banks of other languages are checked for lengths,
counts and openings only.

Wording slips that show only in expansions (wrong article, doubled word, lost capital), and words that disclose PII outside slots.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from piiloom.foundation.articles import article
from piiloom.foundation.words import words
from piiloom.foundation.yaml_files import KeyPath
from piiloom.taxonomy.bank_checks import BOTH, CUE_LEVELS, BankFile, FrameEntry, ScenarioEntry, slot_name
from piiloom.taxonomy.entity_types import Taxonomy
from piiloom.taxonomy.grammar import all_expansions, combinations, count_range

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


StyleFinding = tuple[KeyPath, str, str]

TELL_WORDS = (3, 32)
STAKE_WORDS = (5, 36)
FRAME_WORDS = (1, 36)
QUESTION_WORDS = (5, 36)
FEWEST_TELLS = {BOTH: 3}
FEWEST_TELLS_OF_TYPE = 2
FEWEST_STAKES = 5
FEWEST_QUESTIONS = {"neutral": 3, "implied": 3, "personal": 2}
FEWEST_VARIANTS = 4

_EXPANSIONS_LOOKED_AT = 60
_TYPOGRAPHIC = re.compile("[‘’“”]")
_BRACKETS = re.compile(r"[<|>]")


def style_findings(parsed: BankFile, taxonomy: Taxonomy, language: str) -> Iterator[StyleFinding]:
    """Yield the style violations in a file that has passed ``bank_checks``."""
    for index, entry in enumerate(parsed.scenarios):
        yield from _scenario(("scenarios", index), entry, taxonomy, language)
    for index, frame in enumerate(parsed.frames):
        text = frame.text if isinstance(frame, FrameEntry) else frame
        yield from _pattern(("frames", index), text, FRAME_WORDS, sentence_slips, language)
    for name, patterns in (("chatter", parsed.talk.chatter), ("distractors", parsed.talk.distractors), ("asks", parsed.talk.asks)):
        for number, pattern in enumerate(patterns):
            checks = sentence_slips if name != "distractors" else slips
            yield from _pattern(("talk", name, number), pattern, STAKE_WORDS if name == "chatter" else (2, 36), checks, language)


def _scenario(path: KeyPath, entry: ScenarioEntry, taxonomy: Taxonomy, language: str) -> Iterator[StyleFinding]:
    prefix = "-".join(sorted(slot_name(name) for name in entry.pair))
    if not re.fullmatch(rf"(?:[a-z]{{2}}\.)?{re.escape(prefix)}\.[a-z0-9]+(-[a-z0-9]+)*", entry.id):
        yield (*path, "id"), "id", f"the id must be {prefix}.<slug>"
    for name, patterns in entry.tells.items():
        fewest = FEWEST_TELLS.get(name, FEWEST_TELLS_OF_TYPE)
        if len(patterns) < fewest:
            yield (*path, "tells", name), "count", f"has {len(patterns)} of at least {fewest} patterns"
        for number, pattern in enumerate(patterns):
            yield from _pattern((*path, "tells", name, number), pattern, TELL_WORDS, sentence_slips, language)
    yield from _openings(path, entry)
    if len(entry.stakes) < FEWEST_STAKES:
        yield (*path, "stakes"), "count", f"has {len(entry.stakes)} of at least {FEWEST_STAKES} stakes"
    for number, pattern in enumerate(entry.stakes):
        yield from _pattern((*path, "stakes", number), pattern, STAKE_WORDS, sentence_slips, language)
    yield from _questions(path, entry, taxonomy, language)


def _openings(path: KeyPath, entry: ScenarioEntry) -> Iterator[StyleFinding]:
    seen: dict[tuple[str, ...], str] = {}
    for name, patterns in entry.tells.items():
        for number, pattern in enumerate(patterns):
            place = f"{name}[{number}]"
            earlier = seen.setdefault(tuple(pattern.split()[:3]), place)
            if earlier != place:
                yield (*path, "tells", name, number), "opening", f"opens with the same three words as {earlier}"


def _questions(path: KeyPath, entry: ScenarioEntry, taxonomy: Taxonomy, language: str) -> Iterator[StyleFinding]:
    for level in CUE_LEVELS:
        patterns = getattr(entry.questions, level)
        if len(patterns) < FEWEST_QUESTIONS[level]:
            yield (*path, "questions", level), "count", f"has {len(patterns)} of at least {FEWEST_QUESTIONS[level]} patterns"
        for number, pattern in enumerate(patterns):
            place = (*path, "questions", level, number)
            yield from _pattern(place, pattern, QUESTION_WORDS, slips, language, ends="?")
            if combinations(pattern) < FEWEST_VARIANTS:
                yield place, "variants", f"has {combinations(pattern)} of at least {FEWEST_VARIANTS} expansions"
            if (
                level == "personal"
                and language == "en"
                and not all(FIRST_PERSON.search(t) for t in all_expansions(pattern, _EXPANSIONS_LOOKED_AT))
            ):
                yield place, "person", "never speaks of its asker (I, my, me, we …)"
            yield from _type_words(place, pattern, [name.replace("_", " ") for name in entry.pair], taxonomy)


def _type_words(place: KeyPath, pattern: str, types: Iterable[str], taxonomy: Taxonomy) -> Iterator[StyleFinding]:
    text = _BRACKETS.sub(" ", pattern).casefold()
    used = set(words(text))
    for known in (taxonomy.types[name] for name in types):
        told = sorted(used & known.type_words) or ([known.name] if re.search(rf"\b{known.name}\b", text) else [])
        if told:
            yield place, "type word", f"names the type {known.name!r} ({', '.join(told)})"


def _pattern(
    path: KeyPath,
    pattern: str,
    limits: tuple[int, int],
    checks: Callable[[Sequence[str]], Iterable[str]],
    language: str,
    *,
    ends: str = ".!)",
) -> Iterator[StyleFinding]:
    """Check length and wording of a pattern that has passed ``bank_checks``.

    *limits* are the fewest and most fixed words, *checks* finds slips in the expansions, *ends* are the allowed last characters.
    """
    if _TYPOGRAPHIC.search(pattern):
        yield path, "apostrophe", "has typographic quotes"
    low, high = count_range(pattern)
    if low < limits[0] or high > limits[1]:
        yield path, "length", f"has {low} to {high} fixed words, not {limits[0]} to {limits[1]}"
    expansions = all_expansions(pattern, _EXPANSIONS_LOOKED_AT)
    if not all(text.rstrip('"').endswith(tuple(ends)) or (ends != "?" and text.endswith("}")) for text in expansions):
        yield path, "sentence", "does not end as a sentence" if ends != "?" else "does not end with a question mark"
    if ends == "?" and any(text.count("?") != 1 for text in expansions):
        yield path, "question", "must have one question mark"
    if ends != "?" and "?" in pattern:
        yield path, "question", "asks a question, and a record has only that of its scenario"
    if language == "en":
        yield from ((path, "wording", slip) for slip in checks(expansions))
        if tuple(path[:2]) != ("talk", "distractors"):  # these look like PII on purpose
            yield from ((path, "disclosure", told) for told in disclosures(pattern))
