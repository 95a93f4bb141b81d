"""Names of companies, hospitals, charities, clubs and schools, put together from parts (tens of thousands of each kind)."""

from __future__ import annotations

import random
import re
from functools import cache
from typing import Literal

from pii_values.heritage import heritages
from pii_values.lexicons import fitting
from pii_values.places import Region

Kind = Literal["company", "hospital", "charity", "club", "school"]

_SLOT = re.compile(r"\{(\w+)\}")
# Which lexicon topic fills a slot; {k} depends on the kind of organization.
_TOPICS = {"t": "trade", "saint": "saint", "cause": "charity_cause", "activity": "club_activity"}
_MAX_WORDS = 6


@cache
def _slots(pattern: str) -> tuple[str, ...]:
    return tuple(_SLOT.findall(pattern))


def draw_organisation(kind: Kind, locale: str, region: Region, rng: random.Random) -> str:
    """A name of at most six words; city names come from *region*."""
    while True:
        name = fitting("organisations", f"{kind}_pattern", locale).draw(rng).text
        for slot in _slots(name):
            name = name.replace("{" + slot + "}", _fill(slot, kind, locale, region, rng))
        if len(name.split()) <= _MAX_WORDS:
            return name


def _fill(slot: str, kind: Kind, locale: str, region: Region, rng: random.Random) -> str:
    if slot == "s":
        stem = fitting("organisations", "stem", locale).draw(rng).text
        end = fitting("organisations", "stem_end", locale).draw(rng).text
        return stem + (end if stem[-1] != end[0] else end[1:])
    if slot in {"f", "f2"}:
        return heritages(locale).items[0].family.draw(rng) if rng.random() < 0.6 else heritages(locale).draw(rng).family.draw(rng)
    if slot == "c":
        return region.cities.draw(rng)
    return fitting("organisations", f"{kind}_kind" if slot == "k" else _TOPICS[slot], locale).draw(rng).text
