"""Names of people in Devanagari and Arabic script, which have no capitals: titles, cues, and words of the names index."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import regex

from piiloom.detection.hybrid.offline.cues import Cues
from piiloom.detection.hybrid.offline.finding import Finding
from piiloom.detection.hybrid.offline.known_names import KnownNames

FINDER: Final = "names index"
_TOKEN: Final = regex.compile(r"[\p{L}\p{M}\u200c\u200d]+")
_MOST_PARTS: Final = 5
_BEHIND_A_TITLE: Final = 2  # unknown words that a title takes with it
_REACH: Final = 24
_TITLED, _SEVERAL, _ALONE = 0.75, 0.75, 0.4


class UncasedNames:
    """Finds names by *known* names and *cues*. ``particles`` (ibn, "son of") join parts; ``not_names`` end a name."""

    def __init__(self, known: KnownNames, cues: Cues) -> None:
        self._names = known.given_native | known.family_native
        self._titles = frozenset(cues.titles)
        self._particles = frozenset(cues.particles)
        self._not_names = frozenset(cues.not_names)
        self._name_cues = cues.name_cues

    def read(self, text: str) -> Iterator[Finding]:
        """Yield the names in *text*."""
        parts = [(*one.span(), one.group()) for one in _TOKEN.finditer(text)]
        at = 0
        while at < len(parts):
            length, score = self._name_at(text, parts, at)
            if score >= _ALONE:
                yield Finding(parts[at][0], parts[at + length - 1][1], "person_name", score, FINDER)
            at += length or 1

    def _name_at(self, text: str, parts: Sequence[tuple[int, int, str]], at: int) -> tuple[int, float]:
        if parts[at][2] in self._titles:
            return 0, 0.0
        titled = self._titled(text, parts, at)
        length = known = 0
        while at + length < len(parts) and length < _MOST_PARTS and (not length or self._adjoins(text, parts, at + length)):
            word = parts[at + length][2]
            if word in self._not_names:
                break
            known += word in self._names
            if not (word in self._names or word in self._particles or (titled and length < _BEHIND_A_TITLE)):
                break
            length += 1
        while length and parts[at + length - 1][2] in self._particles:
            length -= 1
        if not length or (not known and not titled):
            return 0, 0.0
        return length, _TITLED if titled else _SEVERAL if known > 1 else _ALONE

    def _adjoins(self, text: str, parts: Sequence[tuple[int, int, str]], at: int) -> bool:
        return text[parts[at - 1][1] : parts[at][0]] == " "

    def _titled(self, text: str, parts: Sequence[tuple[int, int, str]], at: int) -> bool:
        start = parts[at][0]
        if at and parts[at - 1][2] in self._titles and text[parts[at - 1][1] : start].strip() in {"", ".", "/"}:
            return True
        before = text[max(0, start - _REACH) : start].rstrip(" :،,")
        return any(before.endswith(cue) for cue in self._name_cues)
