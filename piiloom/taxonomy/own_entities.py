"""A user's own files for detectors: entities in the form of the catalogue, or the entity types that ``generate --types`` takes.

An own type with a pattern, or with an entity of the catalogue as its generator, is an entity here: whatever ``generate`` draws for the
type, patterns find in a text. Values of lexicons and of models have no pattern, so such types are not looked for.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Final

from piiloom.foundation.errors import ConfigError
from piiloom.foundation.yaml_files import read_document
from piiloom.taxonomy.entities.catalogue_file import (
    DOMAINS,
    UNIVERSAL,
    CatalogueFile,
    Entity,
    EntityPattern,
    parse_pattern,
    read_catalogue_file,
)
from piiloom.taxonomy.entities.entity_catalogue import find_shipped
from piiloom.taxonomy.own_types import VALUE, OwnSubtype, OwnType, OwnTypes
from piiloom.taxonomy.own_types_file import read_types_file
from piiloom.taxonomy.value_patterns import catalogue_pattern

TYPES: Final = "types"
_ENTITIES: Final = "entities"
_SCORE: Final = 1.0  # the user says that the pattern means the type


def own_catalogue(path: Path) -> CatalogueFile:
    """Return the entities that the file at *path* defines, or those of the types that it defines.

    A file that was changed is read again. Raises ``ConfigError`` (file, line) for a file of neither form, and for faults in it.
    """
    return _user_file(path, path.stat().st_mtime_ns if path.exists() else 0)


def own_types_of(path: Path) -> OwnTypes:
    """Return the types that the file at *path* defines; none if it is a file of entities. Raises as ``own_catalogue``."""
    return read_types_file(path) if _form(path) == TYPES else ()


def without_pattern(own: OwnTypes) -> list[str]:
    """Return the names of the types of *own* that have no pattern."""
    return [one.name for one in own if not any(_entities_of(one, ""))]


@lru_cache(maxsize=64)
def _user_file(path: Path, modified: int) -> CatalogueFile:  # noqa: ARG001 - part of the key
    if _form(path) == _ENTITIES:
        return read_catalogue_file(path)
    entities = tuple(entity for one in read_types_file(path) for entity in _entities_of(one, path.name))
    return CatalogueFile(
        locale=UNIVERSAL, language="en", against=(), notes=None, context={}, entities=entities, where_of_context={}, of_types=True
    )


def _form(path: Path) -> str:
    document = read_document(path)
    found = [key for key in (TYPES, _ENTITIES) if isinstance(document.data, dict) and key in document.data]
    if len(found) == 1:
        return found[0]
    fault = "there are types and entities in one file" if found else "the file has neither types nor entities"
    remedy = "Write types (docs/own-types.md shows a file) or entities (docs/entity-catalogue.md shows one)"
    raise ConfigError(fault, where=document.where((found[-1],) if found else ()), remedy=remedy)


def _entities_of(one: OwnType, file: str) -> Iterator[Entity]:
    for subtype in one.subtypes:
        name = one.name.replace(" ", "_") + ("" if subtype.name == VALUE else f"_{subtype.name}")
        where = f"{file} ({one.name})"
        if subtype.generator.entity is not None and (shipped := find_shipped(subtype.generator.entity)) is not None:
            yield _like(shipped, one, name, where)
        elif subtype.generator.pattern is not None:
            yield _entity(one, subtype, name, where)


def _like(shipped: Entity, one: OwnType, name: str, where: str) -> Entity:
    """Return the *shipped* entity as one of the own type; telephone numbers stay those of its country."""
    region = shipped.locale.partition("_")[2]
    validator = shipped.validator.replace("*", region) if shipped.validator and region else shipped.validator
    return replace(
        shipped,
        id=name,
        locale=UNIVERSAL,
        entity_type=one.name,
        validator=validator,
        default=True,
        confirmed=True,
        form_of=None,
        where=where,
    )


def _entity(one: OwnType, subtype: OwnSubtype, name: str, where: str) -> Entity:
    generator = subtype.generator
    pattern = catalogue_pattern(str(generator.pattern))
    try:
        parse_pattern(pattern)
    except ConfigError as error:
        raise ConfigError(f"the pattern of {one.name!r} is too large for detection: {error.message}", where=where) from None
    # In a text that is all in lower case, or at its beginning, only codes keep their case.
    ignore_case = subtype.form != "code"
    return Entity(
        id=name,
        locale=UNIVERSAL,
        name=one.name,
        native=one.name,
        domains=DOMAINS,
        structured=True,
        entity_type=one.name,
        identifier="direct",
        sensitivity=2,
        priority=100,
        patterns=(EntityPattern(pattern=pattern, score=_SCORE, ignore_case=ignore_case),),
        validator=None if generator.check is None else f"stdnum:{generator.check}",
        context=(),
        generator=None,
        near_misses=(),
        source="a types file",
        confirmed=True,
        default=True,
        where=where,
    )
