"""What a prefilter is: it tells which patterns may match in a text, and where. Three engines give the same final result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

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
