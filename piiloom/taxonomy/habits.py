"""Writing habits that depart from the standard (``data/habits.yaml``): which there are, and how often each voice has them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Annotated, Literal

from pydantic import Field

from piiloom.foundation.yaml_files import FileModel, data_folder, load_yaml

Habit = Literal[
    "lower_case",
    "no_apostrophes",
    "dots",
    "no_final_stop",
    "double_spaces",
    "misspelling",
    "fields_capital",
    "fields_dotted",
    "fields_dashed",
    "fields_bare",
    "fields_below",
    "fields_hash",
    "fields_equal",
]
Shares = Mapping[Habit, float]


class _File(FileModel):
    shares: dict[str, dict[Habit, Annotated[float, Field(ge=0, le=100, strict=False)]]]
    other: dict[Habit, Annotated[float, Field(ge=0, le=100, strict=False)]]
    misspelled: dict[str, dict[str, str]]


@cache
def _read() -> _File:
    return load_yaml(data_folder("taxonomy") / "habits.yaml", _File)


def habit_shares(voice: str) -> Shares:
    """Return the percentage of a voice's texts that have each habit."""
    known = _read()
    return known.shares.get(voice, known.other)


def misspelled(language: str) -> Mapping[str, str]:
    """Return words of a language and how they are misspelled; empty for a language without an entry."""
    return _read().misspelled.get(language, {})
