"""The kinds that a model may be asked for, and the descriptions that it gets."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Final

from piiloom.foundation.words import any_of

if TYPE_CHECKING:
    from piiloom.surrogates.by_model.kinds_file import ModelKind, ModelKindsFile

# Kinds whose values are free text. Values that must agree with a person, a country or a checksum (names, contacts, ids, dates, ages,
# places, nationality …) are not among them: code draws those better than any model.
BY_MODEL: Final = frozenset(
    "organisation company employer school language_school university hospital department bank charity band club authority course "
    "degree field occupation resort landmark product condition medication religion political".split()
)


@cache
def _file() -> ModelKindsFile:
    from piiloom.foundation.yaml_files import load_yaml  # noqa: PLC0415 - pydantic is needed only to read data
    from piiloom.surrogates.by_model.kinds_file import ModelKindsFile  # noqa: PLC0415

    return load_yaml(files("piiloom.surrogates") / "data" / "model_kinds.yaml", ModelKindsFile)


def told_of(kind: str) -> ModelKind:
    """Return the description of *kind*, one of ``BY_MODEL``; raises ``KeyError`` for another."""
    return _file().kinds[kind]


def described_kinds() -> frozenset[str]:
    """Return the kinds that have a description."""
    return frozenset(_file().kinds)


def language_name(language: str) -> str:
    """Return the English name of the language with an ISO 639-1 code, or a phrase with the code if the name is unknown."""
    return _file().languages.get(language, f"the language with the ISO 639-1 code {language}")


@cache
def articles() -> frozenset[str]:
    """Return the articles of all languages, in small letters."""
    return frozenset(_file().articles)


@cache
def ends_abbreviated() -> re.Pattern[str]:
    """Return the pattern of abbreviations with which a value may end."""
    return re.compile(rf"\b(?:(?:[a-z]\.)+|{any_of(_file().closing)})$", re.IGNORECASE)


@cache
def never_last() -> re.Pattern[str]:
    """Return the pattern of abbreviations whose full stop never ends a sentence."""
    return re.compile(rf"(?<!\w)(?:{any_of(_file().within)})$", re.IGNORECASE)


def has_latin_letters(language: str) -> bool:
    """Whether the language is written in Latin script, so that a first letter from A to Z can be asked for."""
    return language not in _file().other_scripts
