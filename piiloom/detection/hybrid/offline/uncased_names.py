"""Names of people in Devanagari and Arabic script, which have no capitals: titles, cues, and words of the names index."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import regex

from piiloom.detection.hybrid.offline.cues import LanguageCues
from piiloom.detection.hybrid.offline.finding import RuleFinding
from piiloom.detection.hybrid.offline.known_names import CountryNames

FINDER: Final = "names index"
_TOKEN: Final = regex.compile(r"[\p{L}\p{M}\u200c\u200d]+")
_MOST_PARTS: Final = 5
_BEHIND_A_TITLE: Final = 2  # unknown words that a title takes with it
_REACH: Final = 24
_ENDS: Final = ("", "\n", ",", "،", ";", ":", "(", ")", "।", ".", "|", "-")
_TITLED, _SEVERAL, _ALONE = 0.75, 0.7, 0.4
_NISBA: Final = "ال"
_UncasedWord = tuple[int, int, str]


class UncasedNames:
    """Finds names by *known* names and *cues*. ``connectors`` (ibn, "son of") join parts; ``not_names`` end a name.

    *fathers_names*: the father's given name stands behind one's own (Arabic).
    """

    def __init__(self, known: CountryNames, cues: LanguageCues, *, fathers_names: bool) -> None:
        self._fathers_names = fathers_names
        self._names = known.given_native | known.family_native
        self._family = known.family_native
        self._connectors = frozenset(cues.connectors)
        self._titles = frozenset(cues.titles)
        self._particles = frozenset((*cues.particles, *cues.connectors))
        self._not_names = frozenset(cues.not_names)
        self._name_cues = cues.name_cues

    def read(self, text: str) -> Iterator[RuleFinding]:
        """Yield the names in *text*."""
        parts = [(*one.span(), one.group()) for one in _TOKEN.finditer(text)]
        at = 0
        while at < len(parts):
            length, score = self._name_at(text, parts, at)
            if score >= _ALONE:
                yield RuleFinding(parts[at][0], parts[at + length - 1][1], "person_name", score, FINDER)
            at += length or 1

    def _name_at(self, text: str, parts: Sequence[_UncasedWord], at: int) -> tuple[int, float]:
        """How many parts the name has that begins with ``parts[at]``, 0 if none does, and how sure it is."""
        first = parts[at][2]
        if first in self._titles or first in self._not_names:
            return 0, 0.0
        titled, cued = self._titled(parts, text, at), self._cued(text, parts[at][0])
        length = 0
        while at + length < len(parts) and length < _MOST_PARTS and (not length or self._adjoins(text, parts, at + length)):
            if not self._belongs(text, parts, at, length, titled):
                break
            length += 1
        while length and parts[at + length - 1][2] in self._connectors:
            length -= 1
        known = sum(parts[number][2] in self._names for number in range(at, at + length))
        if titled and length:
            return length, _TITLED
        if not known:
            return 0, 0.0
        return length, _SEVERAL if length > 1 or cued else _ALONE

    def _belongs(self, text: str, parts: Sequence[_UncasedWord], at: int, length: int, titled: bool) -> bool:
        """Whether the part behind *length* parts from ``parts[at]`` on belongs to the same name."""
        word = parts[at + length][2]
        if word in self._not_names or word in self._titles:
            return False
        if word in self._names or (length and word in self._particles) or (titled and length < _BEHIND_A_TITLE):
            return True
        if not length:  # an unknown word before a family name, a second part, or (apart from others) a given name is a given name
            following = parts[at + 1][2] if at + 1 < len(parts) and self._adjoins(text, parts, at + 1) else ""
            apart = text[max(0, parts[at][0] - 3) : parts[at][0]].rstrip(" ")[-1:] in _ENDS
            second = following in self._particles - self._connectors or (self._fathers_names and apart and following in self._names)
            return len(word) > 2 and (following in self._family or second)
        if word.startswith(_NISBA):  # "of Aleppo", "the …": a family name
            return True
        # An unknown word behind a given name is a family name if the name ends there.
        end = parts[at + length][1]
        following = parts[at + length + 1][2] if at + length + 1 < len(parts) else ""
        ends = text[end : end + 1] in _ENDS or following in self._not_names
        before = parts[at + length - 1][2]
        behind_given = before in self._names and before not in self._family
        return length <= (2 if self._fathers_names else 1) and behind_given and ends

    def _adjoins(self, text: str, parts: Sequence[_UncasedWord], at: int) -> bool:
        return text[parts[at - 1][1] : parts[at][0]] == " "

    def _titled(self, parts: Sequence[_UncasedWord], text: str, at: int) -> bool:
        """Whether a title stands before ``parts[at]``."""
        return bool(at) and parts[at - 1][2] in self._titles and text[parts[at - 1][1] : parts[at][0]].strip() in {"", ".", "/"}

    def _cued(self, text: str, start: int) -> bool:
        """Whether a cue stands before *start*."""
        before = text[max(0, start - _REACH) : start].rstrip(" :،,")
        return any(before.endswith(cue) for cue in self._name_cues)
