"""Choose the form of a name that is usual for a role and language.

Students, for example, are called by their given names; a Dutch judgment uses initials and family name.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Literal

from pydantic import Field

from piiloom.foundation.yaml_files import FileModel, load_yaml
from piiloom.surrogates.seeds import below

Style = Literal["full", "given", "family", "formal", "titled"]


class _Default(FileModel):
    first: Style
    later: Style


class _Register(FileModel):
    default: _Default
    tag: dict[Style, int] = Field(min_length=1)
    roles: dict[Style, list[str]] = Field(default={})


class _RegistersFile(FileModel):
    joiners: dict[str, str]
    registers: dict[str, _Register]


class Register:
    """The usual name forms of one language, by role. Forms are keys of ``name_forms.SUBTYPES``."""

    def __init__(self, source: _Register) -> None:
        self._tag: tuple[str, ...] = tuple(_plain(style) for style, weight in source.tag.items() for _ in range(weight))
        self._default = (_plain(source.default.first), _plain(source.default.later))
        self._roles: dict[str, tuple[str, str]] = {}
        full = set(source.roles.get("full", ()))
        for role in full:
            self._roles[role] = ("full", self._default[1])
        for style, roles in source.roles.items():
            for role in roles if style != "full" else ():
                self._roles[role] = ("full" if role in full else style, style)

    def of_tag(self, seed: int) -> str:
        """Draw the form for a general tag such as "[NAME]", where each mention is a new person; weighted as in the data file."""
        return self._tag[below(seed, len(self._tag))]

    def of_role(self, role: str) -> tuple[str, str]:
        """Return the form for the first mention of a role in a document and the form for later mentions."""
        return self._roles.get(role, self._default)


def _plain(style: Style) -> str:
    return "full" if style == "titled" else style


@cache
def _file() -> _RegistersFile:
    return load_yaml(files("piiloom.surrogates") / "data" / "registers.yaml", _RegistersFile)


def joiner_of(language: str) -> str:
    """Return the word that joins the names of two people in a language (ISO 639-1)."""
    return _file().joiners.get(language, "&")


@cache
def register_of(language: str) -> Register:
    """Return the register of a language (ISO 639-1); the English one if it has none."""
    known = _file().registers
    return Register(known.get(language) or known["en"])
