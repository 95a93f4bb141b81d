"""The registry of all kinds by name, also those of the entity catalogue. ``data/kinds.yaml`` is read on first access."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from typing import Any, Final, Literal

from piiloom.foundation.errors import UsageError
from piiloom.foundation.seeding import salt_of
from piiloom.foundation.yaml_files import FileModel, load_data
from piiloom.pii_values.entity_values.drawing import draw_entity_value
from piiloom.surrogates.kinds.kind import Draw, Drawing, Owner, SurrogateKind, cased_like, numbered_seed
from piiloom.taxonomy.entities.entity import UNIVERSAL, Entity
from piiloom.taxonomy.entities.entity_catalogue import catalogue_locales, find_shipped

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
    return entry is not None and (entry.mask is not None or entry.draw == "masked:masked_time")


def _drawing(name: str, entry: _KindEntry) -> Drawing:
    """Import or make the drawing function of the kind *name*."""
    place, *options = (entry.make or entry.draw).split()
    found = _imported(place)
    drawing: Drawing = found(name, **dict.fromkeys(options, True)) if entry.make else found
    return _imported(f"masked:{entry.mask}_masked")(drawing) if entry.mask else drawing


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


def get_kind(name: str) -> SurrogateKind:
    """Return the kind called *name*. Raises ``UsageError``, which suggests the closest name, if there is none."""
    if name.startswith(PREFIX) or name in _entries():
        return KINDS[name]
    near = get_close_matches(name.casefold(), _entries(), n=1, cutoff=0.5)
    remedy = f"Did you mean {near[0]!r}?" if near else f"Known: {', '.join(_entries())}."
    raise UsageError(f"unknown kind {name!r}", remedy=remedy)
