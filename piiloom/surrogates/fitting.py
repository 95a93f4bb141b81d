"""Fitting a surrogate into its sentence: articles, capitals and other words that depend on it.

The surrounding text is never changed. The surrogate is chosen to fit it: a vowel after "an", capitals among capitals, a word that takes
an -s. It also fits small words such as "d'", "au", "nello" and "na". These words, and the genders of places
and of the nouns that names begin with, are in ``data/words/articles.yaml``.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Final, NamedTuple

from pydantic import RootModel

from piiloom.foundation.yaml_files import FileModel, load_data
from piiloom.pii_values.names.regions import Gender
from piiloom.surrogates.documents import Mention

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


class _ArticlesOfLanguage(FileModel):
    names: bool
    female: str
    before: dict[str, str]
    nouns: dict[str, list[str]]
    never: list[str]
    places: dict[str, list[str]]


class _ArticlesFile(RootModel[dict[str, _ArticlesOfLanguage]]):
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
def _file() -> dict[str, _ArticlesOfLanguage]:
    return load_data("piiloom.surrogates", "words/articles.yaml", _ArticlesFile).root


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


_SENTENCE_STARTS: Final = frozenset(".!?\n\r\u2022")
_OPENING: Final = "\"'“‘«([*_- \t"
_OPENED: Final = frozenset("\"'“‘«([*_")
_SIBILANT: Final = frozenset("sxzßSXZ")

_HANGING: Final = frozenset("s'’")  # the first character of a genitive ending
_LINE: Final = 400  # code points to look at on either side, at most


class Requirement(NamedTuple):
    """What a place requires of its surrogate.

    ``sound`` is the sound it must begin with (``ANY``, ``VOWEL`` or ``CONSONANT``), or the code of a small word that it must fit after
    (see above). ``genitive``: it must be able to take an -s. ``capitals``: it is written in capitals throughout. ``begins``: it
    begins with a capital. ``also``: the codes of further small words, before other mentions of the same value.
    ``noun``: the noun before it, with which it must begin if it begins with one ("l'hôpital [X]"); it is not written twice.
    """

    sound: int = ANY
    genitive: bool = False
    capitals: bool = False
    begins: bool = False
    also: tuple[int, ...] = ()
    noun: str = ""


def notable_places(text: str, mentions: Sequence[Mention], language: str) -> dict[int, Requirement]:
    """Return the mentions whose surroundings require something, by mention number. Most require nothing and are skipped cheaply."""
    found: dict[int, Requirement] = {}
    english, small = language == "en", small_words(language)
    length = len(text)
    for number, mention in enumerate(mentions):
        start, end = mention[0], mention[1]
        sound, noun = _beside(text, start, mention[2], language) if small and mention[2] in WORDED else (ANY, "")
        worded = sound or noun
        if not worded and end < length and text[end] == " " and text[start - 1] == " " and start > 2:
            last = text[start - 2]
            if "b" <= last <= "z" and (last != "n" or text[start - 3] not in "aA"):
                continue  # nearly all mentions: in the middle of a line, a small letter and a space before it, no article
        # A small letter and a space before it: the mention is in the middle of a sentence.
        inside = start > 1 and text[start - 1] == " " and ("a" <= (last := text[start - 2]) <= "z" or last.islower())
        hanging = text[end : end + 1] in _HANGING
        if inside and not worded and not hanging and (last not in "an" or (last == "n" and text[start - 3] not in "aA")):
            continue
        if english:
            sound = needed_sound(text, start, language)
        if inside and not sound and not noun and not hanging:
            continue
        after = text[end : end + 2]
        genitive = hanging and genitive_follows(text, end)
        capitals = not inside and not after.islower() and in_capitals(text, mentions, number)
        begins = not inside and begins_sentence(text, start)
        if sound or noun or genitive or capitals or begins:
            found[number] = Requirement(sound, genitive, capitals, begins, noun=noun)
    return found


def _beside(text: str, start: int, kind: str, language: str) -> tuple[int, str]:
    """Return the code of the small word before a value of *kind*, and the noun before it, as far as it must fit them."""
    sound = needed_after(text, start, small_words(language))
    if kind == "person":
        return sound if sound and hangs_on_sound(sound) else ANY, ""
    return sound, "" if sound else noun_before(text, start, language)


def needed_sound(text: str, start: int, language: str) -> int:
    """Return the sound that an English article right before *start* requires: ``VOWEL`` after "an", ``CONSONANT`` after "a", else ``ANY``.

    Quotes, brackets and asterisks may come between: 'an "[NAME]" fan'.
    """
    if language != "en":
        return ANY
    while start and text[start - 1] in _OPENED:
        start -= 1
    if start < 2 or text[start - 1] not in " \u00a0":
        return ANY
    last = text[start - 2]
    if last in "aA":
        return CONSONANT if start == 2 or not text[start - 3].isalnum() else ANY
    if last in "nN" and start > 2 and text[start - 3] in "aA":
        return VOWEL if start == 3 or not text[start - 4].isalnum() else ANY
    return ANY


def fits(value: str, place: Requirement, locale: str, kind: str) -> bool:
    """Whether *value*, which is of *kind*, fits all that *place* and the other mentions of it require."""
    if not sounds(value, place.sound, locale, kind) or (place.also and not all(sounds(value, code, locale, kind) for code in place.also)):
        return False
    named = not place.noun or begins_with_noun(value, place.noun, locale.partition("_")[0])
    return named and (not place.genitive or takes_genitive(value))


def genitive_follows(text: str, end: int) -> bool:
    """Whether the text goes on with a genitive ending at *end*: "[NAME]s", "[NAME]'s", "[NAME]’s"."""
    tail = text[end : end + 3]
    if not tail or tail[0] not in "s'’":
        return False
    if tail[0] != "s":
        return len(tail) > 1 and tail[1] == "s" and not (len(tail) > 2 and tail[2].isalnum())
    return not (len(tail) > 1 and tail[1].isalnum())


def takes_genitive(value: str) -> bool:
    """Whether *value* can take a genitive -s (it does not end in s, x, z or ß)."""
    return value[-1] not in _SIBILANT


def in_capitals(text: str, mentions: Sequence[Mention], number: int) -> bool:
    """Whether the rest of the mention's line is all capitals (at least four letters).

    A label before the mention ("NAME:") and other mentions on the line are ignored.
    """
    start, end = mentions[number][0], mentions[number][1]
    near = text[max(0, start - 6) : start].rpartition("\n")[2] + text[end : end + 6].partition("\n")[0]
    if not near.isupper():  # a cheap check that rules out nearly all lines
        return False
    line_start = max(text.rfind("\n", 0, start) + 1, start - _LINE)
    line_end = text.find("\n", end, end + _LINE)
    line_end = min(end + _LINE, len(text)) if line_end < 0 else line_end
    first, last = number, number + 1
    while first and mentions[first - 1][1] > line_start:
        first -= 1
    while last < len(mentions) and mentions[last][0] < line_end:
        last += 1
    ends = [line_start, *(mention[1] for mention in mentions[first:last])]
    starts = [*(mention[0] for mention in mentions[first:last]), line_end]
    pieces = [text[a:b] for a, b in zip(ends, starts, strict=True)]
    before = "".join(pieces[: number - first + 1])
    rest = before[before.rfind(":") + 1 :] + "".join(pieces[number - first + 1 :])
    return rest.isupper() and sum(map(str.isalpha, rest)) >= 4


def begins_sentence(text: str, start: int) -> bool:
    """Whether *start* begins a sentence, a line or the text. Opening quotes, brackets and the like may come before it."""
    at = start - 1
    while at >= 0 and text[at] in _OPENING:
        at -= 1
    return at < 0 or (text[at] in _SENTENCE_STARTS and (at + 1 < start or text[at] in "\n\r"))
