"""Bank patterns parsed into trees: nested ``<a|b>`` alternatives and slots. ``grammar`` explains the notation."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from math import prod
from typing import Literal, cast

from piiloom.foundation.errors import ConfigError

MAX_DEPTH = 12

_TOKEN = re.compile(r"[<|>]|\{[^{}]*\}|[^<|>{}]+|[{}]")
_SLOT = re.compile(r"\{(?:(a|A|\^):)?([a-z][a-z0-9_]*(?:\.[a-z][a-z0-9_]*)?)\}")


@dataclass(frozen=True, slots=True)
class Text:
    """Fixed text."""

    text: str


@dataclass(frozen=True, slots=True)
class Slot:
    """A place for a value. ``article`` is "a" or "A" if its article goes before it, "^" if it begins a sentence."""

    name: str
    article: Literal["a", "A", "^"] | None = None

    def __str__(self) -> str:
        return f"{{{self.article}:{self.name}}}" if self.article else f"{{{self.name}}}"


@dataclass(frozen=True, slots=True)
class Choice:
    """Alternatives. ``ends[i]`` is the number of expansions that the first ``i + 1`` options have together."""

    options: tuple[Sequence, ...]
    ends: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Sequence:
    """Parts in order. ``total`` is the number of expansions; ``gaps`` says whether some alternative in it is empty."""

    parts: tuple[Part, ...]
    total: int
    gaps: bool


Part = Text | Slot | Choice


@lru_cache(maxsize=65_536)
def parse(pattern: str) -> Sequence:
    """Parse *pattern* into a tree.

    Raises ``ConfigError`` if it is empty, a bracket is unmatched, ``|`` is outside ``<…>``, a slot is malformed, all alternatives of a
    choice are empty, alternatives nest deeper than ``MAX_DEPTH``, or it holds a mention mark (``[[`` or ``]]``).
    """
    if not pattern.strip():
        raise ConfigError("the pattern is empty")
    if "[[" in pattern or "]]" in pattern:
        raise ConfigError("the pattern holds a mention mark ([[ or ]])")
    # A stack with a list of options for each open "<". An option is the list of its parts. The outermost list has one option only.
    levels: list[list[list[Part]]] = [[[]]]
    for match in _TOKEN.finditer(pattern):
        token = match.group()
        if token == "<":  # noqa: S105 - a bracket, no password
            levels.append([[]])
        elif token in {"|", ">"} and len(levels) == 1:
            raise ConfigError(f"{token!r} at character {match.start() + 1} is outside <…>")
        elif token == "|":  # noqa: S105 - as above
            levels[-1].append([])
        elif token == ">":  # noqa: S105 - as above
            choice = _choice(levels.pop(), match.start())
            levels[-1][-1].append(choice)
        else:
            levels[-1][-1].append(_leaf(token, match.start()))
        if len(levels) > MAX_DEPTH:
            raise ConfigError(f"alternatives nest deeper than {MAX_DEPTH}")
    if len(levels) > 1:
        raise ConfigError("a '<' is never closed")
    return _sequence(levels[0][0])


def _leaf(token: str, position: int) -> Text | Slot:
    if token[0] not in "{}":
        return Text(token)
    found = _SLOT.fullmatch(token)
    if found is None:
        raise ConfigError(f"the slot at character {position + 1} is not {{name}}, {{a:name}} or {{A:name}}")
    return Slot(found[2], cast("Literal['a', 'A', '^'] | None", found[1]))


def _choice(options: list[list[Part]], position: int) -> Choice:
    if not any(options):
        raise ConfigError(f"the choice that ends at character {position + 1} is empty")
    sequences = tuple(_sequence(parts) for parts in options)
    return Choice(sequences, tuple(accumulate(sequence.total for sequence in sequences)))


def _sequence(parts: list[Part]) -> Sequence:
    choices = [part for part in parts if isinstance(part, Choice)]
    if not choices:
        return Sequence(tuple(parts), 1, False)
    gaps = any(_is_blank(option) or option.gaps for choice in choices for option in choice.options)
    return Sequence(tuple(parts), prod(choice.ends[-1] for choice in choices), gaps)


def _is_blank(option: Sequence) -> bool:
    return all(isinstance(part, Text) and part.text.isspace() for part in option.parts)
