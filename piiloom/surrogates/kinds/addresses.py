"""Streets, house numbers, postcodes and whole addresses. The parts of a person's home address agree with each other.

Names of streets, and the words by which parts of an original address are told, are in ``data/streets.yaml``.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import cache
from typing import Final

from pydantic import Field

from piiloom.foundation.seeding import below, mix, pick, salt_of
from piiloom.foundation.words import any_of
from piiloom.foundation.yaml_files import FileModel, Text, load_data
from piiloom.pii_values.country_facts import CountryEntry, facts_of
from piiloom.pii_values.numbering.masks import fill_by_seed
from piiloom.pii_values.rewriting.values import reshaped
from piiloom.surrogates.kinds import places
from piiloom.surrogates.kinds.kind import Draw, cased_like, home_of
from piiloom.surrogates.kinds.places import City, RegionOfPlaces, country_names, country_places, home_city, place_seed


class StreetStyle(FileModel):
    """Forms with {name}, and the names."""

    forms: list[Text] = Field(min_length=1)
    names: list[Text] = Field(min_length=1)


class StreetsFile(FileModel):
    """``streets.yaml``: styles, and words by which parts of addresses are told."""

    styles: dict[str, StreetStyle]
    roads: list[Text]
    endings: list[Text]
    flats: list[Text]
    states: list[Text]


@cache
def streets_file() -> StreetsFile:
    """Return the names of streets, and the words by which parts of addresses are told; cached."""
    return load_data("piiloom.surrogates", "streets.yaml", StreetsFile)


@cache
def _told_by_words() -> dict[str, re.Pattern[str]]:
    """Return the patterns of parts of addresses.

    They are a number and a street ("98 Anton Street"), a town and the number of its district ("Praha 4", not "Hauptstraße 4"), the word that
    begins a flat or a box, and words in the long names of countries.
    """
    known = streets_file()
    return {
        "road": re.compile(rf"\d+[A-Za-z]? (?:[\w.'’-]+ ){{0,4}}?(?:{any_of(known.roads)})\b", re.IGNORECASE),
        "district": re.compile(rf"(?!.*(?:{any_of(known.endings)})(?!\w))[^\W\d][^\d,]* \d{{1,2}}", re.IGNORECASE),
        "flat": re.compile(rf"(?:{any_of(known.flats)})\b", re.IGNORECASE),
        "country": re.compile(rf"\b(?:{any_of(known.states)})\b"),
    }


_STREET: Final = salt_of("street")
_HOUSE: Final = salt_of("house")
_POST: Final = salt_of("postcode")
_COORDINATES: Final = {"coordinates": "{:.5f}, {:.5f}", "latitude": "{0:.5f}", "longitude": "{1:.5f}"}
_FULL: Final = 30  # percentage of addresses without a requested form that include city and postcode
_PARTS: Final = {"house": "", "unit": "Apt"}  # forms for a part: the house number alone, or the flat
_NUMBERED: Final = re.compile(
    r"^(?P<head>[0-9]+[A-Za-z]?)(?P<gap>[ ,]+)(?=\D)|(?P<back> )(?P<tail>[0-9]+(?:\s?[A-Za-z]|[-/][0-9A-Za-z]+)?)$"
)
_TOWN_AND_STATE: Final = re.compile(r"\w [A-Z]{2}$")  # "San Jose CA"
_SHORT_REGION: Final = 3
_HOUSE_ALONE: Final = re.compile(r"\d{1,4}[A-Za-z]?|\d{1,3}[/-]\d{1,3}")
_SMALL: Final = re.compile(r"\{(flat|n+)\}")
_CODES: Final = (  # shapes of postcodes in use, tried in this order at each position
    r"[0-9]{5}-[0-9]{3,4}", r"[0-9]{4} ?[A-Z]{2}\b", r"[0-9]{3} [0-9]{2}\b", r"[0-9]{2}-[0-9]{3}\b", r"[0-9]{4,6}",
    r"[A-Z]{1,2}[0-9][0-9A-Z]? ?[0-9][A-Z]{2}\b", r"[A-Z][0-9][A-Z] ?[0-9][A-Z][0-9]\b",
)  # fmt: skip
_CODE: Final = re.compile("|".join(_CODES))


def street_name(country: str, seed: int) -> str:
    """Return a street name in the style of *country*."""
    style = streets_file().styles[facts_of(country).streets]
    return pick(seed, style.forms).replace("{name}", pick(mix(seed, 1), style.names))


def street(draw: Draw) -> str:
    """Draw a street name, without a house number."""
    seed = mix(place_seed(draw), _STREET)
    return cased_like(draw.original, street_name(home_of(draw), seed))


def house_number(facts: CountryEntry, seed: int) -> str:
    """Return a house number; small ones are more frequent, and some have a letter."""
    highest = facts.houses
    number = 1 + below(mix(seed, _HOUSE), 1 + below(mix(seed, _HOUSE + 1), highest))
    return f"{number}{'ABCD'[number % 4]}" if highest < 400 and below(mix(seed, _HOUSE + 2), 12) == 0 else str(number)


@cache
def _postcode_masks(region: RegionOfPlaces, country: str) -> tuple[str, ...]:
    """Return the masks of the region's postcodes.

    The region's first characters replace the beginning of the country's masks, or precede the country's fixed tail if it has one.
    """
    facts = facts_of(country)
    shapes = facts.postcode or ["#####"]
    if not region.post or not facts.postcode:
        return tuple(shapes)
    tail = facts.postcode_tail
    return tuple(start + (mask[len(start) :] if tail is None else tail) for start in region.post for mask in shapes)


def postcode_of(city: City, country: str, seed: int) -> str:
    """Return a postcode with the first characters of the city's region."""
    return fill_by_seed(pick(mix(seed, 1), _postcode_masks(city.region, country)), mix(seed, _POST))


