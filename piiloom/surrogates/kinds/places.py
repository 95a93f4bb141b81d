"""Places: cities, regions and countries, and phrases from lists of words.

Regions and cities of a country, with the cities' size classes, are in ``data/places/<country>.yaml``. A person's home is one place: city,
region and postcode agree.

Phrases come from ``data/words/<language>.yaml``, compiled into forms. A form is text with slots: ``{name}`` is an entry of that list in
the file, ``{city}`` a city of the country. List entries may be forms themselves. ``<a|b>`` means a for men and b for women; without a known
gender, a. Lists are flattened when a form is compiled, so that a draw only makes one choice for the form and one for each slot.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from itertools import product
from math import prod
from typing import Final, Literal, NamedTuple

from pydantic import Field

from piiloom.foundation.errors import ConfigError
from piiloom.foundation.seeding import below, mix, pick, salt_of, seed_of
from piiloom.foundation.yaml_files import FileModel, Text, load_data, load_yaml
from piiloom.pii_values.rewriting.values import reshaped
from piiloom.surrogates.kinds.kind import WITHIN, Draw, Drawing, cased_like, home_of, numbered_seed, owned_seed
from piiloom.surrogates.known_names import unaccented


class _PhrasesFile(FileModel):
    """``words/<language>.yaml``: lists of words and forms; ``nations``: nationality by country code."""

    lists: dict[str, list[Text]]
    nations: dict[str, Text] = Field(default={})


class _RegionEntry(FileModel):
    """A region: abbreviation, first characters of its postcodes, cities by size class."""

    short: Text | None = None
    post: list[Text] = Field(default=[])
    large: list[Text] = Field(default=[])
    middle: list[Text] = Field(default=[])
    small: list[Text] = Field(default=[])


class _CountryPlacesFile(FileModel):
    """``places/<country>.yaml``. ``locale``: regions come from ``pii_values``; ``large`` and ``middle`` then tell the size classes."""

    locale: str | None = None
    large: list[Text] = Field(default=[])
    middle: list[Text] = Field(default=[])
    regions: dict[str, _RegionEntry] = Field(default={})


Size = Literal["large", "middle", "small"]
SIZES: Final[tuple[Size, ...]] = ("large", "middle", "small")
_DEFAULT: Final = "ZZ"
_SHARES: Final = (45, 80, 100)  # cumulative percentages of people in large, middle and small cities


class RegionOfPlaces(NamedTuple):
    """A state, province or county. ``post`` holds the prefixes of its postcodes."""

    name: str
    short: str | None
    post: tuple[str, ...]


class City(NamedTuple):
    """A city, town or village."""

    name: str
    size: Size
    region: RegionOfPlaces


class CountryPlaces(NamedTuple):
    """The places of one country.

    ``by_size`` has no empty class: one without cities gets those of another class. The keys of ``by_name`` are casefolded.
    """

    regions: tuple[RegionOfPlaces, ...]
    cities: tuple[City, ...]
    by_size: Mapping[Size, tuple[City, ...]]
    by_name: Mapping[str, City]


@cache
def country_places(country: str) -> CountryPlaces:
    """Return the places of *country* (ISO 3166 alpha-2), or made-up places if the country has no file; cached."""
    folder = files("piiloom.surrogates") / "data" / "places"
    source = folder / f"{country}.yaml"
    if not source.is_file():
        source = folder / f"{_DEFAULT}.yaml"
    read = load_yaml(source, _CountryPlacesFile)
    cities = tuple(_shared(read, read.locale) if read.locale else _own(read))
    found = {size: tuple(city for city in cities if city.size == size) for size in SIZES}
    stand_in: dict[Size, Size] = {"large": "middle", "middle": "small", "small": "middle"}
    by_size = {size: found[size] or found[stand_in[size]] or cities for size in SIZES}
    return CountryPlaces(
        tuple(dict.fromkeys(city.region for city in cities)), cities, by_size, {city.name.casefold(): city for city in reversed(cities)}
    )


def _own(read: _CountryPlacesFile) -> Iterator[City]:
    for name, entry in read.regions.items():
        region = RegionOfPlaces(name, entry.short, tuple(entry.post))
        yield from (City(city, size, region) for size in SIZES for city in getattr(entry, size))


def _shared(read: _CountryPlacesFile, locale: str) -> Iterator[City]:
    """Yield the cities that ``pii_values`` has for the *locale* of the file."""
    from piiloom.pii_values.regions import regions  # noqa: PLC0415 - other countries do not need them

    sizes: dict[str, Size] = {**dict.fromkeys(read.middle, "middle"), **dict.fromkeys(read.large, "large")}
    for known in regions(locale).items:
        region = RegionOfPlaces(known.name, known.short, known.post)
        yield from (City(city, sizes.get(city, "small"), region) for city in known.cities.items)


@cache
def city_names(country: str) -> tuple[str, ...]:
    """The names of all cities of *country*."""
    return tuple(dict.fromkeys(city.name for city in country_places(country).cities))


def draw_city(country: str, seed: int, size: Size | None = None) -> City:
    """Draw a city of *country*, from the class *size* if given, else from a class drawn by its share of people."""
    known = country_places(country).by_size
    if size is None:
        dice = below(seed, 100)
        size = SIZES[0] if dice < _SHARES[0] else SIZES[1] if dice < _SHARES[1] else SIZES[2]
    cities = known[size]
    return cities[(seed >> 32) % len(cities)]


FALLBACK: Final = "en"  # the language whose words are used for languages without a file
_SLOT: Final = re.compile(r"\{(\w+)\}")
_GENDERED: Final = re.compile(r"<([^|<>]*)\|([^|<>]*)>")
_INITIALISM: Final = re.compile(r"[A-Z]{2,5}(\d{0,4})")
_NAME: Final = re.compile(r"[^\W\d_]+")
_LARGEST: Final = 6000  # words of a flattened entry; of more combinations, this many are sampled

# A %-template and the words for each of its slots.
PhraseForm = tuple[str, tuple[tuple[str, ...], ...]]


@cache
def languages() -> tuple[str, ...]:
    """Return the languages (ISO 639-1) that have a word file; cached."""
    found = (item.name for item in (files("piiloom.surrogates") / "data" / "words").iterdir())
    return tuple(sorted(name.removesuffix(".yaml") for name in found if re.fullmatch(r"[a-z]{2}\.yaml", name)))


@cache
def _file(language: str) -> _PhrasesFile:
    known = language if language in languages() else FALLBACK
    return load_data("piiloom.surrogates", f"words/{known}.yaml", _PhrasesFile)


def phrase_lists(language: str) -> Mapping[str, Sequence[str]]:
    """Return the word lists of *language*, or the English ones if it has no file."""
    return _file(language).lists


@cache
def nation(country: str, language: str, *, female: bool) -> str | None:
    """Return the nationality of a person from *country* in *language*; None if the file does not have it."""
    found = _file(language).nations.get(country)
    return None if found is None else in_gender(found, female=female)


def in_gender(text: str, *, female: bool) -> str:
    """Return *text* with the half of each ``<a|b>`` that is meant."""
    return _GENDERED.sub(lambda m: m[2] if female else m[1], text) if "<" in text else text


@cache
def _flat(name: str, language: str, country: str, female: bool) -> tuple[str, ...]:
    """Return all words that the slot *name* may stand for. Raises ``ConfigError`` if the language has no such list."""
    if name == "city":
        return city_names(country)
    listed = phrase_lists(language).get(name)
    if listed is None:
        raise ConfigError(f"no list {name!r}", where=f"{language}.yaml", remedy="Add it to piiloom/surrogates/data/words.")
    out: dict[str, None] = {}
    for entry in listed:
        template, slots = _compiled(in_gender(entry, female=female), language, country, female)
        # No compound repeats itself: "Moor" + "moor".
        fitting = (words for words in _thinned(slots) if len(words) != 2 or words[0].casefold() != words[1].casefold())
        out.update(dict.fromkeys(template % words for words in fitting))
    return tuple(out)


def _thinned(slots: tuple[tuple[str, ...], ...]) -> list[tuple[str, ...]]:
    if prod(map(len, slots)) <= _LARGEST:
        return list(product(*slots))
    return [tuple(pick(mix(turn + 1, at), slot) for at, slot in enumerate(slots)) for turn in range(_LARGEST)]


def _compiled(form: str, language: str, country: str, female: bool) -> PhraseForm:
    template = _SLOT.sub("%s", form.replace("%", "%%"))
    return template, tuple(_flat(name, language, country, female) for name in _SLOT.findall(form))


@cache
def forms(kind: str, language: str, country: str, female: bool) -> tuple[PhraseForm, ...]:
    """Return the compiled forms of *kind*, in English if the language has none; cached."""
    words = phrase_lists(language)
    known = language if kind in words else FALLBACK
    return tuple(_compiled(in_gender(form, female=female), known, country, female) for form in phrase_lists(known)[kind])


def said(form: PhraseForm, seed: int) -> str:
    """Fill each slot of *form* with a word. If a drawn word is already used, its neighbor in the list is taken instead."""
    template, slots = form
    if len(slots) == 1:
        return template % pick(mix(seed, 1), slots[0])
    words: list[str] = []
    for at, slot in enumerate(slots, 1):
        chosen = mix(seed, at) % len(slot)
        word = slot[chosen]
        words.append(slot[chosen - 1] if word in words else word)
    return template % tuple(words)


def draw_phrase(kind: str, draw: Draw, seed: int, *, female: bool = False) -> str:
    """Draw a phrase of *kind* in the language of the text."""
    known = forms(kind, draw.language, draw.country, female)
    return said(known[seed % len(known)], seed)


def _initials(name: str) -> str:
    """Return the abbreviation of an institution's *name*: "Ellsworth Medical Center" is "EMC"."""
    words = [word for word in _NAME.findall(name) if word[0].isupper()]
    return "".join(word[0] for word in words).upper() if len(words) > 1 else name[:3].upper()


