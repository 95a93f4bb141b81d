"""Encode and decode the JSON columns of the table ``records``: plan, source, group keys and provenance.

Many records share a plan or a provenance. Both are immutable, so results are cached and equal ones are converted only once.
"""

from __future__ import annotations

import json
from dataclasses import fields
from functools import lru_cache
from typing import Any

from piiloom.corpus.record import LostValue, Provenance, RecordPlan, SourceReference

Encodable = RecordPlan | SourceReference | Provenance


@lru_cache(maxsize=4096)
def encode(value: Encodable | None) -> str | None:
    """Return the fields of *value* that are not None as a JSON object (an empty ``lost`` is left out, too); None for None."""
    if value is None:
        return None
    found = _set_fields(value)
    if not found.get("lost", True):
        del found["lost"]
    return json.dumps(found, ensure_ascii=False, default=_set_fields)


def encode_keys(keys: tuple[str, ...]) -> str | None:
    """Return group keys as a JSON array, or None if there are none."""
    return json.dumps(keys, ensure_ascii=False) if keys else None


def decode_keys(text: str | None) -> tuple[str, ...]:
    """The inverse of ``encode_keys``."""
    return tuple(json.loads(text)) if text else ()


@lru_cache(maxsize=4096)
def decode_plan(text: str | None) -> RecordPlan | None:
    """The inverse of ``encode`` for a plan."""
    if text is None:
        return None
    held = json.loads(text)
    first, second = held.pop("pair")
    return RecordPlan(pair=(first, second), **held)


def decode_source(text: str | None) -> SourceReference | None:
    """The inverse of ``encode`` for a source."""
    if text is None:
        return None
    held = json.loads(text)
    return SourceReference(lost=tuple(LostValue(**lost) for lost in held.pop("lost", ())), **held)


@lru_cache(maxsize=4096)
def decode_provenance(text: str | None) -> Provenance | None:
    """The inverse of ``encode`` for a provenance."""
    if text is None:
        return None
    held = json.loads(text)
    templates = tuple((name, sha256) for name, sha256 in held.pop("templates"))
    return Provenance(templates=templates, parents=tuple(held.pop("parents")), **held)


def _set_fields(value: Any) -> dict[str, Any]:
    found = {field.name: getattr(value, field.name) for field in fields(value)}
    return {name: held for name, held in found.items() if held is not None}
