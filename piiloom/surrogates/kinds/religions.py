"""Religions, as a noun, an adjective or somebody who belongs to one, from ``data/religions.yaml``."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Final

from piiloom.foundation.yaml_files import load_yaml
from piiloom.surrogates.documents import mix
from piiloom.surrogates.draws import Draw
from piiloom.surrogates.kinds.files import ReligionEntry, ReligionsFile
from piiloom.surrogates.kinds.kind import cased_like, salt_of
from piiloom.surrogates.kinds.places import FALLBACK, gendered

_SALT: Final = salt_of("religion")
_FORMS: Final = ("noun", "adjective", "attributive", "feminine", "member")
_CHURCH: Final = "church"


@cache
def _religions(language: str) -> tuple[ReligionEntry, ...]:
    known = load_yaml(files("piiloom.surrogates") / "data" / "religions.yaml", ReligionsFile).religions
    return tuple(known.get(language) or known[FALLBACK])


def religion(draw: Draw) -> str:
    """Draw a religion in the form that its place or its original asks for; without either, its name.

    Forms are noun, adjective, attributive, feminine, member, and "church", an adjective of one that has churches.
    """
    known = _religions(draw.language)
    female = draw.owner is not None and draw.owner.gender == "female"
    original = draw.original.casefold()
    form = draw.form or _form_of(original, known)
    at = mix(draw.seed, _SALT) % len(known)
    if form == _CHURCH and not known[at].church:
        at %= sum(entry.church for entry in known)  # those with churches come first
    value = _written(known[at], form, female=female)
    if original and value.casefold() == original:
        value = _written(known[at - 1], form, female=female)
    return cased_like(draw.original, value)


def _form_of(original: str, known: tuple[ReligionEntry, ...]) -> str:
    """Return the form that *original* (casefolded) has, if it is one of the *known*; else "noun"."""
    for entry in known:
        for form in _FORMS:
            written = getattr(entry, form)
            if written and original in {_written(entry, form, female=female).casefold() for female in (False, True)}:
                return form
    return "noun"


def _written(entry: ReligionEntry, form: str, *, female: bool) -> str:
    match form:
        case "noun":
            return entry.noun
        case "member":
            return gendered(entry.member, female=female)
        case "attributive" | "church":
            return entry.attributive or gendered(entry.adjective, female=female)
        case "feminine":
            return entry.feminine or gendered(entry.adjective, female=True)
        case _:
            return gendered(entry.adjective, female=female)
