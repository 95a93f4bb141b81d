"""What is known of a kind of value, and the seeds that its drawings start from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal, NamedTuple
from zlib import crc32

from piiloom.surrogates.draws import Draw
from piiloom.surrogates.seeds import mix, seed_of

Owner = Literal["person", "document", "none"]
Drawing = Callable[[Draw], str]

_SHOUTED: Final = 2  # letters from which on capitals throughout are a way of writing, not an initial


class Kind(NamedTuple):
    """``entity_type`` and ``subtype`` are the taxonomy's (None: none fits); ``owner``: whose facts the value must agree with."""

    name: str
    entity_type: str
    subtype: str | None
    owner: Owner
    draw: Drawing


def salt_of(name: str) -> int:
    """The number that sets the draws called *name* apart from all others of one seed."""
    return crc32(name.encode())


def owned_seed(draw: Draw, salt: int) -> int:
    """The seed of a value that is one for its owner; without an owner, of the mention's own value."""
    owner = draw.owner
    return mix(draw.seed if owner is None else owner.seed, salt)


def numbered_seed(draw: Draw, salt: int) -> int:
    """As ``owned_seed``, for what a person may have several of: ``draw.index`` tells them apart."""
    seed = owned_seed(draw, salt)
    return mix(seed, seed_of(draw.index)) if draw.index else seed


def style_seed(draw: Draw, salt: int) -> int:
    """A seed that all values of one document share, so that it is written in one style; ``shift`` is the document's."""
    return mix(draw.shift, salt)


def home_of(draw: Draw) -> str:
    """The country whose numbers and addresses the value has: its owner's, else the text's."""
    return draw.country if draw.owner is None else draw.owner.country


def cased_like(original: str, value: str) -> str:
    """*value* in capitals where *original* is."""
    if original and original.isupper() and sum(map(str.isalpha, original)) >= _SHOUTED:
        return value.upper()
    return value
