"""What parts of an original address are told by: words for roads, flats and countries, in ``data/streets.yaml``."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from piiloom.foundation.yaml_files import load_yaml
from piiloom.surrogates.kinds.files import StreetsFile


class Signs(NamedTuple):
    """The patterns; ``road``: a number and a street ("98 Anton Street"); ``town_and_district``: "Praha 4", and not "Hauptstraße 4"."""

    road: re.Pattern[str]
    town_and_district: re.Pattern[str]
    flat: re.Pattern[str]
    state: re.Pattern[str]


@cache
def streets_file() -> StreetsFile:
    """Return the names of streets, and the words by which parts of addresses are told; cached."""
    return load_yaml(files("piiloom.surrogates") / "data" / "streets.yaml", StreetsFile)


@cache
def signs() -> Signs:
    """Return the patterns, which only originals need."""
    known = streets_file()
    roads, endings, flats, states = ("|".join(map(re.escape, words)) for words in (known.roads, known.endings, known.flats, known.states))
    return Signs(
        road=re.compile(rf"\d+[A-Za-z]? (?:[\w.'’-]+ ){{0,4}}?(?:{roads})\b", re.IGNORECASE),
        town_and_district=re.compile(rf"(?!.*(?:{endings})(?!\w))[^\W\d][^\d,]* \d{{1,2}}", re.IGNORECASE),
        flat=re.compile(rf"(?:{flats})\b", re.IGNORECASE),
        state=re.compile(rf"\b(?:{states})\b"),
    )
