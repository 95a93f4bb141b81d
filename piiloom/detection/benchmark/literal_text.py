"""What a carrier says beside its slots, and what is personal in that: it would stand in every document of it, without a label."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from piiloom.detection.benchmark.slots import parse_carrier
from piiloom.detection.hybrid.offline_detector import OfflineDetector
from piiloom.detection.hybrid.phases import PhaseSettings
from piiloom.detection.registry import PatternDetector
from piiloom.screening.identifiers import find_identifiers

SLOT: Final = "\ue000"  # stands in place of a slot: no pattern, name or word has it
_DIGITS: Final = re.compile(r"\d{5,}")  # of any script
_CHUNK: Final = 4000
# Languages in which capitals tell a name from a word, and the names index few words from names: elsewhere it takes one carrier in ten or
# more for a name that has none (measured on those that ship).
_CASED: Final = frozenset("sv pt pl fi nl no".split())
_SURE_NAME: Final = 0.8  # a known given name beside a known family name


def literal_text(text: str) -> str:
    """Return the carrier *text* with ``SLOT`` in place of each slot. Raises ``ConfigError`` for a malformed slot."""
    return "".join(part if isinstance(part, str) else SLOT for part in parse_carrier(text))


def personal_parts(literal: str, locale: str) -> Iterator[tuple[str, str]]:
    """Yield (what it is, the words) of what is, or looks, personal in a *literal* text: numbers, identifiers, and full names.

    Names are looked for in languages where rules tell them from other words; a name may go unseen elsewhere.
    """
    for match in _DIGITS.finditer(literal):
        yield "five digits or more in a row", match[0]
    for kind, (start, end) in find_identifiers(literal, locale[3:]):
        yield kind, literal[start:end]
    for what, start, end in _detected(literal, locale):
        if SLOT not in literal[start:end]:  # else a label in front has only been taken for that of the text behind the slot
            yield what, literal[start:end]


def _detected(literal: str, locale: str) -> Iterator[tuple[str, int, int]]:
    detector = _rules() if locale[:2] in _CASED else _patterns()
    for span in detector.detect(literal, locale):
        text = literal[span.start : span.end]
        named = span.subtype == "person_name" and span.score >= _SURE_NAME and not text.isupper()
        # What a pattern takes for an id without a digit in it is a word behind a label, or a heading in capitals.
        if named or ("patterns" in span.detector and any(map(str.isdigit, text))):
            yield span.subtype or span.entity_type, span.start, span.end


@lru_cache(maxsize=1)
def _patterns() -> PatternDetector:
    return PatternDetector()


@lru_cache(maxsize=1)
def _rules() -> OfflineDetector:
    return OfflineDetector(settings=PhaseSettings(patterns=_patterns(), phases=1, chunk_chars=_CHUNK))
