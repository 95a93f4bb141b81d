"""Prefilters say which patterns may match in a text, and where: Hyperscan gives patterns and places, RE2's sets give patterns only.

Without either, every pattern is tried. All give the same final result.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from piiloom.foundation.errors import ConfigError
from piiloom.patterns.writing import Loose

# By the number of a pattern, in ascending order: where its literals begin, or its looser expression ends. None: somewhere in the text.
PatternPlaces = Mapping[int, Sequence[int] | None]


@dataclass(frozen=True, slots=True)
class Filtered:
    """A pattern to be filtered. ``name`` says what it is, for errors; ``only_whether``: it is enough to know whether it matches.

    ``shared``: the engines of other locales have it, too, so what is compiled for it can serve them all.
    """

    loose: tuple[Loose, ...]
    name: str
    only_whether: bool = False
    shared: bool = False


class Prefilter(Protocol):
    """Tells for the bytes of a folded text which patterns (by number) may match."""

    name: str

    def places(self, data: bytes) -> PatternPlaces:
        """Return the patterns that may match in *data*."""
        ...


def refused(name: str, engine: str, error: Exception) -> ConfigError:
    """The error for a pattern that *engine* cannot compile."""
    return ConfigError(f"{engine} cannot compile the pattern: {error}", where=name, remedy="Simplify the pattern, above all its repeats")


Backend = Literal["auto", "hyperscan", "re2", "regex"]


class EveryPattern:
    """No prefilter: all patterns are tried on the whole text."""

    name = "regex"

    def __init__(self, patterns: Sequence[Filtered]) -> None:
        self._all: PatternPlaces = dict.fromkeys(range(len(patterns)))

    def places(self, data: bytes) -> PatternPlaces:  # noqa: ARG002 - the protocol's signature
        """All patterns, everywhere."""
        return self._all


class Re2Prefilter:
    """Google's RE2: linear in the text, and many patterns at once."""

    name = "re2"

    def __init__(self, patterns: Sequence[Filtered]) -> None:
        import re2  # noqa: PLC0415 - optional

        options = re2.Options()
        options.encoding = re2.Options.Encoding.LATIN1
        options.max_mem = 256 << 20
        options.log_errors = False
        self._set = re2.Set.SearchSet(options)
        self._numbers: list[int] = []
        for number, pattern in enumerate(patterns):
            for loose in pattern.loose:
                try:
                    self._set.Add(b"(?i)" + loose.expression if loose.ignore_case else loose.expression)
                except re2.error as error:
                    raise refused(pattern.name, "RE2", error) from None
                self._numbers.append(number)
        self._set.Compile()

    def places(self, data: bytes) -> PatternPlaces:
        """The patterns that match, everywhere."""
        return dict.fromkeys(sorted({self._numbers[one] for one in self._set.Match(data) or ()}))