def postcode(draw: Draw) -> str:
    """Draw the postcode of the owner's home, in the format of the original: first three characters, ZIP or ZIP+4, with a space or not."""
    found = postcode_of(home_city(draw), home_of(draw), place_seed(draw))
    original = draw.original.strip()
    if len(original) == 3 and found[:3].isalnum():
        return found[:3]
    if re.fullmatch("[0-9]{5}-[0-9]{4}", original) and len(found) == 5:
        return f"{found}-{1000 + below(mix(draw.seed, _POST), 8999)}"
    return found.replace(" ", "") if original and " " not in original else found


def address(draw: Draw) -> str:
    """Draw house number and street; with city and postcode for ``form="full"``, and sometimes without a form; or a part of an address.

    If there is an original, each of its parts is replaced by a new one of the same type, in the same place.
    """
    country = home_of(draw)
    part = draw.form if draw.form in _PARTS else ""
    alone = draw.form == "alone"  # the town stands behind it
    draw = draw._replace(form="") if alone else draw
    seed = place_seed(draw._replace(form="") if part else draw)
    if draw.original.strip():
        return _cased(draw.original, _like(draw, country, seed))
    facts = facts_of(country)
    if part:
        return house_number(facts, seed) if part == "house" else f"{_PARTS[part]} {_small('flat', mix(seed, _HOUSE + 6))}"
    city = home_city(draw)
    full = draw.form == "full" or (not draw.form and not alone and below(mix(seed, _HOUSE + 3), 100) < _FULL)
    text = pick(mix(seed, _HOUSE + 4), facts.address).replace("{street}", street_name(country, mix(seed, _STREET)))
    if full:
        text = _whole(facts, city, seed).replace("{address}", text).replace("{postcode}", postcode_of(city, country, seed))
    text = text.replace("{house}", house_number(facts, seed))
    return _SMALL.sub(lambda m: _small(m[1], mix(seed, m.start())), text) if "{" in text else text


def _whole(facts: CountryEntry, city: City, seed: int) -> str:
    """Return the form of a whole address with city and region filled in.

    If city and region have the same name, forms with both are avoided.
    """
    region = city.region
    forms = [form for form in facts.full if region.name != city.name or "{region}" not in form] or facts.full
    whole = pick(mix(seed, _HOUSE + 5), forms).replace("{city}", city.name).replace("{region}", region.name)
    return whole.replace("{short}", region.short or region.name)


def _small(slot: str, seed: int) -> str:
    """Return the value of a slot: a flat number (1 to 40) for "flat", else a number with as many digits as *slot* has letters."""
    if slot == "flat":
        return str(1 + below(seed, 40))
    low = 10 ** (len(slot) - 1)
    return str(low + below(seed, 9 * low))


def location(draw: Draw) -> str:
    """Draw an unspecified place; an original of several parts, or with a number, part by part: "Austin, Texas", "98 Anton Street"."""
    if draw.form in _COORDINATES and not draw.original:
        return _COORDINATES[draw.form].format(*(10**-5 * (below(mix(draw.seed, turn), 120 * 10**5) - 60 * 10**5) for turn in range(2)))
    original = draw.original.strip()
    regions = _regions(home_of(draw)) if original else frozenset()
    if "," in original or (any(map(str.isdigit, original)) and not _told_by_words()["district"].fullmatch(original)):
        return _cased(original, _like(draw, home_of(draw), place_seed(draw), named=True))
    if _TOWN_AND_STATE.search(original) and original[-2:].casefold() in regions:
        return _place(original, home_city(draw), regions)
    if original and original.casefold() in country_names(draw.language):
        return places.country(draw)
    return places.region(draw) if original.casefold() in regions else places.location(draw)


