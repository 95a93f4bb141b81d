"""The English indefinite article, "a" or "an", chosen by the sound that the next word begins with.

Spelling does not determine the sound: "an hour", "a unit", "an MRI", "a NASA grant", "an 8-year-old", "an $80 bill". The same
rules serve code that chooses an article (the composer) and code that chooses a value to follow one (surrogates). Abbreviations
whose pronunciation cannot be derived from their letters are listed in ``spoken_words/``.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from importlib.resources import files
from typing import Final, Literal

# Not spoken, so removed: mention marks ("[[v3|") and tags. _FIRST_SPOKEN skips quotes, brackets, stars and currency signs.
_MARKUP: Final = re.compile(r"\[\[\w+\||</?[A-Za-z][^<>]*>")
_FIRST_SPOKEN: Final = re.compile(r"[^\W_]|[@#&]|[.\-+−](?=\d)")
_READ_OUT: Final = {"@": True, "&": True, "#": False, ".": False, "-": False, "+": False, "−": False}  # at, and, number, point, minus
_UNDECOMPOSED: Final = str.maketrans("ØøŁłĐđÐðıŒœÆæƏə", "OoLlDdDdiOoAaAa")

_NUMBER: Final = re.compile(r"(\d+)((?:,\d{3})+(?!\d))?")
_WORD: Final = re.compile(r"[A-Za-z]+")
_SPOKEN_WITH_VOWEL: Final = frozenset("AEFHILMNORSX")

# Read letter by letter: a single letter (X-ray, U.S., A's, but not L'Oréal), leading capitals (MRI, MSc), or a lowercase
# letter and capitals (mRNA).
_ALONE: Final = re.compile(r"[A-Za-z](?![A-Za-z]|['’](?!s\b)[A-Za-z])")
_LETTERS: Final = re.compile(r"[A-Z]{2}|[a-z](?=[A-Z]{2})")
_VOWELLESS: Final = re.compile(r"[b-df-hj-np-tv-xz]{2,}\Z")
# Vowelless words that are not spelled out but short for a word: "a Mr Hall", "a St. Louis man".
_SHORT_FOR: Final = frozenset("fr ft hm hmm lb lbs lt ltd mm mmm mr mrs ms msgr mt mts mx nr rd rs rt sgt sh shh sq sr st sts str".split())
# Capitals read as a word begin and end with pronounceable letters: FEMA, SEAL, STREET, but not HVAC, LAPD.
_PRONOUNCED: Final = re.compile(
    r"(?:[FHLMNRSX]|F[LR]|S(?:[CKLMNPTW]|H|CH|QU|TR|CR|PR)|RH)?[AEIOUY]+"
    r"(?:[B-DF-HJ-NP-TV-Z]{1,3}[AEIOUY]+)*"
    r"(?:[B-DF-HJ-NP-TV-Z]|C[KTH]|F[FT]|GHT?|L[DFKLMPT]|M[PS]|N[DGKTS]|PT|R[DKLMNPRSTCFV]|S[HKPST]|T[HS]|[DGKLPW]S|NTS|TCH|WN)?\Z"
)

_SILENT_H: Final = r"hour(?!i)|honest|honou?r|heir|hors d|(?-i:hermès)"
_CONSONANT: Final = re.compile(
    r"eu(?!ler)|ew(?!ok)|one(?:s|self|ness)?\b|once\b|ou[ia]|oaxac|uy|uv[eu]|ubiq|ubie|uga(?:nd|li)|ulys|utr[ae]|ut[aeio]|uk(?!k)"
    r"|uni(?!dent|dio|dea|ll|m(?!od|ol|an)|n(?!uc)|r|ss|tali)|unanim|unary|uint"
    r"|us[eiu]|usa(?!gi|m)|ur(?!i(?:be|art|ost)|en[ah])[aeio]|uru(?!k)|ieuan\b|ioan\b|yrs?\b",
    re.IGNORECASE,
)
_VOWEL: Final = re.compile(
    rf"[aeiou]|y(?![aeiou'’])|{_SILENT_H}|x-?(?:rays?|box|mas)\b|mp[34]\b|m(?=[bpf][^h])|n(?=k|d)|ng\b|nth\b", re.IGNORECASE
)
# Words whose h is silent in American and Canadian English only. The name Herb (capital H) keeps its h.
_SILENT_IN_AMERICA: Final = re.compile(r"herb(?:s|al|alists?|ed|y)?\b|homage")
_AMERICAN: Final = frozenset({"en", "en_US", "en_CA"})


@cache
def _listed(name: str) -> frozenset[str]:
    return frozenset((files("piiloom.foundation") / "spoken_words" / f"{name}.txt").read_text("utf-8").split())


def article(following: str, locale: str = "en_US") -> Literal["a", "an"]:
    """Return "an" if *following* is spoken with a vowel sound first, else "a". Signs at its start ("$", quotes) are skipped.

    >>> [article(text) for text in ("hour", "unit", "FBI agent", "67-year-old", "$80,000 loan")]
    ['an', 'a', 'an', 'a', 'an']
    """
    return "an" if begins_with_vowel_sound(following, locale) else "a"


def begins_with_vowel_sound(text: str, locale: str = "en_US") -> bool:
    """Whether *text* is spoken with a vowel sound first; False if nothing in it is spoken."""
    if "[[" in text or "<" in text:
        text = _MARKUP.sub("", text)
    first = _FIRST_SPOKEN.search(text)
    if first is None:
        return False
    if first.group() in _READ_OUT:
        return _READ_OUT[first.group()]
    spoken = _plain(text[first.start() :])
    number = _NUMBER.match(spoken)
    if number:
        return _vowel_number(number.group(1), grouped=number.group(2) is not None)
    letters = _spelled_out(spoken)
    if letters is not None:
        return letters
    if _CONSONANT.match(spoken):
        return False
    return _VOWEL.match(spoken) is not None or (locale in _AMERICAN and _SILENT_IN_AMERICA.match(spoken) is not None)


def _plain(text: str) -> str:
    """Return *text* without accents, in basic Latin letters; if it is not ASCII, only its first 40 characters."""
    if text.isascii():
        return text
    parts = unicodedata.normalize("NFD", text[:40].translate(_UNDECOMPOSED))
    return "".join(char for char in parts if not unicodedata.combining(char))


def _vowel_number(digits: str, *, grouped: bool) -> bool:
    """Whether a number is read with a vowel sound first: eight, eighty, eight hundred …, eleven, eighteen.

    The last two also as thousands, millions (11,000; 18000) and hundreds (1850). *grouped*: *digits* precede thousands separators.
    """
    if digits.startswith("8"):
        return True
    if not digits.startswith(("11", "18")):
        return False
    return len(digits) == 2 or (not grouped and (len(digits) == 4 or len(digits) % 3 == 2))


def _spelled_out(text: str) -> bool | None:
    """Whether the first letter's name begins with a vowel sound, if *text* begins with spelled-out letters; None if with a word."""
    if _ALONE.match(text):
        return text[0].upper() in _SPOKEN_WITH_VOWEL
    found = _WORD.match(text)
    if found is None:
        return None
    word = found.group()
    if word in _listed("en_initialisms") or (_VOWELLESS.match(word) and word not in _SHORT_FOR):
        return word[0].upper() in _SPOKEN_WITH_VOWEL
    if not _LETTERS.match(word) or _reads_as_word(word):
        return None
    return word[0].upper() in _SPOKEN_WITH_VOWEL


def _reads_as_word(word: str) -> bool:
    """Whether capitals are read as a word: "a NASA grant".

    A wrong answer is possible where both readings give the same article.
    """
    capitals = word[:-1] if word.endswith("s") and word[:-1].isupper() else word
    if capitals in _listed("en_acronyms"):
        return True
    if not capitals.isupper() or capitals in _listed("en_initialisms"):
        return False
    return len(capitals) > 3 and capitals[0] not in "UY" and _PRONOUNCED.match(capitals) is not None
