"""Changes that people made to generated documents, by origin and type, and decisions on suggestions, by detector, type and score."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from piiloom.annotation_app.documents.applying import placements
from piiloom.annotation_app.documents.document import EditedDocument, document_of
from piiloom.annotation_app.figures.finished_records import FinishedRecord
from piiloom.annotation_app.figures.intervals import Share
from piiloom.annotation_app.figures.spans import Floats, Integers, SpansTable, match, pair_gains, rows_of_spans, spans_table
from piiloom.corpus.store.annotation_items import base_records
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.judgements import ShownSuggestion, edited_documents, shown_suggestions
from piiloom.corpus.store.suggestions import Suggestion, suggestions_for

# Columns of the count matrices: counts of spans, then counts of documents.
_OF_SPANS = ("before", "after", "kept", "judged", "added", "removed", "moved", "retyped", "flipped")
_OF_DOCUMENTS = ("documents", "accepted", "question", "context", "touched")
_AT = {name: place for place, name in enumerate((*_OF_SPANS, *_OF_DOCUMENTS))}
# Each share that the app shows, as (numerator column, denominator column).
_SHARES = {
    "added": ("added", "after"),
    "removed": ("removed", "before"),
    "moved": ("moved", "kept"),
    "retyped": ("retyped", "kept"),
    "relevance_flipped": ("flipped", "judged"),
    "question_edited": ("question", "accepted"),
    "context_edited": ("context", "accepted"),
    "changed_at_all": ("touched", "accepted"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """What people changed in a set of documents. A record counts once for each person who finished it.

    ``added`` is a share of the spans after editing, ``removed`` of those before. ``moved`` and ``retyped`` are shares of the kept spans,
    which overlap a span of the accepted document; ``relevance_flipped`` of the kept spans whose relevance was judged both times.
    ``question_edited``, ``context_edited`` and ``changed_at_all`` are shares of the accepted documents, ``rejected`` of all. Intervals are
    Wilson's; they treat each span or document as an independent draw.
    """

    documents: int
    rejected: Share
    added: Share
    removed: Share
    moved: Share
    retyped: Share
    relevance_flipped: Share
    question_edited: Share
    context_edited: Share
    changed_at_all: Share


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelChanges:
    """The changes over all documents and by group name. A record counts in the group of each of its templates.

    ``by_type`` groups spans by their original type, added spans by the type they were given. Questions, contexts and rejections belong to
    no type, so those shares are empty there.
    """

    overall: Changes
    by_stage: dict[str, Changes]
    by_template: dict[str, Changes]
    by_model: dict[str, Changes]
    by_pair: dict[str, Changes]
    by_type: dict[str, Changes]


def label_changes(finished_records: Sequence[FinishedRecord]) -> LabelChanges:
    """Compare finished documents with the generated ones they started from. *finished_records* come from ``FinishedRecords.load``."""
    owners = [record for record, finished_record in enumerate(finished_records) for _ in finished_record.versions]
    table, counts, by_type = _counted(finished_records)
    everything = counts.sum(axis=0)

    def grouped(names: Iterable[Iterable[str | None]]) -> dict[str, Changes]:
        groups: dict[str, set[int]] = {}
        for record, of_record in enumerate(names):
            for name in of_record:
                if name is not None:
                    groups.setdefault(name, set()).add(record)
        owner = np.array(owners, dtype=np.int64)
        return {name: _changes(counts[np.isin(owner, list(groups[name]))].sum(axis=0)) for name in sorted(groups)}

    bases = [finished_record.base for finished_record in finished_records]
    return LabelChanges(
        overall=_changes(everything),
        by_stage=grouped([base.stage] for base in bases),
        by_template=grouped(base.templates for base in bases),
        by_model=grouped([_model(base.provider, base.model)] for base in bases),
        by_pair=grouped([base.pair] for base in bases),
        by_type={name: _changes(by_type[place]) for place, name in enumerate(table.types)},
    )


def _model(provider: str | None, model: str | None) -> str | None:
    return " ".join(part for part in (provider, model) if part) or None


def _counted(finished_records: Sequence[FinishedRecord]) -> tuple[SpansTable, Floats, Floats]:
    """Return the table of spans, the counts by document (documents x columns), and the span counts by type (types x columns)."""
    bases = [finished_record.spans for finished_record in finished_records]
    finished = [(record, version) for record, finished_record in enumerate(finished_records) for version in finished_record.versions]
    size, accepted = len(finished), np.array([version.verdict == "accepted" for _, version in finished], dtype=bool)
    table = spans_table([*bases, *(version.spans for _, version in finished)])
    left = np.array([record for record, _ in finished], dtype=np.int64)
    right = len(bases) + np.arange(size)
    counts = np.zeros((size, len(_AT)))
    counts[:, _AT["documents"]], counts[:, _AT["accepted"]] = 1, accepted
    for name in ("question", "context"):
        counts[:, _AT[name]] = accepted & np.array([getattr(version, f"{name}_edited") for _, version in finished], dtype=bool)
    by_type = np.zeros((len(table.types), len(_AT)))
    for name, documents, rows in _span_counts(table, left[accepted], right[accepted]):
        whose = np.flatnonzero(accepted)[documents]
        counts[:, _AT[name]] += np.bincount(whose, minlength=size)
        by_type[:, _AT[name]] += np.bincount(table.type[rows], minlength=len(table.types))
    names = ("added", "removed", "moved", "retyped", "flipped", "question", "context")
    counts[:, _AT["touched"]] = counts[:, [_AT[name] for name in names]].any(axis=1)
    return table, counts, by_type


def _span_counts(table: SpansTable, left: Integers, right: Integers) -> list[tuple[str, Integers, Integers]]:
    """Return (column name, comparisons, table rows) for each span column; the two arrays have one entry per counted span.

    *left* and *right* are the documents before and after editing, as indices of the table's documents; a comparison is one pair.
    """
    before, after = rows_of_spans(table, left), rows_of_spans(table, right)
    matches = match(table, left, right)
    gains = pair_gains(table, matches)
    removed = ~np.isin(before[0] * len(table.document) + before[1], matches.comparison * len(table.document) + matches.left)
    added = ~np.isin(after[0] * len(table.document) + after[1], matches.comparison * len(table.document) + matches.right)
    found = [("before", *before), ("after", *after), ("removed", before[0][removed], before[1][removed])]
    found += [("added", after[0][added], after[1][added])]
    for name, chosen in (
        ("kept", gains["overlap"] > 0),
        ("judged", gains["judged"] > 0),
        ("moved", gains["exact"] == 0),
        ("retyped", gains["typed"] == 0),
        ("flipped", (gains["judged"] > 0) & (gains["related"] == 0)),
    ):
        found.append((name, matches.comparison[chosen], matches.left[chosen]))
    return found


def _changes(sums: Floats) -> Changes:
    def count(name: str) -> int:
        return int(sums[_AT[name]])

    shares = {name: Share.of(count(part), count(whole)) for name, (part, whole) in _SHARES.items()}
    documents = count("documents")
    return Changes(documents=documents, rejected=Share.of(documents - count("accepted"), documents), **shares)


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
            base, now = document_of(bases[record_id]), EditedDocument.from_json(document)
            found |= {(name, annotator) for name in _nowhere(suggestions.get(record_id, ()), base, now)}
    return found


def _nowhere(suggestions: Sequence[Suggestion], base: EditedDocument, now: EditedDocument) -> set[str]:
    return {one.suggestion.id for one in placements(suggestions, base, now) if one.withdrawn}
