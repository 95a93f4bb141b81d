"""Read one file of the entity catalogue, ours or a user's. Each fault is reported with file, line and key."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from piiloom.foundation.errors import ConfigError
from piiloom.foundation.yaml_files import FileModel, KeyPath, YamlDocument, key_name, read_document, validate_document
from piiloom.taxonomy.entities.entity import UNIVERSAL, Boundary, Domain, Entity, EntityPattern, Generator, Guard, Identifier
from piiloom.taxonomy.entities.pattern_syntax import parse_pattern
from piiloom.taxonomy.entities.validators.registry import find_validator
from piiloom.taxonomy.entity_types import shipped_taxonomy

NO_VALIDATOR = "none"
_REMEDY = "Correct the key named here; docs/entity-catalogue.md shows a file"

Text = Annotated[str, StringConstraints(min_length=1, strip_whitespace=True)]
Id = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]*$", max_length=60)]
Phrases = Annotated[list[Text], Field(default=[])]


class _Pattern(FileModel):
    pattern: Annotated[str, StringConstraints(min_length=1)]
    score: Annotated[float, Field(ge=0, le=1, strict=False)]
    case: Literal["exact", "ignore"] = "exact"
    boundary: Boundary = "word"
    guard: Guard = "number"
    preceded_by: Phrases
    validator: Text | None = None


class _Generator(FileModel):
    masks: Phrases
    values: Phrases
    rule: Text | None = None
    draw: Text | None = None


class _Entity(FileModel):
    name: Text
    native: Text | None = None
    form_of: Id | None = None
    domains: Annotated[list[Domain], Field(min_length=1)]
    structured: bool
    type: Text
    identifier: Identifier
    sensitivity: Annotated[int, Field(ge=1, le=3)]
    priority: Annotated[int, Field(ge=0, le=100)]
    patterns: Annotated[list[_Pattern], Field(default=[])]
    validator: Text | None = None
    context: Phrases
    generator: _Generator | None = None
    near_misses: Annotated[list[str], Field(default=[])]
    source: Text
    confirmed: bool = True
    default: bool = True


class _File(FileModel):
    locale: Annotated[str, StringConstraints(pattern=r"^(universal|[a-z]{2}_[A-Z]{2})$")]
    language: Annotated[str, StringConstraints(pattern=r"^[a-z]{2,3}$")] = "en"
    against: Phrases
    notes: Text | None = None
    context: Annotated[dict[Id, list[Text]], Field(default={})]
    entities: dict[Id, _Entity]


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogueFile:
    """What one file says. ``context`` adds words of its language to universal entities; ``against`` are words that speak against ids.

    ``of_types``: its entities are a user's own types, which are preferred to shipped entities that look the same.
    """

    locale: str
    language: str
    against: tuple[str, ...]
    notes: str | None
    context: Mapping[str, tuple[str, ...]]
    entities: tuple[Entity, ...]
    where_of_context: Mapping[str, str]
    of_types: bool = False


def read_catalogue_file(source: Traversable | Path) -> CatalogueFile:
    """Read the file *source*. Raises ``ConfigError`` (file, line, key) for the first faults."""
    document = read_document(source)
    found = validate_document(document, _File)
    entities = tuple(_entity(document, found.locale, name, entry) for name, entry in found.entities.items())
    return CatalogueFile(
        locale=found.locale,
        language=found.language,
        against=_lower(found.against),
        notes=found.notes,
        context={name: _lower(words) for name, words in found.context.items()},
        entities=entities,
        where_of_context={name: document.where(("context", name)) for name in found.context},
    )


def _lower(phrases: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(phrase.lower() for phrase in phrases))


def _entity(document: YamlDocument, locale: str, name: str, entry: _Entity) -> Entity:
    path: KeyPath = ("entities", name)
    if entry.type not in shipped_taxonomy().types:
        known = ", ".join(shipped_taxonomy().types)
        raise _fault(document, (*path, "type"), f"there is no type {entry.type!r}; known: {known}")
    if entry.structured and not entry.patterns:
        raise _fault(document, path, "a structured entity has patterns")
    if entry.validator is not None:
        _check_validator(document, (*path, "validator"), entry.validator, locale)
    for at, pattern in enumerate(entry.patterns):
        _check_pattern(document, (*path, "patterns", at), pattern, locale)
    if entry.generator is not None:
        _check_generator(document, (*path, "generator"), entry.generator)
    return Entity(
        id=name,
        locale=locale,
        name=entry.name,
        native=entry.native or entry.name,
        domains=tuple(dict.fromkeys(entry.domains)),
        structured=entry.structured,
        entity_type=entry.type,
        identifier=entry.identifier,
        sensitivity=entry.sensitivity,
        priority=entry.priority,
        patterns=tuple(_pattern(pattern) for pattern in entry.patterns),
        validator=None if entry.validator == NO_VALIDATOR else entry.validator,
        context=_lower(entry.context),
        generator=_generator(entry.generator) if entry.generator is not None else None,
        near_misses=tuple(entry.near_misses),
        source=entry.source,
        confirmed=entry.confirmed,
        default=entry.default,
        where=document.where(path),
        form_of=entry.form_of,
    )


def _pattern(entry: _Pattern) -> EntityPattern:
    return EntityPattern(
        pattern=entry.pattern,
        score=entry.score,
        ignore_case=entry.case == "ignore",
        boundary=entry.boundary,
        guard=entry.guard,
        preceded_by=_lower(entry.preceded_by),
        validator=entry.validator,
    )


def _generator(entry: _Generator) -> Generator:
    return Generator(masks=tuple(entry.masks), values=tuple(entry.values), rule=entry.rule, draw=entry.draw)


def _check_pattern(document: YamlDocument, path: KeyPath, entry: _Pattern, locale: str) -> None:
    try:
        parse_pattern(entry.pattern)
    except ConfigError as error:
        raise _fault(document, (*path, "pattern"), error.message) from None
    if entry.validator is not None:
        _check_validator(document, (*path, "validator"), entry.validator, locale)


def _check_validator(document: YamlDocument, path: KeyPath, name: str, locale: str) -> None:
    if name == NO_VALIDATOR:
        return
    try:
        find_validator(name, None if locale == UNIVERSAL else locale[3:])
    except ConfigError as error:
        raise _fault(document, path, error.message) from None


def _check_generator(document: YamlDocument, path: KeyPath, entry: _Generator) -> None:
    given = [name for name in ("masks", "values", "rule", "draw") if getattr(entry, name)]
    if len(given) != 1:
        raise _fault(document, path, "give exactly one of masks, values, rule and draw")


def _fault(document: YamlDocument, path: KeyPath, what: str) -> ConfigError:
    return ConfigError(f"{key_name(path)}: {what}", where=document.where(path), remedy=_REMEDY)
