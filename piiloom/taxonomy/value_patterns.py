r"""Values of own types: from a lexicon, a pattern, the entity catalogue, or the model that writes the texts.

A pattern such as ``AB-[0-9]{6}`` or ``(north|south) gate [1-9]`` is a finite regular expression. The notation has characters, classes
(``[A-Z0-9]``, ``\d`` for a digit) and choices in round brackets. Each may be followed by ``{n}``, ``{m,n}`` or ``?``. A backslash takes
the next character literally. There is no ``*`` and no ``+``, so every pattern has a longest value. Drawing depends only on the random
generator that is passed in.
"""

from __future__ import annotations

import random
import re
import string
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from typing import Literal, cast

from piiloom.foundation.errors import ConfigError, UsageError
from piiloom.foundation.words import count_words

MOST_CHARACTERS = 80  # of a value
_MOST_DEPTH = 8
_REPEATED = re.compile(r"\{(\d{1,2})(?:,(\d{1,2}))?\}")
_SPECIAL = frozenset("[](){}|?*+.^$\\")
_ENDLESS = frozenset("*+")


@dataclass(frozen=True, slots=True)
class _Part:
    """One of *options*, *fewest* to *most* times; an option is a text or the parts of a bracket."""

    options: tuple[str | tuple[_Part, ...], ...]
    fewest: int = 1
    most: int = 1

    def draw(self, rng: random.Random) -> str:
        number = self.fewest if self.fewest == self.most else rng.randint(self.fewest, self.most)
        return "".join(_drawn(rng.choice(self.options), rng) for _ in range(number))

    def count(self) -> int:
        one = sum(1 if isinstance(option, str) else _counted(option) for option in self.options)
        return sum(one**number for number in range(self.fewest, self.most + 1))

    def longest(self) -> int:
        return self.most * max(len(option) if isinstance(option, str) else _longest(option) for option in self.options)


@dataclass(frozen=True, slots=True)
class ValuePattern:
    """A parsed pattern."""

    parts: tuple[_Part, ...]

    def draw(self, rng: random.Random) -> str:
        """Draw one of its values."""
        return _drawn(self.parts, rng)

    @property
    def count(self) -> int:
        """The number of its values. One that can be produced in two ways counts twice."""
        return _counted(self.parts)

    @property
    def longest(self) -> int:
        """The length of its longest value in characters."""
        return _longest(self.parts)


@lru_cache(maxsize=256)
def read_value_pattern(pattern: str) -> ValuePattern:
    """Parse *pattern*. Raises ``ConfigError`` if it is malformed (with the character), empty, or has values that are too long."""
    reading = _PatternReading(pattern)
    parts = reading.sequence(0)
    if reading.at < len(pattern):
        raise reading.fault("')' closes nothing")
    found = ValuePattern(parts)
    if not parts:
        raise ConfigError("the pattern is empty")
    if found.longest > MOST_CHARACTERS:
        raise ConfigError(f"its longest value has {found.longest} characters; a value can have at most {MOST_CHARACTERS}")
    return found


def _drawn(option: str | tuple[_Part, ...], rng: random.Random) -> str:
    return option if isinstance(option, str) else "".join(part.draw(rng) for part in option)


def _counted(parts: tuple[_Part, ...]) -> int:
    number = 1
    for part in parts:
        number *= part.count()
    return number


def _longest(parts: tuple[_Part, ...]) -> int:
    return sum(part.longest() for part in parts)


def catalogue_pattern(pattern: str) -> str:
    """Return *pattern* as an expression of the entity catalogue, which matches its values and nothing else, the longest first."""
    return _written(read_value_pattern(pattern).parts)


def _written(parts: tuple[_Part, ...]) -> str:
    return "".join(_written_part(part) for part in parts)


