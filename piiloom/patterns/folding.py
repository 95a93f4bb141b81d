"""The copy of a text that patterns are matched on: other digits, blanks, hyphens and quotes become ASCII, one code point for one."""

from __future__ import annotations

import unicodedata
from functools import cache
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

_BEYOND_ASCII: Final = 0x80
_PLANES: Final = 0x20000  # no digit, blank or hyphen lies beyond the second plane
# Chinese signs that adjoin numbers without a blank ("电话2：138…，30岁"), which ASCII signs would seem to continue: left as they are.
_CLAUSES: Final = "，：；"
# Letters that change into ASCII ones with their case, and signs without a category of their own.
_SIGNS: Final = {
    **dict.fromkeys("‘’‚‛′´`", "'"),
    **dict.fromkeys("“”„‟″«»", '"'),
    **dict.fromkeys("−﹣⁃", "-"),
    "．": ".",
    "،": ",",
    "٫": ".",
    "٬": ",",
    "﹕": ":",
    "〔": "[",
    "〕": "]",
    "【": "[",
    "】": "]",
    "\u3000": " ",
    "\u212a": "K",
    "\u017f": "s",
    "İ": "I",
    "ı": "i",
}


class FoldedText(NamedTuple):
    """``text`` has the length of the original; ``data`` has one byte a code point: ASCII as it is, all else from 0x80 on.

    Code points that differ only by case have the same byte, and many others share it.
    """

    text: str
    data: bytes


def fold(text: str) -> FoldedText:
    """Fold *text*: digits of all scripts, full-width forms, blanks, hyphens and quotes to ASCII; no Chinese commas. Lengths stay."""
    if text.isascii():
        return FoldedText(text, text.encode("ascii"))
    points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")
    plain, bytes_of = _tables()
    folded = np.where(points < _PLANES, plain[np.minimum(points, _PLANES - 1)], points)
    data = np.where(folded < _PLANES, bytes_of[np.minimum(folded, _PLANES - 1)], _byte(folded)).astype(np.uint8).tobytes()
    return FoldedText(folded.astype("<u4").tobytes().decode("utf-32-le", "surrogatepass"), data)


def _byte(points: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """The byte of code points beyond ASCII that have no case."""
    return (points & np.uint32(0x7F)) | np.uint32(_BEYOND_ASCII)


@cache
def _tables() -> tuple[NDArray[np.uint32], NDArray[np.uint8]]:
    """By code point: the one that it is folded to, and the byte of a folded one."""
    table = np.arange(_PLANES, dtype=np.uint32)
    bytes_of = np.where(table < _BEYOND_ASCII, table, _byte(table)).astype(np.uint8)
    for point in range(_BEYOND_ASCII, _PLANES):
        character = chr(point)
        if (lower := character.casefold()) != character:
            bytes_of[point] = ord(lower[-1]) & 0x7F | _BEYOND_ASCII
        match unicodedata.category(character):
            case "Nd":
                table[point] = ord("0") + unicodedata.decimal(character)
            case "Zs":
                table[point] = ord(" ")
            case "Pd":
                table[point] = ord("-")
    table[0xFF01:0xFF5F] = np.arange(0x21, 0x7F)
    for sign in _CLAUSES:
        table[ord(sign)] = ord(sign)
    for sign, plain in _SIGNS.items():
        table[ord(sign)] = ord(plain)
    return table, bytes_of
