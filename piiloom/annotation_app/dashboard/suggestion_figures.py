"""What people make of suggestions, by detector, by type and by score."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from piiloom.annotation_app.documents.document import Document, document_of
from piiloom.annotation_app.documents.suggestions import placements
from piiloom.annotation_app.shares import Share
from piiloom.corpus.store.annotation_items import base_records
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.suggestions import ShownSuggestion, Suggestion, edited_documents, shown_suggestions, suggestions_for

_BUCKETS = 10
NO_SCORE = "no score"


@dataclass(frozen=True, slots=True, kw_only=True)
class Acceptance:
    """What came of suggestions, counted once for each person who has worked on their record.

    ``shown`` = ``accepted`` + ``changed`` + ``refused`` + ``open``. ``withdrawn`` were never decided, since their words were edited or
    their detector took them back. ``waiting`` are for records that nobody has begun. ``taken`` is the share of decided ones that are
    accepted or changed, ``unchanged`` the share that is accepted as suggested.
    """

    accepted: int
    changed: int
    refused: int
    open: int
    withdrawn: int
    waiting: int

    @property
    def shown(self) -> int:
        """How many people could decide on."""
        return self.accepted + self.changed + self.refused + self.open

    @property
    def taken(self) -> Share:
        """The share of decided suggestions of which a span came."""
        return Share.of(self.accepted + self.changed, self.accepted + self.changed + self.refused)

    @property
    def unchanged(self) -> Share:
        """The share of decided suggestions that were right as they were."""
        return Share.of(self.accepted, self.accepted + self.changed + self.refused)


@dataclass(frozen=True, slots=True, kw_only=True)
class SuggestionFigures:
    """The acceptance of all suggestions, and by detector, type, and score ("0.8–0.9"; the last bucket includes 1)."""

    overall: Acceptance
    by_detector: Mapping[str, Acceptance]
    by_type: Mapping[str, Acceptance]
    by_score: Mapping[str, Acceptance]


def suggestion_figures(store: Store) -> SuggestionFigures:
    """Count what came of all suggestions for the work list."""
    found = list(shown_suggestions(store))
    gone = _withdrawn_by_edits(store)
    states = [_state(one, gone) for one in found]

    def grouped(key: Callable[[ShownSuggestion], str]) -> dict[str, Acceptance]:
        groups: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for one, state in zip(found, states, strict=True):
            groups[key(one)][state] += 1
        return {name: _acceptance(groups[name]) for name in sorted(groups)}

    return SuggestionFigures(
        overall=_acceptance(Counter(states)),
        by_detector=grouped(lambda one: one.detector),
        by_type=grouped(lambda one: one.entity_type),
        by_score=grouped(lambda one: _bucket(one.score)),
    )


def _state(one: ShownSuggestion, gone: set[tuple[str, str | None]]) -> str:
    if one.how is not None:
        return one.how
    if one.withdrawn or (one.id, one.annotator) in gone:
        return "withdrawn"
    return "waiting" if one.annotator is None else "open"


def _acceptance(counts: Counter[str]) -> Acceptance:
    return Acceptance(**{name: counts[name] for name in ("accepted", "changed", "refused", "open", "withdrawn", "waiting")})


def _bucket(score: float | None) -> str:
    if score is None:
        return NO_SCORE
    low = min(int(score * _BUCKETS), _BUCKETS - 1)
    return f"{low / _BUCKETS:.1f}–{(low + 1) / _BUCKETS:.1f}"


def _withdrawn_by_edits(store: Store) -> set[tuple[str, str | None]]:
    """Return (suggestion, person) where that person's edits of the text left no place for it."""
    edited = edited_documents(store)
    record_ids = sorted({record_id for record_id, _ in edited})
    bases, suggestions = base_records(store, record_ids), suggestions_for(store, record_ids)
    found: set[tuple[str, str | None]] = set()
    for (record_id, annotator), document in edited.items():
        if record_id in bases:
            base, now = document_of(bases[record_id]), Document.from_json(document)
            found |= {(name, annotator) for name in _nowhere(suggestions.get(record_id, ()), base, now)}
    return found


def _nowhere(suggestions: Sequence[Suggestion], base: Document, now: Document) -> set[str]:
    return {one.suggestion.id for one in placements(suggestions, base, now) if one.withdrawn}
