"""Codes by shape: fill masks from a seed, and draw new codes in the shape of an existing one. ``numbering.masks`` says what a mask is."""

from __future__ import annotations

from functools import cache
from typing import Final

from piiloom.pii_values.numbering.masks import ALPHABETS
from piiloom.surrogates.documents import below, mix

_SALT: Final = 0xA5
_DIGITS: Final = "0123456789"
_UPPER: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_LOWER: Final = _UPPER.lower()
_AT_ONCE: Final = 9  # the most digits that one draw gives without a noticeable bias
_ROOM: Final = 1 << 20  # when less than this is left of the seed, mix a new one, so that the choices stay even


def _choices(seed: int, alphabets: tuple[str, ...]) -> tuple[str, ...]:
    """Choose one character from each alphabet."""
    rest = mix(seed, _SALT)
    out = []
    for alphabet in alphabets:
        if rest < _ROOM:
            seed = rest = mix(seed, _SALT + 1)
        rest, at = divmod(rest, len(alphabet))
        out.append(alphabet[at])
    return tuple(out)


@cache
def _compiled(mask: str) -> tuple[str, tuple[str, ...], int]:
    """Compile a mask into a %-template, the alphabets of its free places, and 0.

    Fast path: if the free places are a single run of at most ``_AT_ONCE`` digits, the template takes one number. Then the alphabets are
    empty, and the last item is the count of possible numbers.
    """
    places = [c for c in mask if c in ALPHABETS]
    together = "#" * len(places)
    if 0 < len(places) <= _AT_ONCE and together in mask:
        return mask.replace(together, f"%0{len(places)}d"), (), 10 ** len(places)
    return "".join("%s" if c in ALPHABETS else c for c in mask), tuple(ALPHABETS[c] for c in places), 0


def fill(mask: str, seed: int) -> str:
    """Return *mask* with its free places filled."""
    template, alphabets, numbers = _compiled(mask)
    return template % (below(mix(seed, _SALT), numbers) if numbers else _choices(seed, alphabets))


def digits(seed: int, count: int) -> str:
    """Draw *count* digits."""
    return "".join(_choices(seed, (_DIGITS,) * count))


def reshaped(original: str, seed: int) -> str:
    """Draw a code in the shape of *original*: digits become digits, letters become letters of the same case.

    All other characters are kept. If the first digit is not 0, the new one is not 0 either. The result differs from *original* if that
    has a digit or a letter.
    """
    alphabets = []
    first = True
    for c in original:
        if c.isdigit():
            alphabets.append(_DIGITS[1:] if first and c != "0" else _DIGITS)
            first = False
        elif c.isalpha():
            alphabets.append(_LOWER if c.islower() else _UPPER)
        else:
            alphabets.append(c)
    if not any(len(alphabet) > 1 for alphabet in alphabets):
        return original
    for turn in range(8):  # a single letter comes out the same once in 26 times
        new = "".join(_choices(mix(seed, turn), tuple(alphabets)))
        if new != original:
            return new
    at = next(i for i, alphabet in enumerate(alphabets) if len(alphabet) > 1)
    other = alphabets[at][(alphabets[at].find(new[at]) + 1) % len(alphabets[at])]
    return new[:at] + other + new[at + 1 :]
