"""Streets, house numbers, postcodes and whole addresses; a home is one place whose parts agree."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from typing import Final

from piiloom.foundation.yaml_files import load_yaml
from piiloom.surrogates.draws import Draw
from piiloom.surrogates.kinds.facts import facts_of
from piiloom.surrogates.kinds.files import CountryEntry, StreetsFile
from piiloom.surrogates.kinds.kind import cased_like, home_of, salt_of
from piiloom.surrogates.kinds.locations import City, Region, places_of
from piiloom.surrogates.kinds.masks import fill, reshaped
from piiloom.surrogates.kinds.places import home_city, place_seed
from piiloom.surrogates.seeds import below, mix, pick

_STREET: Final = salt_of("street")
_HOUSE: Final = salt_of("house")
_POST: Final = salt_of("postcode")
_FULL: Final = 30  # of 100 addresses without a stated form, those with the city
_NUMBERED: Final = re.compile(
    r"^(?P<head>[0-9]+[A-Za-z]?)(?P<gap>[ ,]+)(?=\D)|(?P<back> )(?P<tail>[0-9]+(?:\s?[A-Za-z]|[-/][0-9A-Za-z]+)?)$"
)
_SMALL: Final = re.compile(r"\{(flat|n+)\}")
_CODES: Final = (  # of postcodes in use, each tried at the place of a part's first digits
    r"[0-9]{5}-[0-9]{3,4}", r"[0-9]{4} ?[A-Z]{2}\b", r"[0-9]{3} [0-9]{2}\b", r"[0-9]{2}-[0-9]{3}\b", r"[0-9]{4,6}",
    r"[A-Z]{1,2}[0-9][0-9A-Z]? ?[0-9][A-Z]{2}\b", r"[A-Z][0-9][A-Z] ?[0-9][A-Z][0-9]\b",
)  # fmt: skip
_CODE: Final = re.compile("|".join(_CODES))


@cache
def _streets(style: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    known = load_yaml(files("piiloom.surrogates") / "data" / "streets.yaml", StreetsFile).styles[style]
    return tuple(known.forms), tuple(known.names)


def street_name(country: str, seed: int) -> str:
    """A street of *country*."""
    forms, names = _streets(facts_of(country).streets)
    return pick(seed, forms).replace("{name}", pick(mix(seed, 1), names))


def street(draw: Draw) -> str:
    """A street by its name."""
    seed = mix(place_seed(draw), _STREET)
    return cased_like(draw.original, street_name(home_of(draw), seed))


def house_number(facts: CountryEntry, seed: int) -> str:
    """A house number, small ones more often; with a letter now and then."""
    highest = facts.houses
    number = 1 + below(mix(seed, _HOUSE), 1 + below(mix(seed, _HOUSE + 1), highest))
    return f"{number}{'ABCD'[number % 4]}" if highest < 400 and below(mix(seed, _HOUSE + 2), 12) == 0 else str(number)


@cache
def _postcode_masks(region: Region, country: str) -> tuple[str, ...]:
    """All shapes of the region's postcodes: the country's, with the region's first characters laid over or put before the tail."""
    facts = facts_of(country)
    shapes = facts.postcode or ["#####"]
    if not region.post or not facts.postcode:
        return tuple(shapes)
    tail = facts.postcode_tail
    return tuple(start + (mask[len(start) :] if tail is None else tail) for start in region.post for mask in shapes)


def postcode_of(city: City, country: str, seed: int) -> str:
    """A postcode that begins as those of the city's region do."""
    return fill(pick(mix(seed, 1), _postcode_masks(city.region, country)), mix(seed, _POST))


def postcode(draw: Draw) -> str:
    """The postcode of the owner's home; of an original one the length stays (ZIP and ZIP+4)."""
    found = postcode_of(home_city(draw), home_of(draw), place_seed(draw))
    original = draw.original.strip()
    if len(original) == 3 and found[:3].isalnum():
        return found[:3]
    if re.fullmatch("[0-9]{5}-[0-9]{4}", original) and len(found) == 5:
        return f"{found}-{1000 + below(mix(draw.seed, _POST), 8999)}"
    return found.replace(" ", "") if original and " " not in original else found