def spoken(kind: str, *, owned: bool = False, numbered: bool = False, institution: bool = False) -> Drawing:
    """Return the drawing function of *kind*, which draws from its grammar.

    With *owned*, an owner always gets the same value; with *numbered*, the same value for each index. A value equal to the original is
    drawn again, up to three times. Of an *institution* whose original is an abbreviation ("BWH", "HCS843"), it is one, too.
    """
    salt = salt_of(kind)

    def drawn(draw: Draw) -> str:
        female = draw.owner is not None and draw.owner.gender == "female"
        seed = numbered_seed(draw, salt) if numbered else owned_seed(draw, salt) if owned else mix(draw.seed, salt)
        value = draw_phrase(kind, draw, seed, female=female)
        if draw.original:
            for turn in range(1, 4):
                if value.casefold() != draw.original.casefold():
                    break
                value = draw_phrase(kind, draw, mix(seed, turn), female=female)
            short = _INITIALISM.fullmatch(draw.original) if institution else None
            if short is not None:
                return _initials(value) + reshaped(short[1], seed)
            return cased_like(draw.original, value)
        return value

    return drawn


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
    known = country_places(country).by_name.get(original)
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
    known = _by_region(country).get(unaccented(region))
    return pick(seed, known) if known else draw_city(country, seed)


