"""Small words whose form depends on the word after them: "d'", "au", "nello", "na". The surrogate is chosen so that it fits them.

The words, and the genders of places and of the nouns that names begin with, are in ``data/words/articles.yaml``.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Final, NamedTuple

from pydantic import RootModel

from piiloom.foundation.yaml_files import FileModel, load_yaml
from piiloom.surrogates.mentions import Gender

_APOSTROPHES: Final = frozenset("'’")
_BLANKS: Final = frozenset(" \u00a0")
_LONGEST: Final = 9  # code points of a small word, with a sign before it
_BARE: Final = "0"
_NEVER: Final = "-"
_PLACES: Final = frozenset({"city", "region", "location"})
ANY, VOWEL, CONSONANT = 0, 1, 2
FIRST: Final = 16  # the code of the first rule; smaller ones are those of English articles
# Kinds whose values small words agree with: no dates, ages and numbers ("le 11 mai").
WORDED: Final = frozenset(
    "person city country region location landmark area street company organisation employer hospital school university bank charity club "
    "authority department occupation nationality condition political product site kin".split()
)
_VOWELS: Final = frozenset("aeiou")
_DOUBTFUL: Final = frozenset("hy")  # "l'hôtel" and "le héros", "d'Yves" and "le Yémen"
_CONSONANTS: Final = frozenset({"consonant", "plain"})
_NOUN: Final = re.compile(r"([^\W\d_][\w-]+)[ \u00a0]\Z")
_LONGEST_NOUN: Final = 24
_IMPURE: Final = ("z", "gn", "ps", "pn", "x", "y")


class _Language(FileModel):
    names: bool
    female: str
    before: dict[str, str]
    nouns: dict[str, list[str]]
    never: list[str]
    places: dict[str, list[str]]


class _ArticlesFile(RootModel[dict[str, _Language]]):
    pass


class _Rule(NamedTuple):
    """What may follow a small word: pairs of a sound and genders."""

    language: str
    either: tuple[tuple[str, str], ...]


@cache
def _rules() -> tuple[Mapping[str, Mapping[str, int]], tuple[_Rule, ...]]:
    """Return the codes by language and small word, and the rules in the order of their codes."""
    codes: dict[str, dict[str, int]] = {}
    rules: list[_Rule] = []
    for language, known in _file().items():
        for word, told in known.before.items():
            either = tuple((sound, genders) for sound, genders in (one.split() for one in told.split("|")))
            codes.setdefault(language, {})[word] = FIRST + len(rules)
            rules.append(_Rule(language, either))
    return codes, tuple(rules)


@cache
def _file() -> dict[str, _Language]:
    return load_yaml(files("piiloom.surrogates") / "data" / "words" / "articles.yaml", _ArticlesFile).root


def small_words(language: str) -> Mapping[str, int]:
    """Return the small words of *language* whose form depends on the next word, each with its code; empty if it has none."""
    return _rules()[0].get(language, {})


def needed_after(text: str, start: int, words: Mapping[str, int]) -> int:
    """Return the code of the one of the small *words* that comes right before *start* of *text*, else 0."""
    last = text[start - 1 : start]
    if last in _APOSTROPHES and last:
        letter = text[start - 2 : start - 1].lower()
        return words.get(f"{letter}'", words.get("'", 0)) if letter.isalpha() else 0
    if last not in _BLANKS or not last:
        return 0
    before = text[max(0, start - 1 - _LONGEST) : start - 1].split()
    return words.get(before[-1].lstrip('("“«').lower(), 0) if before else 0


def hangs_on_sound(code: int) -> bool:
    """Whether the small word with *code* depends on the sound after it, and not on a gender alone, which names of people do not have."""
    return all(sound != "any" for sound, _ in _rules()[1][code - FIRST].either)


def gender_by_article(text: str, start: int, language: str) -> Gender | None:
    """Return the gender of whoever is named at *start* of *text*, if an article before the name tells it: pt "da [X]", it "la [X]"."""
    known = _file().get(language)
    if known is None or not known.names:
        return None
    code = needed_after(text, start, small_words(language))
    genders = {genders for _, genders in _rules()[1][code - FIRST].either} if code else set()
    return "male" if genders == {"mM"} else "female" if genders == {"fF"} else None


def contradict(one: int, other: int) -> bool:
    """Whether nothing fits after both of the small words with the codes *one* and *other*: "l'[X]" and "au [X]" are two."""
    rules = _rules()[1]
    return not any(
        (a == b or "any" in {a, b} or {a, b} <= _CONSONANTS) and not set(genders).isdisjoint(others)
        for a, genders in rules[one - FIRST].either
        for b, others in rules[other - FIRST].either
    )


def noun_before(text: str, start: int, language: str) -> str:
    """Return the noun right before *start* of *text*, in small letters, if names begin with it: "l'hôpital [X]"; else ""."""
    found = _NOUN.search(text, max(0, start - _LONGEST_NOUN), start)
    word = found.group(1).casefold() if found else ""
    return word if word in _nouns(language) else ""


def begins_with_noun(value: str, noun: str, language: str) -> bool:
    """Whether *value* begins with *noun*, or with none that names of *language* begin with."""
    first = value.partition(" ")[0].casefold()
    return first == noun or first not in _nouns(language)


@cache
def _nouns(language: str) -> frozenset[str]:
    known = _file().get(language)
    return frozenset(noun.casefold() for nouns in known.nouns.values() for noun in nouns) if known is not None else frozenset()


def sounds(value: str, sound: int, locale: str = "en_US", kind: str = "") -> bool:
    """Whether *value* begins with *sound* in the English of *locale*, or fits after a small word. Always true for ``ANY``.

    The gender counts where the *kind* of value is given.
    """
    if sound == ANY:
        return True
    if sound < FIRST:
        from piiloom.foundation.articles import begins_with_vowel_sound  # noqa: PLC0415 - for texts with an article before a tag

        return begins_with_vowel_sound(value, locale) == (sound == VOWEL)
    rule = _rules()[1][sound - FIRST]
    gender = _gender(value, kind, rule.language) if kind else ""
    return any((not gender or gender in genders) and _begins(value, begin) for begin, genders in rule.either)


def _begins(value: str, sound: str) -> bool:
    if sound == "any":
        return True
    begin = value[:3].casefold()
    if not begin.isascii():
        begin = unicodedata.normalize("NFD", begin)
    first = begin[:1].replace("œ", "o").replace("æ", "a")
    match sound:
        case "vowel":
            return first in _VOWELS
        case "i" | "o":
            return first == sound
        case "not_i" | "not_o":
            return first != sound[-1] and not (first == "h" and begin[1:2] == sound[-1])
    impure = begin.startswith(_IMPURE) or (first == "s" and begin[1:2] not in _VOWELS)
    if sound == "impure":
        return impure
    return first.isalpha() and first not in _VOWELS and first not in _DOUBTFUL and not (sound == "plain" and impure)


def _gender(value: str, kind: str, language: str) -> str:
    """Return the gender of *value* as ``data/words/articles.yaml`` writes it, "" if it is not known."""
    known, first = _genders(language), value.partition(" ")[0]
    found = known.get(value) or known.get(first, "")
    if not found and kind == "country":
        return "F" if first.endswith(_file()[language].female) else "M"
    return found or (_BARE if kind in _PLACES else "")


@cache
def _genders(language: str) -> Mapping[str, str]:
    known = _file()[language]
    found = {name: gender for table in (known.nouns, known.places) for gender, names in table.items() for name in names}
    return found | dict.fromkeys(known.never, _NEVER)
