"""The locales: what language, money, measures and dates look like in each; one entry of ``data/locales.yaml`` is one locale."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from types import MappingProxyType
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from piiloom.foundation.data_files import data_folder
from piiloom.foundation.errors import UsageError
from piiloom.foundation.yaml_files import FileModel, load_yaml

Measures = Literal["imperial", "metric"]
DateOrder = Literal["mdy", "dmy", "ymd"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Locale:
    """One locale. ``composer`` says whether the embedded composer writes texts for it."""

    code: str
    language: str
    language_name: str
    country: str
    currency: str
    currency_symbol: str
    measures: Measures
    date_order: DateOrder
    faker: str
    phone_region: str
    composer: bool


class _LocaleEntry(FileModel):
    language: Annotated[str, StringConstraints(pattern=r"^[a-z]{2,3}$")]
    language_name: str
    country: str
    currency: Annotated[str, StringConstraints(pattern=r"^[A-Z]{3}$")]
    currency_symbol: str
    measures: Measures
    date_order: DateOrder
    faker: str
    phone_region: Annotated[str, StringConstraints(pattern=r"^[A-Z]{2}$")]
    composer: bool


class _LocalesFile(FileModel):
    locales: dict[str, _LocaleEntry] = Field(min_length=1)


@lru_cache(maxsize=1)
def load_locales() -> Mapping[str, Locale]:
    """All locales by code; raises ``ConfigError`` (file, line, key) when their file is malformed."""
    found = load_yaml(data_folder("taxonomy") / "locales.yaml", _LocalesFile)
    return MappingProxyType({code: Locale(code=code, **entry.model_dump()) for code, entry in found.locales.items()})


def get_locale(code: str) -> Locale:
    """Return the locale *code*, also if written ``en-us``. The ``UsageError`` for an unknown code lists the known ones."""
    known = load_locales()
    language, _, country = code.strip().replace("-", "_").partition("_")
    found = known.get(f"{language.lower()}_{country.upper()}")
    if found is None:
        close = get_close_matches(code.replace("-", "_"), list(known), n=1)
        hint = f"Did you mean {close[0]!r}? " if close else ""
        raise UsageError(f"unknown locale {code!r}", remedy=f"{hint}Known: {', '.join(known)}.")
    return found
