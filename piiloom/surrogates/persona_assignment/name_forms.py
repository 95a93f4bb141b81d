"""The ways of writing a person's name: full, given, family, formal, initials, nickname, "family, given"."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib.resources import files
from typing import Final

from piiloom.foundation.yaml_files import FileModel, load_yaml
from piiloom.surrogates.fitting import capitalised
from piiloom.surrogates.persona_assignment.persona import Persona

SUBTYPES: Final[dict[str, str | None]] = {
    "full": "full_name",
    "formal": "full_name",
    "family_given": "full_name",
    "given": "first_name",
    "nick": "first_name",
    "family": "last_name",
    "initials": None,
    "given_initials": None,
    "middle": "first_name",
    "middle_initial": None,
    "second": "last_name",
    "birth": "last_name",
    "possessive": "full_name",
}


class _NicknamesFile(FileModel):
    nicknames: dict[str, str]


@cache
def _nicknames() -> dict[str, str]:
    return load_yaml(files("piiloom.surrogates") / "data" / "nicknames.yaml", _NicknamesFile).nicknames


_EAST_ASIAN: Final = "\u3040"  # kana, Chinese characters and Hangul lie from here on


def initials(given: str) -> str:
    """Return the initials of a given name: "J.B." for "Jan Bart", "J.-P." for "Jean-Pierre".

    In a script without capitals this is the first character of each part, with a full stop.
    """
    parts = given.split()
    return "".join("-".join(f"{piece[0].upper()}." for piece in part.split("-") if piece) for part in parts)


def written(persona: Persona, form: str) -> str:
    """Return the name of *persona* in *form*, a key of ``SUBTYPES``; any other form gives the full name."""
    return _FORMS.get(form, _full)(persona)


def _full(persona: Persona) -> str:
    # Chinese, Japanese and Korean names in their own script: family name first, without a space.
    if persona.given[0] >= _EAST_ASIAN:
        return f"{persona.family}{persona.given}"
    return f"{persona.given} {persona.family}"


def _both_initials(persona: Persona) -> str:
    last = persona.family.split()[-1:]
    return initials(persona.given) + "".join(f"{word[0].upper()}." for word in last)


_FORMS: Final[dict[str, Callable[[Persona], str]]] = {
    "full": _full,
    "given": lambda persona: persona.given,
    # Without the given name before it, "van den Berg" is "Van den Berg".
    "family": lambda persona: capitalised(persona.family),
    "formal": lambda persona: f"{initials(persona.given)} {persona.family}",
    "initials": _both_initials,
    "given_initials": lambda persona: initials(persona.given),
    "nick": lambda persona: _nicknames().get(persona.given, persona.given),
    "family_given": lambda persona: f"{capitalised(persona.family)}, {persona.given}",
    "possessive": lambda persona: f"{_full(persona)}'s",
}
