"""A person's name as it is written: full, given, family, formal, initials, nickname, "family, given"."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib.resources import files
from typing import Final

from pydantic import BaseModel, ConfigDict

from piiloom.foundation.yaml_files import load_yaml
from piiloom.surrogates.persona import Persona

SUBTYPES: Final[dict[str, str | None]] = {
    "full": "full_name",
    "formal": "full_name",
    "family_given": "full_name",
    "given": "first_name",
    "nick": "first_name",
    "family": "last_name",
    "initials": None,
    "possessive": "full_name",
}


class _NicknamesFile(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    nicknames: dict[str, str]


@cache
def _nicknames() -> dict[str, str]:
    return load_yaml(files("piiloom.surrogates") / "data" / "nicknames.yaml", _NicknamesFile).nicknames


_EAST_ASIAN: Final = "\u3040"  # kana, Chinese characters and Hangul lie from here on


def initials(given: str) -> str:
    """The initials of a given name: "J.B." for "Jan Bart", "J.-P." for "Jean-Pierre"; a name in a script without capitals stays whole."""
    parts = given.split()
    return "".join("-".join(f"{piece[0].upper()}." for piece in part.split("-") if piece) for part in parts)


def alone(family: str) -> str:
    """A family name that stands alone: "van den Berg" becomes "Van den Berg"."""
    return family[0].upper() + family[1:]


def written(persona: Persona, form: str) -> str:
    """The name of *persona* in a form of ``SUBTYPES``; "full" for any other."""
    return _FORMS.get(form, _full)(persona)


def _full(persona: Persona) -> str:
    # Chinese, Japanese and Korean names in their own script: the family name first, and no blank.
    if persona.given[0] >= _EAST_ASIAN:
        return f"{persona.family}{persona.given}"
    return f"{persona.given} {persona.family}"


def _both_initials(persona: Persona) -> str:
    last = persona.family.split()[-1:]
    return initials(persona.given) + "".join(f"{word[0].upper()}." for word in last)


_FORMS: Final[dict[str, Callable[[Persona], str]]] = {
    "full": _full,
    "given": lambda persona: persona.given,
    "family": lambda persona: alone(persona.family),
    "formal": lambda persona: f"{initials(persona.given)} {persona.family}",
    "initials": _both_initials,
    "nick": lambda persona: _nicknames().get(persona.given, persona.given),
    "family_given": lambda persona: f"{alone(persona.family)}, {persona.given}",
    "possessive": lambda persona: f"{_full(persona)}'s",
}
