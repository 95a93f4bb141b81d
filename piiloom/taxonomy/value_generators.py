"""Where the values of an own type come from: a lexicon, a pattern, the entity catalogue, or the model that writes the texts.

Drawing depends only on the random generator that is passed in, so a seed gives the same values everywhere.
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
