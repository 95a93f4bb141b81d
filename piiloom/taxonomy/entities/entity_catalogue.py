"""The catalogue: all entries by locale, and those of a user's own files among them."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from piiloom.foundation.errors import ConfigError, UsageError
from piiloom.foundation.yaml_files import data_folder
from piiloom.taxonomy.entities.catalogue_file import UNIVERSAL, CatalogueFile, Entity, read_catalogue_file
from piiloom.taxonomy.locales import resolve_locale

LOCALES: Final = "sv_SE vi_VN zh_CN zh_SG pt_BR pt_PT pl_PL hi_IN fi_FI ar_AE nl_NL nl_BE no_NO".split()
ENGLISH: Final = ("en_US", "en_GB")


@dataclass(frozen=True, slots=True, kw_only=True)
class LocaleCatalogue:
    """What is looked for in texts of one locale: its own entities and the universal ones, each with the context words of its language.

    ``region`` is the country as ISO 3166 alpha-2. ``against`` are beginnings of words that speak against a number near them being an id.
    ``notes`` tell a model how names, addresses and the like are written there. ``digest`` changes with anything that changes what is found.
    """

    locale: str
    region: str | None
    entities: Mapping[str, Entity]
    against: tuple[str, ...]
    notes: str | None
    digest: str


@lru_cache(maxsize=1)
def _shipped_names() -> Mapping[str, tuple[str, ...]]:
    """File names by locale; those of universal entities under "universal"."""
    found: dict[str, list[str]] = {}
    for entry in data_folder("taxonomy").joinpath("entities").iterdir():
        if entry.name.endswith(".yaml"):
            locale = UNIVERSAL if entry.name.startswith(UNIVERSAL) else entry.name.removesuffix(".yaml")
            found.setdefault(locale, []).append(entry.name)
    return {locale: tuple(sorted(names)) for locale, names in found.items()}


@lru_cache(maxsize=64)
def _shipped(name: str) -> CatalogueFile:
    return read_catalogue_file(data_folder("taxonomy").joinpath("entities", name))


def catalogue_locales() -> tuple[str, ...]:
    """The locales that have entities of their own: the thirteen, then English."""
    return (*LOCALES, *ENGLISH)


def known_locale(code: str) -> str:
    """Return the locale of the catalogue that *code* names, see ``resolve_locale``."""
    return resolve_locale(code, catalogue_locales())


def shipped_entities(locales: Sequence[str] | None = None) -> Iterator[Entity]:
    """All entities that ship, the universal ones first; *locales* (with "universal") limits them."""
    for locale in (UNIVERSAL, *catalogue_locales()) if locales is None else locales:
        for name in _shipped_names().get(locale, ()):
            yield from _shipped(name).entities


@lru_cache(maxsize=1024)
def find_shipped(entity_id: str) -> Entity | None:
    """Return the shipped entity of that id; None if there is none. Its country tells in which file it is, so few are read."""
    country = entity_id.partition("_")[0].upper()
    likely = [locale for locale in catalogue_locales() if locale[3:] == country]
    for locale in (*likely, UNIVERSAL):
        for entity in shipped_entities([locale]):
            if entity.id == entity_id:
                return entity
    return None


def load_catalogue(
    locale: str, own: Sequence[CatalogueFile] = (), *, unconfirmed: bool = False, also: Collection[str] = ()
) -> LocaleCatalogue:
    """Return the catalogue for texts of *locale*, with the entities of a user's *own* files (of this locale or universal).

    Entities whose format no source confirmed are left out unless *unconfirmed*, those that are looked for on request only unless their ids
    are in *also*, which may name unconfirmed ones, too; a user's own are always in. Raises ``UsageError`` for an unknown locale or id and
    ``ConfigError`` (file, line) for a fault in a file, an id that is defined twice or context for an unknown id.
    """
    locale = known_locale(locale)
    shipped = [_shipped(name) for part in (UNIVERSAL, locale) for name in _shipped_names().get(part, ())]
    shipped_ids = {entity.id for file in shipped for entity in file.entities}
    entities: dict[str, Entity] = {}
    for file in (*shipped, *own):
        for entity in file.entities if not file.of_types else _of_the_locale(file.entities, locale, shipped_ids):
            if entity.id in entities:
                first = entities[entity.id].where
                raise ConfigError(f"the id {entity.id!r} is defined already in {first}", where=entity.where, remedy="Give it another id")
            if file.locale not in (UNIVERSAL, locale):
                continue
            if entity.id in also or file in own or ((entity.confirmed or unconfirmed) and entity.default):
                entities[entity.id] = entity
    if missing := sorted(set(also) - entities.keys()):
        raise UsageError(f"there is no entity {missing[0]!r} for {locale}", where="--also", remedy="piiloom entities list shows all")
    in_force = [file for file in (*shipped, *own) if file.locale in (UNIVERSAL, locale)]
    _add_context(entities, in_force)
    against = tuple(dict.fromkeys(word for file in in_force for word in file.against))
    notes = next((file.notes for file in in_force if file.notes and file.locale == locale), None)
    digest = hashlib.sha256(repr((locale, sorted(map(_facts, entities.values())), against)).encode()).hexdigest()
    return LocaleCatalogue(locale=locale, region=locale[3:], entities=entities, against=against, notes=notes, digest=digest)


@lru_cache(maxsize=64)
def entities_of_any_place(ids: frozenset[str], region: str | None) -> LocaleCatalogue:
    """Return a catalogue of the shipped entities *ids* for texts of any country; *region* says how telephone numbers look there.

    Raises ``UsageError`` if an id is unknown.
    """
    found: dict[str, Entity] = {}
    for locale in (UNIVERSAL, *reversed(catalogue_locales())):  # English ones before those that most runs never need
        if ids <= found.keys():
            break
        found |= {one.id: one for one in shipped_entities([locale]) if one.id in ids}
    if missing := ids - found.keys():
        raise UsageError(f"there is no entity {min(missing)!r}", remedy="piiloom entities list shows all")
    digest = hashlib.sha256(repr((region, sorted(map(_facts, found.values())))).encode()).hexdigest()
    return LocaleCatalogue(locale=UNIVERSAL, region=region, entities=found, against=(), notes=None, digest=digest)


def _of_the_locale(own: Iterable[Entity], locale: str, taken: Collection[str]) -> Iterator[Entity]:
    """Yield the entities of own types as those of *locale*, which are preferred to universal ones, under ids that are not *taken*."""
    for entity in own:
        yield replace(entity, locale=locale, id=f"own_{entity.id}" if entity.id in taken else entity.id)


def _facts(entity: Entity) -> str:
    return repr(replace(entity, where=""))


def _add_context(entities: dict[str, Entity], in_force: Iterable[CatalogueFile]) -> None:
    """Add the context words that files have for entities of other files."""
    every = {entity.id for entity in shipped_entities([UNIVERSAL])}
    for file in in_force:
        for name, words in file.context.items():
            if name in entities:
                entity = entities[name]
                entities[name] = replace(entity, context=tuple(dict.fromkeys((*words, *entity.context))))
            elif name not in every:
                where = file.where_of_context[name]
                raise ConfigError(f"context: there is no entity {name!r}", where=where, remedy="Correct the id, or define the entity")
