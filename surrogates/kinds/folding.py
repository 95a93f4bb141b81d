"""Transliterate names into lower-case ASCII letters, for e-mail addresses and usernames.

Latin letters lose their diacritics, and special letters follow the usual rules (ß → ss, ø → o, ł → l). Cyrillic, Greek, Hebrew, Arabic,
Devanagari, Thai, Korean and Japanese kana are transliterated by simple tables or an algorithm. A name in other characters gives "",
and the caller needs a fallback.
"""

from __future__ import annotations

from functools import cache, lru_cache
from importlib.resources import files
from typing import Final
from unicodedata import normalize

from piiloom.foundation.yaml_files import load_yaml
from piiloom.surrogates.kinds.files import LettersFile

_HANGUL: Final = (0xAC00, 0xD7A3)
_HEADS: Final = "g kk n d tt r m b pp s ss  j jj ch k t p h".split(" ")
_VOWELS: Final = "a ae ya yae eo e yeo ye o wa wae oe yo u wo we wi yu eu ui i".split(" ")
_TAILS: Final = " k k k n n n t l k m l l l p l m p p t t ng t t k t p t".split(" ")


@cache
def _letters() -> dict[int, str]:
    tables = load_yaml(files("piiloom.surrogates") / "data" / "letters.yaml", LettersFile).scripts
    return {ord(letter): plain for table in tables.values() for letter, plain in table.items()}


def _syllable(code: int) -> str:
    """Romanize a Korean syllable by the Revised Romanization, letter by letter, without the sound changes between syllables."""
    index = code - _HANGUL[0]
    return _HEADS[index // 588] + _VOWELS[index % 588 // 28] + _TAILS[index % 28]


def folded(name: str) -> str:
    """Return *name* in lower-case ASCII letters; all else is dropped, so the result may be ""."""
    if name.isascii():
        return name.lower() if name.isalpha() else "".join(filter(str.isalpha, name)).lower()
    return _written_plainly(name)


@lru_cache(maxsize=65_536)
def _written_plainly(name: str) -> str:
    known = _letters()
    out = []
    for c in normalize("NFC", name.lower()):
        code = ord(c)
        if _HANGUL[0] <= code <= _HANGUL[1]:
            out.append(_syllable(code))
        elif code in known:
            out.append(known[code])
        else:
            out.append(normalize("NFKD", c))
    return "".join(c for c in "".join(out) if c.isascii() and c.isalpha()).lower()