@cache
def _by_region(country: str) -> dict[str, tuple[City, ...]]:
    """Return the cities of each region by its folded name and, where it has one, its abbreviation."""
    found: dict[str, tuple[City, ...]] = {}
    for city in country_places(country).cities:
        for name in filter(None, (city.region.name, city.region.short)):
            found[unaccented(name)] = (*found.get(unaccented(name), ()), city)
    return found


def _other_city(known: City, country: str, seed: int) -> City:
    """Return a city with another name than *known*, of its size class if there is one; *known* if the country has no other."""
    others = [city for city in country_places(country).cities if city.name.casefold() != known.name.casefold()]
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


def other_region(draw: Draw, found: RegionOfPlaces) -> RegionOfPlaces:
    """Return *found*, or another region of the country if *found* is the original."""
    original = draw.original.strip().casefold()
    if original and original in {found.name.casefold(), (found.short or "").casefold()}:
        known = country_places(home_of(draw)).regions
        return known[(known.index(found) + 1 + below(mix(draw.seed, _HOME), max(1, len(known) - 1))) % len(known)]
    return found


_country = spoken("country")


@cache
def _homelands() -> dict[str, dict[str, str]]:
    return load_data("piiloom.surrogates", "words/homelands.yaml", _HomelandsFile).homelands


@cache
def country_names(language: str) -> frozenset[str]:
    """Return the names of countries in *language*, casefolded, and the usual short ones of some."""
    known = (*phrase_lists(language).get("country", ()), *_homelands().get(language, {}).values(), "USA", "US", "U.S.", "UK")
    return frozenset(name.casefold().removeprefix("the ") for name in known)


def country(draw: Draw) -> str:
    """Draw a country; the text's own for the form "own", where its name is known in the text's language."""
    own = _homelands().get(draw.language, {}).get(draw.country) if draw.form == "own" else None
    return own or _country(draw)


def location(draw: Draw) -> str:
    """Draw an unspecified place: a city (always for a known city), a region, or an area."""
    seed = mix(draw.seed, _LOCATION)
    dice = below(seed, 100)
    if draw.original and draw.original.strip().casefold() in country_places(draw.country).by_name:
        return city(draw)
    if dice < 62:
        return city(draw)
    if dice < 75:
        return region(draw)
    return cased_like(draw.original, draw_phrase("area", draw, seed))
