"""The holder of a surrogate id, and seeded choices for the rules of ``pii_values.numbering``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from piiloom.pii_values.numbering.holders import Holder
from piiloom.surrogates.documents import below, mix, pick
from piiloom.surrogates.draws import Draw
from piiloom.surrogates.kinds.folding import folded
from piiloom.surrogates.kinds.kind import salt_of
from piiloom.surrogates.persona_assignment.persona import adult_birth_date

_HOLDER: Final = salt_of("holder")


class Seeded(NamedTuple):
    """Choices that depend only on a seed and the salt of each: all ids of a person are drawn from one seed."""

    seed: int

    def number(self, salt: int, low: int, high: int) -> int:
        """As in ``Choices``."""
        return low + below(mix(self.seed, salt), high - low + 1)

    def digits(self, salt: int, count: int) -> str:
        """As in ``Choices``; at most nine, so that the draw has no noticeable bias."""
        return f"{below(mix(self.seed, salt), 10**count):0{count}d}"

    def serial(self, salt: int, count: int) -> str:
        """As in ``Choices``."""
        return str(self.number(salt, 10 ** (count - 1), 10**count - 1))

    def one_of(self, salt: int, items: Sequence[str]) -> str:
        """As in ``Choices``."""
        return pick(mix(self.seed, salt), items)


def holder_seed(draw: Draw) -> int:
    """Return the seed of all ids of the holder: the owner's, else one derived from the draw's own."""
    return mix(draw.seed, _HOLDER) if draw.owner is None else draw.owner.seed


def holder_of(draw: Draw, salt: int = 0) -> Holder:
    """Return the holder for *draw*: its owner, or a made-up adult if it has none. *salt* sets the choices of one id apart."""
    owner = draw.owner
    seed = holder_seed(draw)
    choices = Seeded(mix(seed, salt))
    if owner is not None:
        return Holder(choices, owner.born, owner.gender == "female", _capitals(owner.given), _capitals(owner.family), draw.anchor)
    born = adult_birth_date(draw.anchor, seed)
    letters = "ABCDEFGHIKLMNOPRSTV"
    made_up = "".join(pick(mix(seed, at), letters if at % 2 else "AEIOU") for at in range(1, 9))
    return Holder(choices, born, bool(seed & 1), made_up[:4], made_up[3:], draw.anchor)


def _capitals(name: str) -> str:
    return folded(name).upper()
