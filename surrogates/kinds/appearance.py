"""What can be seen of a person: hair, eyes, build, marks and the like, and measures of the body with their units."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from piiloom.surrogates.draws import Draw
from piiloom.surrogates.kinds.kind import Drawing, cased_like, owned_seed, salt_of
from piiloom.surrogates.kinds.phrases import languages, phrase, spoken
from piiloom.surrogates.kinds.wording import other_score
from piiloom.surrogates.seeds import mix

hair = spoken("hair", owned=True)
eyes = spoken("eyes", owned=True)
build = spoken("build", owned=True)

_BLOOD: Final = salt_of("blood_type")
_TURNS: Final = 32  # drawings until one says something else than the original
_BRITAIN: Final = frozenset({"GB", "IE"})
_DIGITS: Final = "0123456789"
_BARE: Final = re.compile(r"[0-9]+(?:[.,][0-9]+)?")
_ONE_NUMBER: Final = re.compile(rf"({_BARE.pattern})[^0-9]*")
_GROUP: Final = re.compile(r"(?<![^\W\d_])(AB|[ABO0])(?![^\W\d_])", re.IGNORECASE)


def _grammar(kind: str, draw: Draw) -> str:
    """The forms of a measured *kind*: in Britain stones, in languages without words of their own the metric ones."""
    if draw.language not in languages():
        return f"metric_{kind}"
    return f"british_{kind}" if (kind, draw.language) == ("weight", "en") and draw.country in _BRITAIN else kind


def _measured(kind: str) -> Drawing:
    """The drawing of a number with its unit; a bare number for a bare number, in the same figures."""
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
    """Values of *kind* for the owner, one after the other."""
    seed = owned_seed(draw, salt)
    female = draw.owner is not None and draw.owner.gender == "female"
    for turn in range(_TURNS):
        yield phrase(kind, draw, mix(seed, turn) if turn else seed, female=female)


def _shape(number: str) -> str:
    return "".join("0" if c in _DIGITS else "." for c in number)


def _figures(text: str) -> str:
    """What two ways of writing one measure have in common: "178 cm" and "1,78 m" are both 178."""
    return "".join(c for c in text if c in _DIGITS)


def _blood(text: str) -> tuple[str, bool]:
    """Group and rhesus factor, however they are written."""
    group = _GROUP.search(text)
    return ("" if group is None else group[1].upper().replace("O", "0")), "+" in text or "pos" in text.casefold()


def blood_type(draw: Draw) -> str:
    """A blood group other than the one that stood there, in any spelling of it."""
    known = _blood(draw.original)
    value = next(value for value in _phrases("blood_type", draw, _BLOOD) if _blood(value) != known)
    return cased_like(draw.original, value)


def _one_of_several(kind: str) -> Drawing:
    """The drawing of what a person may have several of: another mark stood there, another one is drawn."""
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
