"""Family names whose form depends on gender: Novák and Nováková, Ivanov and Ivanova."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Literal

from piiloom.foundation.yaml_files import FileModel, load_yaml

Borne = Literal["female", "male"]


class _Endings(FileModel):
    countries: list[str]
    female: list[str]
    male: list[str]


class _File(FileModel):
    endings: list[_Endings]


@cache
def _endings() -> Mapping[str, tuple[tuple[str, Borne], ...]]:
    """Return by country the (ending, gender) pairs of family names, longest ending first."""
    found: dict[str, tuple[tuple[str, Borne], ...]] = {}
    for entry in load_yaml(files("piiloom.pii_values") / "data" / "names_index" / "family_genders.yaml", _File).endings:
        ends: list[tuple[str, Borne]] = [(end, "female") for end in entry.female]
        ends += [(end, "male") for end in entry.male]
        ends.sort(key=lambda pair: -len(pair[0]))
        found |= dict.fromkeys(entry.countries, tuple(ends))
    return found


def borne_by(family: str, country: str) -> Borne | None:
    """Return the gender that bears this form of a family name in *country*; None if both do, or if it is unknown."""
    name = family.casefold()
    return next((gender for end, gender in _endings().get(country, ()) if name.endswith(end)), None)


def differs(country: str) -> bool:
    """Whether family names differ by gender in *country*."""
    return country in _endings()
