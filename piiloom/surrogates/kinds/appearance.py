"""A person's appearance: hair, eyes, build, marks and the like, and body measures (height, weight, blood type)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from piiloom.surrogates.documents import mix
from piiloom.surrogates.draws import Draw
from piiloom.surrogates.kinds.kind import Drawing, cased_like, owned_seed, salt_of
from piiloom.surrogates.kinds.places import languages, phrase, spoken
from piiloom.surrogates.kinds.wording import other_score

hair = spoken("hair", owned=True)
eyes = spoken("eyes", owned=True)
build = spoken("build", owned=True)

_BLOOD: Final = salt_of("blood_type")
_TURNS: Final = 32  # maximum draws to get a value that differs from the original
_BRITAIN: Final = frozenset({"GB", "IE"})
_DIGITS: Final = "0123456789"
_BARE: Final = re.compile(r"[0-9]+(?:[.,][0-9]+)?")
_ONE_NUMBER: Final = re.compile(rf"({_BARE.pattern})[^0-9]*")
_GROUP: Final = re.compile(r"(?<![^\W\d_])(AB|[ABO0])(?![^\W\d_])", re.IGNORECASE)


def _grammar(kind: str, draw: Draw) -> str:
    """Return the grammar for a measured *kind*: stones for weights in Britain and Ireland, metric for languages without a word file."""
    if draw.language not in languages():
        return f"metric_{kind}"
    return f"british_{kind}" if (kind, draw.language) == ("weight", "en") and draw.country in _BRITAIN else kind


def _measured(kind: str) -> Drawing:
    """Return the drawing function for a measure with its unit.

    If the original is a bare number, so is the value, with as many digits and decimals.
    """
    salt = salt_of(kind)

    def drawn(draw: Draw) -> str:
        original = draw.original.strip()
        others = (value for value in _phrases(_grammar(kind, draw), draw, salt) if _figures(value) != _figures(original))
        if not _BARE.fullmatch(original):
            return cased_like(original, next(others))
        numbers = (found[1] for value in others if (found := _ONE_NUMBER.fullmatch(value)))
        alike = next((number for number in numbers if _shape(number) == _shape(original)), "")
        return re.sub("[.,]", "." if "." in original else ",", alike) or other_score(original, owned_seed(draw, salt))

    drawn.__doc__ = f"A value of kind {kind!r}."
    return drawn


def _phrases(kind: str, draw: Draw, salt: int) -> Iterator[str]:
    """Yield up to ``_TURNS`` values of *kind* for the owner."""
    seed = owned_seed(draw, salt)
    female = draw.owner is not None and draw.owner.gender == "female"
    for turn in range(_TURNS):
        yield phrase(kind, draw, mix(seed, turn) if turn else seed, female=female)


def _shape(number: str) -> str:
    return "".join("0" if c in _DIGITS else "." for c in number)


def _figures(text: str) -> str:
    """Return only the digits of *text*, to compare measures in different formats: "178 cm" and "1,78 m" both give 178."""
    return "".join(c for c in text if c in _DIGITS)


def _blood(text: str) -> tuple[str, bool]:
    """Parse a blood type in any spelling: the group ("" if there is none; O as 0) and whether it is rhesus positive."""
    group = _GROUP.search(text)
    return ("" if group is None else group[1].upper().replace("O", "0")), "+" in text or "pos" in text.casefold()


def blood_type(draw: Draw) -> str:
    """Draw a blood type other than the original."""
    known = _blood(draw.original)
    value = next(value for value in _phrases("blood_type", draw, _BLOOD) if _blood(value) != known)
    words = _GROUP.sub("", draw.original)  # the letters of a group are capitals anyway
    return value.upper() if words.isupper() else value


def _one_of_several(kind: str) -> Drawing:
    """Return the drawing function for a kind of which a person may have several: different originals give different values."""
    plain = spoken(kind, numbered=True)

    def drawn(draw: Draw) -> str:
        return plain(draw._replace(index=draw.index or draw.original.casefold()))

    drawn.__doc__ = f"A value of kind {kind!r}."
    return drawn


body_mark = _one_of_several("body_mark")
feature = _one_of_several("feature")
look = _one_of_several("look")
appearance = _one_of_several("appearance")
height = _measured("height")
weight = _measured("weight")
