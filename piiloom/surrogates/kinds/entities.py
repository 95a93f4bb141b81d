"""Values of the entity catalogue as surrogates: what detectors call ``pl_pesel`` gets another valid PESEL, written like the original."""

from __future__ import annotations

import random
from typing import Final

from piiloom.foundation.errors import UsageError
from piiloom.pii_values.entity_values.drawing import draw_entity_value
from piiloom.surrogates.draws import Draw
from piiloom.surrogates.kinds.kind import Kind, cased_like, numbered_seed, salt_of
from piiloom.taxonomy.entities.entity import UNIVERSAL, Entity
from piiloom.taxonomy.entities.entity_catalogue import catalogue_locales, find_shipped

PREFIX: Final = "entity:"
_TRIES: Final = 12  # draws among which one written like the original is looked for


def entity_kind(name: str) -> Kind:
    """Return the kind "entity:<id>". Raises ``UsageError`` if the catalogue has no such entity."""
    entity = find_shipped(name.removeprefix(PREFIX))
    if entity is None:
        raise UsageError(f"unknown kind {name!r}", remedy="piiloom entities list shows all entities")
    return Kind(name, entity.entity_type, entity.id, "none", lambda draw: _drawn(entity, draw))


def has_own_values(entity: Entity) -> bool:
    """Whether the catalogue says by itself how values of *entity* look; the others are names, addresses and the like."""
    return entity.generator is not None and entity.generator.draw is None


def _drawn(entity: Entity, draw: Draw) -> str:
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
