"""Our own sentences without placeholders, by language (``unredacted.yaml``): nothing in them is to be replaced."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import cycle
from pathlib import Path
from typing import Any, Final

import yaml

_FILE: Final = Path(__file__).parent / "unredacted.yaml"
_INITIALS: Final = "ABCDEFGHJKLMNOPRSTWYZ"
_ROUNDS: Final = 12  # fillings of each frame


@cache
def _data() -> dict[str, Any]:
    return yaml.safe_load(_FILE.read_text("utf-8"))  # type: ignore[no-any-return]


def languages() -> tuple[str, ...]:
    """Return the languages of the sentences (ISO 639-1)."""
    return tuple(_data()["languages"])


@cache
def sentences(language: str) -> tuple[str, ...]:
    """Return the sentences of *language*, each once."""
    return tuple(dict.fromkeys(_sentences(language)))


def _sentences(language: str) -> Iterator[str]:
    words = _data()["languages"][language]
    fillers = {name: cycle(words[name]) for name in ("title", "given", "family", "particle", "cut", "said")}
    first, second = cycle(_INITIALS), cycle(_INITIALS[7:] + _INITIALS[:6])
    roles = cycle(words["role"])
    for frame in _data()["frames"]:
        for _ in range(_ROUNDS):
            filled = {name: next(filler) for name, filler in fillers.items()}
            role, family = next(roles), filled["family"]
            sentence = frame.format(role=role, ROLE=role.upper(), FAMILY=family.upper(), I=next(first), J=next(second), **filled)
            yield sentence.replace("’ ", "’")
    yield from words["plain"]


def ordinary() -> tuple[str, ...]:
    """Return texts with signs that placeholders have as well: code, addresses, citations, chats."""
    return tuple(_data()["ordinary"])
