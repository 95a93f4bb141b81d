"""The registry of all kinds by name. ``data/kinds.yaml`` is read on first access, so that importing this module is cheap."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from importlib.resources import files
from typing import TYPE_CHECKING, Final

from piiloom.foundation.errors import UsageError
from piiloom.surrogates.kinds.kind import Drawing, Kind, Owner

if TYPE_CHECKING:
    from piiloom.surrogates.kinds.files import KindEntry


@cache
def _entries() -> dict[str, KindEntry]:
    from piiloom.foundation.yaml_files import load_yaml  # noqa: PLC0415
    from piiloom.surrogates.kinds.files import KindsFile  # noqa: PLC0415 - pydantic is needed only to read data

    return load_yaml(files("piiloom.surrogates") / "data" / "kinds.yaml", KindsFile).kinds


@cache
def _kind(name: str) -> Kind:
    """Return the kind *name*, with the module that draws it imported; raises ``KeyError`` if there is none."""
    entry = _entries()[name]
    return Kind(name, entry.type, entry.subtype, entry.owner, _drawing(entry.draw))


def owned_by(owner: Owner) -> frozenset[str]:
    """Return the names of the kinds whose values must agree with the facts of *owner*."""
    return frozenset(name for name, entry in _entries().items() if entry.owner == owner)


@cache
def fills_masks(kind: str) -> bool:
    """Whether values of *kind* can be written into a mask, such as "XXX-XX-1234"."""
    return kind in _entries() and _entries()[kind].draw.partition(":")[0] in {"masked", "date_masks"}


def _drawing(place: str) -> Drawing:
    """Import the drawing function named *place*, as "module:function" ("contacts:email")."""
    module, _, name = place.partition(":")
    drawing: Drawing = getattr(import_module(f"piiloom.surrogates.kinds.{module}"), name)
    return drawing


@cache
def _of_catalogue(name: str) -> Kind:
    from piiloom.surrogates.kinds.entities import entity_kind  # noqa: PLC0415 - reads the catalogue

    return entity_kind(name)


class _Kinds(Mapping[str, Kind]):
    """Read-only mapping of the kinds, each loaded on first use. Those of the entity catalogue ("entity:pl_pesel") are not listed."""

    def __getitem__(self, name: str) -> Kind:
        return _kind(name) if not name.startswith("entity:") else _of_catalogue(name)

    def __iter__(self) -> Iterator[str]:
        return iter(_entries())

    def __len__(self) -> int:
        return len(_entries())


KINDS: Final[Mapping[str, Kind]] = _Kinds()


class Drawings(dict[str, tuple[str, str | None, Drawing]]):
    """By kind: entity type, subtype, drawing function. Kinds are added when they are first met."""

    def __missing__(self, name: str) -> tuple[str, str | None, Drawing]:
        kind = KINDS[name]
        self[name] = kind.entity_type, kind.subtype, kind.draw
        return self[name]


def get_kind(name: str) -> Kind:
    """Return the kind called *name*. Raises ``UsageError``, which suggests the closest name, if there is none."""
    if name.startswith("entity:") or name in _entries():
        return KINDS[name]
    near = get_close_matches(name.casefold(), _entries(), n=1, cutoff=0.5)
    remedy = f"Did you mean {near[0]!r}?" if near else f"Known: {', '.join(_entries())}."
    raise UsageError(f"unknown kind {name!r}", remedy=remedy)


__all__ = ["KINDS", "Drawings", "Kind", "Owner", "fills_masks", "get_kind", "owned_by"]
