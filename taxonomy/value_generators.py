"""Where the values of an own type come from: a list, a pattern, or the model that writes the texts.

Drawing depends on the generator that is handed in and on nothing else, so a seed gives the same values everywhere.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from typing import Literal, cast

from piiloom.foundation.errors import ConfigError, UsageError
from piiloom.foundation.words import count_words
from piiloom.taxonomy.value_patterns import MOST_CHARACTERS, read_value_pattern

GeneratorKind = Literal["lexicon", "pattern", "model"]
MOST_WORDS = 8
# Characters that marks, slots and quoted speech are written with, and whatever ends a line.
_UNFIT = frozenset('[]{}|<>"“”')
_MODULE = re.compile(r"[a-z][a-z0-9_]*(?:\.[a-z0-9_]+){0,2}")
# One drawn number in 97 passes the strictest check digits there are; some numbers hold dates as well.
_TRIES = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueGenerator:
    """``values`` are those of a lexicon. ``check`` is a module of python-stdnum that must accept what a pattern gives."""

    kind: GeneratorKind
    values: tuple[str, ...] = ()
    pattern: str | None = None
    check: str | None = None

    def count(self) -> int | None:
        """How many values there are; None where nobody knows."""
        if self.kind == "lexicon":
            return len(self.values)
        return read_value_pattern(self.pattern).count if self.pattern is not None and self.check is None else None


def draw_own_value(generator: ValueGenerator, rng: random.Random) -> str:
    """One value; raises ``UsageError`` where the model is to be asked, and ``ConfigError`` where no value passes the check."""
    if generator.kind == "lexicon":
        return rng.choice(generator.values)
    if generator.pattern is None:
        raise UsageError("values of this type are asked of a model", remedy="Use a provider that is one, or give it a lexicon or pattern")
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
    """``is_valid`` of the module ``stdnum.<module>``; raises ``ConfigError`` where there is none that takes one number."""
    try:
        found = import_module(f"stdnum.{module}") if _MODULE.fullmatch(module) else None
    except ImportError:
        found = None
    valid = getattr(found, "is_valid", None)
    if valid is None:
        raise ConfigError(f"python-stdnum has no module {module!r} that checks numbers", remedy="Write for example luhn, iban or de.idnr")
    return cast("Callable[[str], bool]", valid)


def value_fault(text: str) -> str | None:
    """Why *text* can be no value of a type, in words; None where it can."""
    if not text.strip() or text != text.strip():
        return "it is empty, or has blanks around it"
    if _UNFIT & set(text) or not text.isprintable():
        return "brackets, braces, |, <, >, double quotes and control characters can be in no value"
    if len(text) > MOST_CHARACTERS or not 1 <= count_words(text) <= MOST_WORDS:
        return f"a value has one to {MOST_WORDS} words and {MOST_CHARACTERS} characters at most"
    return "it ends as a sentence does" if text[-1] in ".!?,;:" else None
