"""A kind of values, and what a value is drawn from: ``Draw``, its owner, and the seeds and helpers that the drawing functions share.

All values of a fictitious person, who replaces the person of one cluster of mentions, agree with each other. ``KINDS`` has all kinds by
name, also those of the entity catalogue. ``data/kinds.yaml`` is read on first access.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from functools import cache
from importlib import import_module
from typing import Any, Final, Literal, NamedTuple

from piiloom.foundation.errors import UsageError
from piiloom.foundation.seeding import below, mix, salt_of, seed_of
from piiloom.foundation.yaml_files import FileModel, load_data
from piiloom.pii_values.entity_values.drawing import draw_entity_value
from piiloom.pii_values.names.regions import Gender
from piiloom.taxonomy.entities.catalogue_file import UNIVERSAL, Entity
from piiloom.taxonomy.entities.entity_catalogue import catalogue_locales, find_shipped

_BIRTH: Final = 0xB1
_OTHERS: Final = 0x07
_ADULT_DAYS: Final = (19 * 366, 79 * 365)  # default range of the age on the anchor, in days: 19 to 78 years


@dataclass(slots=True, eq=False)
class FictitiousPerson:
    """A fictitious person. ``gender`` and ``region`` (a UN M49 region) make the group.

    ``origin`` is the country whose names they have, ``country`` the one they live in (ISO 3166 alpha-2). Equal seeds give equal
    people. ``born`` is drawn on first access, unless the text gives an age or a birth date. ``told_age`` is the first age that the text
    told before it was replaced, ``told_birth``: it told the birth date.
    """

    seed: int
    gender: Gender
    region: str
    origin: str
    country: str
    given: str
    family: str
    anchor: date
    _born: date | None = field(default=None, kw_only=True)
    value_id: str = field(default="", kw_only=True)
    told_age: int | None = field(default=None, kw_only=True)
    told_birth: bool = field(default=False, kw_only=True)

    def again(self, turn: int) -> FictitiousPerson:
        """Return this person with other choices: for a second phone number, address … of theirs."""
        return replace(self, seed=mix(self.seed, _OTHERS + turn), _born=self.born)

    @property
    def born(self) -> date:
        """The day of birth."""
        if self._born is None:
            self._born = adult_birth_date(self.anchor, mix(self.seed, _BIRTH))
        return self._born

    @born.setter
    def born(self, day: date) -> None:
        """Set the birth date known from the text. Do so before drawing any value that depends on it."""
        self._born = day

    @property
    def age(self) -> int:
        """Age in completed years on the anchor date."""
        return self.anchor.year - self.born.year - ((self.anchor.month, self.anchor.day) < (self.born.month, self.born.day))


def adult_birth_date(anchor: date, seed: int) -> date:
    """Draw the birth date of somebody of 19 to 78 years on *anchor*."""
    youngest, oldest = _ADULT_DAYS
    return anchor - timedelta(days=youngest + below(seed, oldest - youngest))


class Draw(NamedTuple):
    """Everything a value may depend on. Equal draws give equal values in every process.

    ``country`` (ISO 3166 alpha-2) and ``language`` (ISO 639-1) are those of the text. ``owner`` is the person whom the value belongs
    to. ``shift`` is the number of days by which known dates move. Dates that the text does not tell are drawn relative to ``anchor``.
    ``day`` is the day of a date whose order among the others the text states.
    ``original`` is the replaced value where it is known, ``form`` the variant of the kind, ``index`` the placeholder's number.
    ``style`` is the seed of the document's ways of writing.
    """

    seed: int
    country: str
    language: str
    anchor: date
    shift: int
    owner: FictitiousPerson | None = None
    original: str = ""
    form: str = ""
    index: str = ""  # type: ignore[assignment]  # hides tuple.index, which is not used
    day: date | None = None
    style: int = 0


Owner = Literal["person", "document", "none"]
Drawing = Callable[[Draw], str]

# What the form of a place begins with, if the text names its region, or its country.
WITHIN: Final = "in:"
ELSEWHERE: Final = "of:"
_SHOUTED: Final = 2  # with at least this many letters, all capitals are a style and not just an initial


class SurrogateKind(NamedTuple):
    """A kind of value and the function that draws it.

    ``entity_type`` and ``subtype`` are those of the taxonomy (subtype None: none fits). ``owner`` says whose facts the value must agree
    with: a person's, the document's or nobody's.
    """

    name: str
    entity_type: str
    subtype: str | None
    owner: Owner
    draw: Drawing


def owned_seed(draw: Draw, salt: int) -> int:
    """Return the seed of a value that an owner has only once; without an owner, derive it from the draw's own seed."""
    owner = draw.owner
    return mix(draw.seed if owner is None else owner.seed, salt)


def numbered_seed(draw: Draw, salt: int) -> int:
    """As ``owned_seed``, for values of which a person may have several: ``draw.index`` distinguishes them."""
    seed = owned_seed(draw, salt)
    return mix(seed, seed_of(draw.index)) if draw.index else seed


