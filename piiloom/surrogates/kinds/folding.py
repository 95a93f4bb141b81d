"""Transliterate names into lower-case ASCII letters, for e-mail addresses and usernames.

Latin letters lose their diacritics, and special letters follow the usual rules (ß → ss, ø → o, ł → l). Cyrillic, Greek, Hebrew, Arabic,
Devanagari, Thai, Korean and Japanese kana are transliterated by simple tables or an algorithm. A name in other characters gives "",
and the caller needs a fallback.
"""

from __future__ import annotations

from functools import cache, lru_cache
from importlib.resources import files
from unicodedata import normalize

from piiloom.foundation.yaml_files import load_yaml
from piiloom.pii_values.names.korean import syllable
from piiloom.surrogates.kinds.files import LettersFile


@cache
def _letters() -> dict[int, str]:
    tables = load_yaml(files("piiloom.surrogates") / "data" / "letters.yaml", LettersFile).scripts
    return {ord(letter): plain for table in tables.values() for letter, plain in table.items()}


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
        plain = known.get(ord(c), syllable(c))
        out.append(normalize("NFKD", c) if plain is None else plain)
    return "".join(c for c in "".join(out) if c.isascii() and c.isalpha()).lower()
