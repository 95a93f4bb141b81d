"""A kind of values, what a value is drawn from (``Draw``), and the seeds and helpers that the drawing functions share."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import Final, Literal, NamedTuple

from piiloom.foundation.seeding import mix, seed_of
from piiloom.surrogates.persona_assignment.persona import FictitiousPerson


class Draw(NamedTuple):
    """Everything a value may depend on. Equal draws give equal values in every process.

    ``country`` (ISO 3166 alpha-2) and ``language`` (ISO 639-1) are those of the text. ``owner`` is the person whom the value belongs
    to. ``shift`` is the number of days by which known dates move. Dates that the text does not tell are drawn relative to ``anchor``.
    ``day`` is the day of a date whose order among the others the text states.
    ``original`` is the replaced value where it is known, ``form`` the variant of the kind, ``index`` the placeholder's number.
    ``style`` is the seed of the document's ways of writing.
    """

    seed: int
    country: str
    language: str
    anchor: date
    shift: int
    owner: FictitiousPerson | None = None
    original: str = ""
    form: str = ""
    index: str = ""  # type: ignore[assignment]  # hides tuple.index, which is not used
    day: date | None = None
    style: int = 0


Owner = Literal["person", "document", "none"]
Drawing = Callable[[Draw], str]

# What the form of a place begins with, if the text names its region, or its country.
WITHIN: Final = "in:"
ELSEWHERE: Final = "of:"
_SHOUTED: Final = 2  # with at least this many letters, all capitals are a style and not just an initial


class SurrogateKind(NamedTuple):
    """A kind of value and the function that draws it.

    ``entity_type`` and ``subtype`` are those of the taxonomy (subtype None: none fits). ``owner`` says whose facts the value must agree
    with: a person's, the document's or nobody's.
    """

    name: str
    entity_type: str
    subtype: str | None
    owner: Owner
    draw: Drawing


def owned_seed(draw: Draw, salt: int) -> int:
    """Return the seed of a value that an owner has only once; without an owner, derive it from the draw's own seed."""
    owner = draw.owner
    return mix(draw.seed if owner is None else owner.seed, salt)


def numbered_seed(draw: Draw, salt: int) -> int:
    """As ``owned_seed``, for values of which a person may have several: ``draw.index`` distinguishes them."""
    seed = owned_seed(draw, salt)
    return mix(seed, seed_of(draw.index)) if draw.index else seed


def style_seed(draw: Draw, salt: int) -> int:
    """Return a seed for the style of writing, which all values of one document share.

    It must not depend on ``draw.shift``: a reader sees the style, and should learn nothing of the shift.
    """
    return mix(draw.style, salt)


def home_of(draw: Draw) -> str:
    """Return the country (ISO 3166 alpha-2) for the value's numbers and addresses: the one told beside it, the owner's, else the text's."""
    if draw.form.startswith(ELSEWHERE):
        return draw.form.removeprefix(ELSEWHERE)
    return draw.country if draw.owner is None else draw.owner.country


def cased_like(original: str, value: str) -> str:
    """Return *value*, in capitals if *original* is (with at least two letters)."""
    if original and original.isupper() and sum(map(str.isalpha, original)) >= _SHOUTED:
        return value.upper()
    return value
