"""Cities, regions, countries and unspecified places. A person's home is one place: city, region and postcode agree."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from typing import Final

from piiloom.foundation.yaml_files import FileModel, load_yaml
from piiloom.surrogates.draws import Draw
from piiloom.surrogates.kinds.kind import WITHIN, cased_like, home_of, salt_of
from piiloom.surrogates.kinds.locations import City, Region, draw_city, places_of
from piiloom.surrogates.kinds.phrases import phrase, spoken, words_of
from piiloom.surrogates.known_names import folded
from piiloom.surrogates.seeds import below, mix, pick, seed_of

_HOME: Final = salt_of("home")
_LOCATION: Final = salt_of("location")
_TURNS: Final = 6
_ABBREVIATION: Final = re.compile("[A-Z]{2,3}")


class _HomelandsFile(FileModel):
    """``words/homelands.yaml``: by language, the names of the countries in which it is spoken."""

    homelands: dict[str, dict[str, str]]


_SHORT: Final = "short"


def place_seed(draw: Draw) -> int:
    """Return the seed of a place: that of the owner's home, unless an index, a form or an original means another place."""
    owner = draw.owner
    if owner is None or draw.original:
        return mix(draw.seed, _HOME)
    seed = mix(owner.seed, _HOME)
    return mix(seed, seed_of(draw.index, draw.form)) if draw.index or draw.form else seed


def home_city(draw: Draw) -> City:
    """Return the city for *draw*: the owner's home, or a replacement for the original.

    With the form "in:<region>" it lies there, if the country has that region, and with "of:<country>" in that country. A replacement
    has the size class of the original if that is a known city, and differs from the original if the country has another city.
    """
    country = home_of(draw)
    seed = place_seed(draw)
    original = draw.original.strip().casefold()
    known = places_of(country).by_name.get(original)
    if not draw.original:
        return city_of(country, draw.form.removeprefix(WITHIN), seed) if draw.form.startswith(WITHIN) else draw_city(country, seed)
    if draw.form.startswith(WITHIN):
        drawn_there = (city_of(country, draw.form.removeprefix(WITHIN), mix(seed, turn)) for turn in range(_TURNS))
        return next((city for city in drawn_there if city.name.casefold() != original), None) or draw_city(country, seed)
    if known is None:
        return draw_city(country, mix(seed, 0))
    drawn = (*(draw_city(country, mix(seed, turn), known.size) for turn in range(_TURNS)), draw_city(country, seed))
    return next((city for city in drawn if city.name.casefold() != original), None) or _other_city(known, country, seed)


def city_of(country: str, region: str, seed: int) -> City:
    """Return a city of the region that *region* names, any of *country* if it has no such region."""
    known = _by_region(country).get(folded(region))
    return pick(seed, known) if known else draw_city(country, seed)


@cache
def _by_region(country: str) -> dict[str, tuple[City, ...]]:
    """Return the cities of each region by its folded name and, where it has one, its abbreviation."""
    found: dict[str, tuple[City, ...]] = {}
    for city in places_of(country).cities:
        for name in filter(None, (city.region.name, city.region.short)):
            found[folded(name)] = (*found.get(folded(name), ()), city)
    return found


def _other_city(known: City, country: str, seed: int) -> City:
    """Return a city with another name than *known*, of its size class if there is one; *known* if the country has no other."""
    others = [city for city in places_of(country).cities if city.name.casefold() != known.name.casefold()]
    alike = [city for city in others if city.size == known.size]
    return pick(seed, alike or others or [known])


def city(draw: Draw) -> str:
    """Draw the name of a city; in capitals if the original is, unless that is an abbreviation ("LAX")."""
    name = home_city(draw).name
    return name if _ABBREVIATION.fullmatch(draw.original) else cased_like(draw.original, name)


def region(draw: Draw) -> str:
    """Draw the name of a region, or its abbreviation if the original is one, and for the form "short"."""
    abbreviated = draw.form == _SHORT
    draw = draw._replace(form="") if abbreviated else draw
    found = other_region(draw, home_city(draw).region)
    original = draw.original.strip()
    short = found.short
    if short and (abbreviated or (original and len(original) <= 3 and original.isupper())):
        return short
    return cased_like(original, found.name)


def other_region(draw: Draw, found: Region) -> Region:
    """Return *found*, or another region of the country if *found* is the original."""
    original = draw.original.strip().casefold()
    if original and original in {found.name.casefold(), (found.short or "").casefold()}:
        known = places_of(home_of(draw)).regions
        return known[(known.index(found) + 1 + below(mix(draw.seed, _HOME), max(1, len(known) - 1))) % len(known)]
    return found


_country = spoken("country")


@cache
def _homelands() -> dict[str, dict[str, str]]:
    return load_yaml(files("piiloom.surrogates") / "data" / "words" / "homelands.yaml", _HomelandsFile).homelands


@cache
def countries(language: str) -> frozenset[str]:
    """Return the names of countries in *language*, casefolded, and the usual short ones of some."""
    known = (*words_of(language).get("country", ()), *_homelands().get(language, {}).values(), "USA", "US", "U.S.", "UK")
    return frozenset(name.casefold().removeprefix("the ") for name in known)


def country(draw: Draw) -> str:
    """Draw a country; the text's own for the form "own", where its name is known in the text's language."""
    own = _homelands().get(draw.language, {}).get(draw.country) if draw.form == "own" else None
    return own or _country(draw)


def location(draw: Draw) -> str:
    """Draw an unspecified place: a city (always for a known city), a region, or an area."""
    seed = mix(draw.seed, _LOCATION)
    dice = below(seed, 100)
    if draw.original and draw.original.strip().casefold() in places_of(draw.country).by_name:
        return city(draw)
    if dice < 62:
        return city(draw)
    if dice < 75:
        return region(draw)
    return cased_like(draw.original, phrase("area", draw, seed))
