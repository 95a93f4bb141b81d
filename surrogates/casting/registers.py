"""Which form of a name a text of its kind uses: given names among students, initials and family name in a Dutch judgment."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from foundation.yaml_files import load_yaml
from surrogates.seeds import below

Style = Literal["full", "given", "family", "formal", "titled"]


class _Default(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    first: Style
    later: Style


class _Register(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    default: _Default
    tag: dict[Style, int] = Field(min_length=1)
    roles: dict[Style, list[str]] = Field(default_factory=dict)


class _RegistersFile(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    registers: dict[str, _Register]


class Register:
    """The forms of one language."""

    def __init__(self, source: _Register) -> None:
        self._first, self._later = source.default.first, source.default.later
        self._tag: tuple[Style, ...] = tuple(style for style, weight in source.tag.items() for _ in range(weight))
        self._roles: Mapping[str, Style] = {role: style for style, roles in source.roles.items() for role in roles}

    def style(self, role: str, *, tag: bool, first: bool, seed: int) -> Style:
        """The form of a mention; ``tag``: of a general tag, where each mention is somebody new."""
        if tag:
            return self._tag[below(seed, len(self._tag))]
        listed = self._roles.get(role)
        if listed is not None and not (listed == "full" and not first):
            return listed
        return self._first if first else self._later


@cache
def register_of(language: str) -> Register:
    """The register of a language; English stands in for those without one."""
    known = load_yaml(files("surrogates") / "data" / "registers.yaml", _RegistersFile).registers
    return Register(known.get(language) or known["en"])
