"""Values drawn for the entries of a locale, by which entries are held against what others accept."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from piiloom.foundation.seeding import derive_rng
from piiloom.pii_values.entity_values.drawing import draw_entity_value
from piiloom.taxonomy.entities.catalogue_file import Entity
from piiloom.taxonomy.entities.entity_catalogue import shipped_entities

DRAWN = 40
MOST = 0.5  # of the values of an entry: fewer may be chance


@lru_cache(maxsize=32)
def entries(locale: str) -> Mapping[str, Entity]:
    """The entries of *locale*'s own, those whose format no source confirmed among them."""
    return {one.id: one for one in shipped_entities([locale])}


@lru_cache(maxsize=32)
def samples(locale: str) -> Mapping[str, tuple[str, ...]]:
    """Forty values of each entry that has patterns."""
    found = {}
    for entity in entries(locale).values():
        if entity.patterns and entity.generator:
            rng = derive_rng("coverage", locale, entity.id)
            found[entity.id] = tuple(draw_entity_value(entity, locale, rng) for _ in range(DRAWN))
    return found


def label_led(entity: Entity) -> bool:
    """Whether only a label before it gives a value away: it has no form of its own."""
    return bool(entity.patterns) and all(one.preceded_by for one in entity.patterns)


def labels(entity: Entity) -> tuple[str, ...]:
    """The words that speak for it: those that must stand before it first."""
    return (*(phrase for pattern in entity.patterns for phrase in pattern.preceded_by), *entity.context)


def validators_of(entity: Entity) -> frozenset[str]:
    """The names of its validators."""
    return frozenset(name for name in (entity.validator, *(one.validator for one in entity.patterns)) if name not in (None, "none"))


def ours(locale: str) -> dict[str, int]:
    """How many entries *locale* has of its own, and of which kinds; ``only_form`` are those with a pattern, but no check."""
    all_of = entries(locale).values()
    formed = [one for one in all_of if one.patterns and not label_led(one)]
    checked = [one for one in formed if validators_of(one)]
    own = [one for one in checked if any(name.startswith("piiloom:") for name in validators_of(one))]
    return {
        "types": len(all_of),
        "validated": len(checked),
        "own_checksum": len(own),
        "only_form": len(formed) - len(checked),
        "label_led": sum(map(label_led, all_of)),
        "without_pattern": sum(not one.patterns for one in all_of),
        "unconfirmed": sum(not one.confirmed for one in all_of),
    }
