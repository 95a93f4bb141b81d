"""The published share of each type's values that matter (``data/relevance_shares.yaml``), and the weights that give these shares."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from pydantic import BaseModel, ConfigDict, Field

from piiloom.foundation.yaml_files import data_folder, load_yaml


class TypeShare(BaseModel):
    """The published figures of one type, and its weights (see the file)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    spans: int = Field(gt=0)
    high: float = Field(ge=0, le=1)
    question: float
    aside: float = Field(gt=0, le=2)


class RelevanceShares(BaseModel):
    """The shares of all types. *more_asides*: how many values that do not matter are drawn for one that is drawn otherwise."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    more_asides: float = Field(gt=0)
    types: Mapping[str, TypeShare]


@lru_cache(maxsize=1)
def published_shares() -> RelevanceShares:
    """Return the shares of CAPID's table 1."""
    return load_yaml(data_folder("taxonomy") / "relevance_shares.yaml", RelevanceShares)
