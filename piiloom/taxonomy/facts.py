"""Which subtypes state the same fact about a person (``data/facts.yaml``), so that a text states it once."""

from __future__ import annotations

from functools import lru_cache

from pydantic import BaseModel, ConfigDict

from piiloom.foundation.yaml_files import data_folder, load_yaml


class _Facts(BaseModel):
    model_config = ConfigDict(extra="forbid")

    facts: dict[str, list[list[str]]]


@lru_cache(maxsize=1)
def _groups() -> dict[tuple[str, str], str]:
    listed = load_yaml(data_folder("taxonomy") / "facts.yaml", _Facts).facts
    return {(kind, subtype): f"{kind}.{group[0]}" for kind, groups in listed.items() for group in groups for subtype in group}


def fact_of(entity_type: str, subtype: str) -> str | None:
    """Return the name of the fact that this subtype states; None if a person can have any number of them."""
    return _groups().get((entity_type, subtype))
