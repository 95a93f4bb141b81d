"""The ``Kind`` record, and the seeds and helpers shared by the drawing functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal, NamedTuple
from zlib import crc32

from piiloom.surrogates.documents import mix, seed_of
from piiloom.surrogates.draws import Draw

Owner = Literal["person", "document", "none"]
Drawing = Callable[[Draw], str]

# What the form of a place begins with, if the text names its region, or its country.
WITHIN: Final = "in:"
ELSEWHERE: Final = "of:"
_SHOUTED: Final = 2  # with at least this many letters, all capitals are a style and not just an initial


class Kind(NamedTuple):
    """A kind of value and the function that draws it.

    ``entity_type`` and ``subtype`` are those of the taxonomy (subtype None: none fits). ``owner`` says whose facts the value must agree
    with: a person's, the document's or nobody's.
    """

    name: str
    entity_type: str
    subtype: str | None
    owner: Owner
    draw: Drawing


def salt_of(name: str) -> int:
    """Return the salt for *name*, which makes its draws independent of all others from the same seed."""
    return crc32(name.encode())


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
