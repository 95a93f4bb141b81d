"""The pattern engine, which finds all entities of a catalogue in a text, and the context words that change a score.

The prefilter does not change the result. A pattern's matches are those of its exact expression on the folded text, from left to right
and without overlap. Matches of different patterns may overlap. Offsets are code points of the given text, since folding keeps lengths.

A context phrase counts where it begins a word (in scripts without blanks: anywhere). It must be in the same paragraph, up to ``BEFORE``
code points before the match. A phrase that raises the score counts also up to ``AFTER`` behind; a phrase that lowers it, on the same line
only. The nearer a raising phrase is, the more it counts. Of a raising and a lowering phrase, only the nearer counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Final

import regex

from piiloom.foundation.errors import ConfigError, UsageError
from piiloom.patterns.prefilters import Backend, EveryPattern, Filtered, HyperscanPrefilter, Prefilter, Re2Prefilter
from piiloom.patterns.writing import LOOK_AROUND, FoldedText, WrittenPattern, fold_text, write_pattern
from piiloom.taxonomy.entities.catalogue_file import NO_VALIDATOR, UNIVERSAL, Entity, EntityPattern
from piiloom.taxonomy.entities.entity_catalogue import LocaleCatalogue, load_catalogue
from piiloom.taxonomy.entities.validators.registry import Validator, find_validator
from piiloom.taxonomy.own_entities import own_catalogue

BEFORE: Final = 60
AFTER: Final = 30
MOST_RAISED: Final = 0.4
LEAST_RAISED: Final = 0.2
LOWERED: Final = 0.4
_BEHIND: Final = 12  # a word behind the match counts as if it stood so much farther away
_NO_BLANKS: Final = "\u2e80"  # from here on scripts (Han, kana, Hangul) put no blanks between words
_NOWHERE: Final = 1_000


class MatchContext:
    """What stands around ``text[start:end]``, in small letters."""

    __slots__ = ("_after", "_before")

    def __init__(self, text: str, start: int, end: int) -> None:
        before = text[max(0, start - BEFORE) : start]
        self._before = before[before.rfind("\n\n") + 1 :].lower()
        after = text[end : end + AFTER]
        paragraph = after.find("\n\n")
        self._after = (after if paragraph < 0 else after[:paragraph]).lower()

    def change(self, for_it: Sequence[str], against: Sequence[str]) -> float:
        """By how much the score of a match changes."""
        supporting = min(
            self._before_it(self._before, for_it),
            min((at + _BEHIND for phrase in for_it if (at := self._first(phrase)) >= 0), default=_NOWHERE),
        )
        opposing = self._before_it(self._before[self._before.rfind("\n") + 1 :], against)
        if opposing < supporting:
            return -LOWERED
        if supporting == _NOWHERE:
            return 0.0
        return MOST_RAISED - (MOST_RAISED - LEAST_RAISED) * min(supporting / BEFORE, 1.0)

    @staticmethod
    def _before_it(before: str, phrases: Sequence[str]) -> int:
        """How many code points lie between the nearest of *phrases* in *before* and the match; very many if there is none."""
        return min((len(before) - at - len(phrase) for phrase in phrases if (at := last_of(before, phrase)) >= 0), default=_NOWHERE)

    def _first(self, phrase: str) -> int:
        at = self._after.find(phrase)
        while at > 0 and _inside_word(self._after, at, phrase):
            at = self._after.find(phrase, at + 1)
        return at


def last_of(text: str, phrase: str) -> int:
    """Where *phrase* last begins a word in *text* (in scripts without blanks: anywhere); negative if it does not. Both in small letters."""
    at = text.rfind(phrase)
    while at > 0 and _inside_word(text, at, phrase):
        at = text.rfind(phrase, 0, at + len(phrase) - 1)
    return at


def _inside_word(text: str, at: int, phrase: str) -> bool:
    """Whether *phrase* at *at* continues a word."""
    return phrase[0] < _NO_BLANKS and text[at - 1].isalnum() and phrase[0].isalnum() and text[at - 1] < _NO_BLANKS


FLOOR: Final = 0.15  # matches with a lower score are not told, whatever threshold somebody sets
_UNMISTAKABLE: Final = 0.75
_LONGEST_WINDOW: Final = 300  # a pattern that reaches farther is matched on the whole text


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """``text[start:end]`` looks like *entity*. ``validated``: its validator accepted it; None: there is no validator for what matched."""

    start: int
    end: int
    entity: Entity
    score: float
    validated: bool | None


class _Compiled:
    """A pattern ready to be matched. Its expression is compiled when it is first needed: of hundreds, few occur in a text."""

    def __init__(self, entity: Entity, pattern: EntityPattern, region: str | None) -> None:
        self.entity, self.score = entity, pattern.score
        self.written: WrittenPattern = write_pattern(pattern)
        reach = self.written.reach
        self.reach = reach if reach is not None and reach <= _LONGEST_WINDOW else None
        name = pattern.validator if pattern.validator is not None else entity.validator
        self.validator: Validator | None = None if name in (None, NO_VALIDATOR) else find_validator(str(name), region)

    @cached_property
    def expression(self) -> regex.Pattern[str]:
        """The exact expression."""
        try:
            return regex.compile(self.written.exact)
        except regex.error as error:
            raise ConfigError(f"the pattern of {self.entity.id} cannot be compiled: {error}", where=self.entity.where) from None

    def matches(self, text: str, places: Sequence[int] | None) -> Iterator[tuple[int, int]]:
        """Yield the ranges of all matches in the folded *text*; *places* are what the prefilter tells of it (None: try everywhere)."""
        if places is not None and self.written.led:
            yield from self._led_by_labels(text, places)
        elif places is not None and self.reach is not None:
            yield from self._in_windows(text, places, self.reach)
        else:
            for found in self.expression.finditer(text):
                yield found.span(1)

    def _led_by_labels(self, text: str, starts: Iterable[int]) -> Iterator[tuple[int, int]]:
        """Yield the matches that begin at *starts*, in ascending order, and do not overlap."""
        position = -1
        for start in starts:
            if start >= position and (found := self.expression.match(text, start)) is not None:
                position = max(found.end(), start + 1)
                yield found.span(1)

    def _in_windows(self, text: str, ends: Sequence[int], reach: int) -> Iterator[tuple[int, int]]:
        at, count = 0, len(ends)
        while at < count:
            first = last = ends[at]
            # Ends so near to each other that a match at the one may reach into the window of the other make one window.
            while at < count and ends[at] - reach <= last:
                last = ends[at]
                at += 1
            begin, end = max(0, first - reach), last + LOOK_AROUND
            found = [one for one in self.expression.finditer(text, begin, end) if one.start() <= last]
            if any(one.end() > last for one in found):
                # It is a match only because the window ends: look again with all of what may follow.
                found = [one for one in self.expression.finditer(text, begin, end + reach) if one.start() <= last]
            for one in found:
                yield one.span(1)


def make_prefilter(backend: Backend, patterns: Sequence[Filtered]) -> Prefilter:
    """Make the prefilter *backend*; "auto" takes Hyperscan if it is installed, else RE2, else none.

    Raises ``UsageError`` if the package of the backend asked for is not installed, ``ConfigError`` if a pattern cannot be compiled.
    """
    if backend in ("auto", "hyperscan") and patterns:
        try:
            return HyperscanPrefilter(patterns)
        except ImportError:
            if backend == "hyperscan":
                raise UsageError("hyperscan is not installed", remedy="pip install hyperscan, or use --engine auto") from None
    if backend in ("auto", "re2") and patterns:
        try:
            return Re2Prefilter(patterns)
        except ImportError:
            if backend == "re2":
                raise UsageError("google-re2 is not installed", remedy="pip install google-re2, or use --engine auto") from None
    return EveryPattern(patterns)


class PatternEngine:
    """Finds the entities of *catalogue*, or only those of *entity_ids*. Threads may share it.

    Raises ``ConfigError`` if a pattern cannot be compiled.
    """

    def __init__(self, catalogue: LocaleCatalogue, *, backend: Backend = "auto", entity_ids: frozenset[str] | None = None) -> None:
        self.catalogue = catalogue
        entities = [one for one in catalogue.entities.values() if entity_ids is None or one.id in entity_ids]
        self._patterns = [_Compiled(entity, pattern, catalogue.region) for entity in entities for pattern in entity.patterns]
        filtered = [
            Filtered(
                one.written.loose,
                f"{one.entity.where} ({one.entity.id})",
                only_whether=one.reach is None and not one.written.led,
                shared=one.entity.locale == UNIVERSAL,
            )
            for one in self._patterns
        ]
        self._prefilter: Prefilter = make_prefilter(backend, filtered)

    @property
    def backend(self) -> str:
        """The prefilter in use: hyperscan, re2 or regex (none)."""
        return self._prefilter.name

    def find(self, text: str, *, floor: float = FLOOR, context: bool = True) -> list[Match]:
        """Return every match with a score of at least *floor*, by start, the longer first, the surer first.

        One place may have several matches; ``resolving.disjoint`` chooses. Without *context* the words around a match change no score.
        """
        folded = fold_text(text)
        best: dict[tuple[int, int, str], Match] = {}
        around: dict[tuple[int, int], MatchContext] | None = {} if context else None
        for number, places in self._prefilter.places(folded.data).items():
            pattern = self._patterns[number]
            for start, end in pattern.matches(folded.text, places):
                match = self._judged(folded, start, end, pattern, around)
                key = (start, end, pattern.entity.id)
                if match is not None and match.score >= floor and (key not in best or best[key].score < match.score):
                    best[key] = match
        return sorted(best.values(), key=lambda one: (one.start, -one.end, -one.score, -one.entity.priority, one.entity.id))

    def _judged(
        self, folded: FoldedText, start: int, end: int, pattern: _Compiled, around: dict[tuple[int, int], MatchContext] | None
    ) -> Match | None:
        validated = None
        if pattern.validator is not None:
            if not pattern.validator(folded.text[start:end]):
                return None
            validated = True
        score = pattern.score
        if around is not None:
            surroundings = around.get((start, end))
            if surroundings is None:
                surroundings = around[start, end] = MatchContext(folded.text, start, end)
            # A form as sure as this is what it is, on an order as well.
            against = self.catalogue.against if score < _UNMISTAKABLE else ()
            score += surroundings.change(pattern.entity.context, against)
        return Match(start=start, end=end, entity=pattern.entity, score=round(min(max(score, 0.0), 1.0), 4), validated=validated)


def engine_for(
    locale: str,
    own: tuple[Path, ...] = (),
    *,
    unconfirmed: bool = False,
    also: frozenset[str] = frozenset(),
    backend: Backend = "auto",
) -> PatternEngine:
    """Return the engine for texts of *locale*, from a cache if possible; see ``load_catalogue`` and ``PatternEngine``.

    After a change of an *own* file there is another engine.
    """
    return _engine(locale, tuple((path, path.stat().st_mtime_ns if path.exists() else 0) for path in own), unconfirmed, also, backend)


@lru_cache(maxsize=32)
def _engine(locale: str, own: tuple[tuple[Path, int], ...], unconfirmed: bool, also: frozenset[str], backend: Backend) -> PatternEngine:
    catalogue = load_catalogue(locale, [own_catalogue(path) for path, _ in own], unconfirmed=unconfirmed, also=also)
    return PatternEngine(catalogue, backend=backend)
