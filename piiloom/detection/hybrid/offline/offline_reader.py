"""Phase I without a model: all rules over a text."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Final, Protocol

from piiloom.corpus.mention_search import stands_alone
from piiloom.detection.hybrid.candidates import EntityCandidate
from piiloom.detection.hybrid.offline.cues import LanguageCues, RuleFinding, language_cues
from piiloom.detection.hybrid.offline.listed_values import AddressRules, LabelReader, WordLists
from piiloom.detection.hybrid.offline.names import CasedNames, Handles, HanNames, UncasedNames, known_names
from piiloom.detection.hybrid.phases import AskedTypes, TextUnderWay
from piiloom.foundation.words import Range

_UNCASED: Final = frozenset({"ar", "hi"})
_FAMILY_FIRST: Final = frozenset({"vi"})


class FindingRule(Protocol):
    """A rule that finds values in a text."""

    def read(self, text: str) -> Iterator[RuleFinding]:
        """Yield what it finds; findings may overlap."""


def read_by_rules(under_way: TextUnderWay, piece: Range | None = None) -> list[EntityCandidate]:
    """What the rules find in a text under way, or in a *piece* of it."""
    start, end = piece or (0, len(under_way.text))
    asked = under_way.asked
    return [
        EntityCandidate(
            start=one.start + start, end=one.end + start, entity=asked.entities[one.entity_id], score=one.score, detector=one.finder
        )
        for one in _reader(asked).read(under_way.text[start:end])
    ]


class RuleReader:
    """All rules for texts of one catalogue; of what they find, only the entities that the catalogue has are told."""

    def __init__(self, asked: AskedTypes) -> None:
        locale = asked.catalogue.locale
        cues = language_cues(locale[:2])
        self._entities = asked.entities
        self._rules: tuple[FindingRule, ...] = (
            LabelReader(asked),
            *_names(locale, cues),
            AddressRules(cues, locale),
            WordLists(cues, asked.catalogue),
        )

    def read(self, text: str) -> Iterator[RuleFinding]:
        """Yield what the rules find in *text*, each only as whole words."""
        for rule in self._rules:
            for one in rule.read(text):
                if one.entity_id in self._entities and one.start < one.end and stands_alone(text, one.start, one.end):
                    yield one


def _names(locale: str, cues: LanguageCues) -> Iterator[FindingRule]:
    """The rules for names of people in the scripts that texts of *locale* are written in."""
    language = locale[:2]
    known = known_names(locale[3:], language)
    if language in _UNCASED:
        yield UncasedNames(known, cues, fathers_names=language == "ar")
    if language == "zh":
        # Chinese names are written the same everywhere; the index has them for China only.
        yield HanNames(known_names("CN", language), cues)
    most_particles = 1 if language == "nl" else 3  # "Joke van den Berg van Garage …"
    yield CasedNames(known, cues, family_first=language in _FAMILY_FIRST, most_particles=most_particles)
    yield Handles(known)


@lru_cache(maxsize=64)
def _reader(asked: AskedTypes) -> RuleReader:
    return RuleReader(asked)