def _written_part(part: _Part) -> str:
    texts = {option for option in part.options if isinstance(option, str)}
    if len(texts) == len(part.options):
        one = _escaped(*texts) if len(texts) == 1 else f"[{''.join(sorted(map(_escaped, texts)))}]"
    else:
        longest = sorted((option for option in part.options if not isinstance(option, str)), key=_longest, reverse=True)
        one = f"(?:{'|'.join(dict.fromkeys(map(_written, longest)))})"
    if (part.fewest, part.most) == (0, 1):
        return f"{one}?"
    return one if part.fewest == part.most == 1 else f"{one}{{{part.fewest},{part.most}}}"


def _escaped(character: str) -> str:
    return character if character.isalnum() or character == " " else f"\\{character}"


class _PatternReading:
    """A parser that reads from left to right. ``at`` is the index of the next character."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self.at = 0

    def fault(self, what: str) -> ConfigError:
        return ConfigError(f"character {self.at + 1} of the pattern: {what}")

    def sequence(self, depth: int) -> tuple[_Part, ...]:
        """Parse the parts up to the end, a ``|`` or a closing bracket."""
        parts: list[_Part] = []
        while self.at < len(self._pattern) and self._pattern[self.at] not in "|)":
            parts.append(self._repeated(self._one(depth)))
        if depth == 0 and self.at < len(self._pattern) and self._pattern[self.at] == "|":
            raise self.fault("a choice needs round brackets, as in (a|b)")
        return tuple(parts)

    def _one(self, depth: int) -> _Part:
        character = self._pattern[self.at]
        if character == "[":
            return self._class()
        if character == "(":
            return self._choice(depth + 1)
        if character == "\\":
            return self._escaped()
        if character in _ENDLESS:
            raise self.fault(f"{character!r} has no end; say how many times, as in {{1,4}}")
        if character in _SPECIAL:
            raise self.fault(f"{character!r} has no meaning here; write \\{character} for the character itself")
        self.at += 1
        return _Part((character,))

    def _escaped(self) -> _Part:
        if self.at + 1 == len(self._pattern):
            raise self.fault("a backslash has nothing behind it")
        character = self._pattern[self.at + 1]
        if character.isalnum() and character != "d":
            raise self.fault(f"\\{character} is not known; there is \\d for a digit")
        self.at += 2
        return _Part(tuple(string.digits)) if character == "d" else _Part((character,))

    def _class(self) -> _Part:
        end = self._pattern.find("]", self.at + 1)
        inside = self._pattern[self.at + 1 : end] if end > 0 else ""
        if end < 0 or not inside:
            raise self.fault("'[' is never closed" if end < 0 else "the class is empty")
        if inside[0] == "^" or "\\" in inside or "[" in inside:
            raise self.fault("a class lists characters and ranges, as in [A-Z0-9]")
        found: dict[str, None] = {}
        place = 0
        while place < len(inside):
            if inside[place + 1 : place + 2] == "-" and place + 2 < len(inside):
                first, last = ord(inside[place]), ord(inside[place + 2])
                if not first <= last < first + 128:
                    raise self.fault(f"the range {inside[place : place + 3]} is upside down or too wide")
                found.update(dict.fromkeys(map(chr, range(first, last + 1))))
                place += 3
            else:
                found[inside[place]] = None
                place += 1
        self.at = end + 1
        return _Part(tuple(found))

    def _choice(self, depth: int) -> _Part:
        if depth > _MOST_DEPTH:
            raise self.fault("brackets are nested too deeply")
        opened = self.at
        options: list[str | tuple[_Part, ...]] = []
        while not options or self._pattern[self.at] == "|":
            self.at += 1
            options.append(self.sequence(depth))
            if self.at == len(self._pattern):
                self.at = opened
                raise self.fault("'(' is never closed")
        self.at += 1
        return _Part(tuple(options))

    def _repeated(self, part: _Part) -> _Part:
        rest = self._pattern[self.at : self.at + 1]
        if rest == "?":
            self.at += 1
            return _Part(part.options, 0, 1)
        if rest != "{":
            return part
        counted = _REPEATED.match(self._pattern, self.at)
        fewest = int(counted[1]) if counted else 0
        most = int(counted[2]) if counted and counted[2] else fewest
        if counted is None or not 0 <= fewest <= most or most == 0:
            raise self.fault("say how many times as {n} or {m,n}, from 1 to 99")
        self.at = counted.end()
        return _Part(part.options, fewest, most)


GeneratorKind = Literal["lexicon", "pattern", "entity", "model"]
MOST_WORDS = 8
# Characters that are not allowed in values, since mention marks, slots and quoted speech are written with them.
_UNFIT = frozenset('[]{}|<>"“”')
_MODULE = re.compile(r"[a-z][a-z0-9_]*(?:\.[a-z0-9_]+){0,2}")
# The strictest check digits accept one random number in 97. Some numbers must also hold a valid date.
_TRIES = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueGenerator:
    """A source of values. ``values`` is for a lexicon; ``check`` is a python-stdnum module that must accept a pattern's values.

    Of an entity of the catalogue, whose values ``pii_values`` draws, ``values`` is the id alone: a field of its own would change the
    digests of runs that have none.
    """

    kind: GeneratorKind
    values: tuple[str, ...] = ()
    pattern: str | None = None
    check: str | None = None

    @property
    def entity(self) -> str | None:
        """The id of the entity that values are drawn of, if they are."""
        return self.values[0] if self.kind == "entity" else None

    def count(self) -> int | None:
        """Return the number of values; None if it is not known."""
        if self.kind == "lexicon":
            return len(self.values)
        return read_value_pattern(self.pattern).count if self.pattern is not None and self.check is None else None


def draw_own_value(generator: ValueGenerator, rng: random.Random) -> str:
    """Draw one value.

    Raises ``UsageError`` if the values have to come from a model, and ``ConfigError`` if no drawn value passes the check.
    """
    if generator.kind == "lexicon":
        return rng.choice(generator.values)
    if generator.pattern is None:
        raise UsageError(
            "values of this type come from a model", remedy="Use a provider that calls a model, or give the type a lexicon or a pattern"
        )
    pattern = read_value_pattern(generator.pattern)
    if generator.check is None:
        return pattern.draw(rng)
    passes = number_check(generator.check)
    for _ in range(_TRIES):
        text = pattern.draw(rng)
        if passes(text):
            return text
    raise ConfigError(
        f"none of {_TRIES:,} values drawn from the pattern is valid for stdnum.{generator.check}",
        remedy="Let the pattern describe the whole number, with its check digits",
    )


@lru_cache(maxsize=64)
def number_check(module: str) -> Callable[[str], bool]:
    """Return ``is_valid`` of the module ``stdnum.<module>``. Raises ``ConfigError`` if there is no such module or function."""
    try:
        found = import_module(f"stdnum.{module}") if _MODULE.fullmatch(module) else None
    except ImportError:
        found = None
    valid = getattr(found, "is_valid", None)
    if valid is None:
        raise ConfigError(f"python-stdnum has no module {module!r} that checks numbers", remedy="Write for example luhn, iban or de.idnr")
    return cast("Callable[[str], bool]", valid)


def value_fault(text: str) -> str | None:
    """Return why *text* cannot be a value of a type, in words; None if it can."""
    if not text.strip() or text != text.strip():
        return "it is empty, or has blanks around it"
    if _UNFIT & set(text) or not text.isprintable():
        return "brackets, braces, |, <, >, double quotes and control characters are not allowed in a value"
    if len(text) > MOST_CHARACTERS or not 1 <= count_words(text) <= MOST_WORDS:
        return f"a value has one to {MOST_WORDS} words and {MOST_CHARACTERS} characters at most"
    return "it ends as a sentence does" if text[-1] in ".!?,;:" else None
