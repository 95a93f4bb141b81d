"""Grammar of the sentences of a bank: its notation, and the trees that it is parsed into.

- ``<early|late|>`` becomes one of its alternatives. Alternatives nest, and one may be empty. - ``<{mail}>`` without ``|`` stands as it is.
- ``{health}`` is where a value goes. ``{a:health}`` and ``{A:health}`` put "a" or "an" before it. In stories only, ``{^:health}`` begins
a sentence with it. - ``> `` at the beginning of a line is a line of a quoted mail.

The expansions of a pattern are numbered from 0 in reading order. A random expansion is drawn by its number, so all are equally likely,
however the alternatives nest. In a pattern with an empty alternative, double blanks and blanks before punctuation are removed.
"""

from __future__ import annotations

import random
import re
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from math import prod
from types import MappingProxyType
from typing import Literal, cast

from piiloom.foundation.errors import ConfigError
from piiloom.foundation.words import Range, count_words

MAX_DEPTH = 12

_TOKEN = re.compile(r"(?<![^\n])> |[<|>]|\{[^{}]*\}|[^<|>{}]+|[{}]")
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
            options = levels.pop()
            bracketed = len(options) == 1 and any(options)
            levels[-1][-1] += (Text("<"), *options[0], Text(">")) if bracketed else (_choice(options, match.start()),)
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


_BLANKS = re.compile(r"[^\S\n]{2,}")
_BLANK_BEFORE_STOP = re.compile(r"[^\S\n]+(?=[,.;?!](?!\w))")

# States of the word counter after a text: outside a word, inside one, or after an apostrophe inside one.
_OUTSIDE, _INSIDE, _APOSTROPHE = 0, 1, 2
_READ_BEFORE = ("", "x", "x'")  # for each state, a text that leads to it
_ENDS_INSIDE = re.compile(r"\w\Z")
_ENDS_APOSTROPHE = re.compile(r"\w['’]\Z")


def combinations(pattern: str) -> int:
    """Return the number of expansions of *pattern*. Equal expansions from different choices each count."""
    return parse(pattern).total


def expand(pattern: str, rng: random.Random) -> str:
    """Return a random expansion; all are equally likely. Slots stay in place. Raises ``ConfigError`` for a malformed pattern."""
    tree = parse(pattern)
    return _render(tree, rng.randrange(tree.total) if tree.total > 1 else 0)


def expansion(pattern: str, index: int) -> str:
    """Return the expansion number *index* (from 0). Raises ``IndexError`` outside ``range(combinations(pattern))``."""
    tree = parse(pattern)
    if not 0 <= index < tree.total:
        raise IndexError(index)
    return _render(tree, index)


def all_expansions(pattern: str, limit: int) -> tuple[str, ...]:
    """Return the first *limit* expansions in order, without duplicates. There is a limit because a pattern may have millions."""
    tree = parse(pattern)
    return tuple(dict.fromkeys(_render(tree, index) for index in range(min(tree.total, limit))))


def _render(tree: Sequence, index: int) -> str:
    pieces: list[str] = []
    _collect(tree, index, pieces)
    text = "".join(pieces)
    if tree.gaps:
        text = _BLANK_BEFORE_STOP.sub("", _BLANKS.sub(" ", text)).strip()
    return text


def _collect(tree: Sequence, index: int, pieces: list[str]) -> None:
    """Append the texts of expansion *index* to *pieces*.

    The choices of a sequence are the digits of a mixed-radix number; the first choice is the most significant.
    """
    rest = tree.total
    for part in tree.parts:
        if isinstance(part, Text):
            pieces.append(part.text)
        elif isinstance(part, Slot):
            pieces.append(str(part))
        else:
            rest //= part.ends[-1]
            digit, index = divmod(index, rest)
            option = bisect_right(part.ends, digit)
            _collect(part.options[option], digit - (part.ends[option - 1] if option else 0), pieces)


@lru_cache(maxsize=65_536)
def count_range(pattern: str) -> Range:
    """Return the fewest and the most fixed words of any expansion. A slot counts 0, the article of ``{a:…}`` counts 1.

    Words are counted as in ``piiloom.foundation.words``, also where a word is joined from a text and an alternative.
    """
    ends = _count(parse(pattern), {_OUTSIDE: (0, 0)})
    return min(low for low, _ in ends.values()), max(high for _, high in ends.values())


def _count(tree: Sequence, states: Mapping[int, Range]) -> dict[int, Range]:
    """Return the range of word counts for each counter state after *tree*, given the ranges for the states before it."""
    current = dict(states)
    for part in tree.parts:
        following: dict[int, Range] = {}
        if isinstance(part, Choice):
            for option in part.options:
                for state, counts in _count(option, current).items():
                    _merge(following, state, counts)
        else:
            for state, (low, high) in current.items():
                after, words = _step(part, state)
                _merge(following, after, (low + words, high + words))
        current = following
    return current


def _step(part: Text | Slot, state: int) -> tuple[int, int]:
    """Return the counter state after *part*, and how many words begin in it.

    A value ends inside a word, so that "'s" after it begins no new one.
    """
    if isinstance(part, Slot):
        return _INSIDE, 1 if part.article in {"a", "A"} else 0
    text = _READ_BEFORE[state] + part.text
    after = _INSIDE if _ENDS_INSIDE.search(text) else _APOSTROPHE if _ENDS_APOSTROPHE.search(text) else _OUTSIDE
    return after, count_words(text) - (state != _OUTSIDE)


def _merge(ranges: dict[int, Range], key: int, found: Range) -> None:
    low, high = ranges.get(key, found)
    ranges[key] = (min(low, found[0]), max(high, found[1]))


@lru_cache(maxsize=65_536)
def slot_counts(pattern: str) -> Mapping[str, Range]:
    """Return the fewest and most uses of each slot of *pattern* in any expansion."""
    return MappingProxyType(_slots(parse(pattern)))


def _slots(tree: Sequence) -> dict[str, Range]:
    total: dict[str, Range] = {}
    for part in tree.parts:
        found: dict[str, Range] = {}
        if isinstance(part, Slot):
            found = {part.name: (1, 1)}
        elif isinstance(part, Choice):
            options = [_slots(option) for option in part.options]
            for name in dict.fromkeys(name for option in options for name in option):
                uses = [option.get(name, (0, 0)) for option in options]
                found[name] = (min(low for low, _ in uses), max(high for _, high in uses))
        for name, (low, high) in found.items():
            before = total.get(name, (0, 0))
            total[name] = (before[0] + low, before[1] + high)
    return total


@lru_cache(maxsize=65_536)
def repeated_alternatives(pattern: str) -> tuple[str, ...]:
    """Return the alternatives that occur twice in one choice. Raises ``ConfigError`` for a malformed pattern."""
    return tuple(_repeated(parse(pattern)))


def _repeated(tree: Sequence) -> list[str]:
    found: list[str] = []
    for part in tree.parts:
        if isinstance(part, Choice):
            seen: set[str] = set()
            for option in part.options:
                written = "".join(str(p.text) if isinstance(p, Text) else repr(p) for p in option.parts)
                if written in seen:
                    found.append(written)
                seen.add(written)
                found.extend(_repeated(option))
    return found
