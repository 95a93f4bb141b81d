"""What parts of an original address are told by: words for roads, flats and countries, in ``data/streets.yaml``."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

from piiloom.foundation.words import any_of
from piiloom.foundation.yaml_files import load_yaml
from piiloom.surrogates.kinds.files import StreetsFile


@cache
def streets_file() -> StreetsFile:
    """Return the names of streets, and the words by which parts of addresses are told; cached."""
    return load_yaml(files("piiloom.surrogates") / "data" / "streets.yaml", StreetsFile)


@cache
def road() -> re.Pattern[str]:
    """Return the pattern of a number and a street: "98 Anton Street"."""
    return re.compile(rf"\d+[A-Za-z]? (?:[\w.'’-]+ ){{0,4}}?(?:{any_of(streets_file().roads)})\b", re.IGNORECASE)


@cache
def town_and_district() -> re.Pattern[str]:
    """Return the pattern of a town and the number of its district: "Praha 4", and not "Hauptstraße 4"."""
    return re.compile(rf"(?!.*(?:{any_of(streets_file().endings)})(?!\w))[^\W\d][^\d,]* \d{{1,2}}", re.IGNORECASE)


@cache
def flat() -> re.Pattern[str]:
    """Return the pattern of the word that begins a flat or a box."""
    return re.compile(rf"(?:{any_of(streets_file().flats)})\b", re.IGNORECASE)


@cache
def state() -> re.Pattern[str]:
    """Return the pattern of words in the long names of countries."""
    return re.compile(rf"\b(?:{any_of(streets_file().states)})\b")
