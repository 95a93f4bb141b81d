"""Draw names of companies, hospitals, charities, clubs and schools, composed from parts (tens of thousands of each kind)."""

from __future__ import annotations

import random
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Final, Literal

from piiloom.foundation.errors import UsageError
from piiloom.foundation.yaml_files import FileModel, Text, load_yaml
from piiloom.pii_values.heritage import heritages
from piiloom.pii_values.lexicons import Fitted, filled, fitting, phrase
from piiloom.pii_values.regions import Region
from piiloom.pii_values.sampling import Weighted, weighted

OrganisationKind = Literal["company", "hospital", "charity", "club", "school"]

_MAX_WORDS: Final = 6
_PARTS: Final = frozenset({"s", "c", "f", "f2", "f3"})  # slots of names: a stem, a city, family names
_SAME_FIELD: Final = 0.35  # share of employers drawn from those of the job's own field


class _EmployersFile(FileModel):
    employers: dict[str, list[Text]]


def draw_organisation(kind: OrganisationKind, who: Fitted, region: Region, rng: random.Random) -> str:
    """Draw a name of at most six words without repeated words; city names come from *region*."""
    while True:
        form = fitting("organisations", kind, who.locale, who.age, who.gender).draw(rng)
        parts = form.parts or (form.text,)
        given = {slot: _part(slot, who, region, rng) for slot in parts[1::2] if slot in _PARTS}
        name = filled(parts, "organisations", who, rng, given)
        words = name.split()
        if len(words) <= _MAX_WORDS and len({w.casefold() for w in words}) == len(words):
            return name


def _part(slot: str, who: Fitted, region: Region, rng: random.Random) -> str:
    """Draw the text for a slot of a name: "c" is a city of *region*, "s" a stem, all others a family name."""
    return region.cities.draw(rng) if slot == "c" else _stem(who, rng) if slot == "s" else _family(who.locale, rng)


def _stem(who: Fitted, rng: random.Random) -> str:
    """Draw a stem from two halves, such as "Bridgeport"; a letter that would be doubled at the joint is dropped."""
    stem, end = phrase("organisations", "_stem", who, rng), phrase("organisations", "_stem_end", who, rng)
    return stem + (end if stem[-1] != end[0] else end[1:])


def _family(locale: str, rng: random.Random) -> str:
    return heritages(locale).items[0].family.draw(rng) if rng.random() < 0.6 else heritages(locale).draw(rng).family.draw(rng)


@cache
def _employers(locale: str) -> Mapping[str, Weighted[str]]:
    source = files("piiloom.pii_values") / "data" / "employers" / f"{locale}.yaml"
    if not source.is_file():
        raise UsageError(f"no employers for locale {locale!r}", remedy="Add a file to piiloom/pii_values/data/employers.")
    by_field = load_yaml(source, _EmployersFile).employers
    every = dict.fromkeys(name for names in by_field.values() for name in names)
    found = {field: weighted((name, 1.0) for name in names) for field, names in by_field.items()}
    return {**found, "": weighted((name, 1.0) for name in every)}


def draw_employer(field: str, locale: str, rng: random.Random) -> str:
    """Draw a real, well-known employer of the country, often but not always one of the job's *field*."""
    known = _employers(locale)
    near = known.get(field)
    return (near if near is not None and rng.random() < _SAME_FIELD else known[""]).draw(rng)