def style_seed(draw: Draw, salt: int) -> int:
    """Return a seed for the style of writing, which all values of one document share.

    It must not depend on ``draw.shift``: a reader sees the style, and should learn nothing of the shift.
    """
    return mix(draw.style, salt)


def home_of(draw: Draw) -> str:
    """Return the country (ISO 3166 alpha-2) for the value's numbers and addresses: the one told beside it, the owner's, else the text's."""
    if draw.form.startswith(ELSEWHERE):
        return draw.form.removeprefix(ELSEWHERE)
    return draw.country if draw.owner is None else draw.owner.country


def cased_like(original: str, value: str) -> str:
    """Return *value*, in capitals if *original* is (with at least two letters)."""
    if original and original.isupper() and sum(map(str.isalpha, original)) >= _SHOUTED:
        return value.upper()
    return value


PREFIX: Final = "entity:"
_TRIES: Final = 12  # draws among which one written like the original is looked for


@cache
def entity_kind(name: str) -> SurrogateKind:
    """Return the kind "entity:<id>". Raises ``UsageError`` if the catalogue has no such entity."""
    entity = find_shipped(name.removeprefix(PREFIX))
    if entity is None:
        raise UsageError(f"unknown kind {name!r}", remedy="piiloom entities list shows all entities")
    return SurrogateKind(name, entity.entity_type, entity.id, "none", lambda draw: _of_entity(entity, draw))


def has_own_values(entity: Entity) -> bool:
    """Whether the catalogue says by itself how values of *entity* look; the others are names, addresses and the like."""
    return entity.generator is not None and entity.generator.draw is None


def _of_entity(entity: Entity, draw: Draw) -> str:
    rng = random.Random(numbered_seed(draw, salt_of(entity.id)))
    locale = entity.locale if entity.locale != UNIVERSAL else _locale_of(draw.country)
    first = value = draw_entity_value(entity, locale, rng)
    for _ in range(_TRIES if draw.original else 0):
        if _shape(value) == _shape(draw.original):
            return cased_like(draw.original, value)
        value = draw_entity_value(entity, locale, rng)
    return cased_like(draw.original, first)


def _locale_of(country: str) -> str:
    """A locale of the text's country, for entities that look alike everywhere."""
    return next((locale for locale in catalogue_locales() if locale[3:] == country), "en_US")


def _shape(value: str) -> str:
    return "".join("#" if c.isdigit() else "@" if c.isalpha() else c for c in value)


class _KindEntry(FileModel):
    """One kind."""

    type: str
    subtype: str | None = None
    owner: Owner
    draw: str = ""
    make: str = ""
    mask: Literal["number", "date", "birth"] | None = None


class _KindsFile(FileModel):
    """``kinds.yaml``."""

    kinds: dict[str, _KindEntry]


@cache
def _entries() -> dict[str, _KindEntry]:
    return load_data("piiloom.surrogates", "kinds.yaml", _KindsFile).kinds


@cache
def _kind(name: str) -> SurrogateKind:
    """Return the kind *name*, with the module that draws it imported; raises ``KeyError`` if there is none."""
    entry = _entries()[name]
    return SurrogateKind(name, entry.type, entry.subtype, entry.owner, _drawing(name, entry))


def owned_by(owner: Owner) -> frozenset[str]:
    """Return the names of the kinds whose values must agree with the facts of *owner*."""
    return frozenset(name for name, entry in _entries().items() if entry.owner == owner)


@cache
def fills_masks(kind: str) -> bool:
    """Whether values of *kind* can be written into a mask, such as "XXX-XX-1234"."""
    entry = _entries().get(kind)
    return entry is not None and (entry.mask is not None or entry.draw == "dates:masked_time")


def _drawing(name: str, entry: _KindEntry) -> Drawing:
    """Import or make the drawing function of the kind *name*."""
    place, *options = (entry.make or entry.draw).split()
    found = _imported(place)
    drawing: Drawing = found(name, **dict.fromkeys(options, True)) if entry.make else found
    return _imported(f"dates:{entry.mask}_masked")(drawing) if entry.mask else drawing


def _imported(place: str) -> Any:
    """Import the function named *place*, as "module:function" ("contacts:email")."""
    module, _, function = place.partition(":")
    return getattr(import_module(f"piiloom.surrogates.kinds.{module}"), function)


class _Kinds(Mapping[str, SurrogateKind]):
    """Read-only mapping of the kinds, each loaded on first use. Those of the entity catalogue ("entity:pl_pesel") are not listed."""

    def __getitem__(self, name: str) -> SurrogateKind:
        return _kind(name) if not name.startswith(PREFIX) else entity_kind(name)

    def __iter__(self) -> Iterator[str]:
        return iter(_entries())

    def __len__(self) -> int:
        return len(_entries())


KINDS: Final[Mapping[str, SurrogateKind]] = _Kinds()


class Drawings(dict[str, tuple[str, str | None, Drawing]]):
    """By kind: entity type, subtype, drawing function. Kinds are added when they are first met."""

    def __missing__(self, name: str) -> tuple[str, str | None, Drawing]:
        kind = KINDS[name]
        self[name] = kind.entity_type, kind.subtype, kind.draw
        return self[name]
