"""Which language and country a locale is of, as libraries name them."""

from __future__ import annotations

from typing import Final

# Languages that spaCy knows under another code.
_SPACY: Final = {"no": "nb", "nn": "nb"}
ANY_LANGUAGE: Final = "xx"  # spaCy's code of pipelines for all


def locale_language(locale: str) -> str:
    """Return "pl" for "pl_PL"."""
    return locale.replace("-", "_").partition("_")[0].lower()


def locale_region(locale: str) -> str | None:
    """Return "PL" for "pl_PL"; None for a locale without a country."""
    return locale.replace("-", "_").partition("_")[2].upper() or None


def spacy_language(locale: str) -> str:
    """Return the code that spaCy has for the language of *locale*."""
    language = locale_language(locale)
    return _SPACY.get(language, language)
