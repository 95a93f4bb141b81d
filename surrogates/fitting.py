"""What is put in fits what surrounds it, which is never altered: "an" before a vowel, capitals among capitals, a genitive's -s."""

from __future__ import annotations

import re
from typing import Final

_ARTICLE: Final = re.compile(r"(?<!\w)(an?)[ \u00a0]$", re.IGNORECASE)
_VOWELS: Final = frozenset("aeiouàáâãäåæèéêëìíîïòóôõöøœùúûü")
# Sounds that letters do not tell.
_AS_CONSONANT: Final = re.compile(r"(?:eu|uni(?:[^mn]|$)|use|usu|ut[aie]|u[rk]|ubi|one\b|once\b|ewe|uw|ou[ijaí])", re.IGNORECASE)
_AS_VOWEL: Final = re.compile(
    r"(?:hour|honest|honou?r|heir|x-|mba\b|mri\b|ssn\b|nhs\b|8|11\b|18\b|1[18](?=\D|\d{3}(?:\D|$)))", re.IGNORECASE
)
_SENTENCE_STARTS: Final = frozenset(".!?\n\r\u2022")
_OPENING: Final = "\"'“‘«([*_- \t"
_SIBILANT: Final = frozenset("sxzßSXZ")

_LINE: Final = 400  # code points to either side that are looked at

ANY, VOWEL, CONSONANT = 0, 1, 2


def needed_sound(text: str, start: int, language: str) -> int:
    """What an English article right before *start* asks for: ``VOWEL`` after "an", ``CONSONANT`` after "a", else ``ANY``."""
    if language != "en" or start < 2 or text[start - 1] not in " \u00a0" or text[start - 2] not in "anAN":
        return ANY
    found = _ARTICLE.search(text, max(0, start - 4), start)
    if found is None:
        return ANY
    return VOWEL if len(found.group(1)) > 1 else CONSONANT


def sounds(value: str, sound: int) -> bool:
    """Whether *value* begins with the sound."""
    if sound == ANY:
        return True
    head = value.lstrip("\"'(")
    if _AS_VOWEL.match(head):
        vowel = True
    elif _AS_CONSONANT.match(head):
        vowel = False
    else:
        vowel = head[:1].lower() in _VOWELS
    return vowel == (sound == VOWEL)


def genitive_follows(text: str, end: int) -> bool:
    """Whether an -s of the text hangs on what is put in: "[NAME]s", "[NAME]'s"."""
    tail = text[end : end + 3]
    if not tail or tail[0] not in "s'’":
        return False
    if tail[0] != "s":
        return len(tail) > 1 and tail[1] == "s" and not (len(tail) > 2 and tail[2].isalnum())
    return not (len(tail) > 1 and tail[1].isalnum())


def takes_genitive(value: str) -> bool:
    """Whether an -s can be hung on *value*."""
    return value[-1] not in _SIBILANT


def in_capitals(text: str, start: int, end: int) -> bool:
    """Whether the rest of the line, behind a label ("NAME:"), is all capitals (at least four letters of it)."""
    near = text[max(0, start - 6) : start].rpartition("\n")[2] + text[end : end + 6].partition("\n")[0]
    if not near.isupper():  # nearly always, and cheap
        return False
    line_start = max(text.rfind("\n", 0, start) + 1, start - _LINE)
    line_end = text.find("\n", end, end + _LINE)
    before = text[line_start:start]
    rest = before[before.rfind(":") + 1 :] + text[end : line_end if line_end >= 0 else end + _LINE]
    return rest.isupper() and sum(map(str.isalpha, rest)) >= 4  # noqa: PLR2004 - "OK" is no line in capitals


def begins_sentence(text: str, start: int) -> bool:
    """Whether *start* is the first place of a sentence, a line or the text, behind opening signs at most."""
    at = start - 1
    while at >= 0 and text[at] in _OPENING:
        at -= 1
    return at < 0 or (text[at] in _SENTENCE_STARTS and (at + 1 < start or text[at] in "\n\r"))


def capitalised(value: str) -> str:
    """*value* with a capital at its start, where it begins with a letter."""
    return value[0].upper() + value[1:]
