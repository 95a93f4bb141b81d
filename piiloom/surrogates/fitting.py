"""Find out what the surrounding text requires of a surrogate: a vowel after "an", capitals among capitals, a word that takes an -s.

The surrounding text itself is never changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from piiloom.surrogates.articles import (
    ANY,
    CONSONANT,
    VOWEL,
    WORDED,
    begins_with_noun,
    hangs_on_sound,
    needed_after,
    noun_before,
    small_words,
    sounds,
)
from piiloom.surrogates.mentions import Mention

_SENTENCE_STARTS: Final = frozenset(".!?\n\r\u2022")
_OPENING: Final = "\"'“‘«([*_- \t"
_OPENED: Final = frozenset("\"'“‘«([*_")
_SIBILANT: Final = frozenset("sxzßSXZ")

_HANGING: Final = frozenset("s'’")  # the first character of a genitive ending
_LINE: Final = 400  # code points to look at on either side, at most


class Place(NamedTuple):
    """What a place requires of its surrogate.

    ``sound`` is the sound it must begin with (``ANY``, ``VOWEL`` or ``CONSONANT``), or the code of a small word that it must fit after
    (see ``articles``). ``genitive``: it must be able to take an -s. ``capitals``: it is written in capitals throughout. ``begins``: it
    begins with a capital. ``also``: the codes of further small words, before other mentions of the same value.
    ``noun``: the noun before it, with which it must begin if it begins with one ("l'hôpital [X]"); it is not written twice.
    """

    sound: int = ANY
    genitive: bool = False
    capitals: bool = False
    begins: bool = False
    also: tuple[int, ...] = ()
    noun: str = ""


def notable_places(text: str, mentions: Sequence[Mention], language: str) -> dict[int, Place]:
    """Return the mentions whose surroundings require something, by mention number. Most require nothing and are skipped cheaply."""
    found: dict[int, Place] = {}
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
            found[number] = Place(sound, genitive, capitals, begins, noun=noun)
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


def fits(value: str, place: Place, locale: str, kind: str) -> bool:
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


def capitalised(value: str) -> str:
    """Return *value* (not empty) with its first character in upper case."""
    return value[0].upper() + value[1:]
