"""Helpers for the data files of a language: their folder, spelling by locale, and gendered forms."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Final, Literal

from piiloom.foundation.words import WORD
from piiloom.foundation.yaml_files import FileModel, load_yaml
from piiloom.taxonomy.locales import get_locale

PersonGender = Literal["female", "male", "nonbinary"]

_GENDERED: Final = re.compile(r"<([^|<>]*)\|([^|<>]*)>")


class _SpellingFile(FileModel):
    words: dict[str, dict[str, str]]


@cache
def folder(locale: str) -> Traversable:
    """Return the data folder of a locale's language."""
    return files("piiloom.pii_values") / "data" / get_locale(locale).language


@cache
def _spellings(locale: str) -> Mapping[str, str]:
    source = folder(locale) / "spelling.yaml"
    return load_yaml(source, _SpellingFile).words.get(locale, {}) if source.is_file() else {}


def spelled(text: str, locale: str) -> str:
    """Convert *text* to the spelling of *locale*; an initial capital is kept."""
    changes = _spellings(locale)
    if not changes:
        return text

    def swap(word: str) -> str:
        other = changes.get(word.casefold())
        if other is None:
            return word
        return other.capitalize() if word[0].isupper() else other

    return WORD.sub(lambda match: swap(match.group()), text)


def gendered(text: str, gender: PersonGender) -> str:
    """Replace each ``<a|b>`` in *text* by its first form for men, by its second for others."""
    return _GENDERED.sub(lambda m: m[1] if gender == "male" else m[2], text) if "<" in text else text