def _cased(original: str, value: str) -> str:
    """Return *value* in capitals or in small letters if *original* is written in them."""
    return value.lower() if original.islower() and " " in original else cased_like(original, value)


def _like(draw: Draw, country: str, seed: int, *, named: bool = False) -> str:
    """Return the original with each part between commas or line breaks replaced; *named*: the first one is no street without a number."""
    known = country_places(country).by_name
    parts = (re.sub(r"[0-9]\S*|\b[A-Z]{2}\b", "", part).strip().casefold() for part in draw.original.split(","))
    city = home_city(draw._replace(original=next((known[part].name for part in parts if part in known), draw.original)))
    pieces = re.split(r"(\s*,\s*|\s*\n\s*)", draw.original.strip())
    seen_street = any(_NUMBERED.search(piece) for piece in pieces[::2])
    out = []
    for at, piece in enumerate(pieces):
        if at % 2:
            out.append(piece)
            continue
        first = at == 0 and not seen_street and len(pieces) > 1 and not named
        words, _, code = piece.rpartition(" ") if piece[-1:].isdigit() else (piece, "", "")
        if words.casefold() in country_names(draw.language) or _told_by_words()["country"].search(words):
            own = places.country(draw._replace(form="own", original=""))
            out.append(f"{own} {postcode_of(city, country, seed)}" if code else own)
        else:
            new = _piece(piece, country, city, seed, first=first)
            out.append(_region_of(city, piece) if new == city.name in out else new)
    return "".join(out)


@cache
def _regions(country: str) -> frozenset[str]:
    """Return the names and abbreviations of the regions of *country*, casefolded."""
    return frozenset(name.casefold() for region in country_places(country).regions for name in (region.name, region.short) if name)


def _region_of(city: City, piece: str) -> str:
    """Return what stands for *piece* beside its town: the region, abbreviated where *piece* is ("VAN")."""
    return city.region.short if city.region.short and piece.strip().isupper() and len(piece.strip()) <= _SHORT_REGION else city.region.name


def _piece(piece: str, country: str, city: City, seed: int, *, first: bool) -> str:
    """Replace one part of an address.

    It is recognized as a flat or box, a postcode (with region or city), house number and street, or a region. Anything else is a
    street if *first*, else a city.
    """
    facts = facts_of(country)
    regions = _regions(country)
    begins = _told_by_words()["road"].match(piece)
    rest = piece[begins.end() :].lstrip(". ") if begins is not None else ""
    if begins is not None and rest:
        return f"{_road(begins.group(), country, seed)} {_piece(rest, country, city, seed, first=False)}"
    if _HOUSE_ALONE.fullmatch(piece):
        return house_number(facts, seed)
    if _told_by_words()["flat"].match(piece):
        return re.sub("[0-9]+", lambda group: reshaped(group.group(), mix(seed, group.start())), piece)
    code = None if begins is not None else _CODE.search(piece)
    if code is not None:
        around = piece[: code.start()] + "\0" + piece[code.end() :]
        words = re.sub(r"[^\W\d_]+(?:[ '-][^\W\d_]+)*", lambda m: _place(m.group(), city, regions), around)
        new = postcode_of(city, country, seed)
        return words.replace("\0", new if " " in code.group() else new.replace(" ", ""))
    if _NUMBERED.search(piece) is not None or begins is not None or (first and piece.casefold() not in regions):
        return _road(piece, country, seed)
    return _place(piece, city, regions) if piece.casefold() in regions else city.name if piece else piece


def _road(piece: str, country: str, seed: int) -> str:
    """Return another street, with another house number on the same side of it if *piece* has one."""
    name = street_name(country, mix(seed, _STREET))
    numbered = _NUMBERED.search(piece)
    house = house_number(facts_of(country), seed)
    if numbered is None:
        return f"{house} {name}" if piece[:1].isdigit() else name
    return f"{house}{numbered['gap']}{name}" if numbered["head"] else f"{name}{numbered['back']}{house}"


def _place(word: str, city: City, regions: Collection[str]) -> str:
    """Replace words beside a postcode: by the region or its abbreviation if they are one, else by the city ("San Jose CA": by both)."""
    town, _, region = word.rpartition(" ")
    if town and len(region) == 2 and region.isupper():
        return f"{cased_like(town, city.name)} {city.region.short or city.region.name}"
    if word.casefold() in regions or (len(word) == 2 and word.isupper()):
        return city.region.short if city.region.short and len(word) <= 3 else city.region.name
    return city.name
