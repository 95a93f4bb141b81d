"""How far values of a type identify a person, and how sensitive they are: ``data/identifying.yaml``, or a file of the user over it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from piiloom.foundation.errors import ConfigError
from piiloom.foundation.yaml_files import data_folder, read_document, validate_document
from piiloom.taxonomy.entities.catalogue_file import Identifier
from piiloom.taxonomy.entity_types import shipped_taxonomy


@dataclass(frozen=True, slots=True)
class Identifying:
    """What kind of identifier a value is, and the weight of its loss (at least 0)."""

    identifier: Identifier = "quasi"
    weight: float = 1.0


# What own types are, and types that no file names.
OTHER = Identifying()

_Key = tuple[str, str | None]


@dataclass(frozen=True, slots=True)
class IdentifyingTable:
    """The kinds and weights of types and subtypes. ``entries`` has (type, None) for each type, (type, subtype) for those that differ."""

    entries: Mapping[_Key, Identifying]
    _seen: dict[_Key | None, Identifying] = field(default_factory=dict, compare=False)

    def of(self, entity_type: str | None, subtype: str | None = None) -> Identifying:
        """Return what the table says of a type, under its own name or that of the taxonomy; ``OTHER`` if it knows neither."""
        if entity_type is None:
            return OTHER
        key = (entity_type, subtype)
        found = self._seen.get(key)
        if found is None:
            found = self._seen[key] = self._of(entity_type, subtype)
        return found

    def _of(self, entity_type: str, subtype: str | None) -> Identifying:
        for name in (entity_type, shipped_taxonomy().resolve(entity_type)):
            if name is not None and (name, None) in self.entries:
                return self.entries.get((name, subtype), self.entries[name, None])
        return OTHER


class _IdentifyingEntry(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    identifier: Identifier | None = None
    weight: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None

    def over(self, below: Identifying) -> Identifying:
        """Return *below* with what this entry states."""
        weight = below.weight if self.weight is None else float(self.weight)
        return Identifying(self.identifier or below.identifier, weight)


class _TypeEntry(_IdentifyingEntry):
    subtypes: dict[str, _IdentifyingEntry] = {}


class _IdentifyingFile(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    types: dict[str, _TypeEntry] = Field(min_length=1)


@lru_cache(maxsize=1)
def shipped_identifying() -> IdentifyingTable:
    """Return the table that ships with piiloom."""
    document = read_document(data_folder("taxonomy") / "identifying.yaml")
    return IdentifyingTable(_extended({}, validate_document(document, _IdentifyingFile)))


def identifying_table(path: Path | None = None) -> IdentifyingTable:
    """Return the shipped table, changed by the YAML file at *path*, which may name own types and labels that no taxonomy has, too.

    What a file says of a type holds for all subtypes that it does not name. Raises ``ConfigError`` (file, line, key) for a malformed
    file, and for a subtype that a shipped type does not have.
    """
    shipped = shipped_identifying()
    if path is None:
        return shipped
    document = read_document(path)
    given, taxonomy = validate_document(document, _IdentifyingFile), shipped_taxonomy()
    for name, entry in given.types.items():
        known = {one.name for one in taxonomy.types[name].subtypes} if name in taxonomy.types else set(entry.subtypes)
        for subtype in entry.subtypes:
            if subtype not in known:
                where = document.where(["types", name, "subtypes", subtype])
                raise ConfigError(f"{name} has no subtype {subtype!r}", where=where, remedy=f"It has: {', '.join(sorted(known))}")
    return IdentifyingTable(_extended(shipped.entries, given))


def _extended(below: Mapping[_Key, Identifying], given: _IdentifyingFile) -> dict[_Key, Identifying]:
    entries = dict(below)
    for name, entry in given.types.items():
        entries[name, None] = entry.over(below.get((name, None), OTHER))
        for key, before in below.items():
            if key[0] == name and key[1] is not None:
                entries[key] = entry.over(before)
        for subtype, one in entry.subtypes.items():
            entries[name, subtype] = one.over(entries.get((name, subtype), entries[name, None]))
    return entries
