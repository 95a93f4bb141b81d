"""Which entities of a catalogue a reader looks for, and how a model may name them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property
from operator import attrgetter

from piiloom.taxonomy.entities.entity import Entity
from piiloom.taxonomy.entities.entity_catalogue import LocaleCatalogue


class AskedTypes:
    """The entities of *catalogue* that patterns do not find by their shape: they have none, or only a label in front gives them away."""

    def __init__(self, catalogue: LocaleCatalogue) -> None:
        self.catalogue = catalogue
        self.entities: Mapping[str, Entity] = {one.id: one for one in catalogue.entities.values() if _is_asked(one)}

    def find(self, name: str) -> Entity | None:
        """Return the entity that *name* means: its id, English or native name, in any case and with any signs between the words."""
        return self.entities.get(name) or self._by_name.get(_folded(name))

    @cached_property
    def _by_name(self) -> Mapping[str, Entity]:
        found: dict[str, Entity] = {}
        for name_of in map(attrgetter, ("id", "name", "native")):
            for entity in self.entities.values():
                found.setdefault(_folded(name_of(entity)), entity)
        return found


def _is_asked(entity: Entity) -> bool:
    return not entity.structured or all(pattern.preceded_by for pattern in entity.patterns)


def _folded(name: str) -> str:
    return re.sub(r"[\W_]+", " ", name).strip().casefold()


def prompt_entity(entity: Entity) -> dict[str, str]:
    """What a prompt tells of *entity*."""
    return {"id": entity.id, "name": entity.name, "native": entity.native}
