"""The subtypes of every entity type: the weight of each if any subtype may be drawn, and the function that draws its values."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from types import MappingProxyType
from typing import Final

from piiloom.foundation.errors import UsageError
from piiloom.pii_values.drawers import Drawer, ValueKind, circumstances, traits
from piiloom.pii_values.entity_values.drawing import draw_entity_value
from piiloom.pii_values.identifiers import draw_number
from piiloom.pii_values.lexicons import Weighted, weighted
from piiloom.pii_values.numbering.masks import laid_out, usual_masks
from piiloom.pii_values.persona import Persona
from piiloom.taxonomy.entities.catalogue_file import UNIVERSAL, Entity
from piiloom.taxonomy.entities.entity_catalogue import find_shipped
from piiloom.taxonomy.entity_types import Taxonomy
from piiloom.taxonomy.value_patterns import ValueGenerator, draw_own_value

KINDS: Final[Mapping[str, tuple[ValueKind, ...]]] = MappingProxyType(
    {
        "occupation": circumstances.OCCUPATION,
        "health": traits.HEALTH,
        "demographic": traits.DEMOGRAPHIC,
        "finance": circumstances.FINANCE,
        "age": traits.AGE,
        "education": circumstances.EDUCATION,
        "location": circumstances.LOCATION,
        "organization": circumstances.ORGANIZATION,
        "relationship": traits.RELATIONSHIP,
        "sexual orientation": traits.ORIENTATION,
        "belief": traits.BELIEF,
        "name": traits.NAME,
        "code": circumstances.CODE,
        "datetime": circumstances.DATETIME,
        "appearance": traits.APPEARANCE,
    }
)


def kinds_for(entity_type: str, subtypes: tuple[str, ...] | None, taxonomy: Taxonomy) -> Weighted[ValueKind]:
    """Return the weighted kinds of a type (*subtypes* None: all); raises ``UsageError`` for unknown names.

    A subtype may also be the id of a catalogue entity of the type. The kinds of own types of *taxonomy* come from their value generators.
    """
    if entity_type in KINDS:
        return _shipped_kinds(entity_type, subtypes)
    return _own_kinds(taxonomy, entity_type, subtypes)


@lru_cache(maxsize=256)
def _own_kinds(taxonomy: Taxonomy, entity_type: str, subtypes: tuple[str, ...] | None) -> Weighted[ValueKind]:
    own = taxonomy.types.get(entity_type)
    if own is None or not own.own:
        raise UsageError(f"no values for type {entity_type!r}", remedy=f"Known: {', '.join(taxonomy.types)}.")
    known = [ValueKind(subtype=s.name, share=1, draw=_drawer(s.generator)) for s in own.subtypes if s.generator is not None]
    return _weighted(entity_type, known, subtypes)


def _drawer(generator: ValueGenerator) -> Drawer:
    return lambda persona, rng, _attempt: draw_own(generator, persona.locale, rng)


def draw_own(generator: ValueGenerator, locale: str, rng: random.Random) -> str:
    """Draw a value of an own type; raises as ``draw_own_value`` and ``entity_values.drawing.draw_value`` do."""
    if generator.entity is None:
        return draw_own_value(generator, rng)
    entity = find_shipped(generator.entity)
    if entity is None:
        raise UsageError(f"the catalogue has no entity {generator.entity!r}", remedy="It may have been made with another piiloom")
    return _draw_entity(entity, locale, rng)


def _draw_entity(entity: Entity, locale: str, rng: random.Random) -> str:
    return draw_entity_value(entity, locale if entity.locale == UNIVERSAL else entity.locale, rng)


@cache
def _shipped_kinds(entity_type: str, subtypes: tuple[str, ...] | None) -> Weighted[ValueKind]:
    known = KINDS[entity_type]
    others = set(subtypes or ()) - {kind.subtype for kind in known}
    return _weighted(entity_type, (*known, *_of_catalogue(entity_type, sorted(others))), subtypes)


def _of_catalogue(entity_type: str, subtypes: Iterable[str]) -> Iterator[ValueKind]:
    """Yield kinds, to be drawn by name only, for those of *subtypes* that are ids of catalogue entities of the type."""
    fitting = {kind.subtype: kind for kind in (*circumstances.CODES_OF_ENTITIES, *circumstances.DATES_OF_ENTITIES)}
    for entity in map(find_shipped, subtypes):
        if entity is not None and entity.entity_type == entity_type:
            yield fitting.get(entity.id) or ValueKind(subtype=entity.id, share=0, draw=_entity_drawer(entity))


def _entity_drawer(entity: Entity) -> Drawer:
    def draw(persona: Persona, rng: random.Random, _attempt: int) -> str:
        drawn = draw_number(entity.id, rng, persona.birth_date.year) if entity.id in usual_masks() else f"={entity.id}"
        drawn_as = find_shipped(drawn[1:]) if drawn.startswith("=") else None
        return laid_out(drawn_as.id, _draw_entity(drawn_as, persona.locale, rng), rng) if drawn_as else drawn

    return draw


def _weighted(entity_type: str, known: Sequence[ValueKind], subtypes: tuple[str, ...] | None) -> Weighted[ValueKind]:
    names = [kind.subtype for kind in known]
    unknown = [name for name in subtypes or () if name not in names]
    if unknown:
        raise UsageError(f"type {entity_type!r} has no subtype {unknown[0]!r}", remedy=f"Known: {', '.join(names)}.")
    wanted = [kind for kind in known if (kind.subtype in subtypes if subtypes else kind.share > 0)]
    # Kinds with share 0 are drawn only by name; they get the weight 1.
    return weighted((kind, kind.share or 1.0) for kind in wanted)
