"""Family names whose form depends on gender: Novák and Nováková, Ivanov and Ivanova."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Final, Literal

from piiloom.foundation.yaml_files import FileModel, load_yaml

Borne = Literal["female", "male"]
_NONE: Final[tuple[tuple[int, ...], Mapping[str, Borne]]] = ((), {})


class _Endings(FileModel):
    countries: list[str]
    female: list[str]
    male: list[str]


class _File(FileModel):
    endings: list[_Endings]


@cache
def _endings() -> Mapping[str, tuple[tuple[int, ...], Mapping[str, Borne]]]:
    """Return by country the endings of family names with the gender that they tell, and the lengths of endings, longest first."""
    found: dict[str, tuple[tuple[int, ...], Mapping[str, Borne]]] = {}
    for entry in load_yaml(files("piiloom.pii_values") / "data" / "names_index" / "family_genders.yaml", _File).endings:
        ends: dict[str, Borne] = {**dict.fromkeys(entry.male, "male"), **dict.fromkeys(entry.female, "female")}
        found |= dict.fromkeys(entry.countries, (tuple(sorted({*map(len, ends)}, reverse=True)), ends))
    return found


def borne_by(family: str, country: str) -> Borne | None:
    """Return the gender that bears this form of a family name in *country*; None if both do, or if it is unknown."""
    lengths, ends = _endings().get(country, _NONE)
    name = family.casefold()
    for length in lengths:
        if (gender := ends.get(name[-length:])) is not None:
            return gender
    return None


def differs(country: str) -> bool:
    """Whether family names differ by gender in *country*."""
    return country in _endings()
