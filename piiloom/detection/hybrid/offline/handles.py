"""User names that are made of a person's name: a given or family name of the names index, with dots, digits or an initial."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import regex

from piiloom.detection.hybrid.offline.finding import RuleFinding
from piiloom.detection.hybrid.offline.known_names import CountryNames

FINDER: Final = "names index"
_SCORE: Final = 0.55
_SHORTEST: Final = 4  # letters of a name that is told from any other word
_SHORTEST_BEHIND_INITIAL: Final = 5
_DOMAIN: Final = regex.compile(r"www\..*|.*\.[a-z]{2,3}")
# Small letters with a dot, an underscore or digits at the end; no part of an address, a path or a file's name.
_HANDLE: Final = regex.compile(r"(?<![\w@./:\-=])(?=[a-z._]*[._\d])[a-z]{2,20}(?:[._][a-z]{2,20}){0,2}\d{0,4}(?![\w@/:\-]|\.\w)")
_PART: Final = regex.compile(r"[a-z]+")


class Handles:
    """Finds user names by *known* names."""

    def __init__(self, known: CountryNames) -> None:
        self._known = known

    def read(self, text: str) -> Iterator[RuleFinding]:
        """Yield the user names in *text*."""
        for match in _HANDLE.finditer(text):
            if not _DOMAIN.fullmatch(match.group()) and any(map(self._is_name, _PART.findall(match.group()))):
                yield RuleFinding(*match.span(), "username", _SCORE, FINDER)

    def _is_name(self, part: str) -> bool:
        """Whether *part* is a name, or a family name behind an initial."""
        if len(part) >= _SHORTEST and (self._known.is_given(part) or self._known.is_family(part)):
            return True
        return len(part) > _SHORTEST_BEHIND_INITIAL and self._known.is_family(part[1:])
