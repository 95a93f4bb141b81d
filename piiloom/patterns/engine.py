"""Find all entities of a catalogue in a text.

What is found does not depend on the prefilter. A pattern's matches are those of its exact expression on the folded text, from left to right
and without overlap; matches of different patterns may overlap. Offsets are code points of the given text, since folding keeps lengths.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Final

import regex

from piiloom.foundation.errors import ConfigError
from piiloom.patterns.context_words import Surroundings
from piiloom.patterns.folding import FoldedText, fold
from piiloom.patterns.prefilter import Filtered, Prefilter
from piiloom.patterns.prefilters import Backend, make_prefilter
from piiloom.patterns.writing import LOOK_AROUND, Written, write_pattern
from piiloom.taxonomy.entities.catalogue_file import NO_VALIDATOR
from piiloom.taxonomy.entities.entity import UNIVERSAL, Entity, EntityPattern
from piiloom.taxonomy.entities.entity_catalogue import LocaleCatalogue, load_catalogue
from piiloom.taxonomy.entities.validators.registry import Validator, find_validator
from piiloom.taxonomy.own_entities import user_file

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
        self.written: Written = write_pattern(pattern)
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
        folded = fold(text)
        best: dict[tuple[int, int, str], Match] = {}
        around: dict[tuple[int, int], Surroundings] | None = {} if context else None
        for number, places in self._prefilter.places(folded.data).items():
            pattern = self._patterns[number]
            for start, end in pattern.matches(folded.text, places):
                match = self._judged(folded, start, end, pattern, around)
                key = (start, end, pattern.entity.id)
                if match is not None and match.score >= floor and (key not in best or best[key].score < match.score):
                    best[key] = match
        return sorted(best.values(), key=lambda one: (one.start, -one.end, -one.score, -one.entity.priority, one.entity.id))

    def _judged(
        self, folded: FoldedText, start: int, end: int, pattern: _Compiled, around: dict[tuple[int, int], Surroundings] | None
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
                surroundings = around[start, end] = Surroundings(folded.text, start, end)
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
    catalogue = load_catalogue(locale, [user_file(path) for path, _ in own], unconfirmed=unconfirmed, also=also)
    return PatternEngine(catalogue, backend=backend)
