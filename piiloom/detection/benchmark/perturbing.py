"""Spoil documents as everyday life does: spacing, case, transliteration, errors of character recognition, other digits.

Each perturbation rewrites a text code point by code point, so the places of values move along exactly; values change like all else and
keep their labels. A value of which nothing is left keeps no place; those are counted.
"""

from __future__ import annotations

import random
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import accumulate
from types import MappingProxyType
from typing import Final

from anyascii import anyascii

from piiloom.detection.benchmark.composing import ValuePlace
from piiloom.foundation.errors import UsageError
from piiloom.foundation.words import trimmed

# What stands in place of each code point of a text.
Rewritten = list[str]
Perturbation = Callable[[str, str, random.Random], Rewritten]

_OCR_RATE: Final = 0.02  # of code points, about that of a middling scan
_SPACING_RATE: Final = 0.08  # of blanks and of joints between groups of digits
_CONFUSED: Final = MappingProxyType(
    {
        "0": "O",
        "O": "0",
        "1": "l",
        "l": "1",
        "I": "l",
        "5": "S",
        "S": "5",
        "8": "B",
        "B": "8",
        "2": "Z",
        "6": "b",
        "9": "g",
        "m": "rn",
        "e": "c",
        "c": "e",
        "h": "b",
        "u": "v",
        "n": "u",
        "a": "o",
        "t": "f",
        "i": "j",
        ",": ".",
        ".": ",",
        ":": ";",
        "日": "目",
        "未": "末",
        "己": "已",
        "人": "入",
        "大": "太",
        "०": "o",
        "٠": ".",
        "٥": "o",
    }
)
_DIGITS: Final[Mapping[str, str]] = MappingProxyType({"ar": "٠١٢٣٤٥٦٧٨٩", "hi": "०१२३४५६७८९"})
_FULL_WIDTH: Final = "０１２３４５６７８９"


def spacing(text: str, locale: str, rng: random.Random) -> Rewritten:  # noqa: ARG001 - all perturbations are called alike
    """Double blanks, no-break blanks, blanks lost after a comma, and numbers grouped in other ways."""
    out: Rewritten = []
    for at, character in enumerate(text):
        before = text[at - 1] if at else ""
        if character == " " and rng.random() < _SPACING_RATE:
            out.append("" if before in ",;:" else rng.choice(("  ", "\u00a0", "\u2009")))
        elif character in "-./" and before.isdigit() and text[at + 1 : at + 2].isdigit() and rng.random() < _SPACING_RATE:
            out.append(rng.choice(("", " ", f" {character} ")))
        else:
            out.append(character)
    return out


def case(text: str, locale: str, rng: random.Random) -> Rewritten:  # noqa: ARG001
    """The whole text in capitals or in small letters."""
    change = str.upper if rng.random() < 0.4 else str.lower
    return [change(character) for character in text]


def transliteration(text: str, locale: str, rng: random.Random) -> Rewritten:  # noqa: ARG001
    """ASCII letters for all others: without the marks of Latin letters, romanised from other scripts."""
    return [character if character.isascii() else anyascii(character) for character in text]


def ocr(text: str, locale: str, rng: random.Random) -> Rewritten:  # noqa: ARG001
    """Characters taken for others that look like them, marks lost, blanks lost or put in."""
    return [character if rng.random() >= _OCR_RATE else _misread(character, rng) for character in text]


def _misread(character: str, rng: random.Random) -> str:
    if character == " ":
        return rng.choice(("", "  "))
    if character in _CONFUSED:
        return _CONFUSED[character]
    bare = unicodedata.normalize("NFD", character)[0]
    if bare != character:
        return bare
    return f"{character} " if character.isalpha() else character


def other_digits(text: str, locale: str, rng: random.Random) -> Rewritten:  # noqa: ARG001
    """The digits of the locale's own script; full-width ones where it has none."""
    digits = _DIGITS.get(locale[:2], _FULL_WIDTH)
    return [digits[int(character)] if character.isascii() and character.isdigit() else character for character in text]


PERTURBATIONS: Final[Mapping[str, Perturbation]] = MappingProxyType(
    {"spacing": spacing, "case": case, "transliteration": transliteration, "ocr": ocr, "digits": other_digits}
)


def perturb(
    name: str, text: str, places: Sequence[Sequence[ValuePlace]], locale: str, rng: random.Random
) -> tuple[str, tuple[tuple[ValuePlace, ...], ...]]:
    """Return *text* after the perturbation *name*, and each list of *places* moved along. Raises ``UsageError`` for an unknown name."""
    if name not in PERTURBATIONS:
        raise UsageError(f"there is no perturbation {name!r}", remedy=f"Known: {', '.join(PERTURBATIONS)}")
    rewritten = PERTURBATIONS[name](text, locale, rng)
    starts = [0, *accumulate(map(len, rewritten))]
    changed = "".join(rewritten)
    return changed, tuple(tuple(_moved(changed, starts, listed)) for listed in places)


def _moved(changed: str, starts: Sequence[int], places: Iterable[ValuePlace]) -> Iterable[ValuePlace]:
    """Move *places*; blanks that a perturbation put at the ends of a value are not part of it."""
    for place in places:
        start, end = trimmed(changed, starts[place.start], starts[place.end])
        if start < end:
            yield ValuePlace(start, end, place.what)
