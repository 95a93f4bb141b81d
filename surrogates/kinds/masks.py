"""Codes by their shape: masks with free places, and new codes in the shape of an old one.

In a mask "#" is a digit, "%" a digit from one on, "@" a capital letter, "&" a small one, "?" a capital letter or digit;
all else stands for itself.
"""

from __future__ import annotations

from functools import cache
from typing import Final

from piiloom.surrogates.seeds import below, mix

_LETTERS: Final = "ABCDEFGHJKLMNPRSTUVWXYZ"  # I, O and Q are left out: most issuers do
_ALPHABETS: Final = {
    "#": "0123456789",
    "%": "123456789",
    "@": _LETTERS,
    "&": _LETTERS.lower(),
    "?": "0123456789" + _LETTERS,
}
_SALT: Final = 0xA5
_DIGITS: Final = "0123456789"
_UPPER: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_LOWER: Final = _UPPER.lower()
_AT_ONCE: Final = 9  # digits that one draw gives without a bias that could be seen
_ROOM: Final = 1 << 20  # what is left of the seed below this is too little for even choices


def _choices(seed: int, alphabets: tuple[str, ...]) -> tuple[str, ...]:
    """One character of each alphabet."""
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
    """The mask as a template, the alphabets of its places, and how many numbers its digits make, if they are few and stand together."""
    places = [c for c in mask if c in _ALPHABETS]
    together = "#" * len(places)
    if 0 < len(places) <= _AT_ONCE and together in mask:
        return mask.replace(together, f"%0{len(places)}d"), (), 10 ** len(places)
    return "".join("%s" if c in _ALPHABETS else c for c in mask), tuple(_ALPHABETS[c] for c in places), 0


def fill(mask: str, seed: int) -> str:
    """*mask* with its free places filled."""
    template, alphabets, numbers = _compiled(mask)
    return template % (below(mix(seed, _SALT), numbers) if numbers else _choices(seed, alphabets))


def digits(seed: int, count: int) -> str:
    """*count* digits."""
    return "".join(_choices(seed, (_DIGITS,) * count))


def reshaped(original: str, seed: int) -> str:
    """A code in the shape of *original*: digits become digits (a leading one stays above zero), letters letters of their case.

    Separators and signs stay. It never equals *original* where that holds a digit or a letter.
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
