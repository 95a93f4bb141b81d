"""The characters of XML text that are written as entities."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.entities import name2codepoint
from typing import Final

_OWN: Final = {"lt": "<", "gt": ">", "amp": "&", "quot": '"', "apos": "'"}
_ENTITY: Final = re.compile(r"&(?:#(?P<number>[0-9]{1,7})|#x(?P<hex>[0-9A-Fa-f]{1,6})|(?P<name>[A-Za-z][A-Za-z0-9]*));")
_ESCAPES: Final = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


def entity_pieces(raw: str, start: int, end: int) -> Iterator[tuple[str, int, int]]:
    """Yield the text of ``raw[start:end]`` in pieces: (text, start, end), each entity by itself. Unknown entities are literal text."""
    at = start
    for match in _ENTITY.finditer(raw, start, end):
        sign = _sign(match)
        if sign is None:
            continue
        if match.start() > at:
            yield raw[at : match.start()], at, match.start()
        yield sign, *match.span()
        at = match.end()
    if end > at:
        yield raw[at:end], at, end


def escaped(text: str) -> str:
    """Return *text* as it is written between tags."""
    return text.translate(_ESCAPES)


def _sign(match: re.Match[str]) -> str | None:
    if name := match["name"]:
        return _OWN.get(name) or (chr(name2codepoint[name]) if name in name2codepoint else None)
    number = int(match["number"]) if match["number"] else int(match["hex"], 16)
    return chr(number) if number < 0x110000 and not 0xD800 <= number < 0xE000 and number else None