def address(draw: Draw) -> str:
    """House and street; with city and postcode for ``form="full"``. Of an original the parts that stand there are replaced, in place."""
    country = home_of(draw)
    seed = place_seed(draw)
    if draw.original.strip():
        return cased_like(draw.original, _like(draw, country, seed))
    facts = facts_of(country)
    city = home_city(draw)
    full = draw.form == "full" or (not draw.form and below(mix(seed, _HOUSE + 3), 100) < _FULL)
    text = pick(mix(seed, _HOUSE + 4), facts.address).replace("{street}", street_name(country, mix(seed, _STREET)))
    if full:
        text = _whole(facts, city, seed).replace("{address}", text).replace("{postcode}", postcode_of(city, country, seed))
    text = text.replace("{house}", house_number(facts, seed))
    return _SMALL.sub(lambda m: _small(m[1], mix(seed, m.start())), text) if "{" in text else text


def _whole(facts: CountryEntry, city: City, seed: int) -> str:
    """The form of a whole address with city and region; a city is not named twice where its region bears its name."""
    region = city.region
    forms = [form for form in facts.full if region.name != city.name or "{region}" not in form] or facts.full
    whole = pick(mix(seed, _HOUSE + 5), forms).replace("{city}", city.name).replace("{region}", region.name)
    return whole.replace("{short}", region.short or region.name)


def _small(slot: str, seed: int) -> str:
    """The number of a flat or floor, or one of as many digits as the slot has letters."""
    if slot == "flat":
        return str(1 + below(seed, 40))
    low = 10 ** (len(slot) - 1)
    return str(low + below(seed, 9 * low))


def _like(draw: Draw, country: str, seed: int) -> str:
    """The original, part by part between its commas."""
    city = home_city(draw._replace(original=_known_city(draw, country)))
    pieces = re.split(r"(\s*,\s*|\n)", draw.original.strip())
    seen_street = any(_NUMBERED.search(piece) for piece in pieces[::2])
    out = []
    for at, piece in enumerate(pieces):
        if at % 2:
            out.append(piece)
            continue
        first = at == 0 and not seen_street and len(pieces) > 1
        out.append(_piece(piece, country, city, seed, first=first))
    return "".join(out)


def _known_city(draw: Draw, country: str) -> str:
    """The city that stands in an original address, where it is one we know."""
    known = places_of(country).by_name
    parts = (re.sub(r"[0-9]\S*|\b[A-Z]{2}\b", "", part).strip().casefold() for part in draw.original.split(","))
    return next((known[part].name for part in parts if part in known), draw.original)


def _piece(piece: str, country: str, city: City, seed: int, *, first: bool) -> str:
    """One part of an address: house and street, region and code, code, region, flat, or city."""
    facts = facts_of(country)
    regions = {name.casefold() for region in places_of(country).regions for name in (region.name, region.short) if name}
    if re.match(r"(?:apt|apartment|unit|suite|ste|flat|floor|room|po box|p\.o\. box|postbus|#)\b", piece, re.IGNORECASE):
        return reshaped_digits(piece, seed)
    code = _CODE.search(piece)
    if code is not None:
        around = piece[: code.start()] + "\0" + piece[code.end() :]
        rest = re.sub(r"[^\W\d_]+(?:[ '-][^\W\d_]+)*", lambda m: _place(m.group(), city, regions), around)
        new = postcode_of(city, country, seed)
        return rest.replace("\0", new if " " in code.group() else new.replace(" ", ""))
    numbered = _NUMBERED.search(piece)
    if numbered is not None:
        house, road = house_number(facts, seed), street_name(country, mix(seed, _STREET))
        return f"{house}{numbered['gap']}{road}" if numbered["head"] else f"{road}{numbered['back']}{house}"
    if piece.casefold() in regions:
        return _place(piece, city, regions)
    return street_name(country, mix(seed, _STREET)) if first else city.name if piece else piece


def _place(word: str, city: City, regions: set[str]) -> str:
    """What stands beside a postcode: a region's abbreviation or name, else the city."""
    if word.casefold() in regions or (len(word) == 2 and word.isupper()):
        return city.region.short if city.region.short and len(word) <= 3 else city.region.name
    return city.name


def reshaped_digits(text: str, seed: int) -> str:
    """*text* with other digits."""
    return re.sub("[0-9]+", lambda m: reshaped(m.group(), mix(seed, m.start())), text)
