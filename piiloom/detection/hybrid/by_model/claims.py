"""What a model says that a text has: read leniently, held against the text strictly."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple

from piiloom.corpus.mention_search import Range, SearchableText, exact_mentions, without_quotes
from piiloom.corpus.normalising import fold
from piiloom.detection.findings import SetAside
from piiloom.detection.hybrid.asked_types import AskedTypes
from piiloom.detection.hybrid.candidates import EntityCandidate
from piiloom.foundation.words import STOP_WORDS
from piiloom.taxonomy.entities.entity import Entity

MODEL: Final = "model"
SCORE: Final = 0.75  # how sure a model's finding is, that gives no score itself
_PHASE: Final = 1
_SURE: Final = frozenset({"exact", "normalised"})  # search steps that find the very value
_SHORTEST: Final = 2  # letters of a word in small letters that is no value


class Claim(NamedTuple):
    """One entry of a reply: *value*, which stands behind *before*, is *entity*."""

    entity: Entity
    value: str
    before: str


class _FoundClaim(NamedTuple):
    """A claim with its mentions in the piece (offsets of the text)."""

    claim: Claim
    ranges: tuple[Range, ...]


def read_claims(data: Any, asked: AskedTypes) -> tuple[list[Claim], list[SetAside]]:
    """Return the claims of a reply and the entries that name no kind that was asked for, each once: weak models repeat themselves."""
    claims: dict[Claim, None] = {}
    unknown: dict[SetAside, None] = {}
    for entry in data["found"]:
        entity = asked.find(entry["type"])
        if entity is None:
            unknown.setdefault(SetAside(phase=_PHASE, reason="unknown_type", subtype=entry["type"][:60], value=entry["text"]))
        else:
            claims.setdefault(Claim(entity, entry["text"], entry.get("before") or ""))
    return list(claims), list(unknown)


def candidates_of(text: str, piece: Range, claims: Sequence[Claim]) -> tuple[list[EntityCandidate], list[SetAside]]:
    """Return a candidate for every mention of what was claimed of ``text[start:end]`` (*piece*), and what the text does not have.

    Words that were found in the piece are looked for in the whole text: they mean the same everywhere. Numbers and very common words do
    not: of these, mentions behind the words that the model gave count alone, if there are such. So it is with words that are claimed to be
    several kinds.
    """
    start, end = piece
    searchable = SearchableText(text[start:end])
    by_surface: defaultdict[str, list[_FoundClaim]] = defaultdict(list)
    missing: list[SetAside] = []
    for claim in claims:
        ranges, step = searchable.find(without_quotes(claim.value) or claim.value)
        reason: str | None = None if step in _SURE else "altered" if ranges else step
        if reason is None and _is_common(claim.value) and not any(_behind(searchable.text, ranges, claim.before)):
            reason = "common_word"
        if reason is not None:
            missing.append(SetAside(phase=_PHASE, reason=reason, subtype=claim.entity.id, value=claim.value))
        else:
            first = ranges[0]
            found = _FoundClaim(claim, tuple((a + start, b + start) for a, b in ranges))
            by_surface[searchable.text[first[0] : first[1]]].append(found)
    candidates = [one for surface, found in by_surface.items() for one in _of_one_surface(text, surface, found)]
    return candidates, missing


def _is_common(value: str) -> bool:
    """Whether *value* is a word so common that it counts only where the model saw it, if it says where that is."""
    word = value.strip()
    return word.isalpha() and word.islower() and (len(word) <= _SHORTEST or word in STOP_WORDS)


def _of_one_surface(text: str, surface: str, found: Sequence[_FoundClaim]) -> Iterator[EntityCandidate]:
    several = len({one.claim.entity.id for one in found}) > 1
    words = any(map(str.isalpha, surface)) and not _is_common(surface)
    anchored = {one.claim: frozenset(_behind(text, one.ranges, one.claim.before)) for one in found}
    told = frozenset().union(*anchored.values())
    for one in found:
        everywhere = {*one.ranges, *(exact_mentions(text, surface) if words else ())}
        if several and told:
            places: Iterable[Range] = anchored[one.claim] | (everywhere - told)
        elif told and not words:
            places = anchored[one.claim]
        else:
            places = everywhere
        for a, b in sorted(places):
            yield EntityCandidate(start=a, end=b, entity=one.claim.entity, score=SCORE, detector=MODEL)


def _behind(text: str, ranges: Iterable[Range], before: str) -> Iterator[Range]:
    """Yield those of *ranges* that stand directly behind the words *before*."""
    wanted = fold(before).text.strip()
    if not wanted:
        return
    reach = 2 * len(before) + 10
    for start, end in ranges:
        if fold(text[max(0, start - reach) : start]).text.strip().endswith(wanted):
            yield start, end
