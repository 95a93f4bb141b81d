"""Registers: how people write in which setting (``data/registers.yaml``). Independent of language; the texts are in the banks."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from piiloom.foundation.yaml_files import data_folder, load_yaml

ANY_REGISTER: Final = "any"
SECOND_HAND: Final = "second-hand"

Chance = Annotated[float, Field(ge=0, le=1)]


class TextKind(BaseModel):
    """A kind of text: how often it is drawn, its shortest, median and longest length in words, and its most low-relevance values."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    weight: float = Field(gt=0)
    words: tuple[int, int, int]
    low_spans: int = Field(ge=0, le=8)


class Register(TextKind):
    """How texts of one register look: chances and shares."""

    lower: Chance
    unpointed: Chance
    typos: Chance
    abbreviations: Chance
    emoji: Chance
    hesitations: Chance
    typographic: Chance
    paragraphs: Chance
    opener: Chance
    closer: Chance
    layout: Literal["prose", "list", "mail"]


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")

    registers: dict[str, Register] = Field(min_length=1)


@lru_cache(maxsize=1)
def load_registers() -> Mapping[str, Register]:
    """The registers by name, in file order."""
    return MappingProxyType(load_yaml(data_folder("taxonomy") / "registers.yaml", _File).registers)
