"""Changes to generated documents, decisions on suggestions, progress and pace of the work, and one person's own work.

The consensus on a record is what it was last validated as: what all who finished it had alike, or what an adjudicator chose. Records
that nobody else has finished say nothing, so they are left out. Hidden controls count as finished on their day, or they could be told
from other records; nothing is ever decided on them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from math import ceil
from typing import TYPE_CHECKING, Generic, TypeVar

import numpy as np

from piiloom.annotation_app.documents.document import EditedDocument, State, document_of
from piiloom.annotation_app.documents.history import placements
from piiloom.annotation_app.documents.merging import differences_between
from piiloom.annotation_app.figures.intervals import Share
from piiloom.annotation_app.figures.spans import FinishedRecord, Integers, SpansTable, match, pair_gains, rows_of_spans, spans_table
from piiloom.corpus.store.annotation_events import (
    DayOfWork,
    days_of_work,
    list_heads,
    load_adjudications,
    load_documents,
    status_counts,
    work_left,
)
from piiloom.corpus.store.annotation_items import ItemStatus, base_records, load_items
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.judgements import ShownSuggestion, edited_documents, shown_suggestions, suggestions_for

if TYPE_CHECKING:
    import pandas as pd


_Figures = TypeVar("_Figures")
_OF_SPANS = ("before", "after", "kept", "judged", "added", "removed", "moved", "retyped", "flipped")
_OF_DOCUMENTS = ("documents", "accepted", "rejected", "question", "context", "touched")
_TOUCHING = ["added", "removed", "moved", "retyped", "flipped", "question", "context"]
# Each share that the app shows, as (numerator, denominator).
_SHARES = {
    "rejected": ("rejected", "documents"),
    "added": ("added", "after"),
    "removed": ("removed", "before"),
    "moved": ("moved", "kept"),
    "retyped": ("retyped", "kept"),
    "relevance_flipped": ("flipped", "judged"),
    "question_edited": ("question", "accepted"),
    "context_edited": ("context", "accepted"),
    "changed_at_all": ("touched", "accepted"),
}
_FATES = ("accepted", "changed", "refused", "open", "withdrawn", "waiting")
_BUCKETS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupedFigures(Generic[_Figures]):
    """Figures over all, and by name within each way of grouping (``by["model"]["openai gpt"]``)."""

    overall: _Figures
    by: Mapping[str, Mapping[str, _Figures]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """What people changed in a set of documents. A record counts once for each person who finished it.

    In ``shares``, ``added`` is a share of the spans after editing, ``removed`` of those before. ``moved`` and ``retyped`` are shares of the
    kept spans, which overlap a span of the accepted document; ``relevance_flipped`` of the kept spans whose relevance was judged twice.
    ``question_edited``, ``context_edited`` and ``changed_at_all`` are shares of the accepted documents, ``rejected`` of all. Intervals are
    Wilson's; they treat each span or document as an independent draw.
    """

    documents: int
    shares: Mapping[str, Share]


def label_changes(finished_records: Sequence[FinishedRecord]) -> GroupedFigures[Changes]:
    """Compare finished documents with the generated ones they started from. *finished_records* come from ``FinishedRecords.load``.

    Groups are by model, stage, prompt template, pair and type; a record counts in the group of each of its templates. The groups by type
    have spans by their original type, added spans by the type they were given. Questions, contexts and rejections belong to no type, so
    those shares are empty there.
    """
    import pandas as pd  # noqa: PLC0415 - takes a second, which pages without figures need not wait

    finished = [(record, version) for record in finished_records for version in record.versions]
    counts = pd.DataFrame(0, index=range(len(finished)), columns=[*_OF_DOCUMENTS, *_OF_SPANS])
    counts["documents"] = 1
    counts["accepted"] = [version.verdict == "accepted" for _, version in finished]
    counts["rejected"] = 1 - counts["accepted"]
    for name in ("question", "context"):
        counts[name] = counts["accepted"] & np.array([getattr(version, f"{name}_edited") for _, version in finished], dtype=bool)
    table = spans_table([*(record.spans for record, _ in finished), *(version.spans for _, version in finished)])
    chosen = np.flatnonzero(counts["accepted"])
    spans = _span_changes(table, chosen, len(finished) + chosen).assign(document=lambda rows: chosen[rows["comparison"]])
    counts[list(_OF_SPANS)] = pd.crosstab(spans["document"], spans["what"]).reindex(
        index=counts.index, columns=list(_OF_SPANS), fill_value=0
    )
    counts["touched"] = counts[_TOUCHING].any(axis=1)
    types = pd.crosstab(spans["type"], spans["what"]).reindex(index=range(len(table.types)), columns=counts.columns, fill_value=0)
    bases = [record.base for record, _ in finished]
    groups = {
        "model": [" ".join(filter(None, (base.provider, base.model))) or None for base in bases],
        "stage": [base.stage for base in bases],
        "prompt template": [list(dict.fromkeys(base.templates)) for base in bases],
        "pair": [base.pair for base in bases],
    }
    by = {name: _changes_by(counts, pd.Series(keys, dtype=object).explode().dropna()) for name, keys in groups.items()}
    by["type"] = {name: _changes(row) for name, (_, row) in zip(table.types, types.iterrows(), strict=True)}
    return GroupedFigures(overall=_changes(counts.sum()), by=by)


def _changes_by(counts: pd.DataFrame, keys: pd.Series[str]) -> dict[str, Changes]:
    sums = counts.loc[keys.index].groupby(keys.to_numpy()).sum()
    return {str(name): _changes(row) for name, row in sums.iterrows()}


def _changes(sums: pd.Series[int]) -> Changes:
    shares = {name: Share.of(int(sums[part]), int(sums[whole])) for name, (part, whole) in _SHARES.items()}
    return Changes(documents=int(sums["documents"]), shares=shares)


def _span_changes(table: SpansTable, left: Integers, right: Integers) -> pd.DataFrame:
    """Return a row for each span that counts as something (``what``), with its type (an index) and its comparison.

    *left* and *right* are the documents before and after editing, as indices of the table's documents; a comparison is one pair.
    """
    import pandas as pd  # noqa: PLC0415 - as above

    before, after = rows_of_spans(table, left), rows_of_spans(table, right)
    matches = match(table, left, right)
    gains = pair_gains(table, matches)
    size = len(table.document)
    removed = ~np.isin(before[0] * size + before[1], matches.comparison * size + matches.left)
    added = ~np.isin(after[0] * size + after[1], matches.comparison * size + matches.right)
    judged = gains["judged"] > 0
    pairs = {
        "kept": gains["overlap"] > 0,
        "judged": judged,
        "moved": gains["exact"] == 0,
        "retyped": gains["typed"] == 0,
        "flipped": judged & (gains["related"] == 0),
    }
    found = {"before": before, "after": after, "removed": (before[0][removed], before[1][removed])}
    found["added"] = (after[0][added], after[1][added])
    found |= {what: (matches.comparison[chosen], matches.left[chosen]) for what, chosen in pairs.items()}
    frames = [pd.DataFrame({"what": what, "comparison": places, "type": table.type[rows]}) for what, (places, rows) in found.items()]
    return pd.concat(frames, ignore_index=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Acceptance:
    """What came of suggestions, counted once for each person who has worked on their record.

    Of ``counts``, ``shown`` = ``accepted`` + ``changed`` + ``refused`` + ``open``. ``withdrawn`` were never decided, since their words were
    edited or their detector took them back. ``waiting`` are for records that nobody has begun. ``taken`` is the share of decided ones that
    are accepted or changed, ``unchanged`` the share that is accepted as suggested.
    """

    counts: Mapping[str, int]
    taken: Share
    unchanged: Share


def suggestion_figures(store: Store) -> GroupedFigures[Acceptance]:
    """Count what came of all suggestions for the work list: by detector, type, and score ("0.8–0.9"; the last bucket includes 1)."""
    import pandas as pd  # noqa: PLC0415 - as above

    gone = _withdrawn_by_edits(store)
    keys: dict[str, Callable[[ShownSuggestion], str]] = {
        "fate": lambda one: _fate(one, gone),
        "detector": lambda one: one.detector,
        "type": lambda one: one.entity_type,
        "score": lambda one: _bucket(one.score),
    }
    found = list(shown_suggestions(store))
    shown = pd.DataFrame({name: [key(one) for one in found] for name, key in keys.items()}, dtype=object)

    def accepted(fates: pd.Series[str]) -> Acceptance:
        counts = {name: int((fates == name).sum()) for name in _FATES}
        decided = counts["accepted"] + counts["changed"] + counts["refused"]
        return Acceptance(
            counts={"shown": decided + counts["open"], **counts},
            taken=Share.of(counts["accepted"] + counts["changed"], decided),
            unchanged=Share.of(counts["accepted"], decided),
        )

    by = {name: {str(key): accepted(rows) for key, rows in shown.groupby(name)["fate"]} for name in ("detector", "type", "score")}
    return GroupedFigures(overall=accepted(shown["fate"]), by=by)


def _fate(one: ShownSuggestion, gone: set[tuple[str, str | None]]) -> str:
    if one.how is not None:
        return one.how
    if one.withdrawn or (one.id, one.annotator) in gone:
        return "withdrawn"
    return "waiting" if one.annotator is None else "open"


def _bucket(score: float | None) -> str:
    if score is None:
        return "no score"
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
            placed = placements(suggestions.get(record_id, ()), document_of(bases[record_id]), EditedDocument.from_json(document))
            found |= {(one.suggestion.id, annotator) for one in placed if one.withdrawn}
    return found


STATUS_ORDER: tuple[ItemStatus, ...] = ("generated", "annotated", "agreed", "adjudicated", "validated", "rejected")
# The pace is the mean over this many latest days with finished documents.
_PACE_DAYS = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectProgress:
    """The state of a project. A document is one person's version of one record.

    ``finished`` and ``left`` count documents. ``per_day`` is the mean number of documents over the latest days on which anybody finished
    one. ``done_on`` is the expected end as an ISO date; it assumes that people keep working on the same share of days. ``per_day`` is None
    before anything is finished. ``done_on`` is None then, and when nothing is left.
    """

    statuses: dict[str, int]
    records: int
    finished: int
    left: int
    per_day: float | None
    done_on: str | None
    days: tuple[DayOfWork, ...]


def project_progress(store: Store, today: date) -> ProjectProgress:
    """Return the progress of the work list. ``done_on`` is counted from *today*."""
    found, left = status_counts(store), work_left(store)
    days = days_of_work(store)
    by_day: Counter[str] = Counter()
    for one in days:
        by_day.update({one.day: one.finished} if one.finished else {})
    per_day, done_on = _pace(by_day, left, today)
    return ProjectProgress(
        statuses={status: found.get(status, 0) for status in STATUS_ORDER},
        records=sum(found.values()),
        finished=by_day.total(),
        left=left,
        per_day=per_day,
        done_on=done_on,
        days=days,
    )


def _pace(by_day: Mapping[str, int], left: int, today: date) -> tuple[float | None, str | None]:
    recent = sorted(by_day)[-_PACE_DAYS:]
    if not recent:
        return None, None
    per_day = sum(by_day[day] for day in recent) / len(recent)
    if not left:
        return per_day, None
    # People who worked on three of the last seven days are expected to go on like that.
    spread = (date.fromisoformat(recent[-1]) - date.fromisoformat(recent[0])).days + 1
    return per_day, (today + timedelta(days=ceil(left / per_day * spread / len(recent)))).isoformat()


# The newest decisions only: people change, and older ones say little of how somebody works now.
_MOST_RECORDS = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnAgreement:
    """How one person's versions compare with the consensus.

    ``alike``: records that are equal in text, question and all spans. ``spans``: spans of the consensus that the person has equal in ends,
    type and relevance. ``kinds`` counts the differences by kind (``DifferenceKind``), ``texts`` the records whose text or question differs.
    """

    alike: Share
    spans: Share
    kinds: Counter[str]
    texts: int


def own_work(store: Store, person: str) -> tuple[tuple[DayOfWork, ...], OwnAgreement | None]:
    """Return the days on which *person* worked, oldest first, and the agreement; None while no record of theirs is decided on."""
    return tuple(day for day in days_of_work(store, ("work", "control")) if day.person == person), _agreement(store, person)


def _agreement(store: Store, person: str) -> OwnAgreement | None:
    finished = {head.record_id: head for head in list_heads(store, annotator=person) if head.verdict == "accepted"}
    decided = {item.record_id for item in load_items(store, list(finished), roles=["work"]) if item.status == "validated"}
    others = Counter(head.record_id for head in list_heads(store, record_ids=decided) if head.verdict != "open")
    several = [name for name in decided if others[name] > 1]
    final = {row.record_id: row for row in load_adjudications(store, several) if row.outcome == "validated"}
    newest = sorted(final.values(), key=lambda row: -row.event)[:_MOST_RECORDS]
    if not newest:
        return None
    consensus = {row.record_id: EditedDocument.from_json(row.document) for row in newest}
    own = load_documents(store, record_ids=list(consensus), annotator=person)
    kinds: Counter[str] = Counter()
    alike = right = expected = texts = 0
    for row in own:
        decided_on = consensus[row.record_id]
        differences = differences_between(decided_on, State.from_json(row.state).document)
        wrong = {one.left.id for one in differences if one.left is not None}
        kinds.update(one.kind for one in differences)
        alike += not differences
        texts += any(one.kind in {"text", "question"} for one in differences)
        right += sum(mark.id not in wrong for mark in decided_on.marks)
        expected += len(decided_on.marks)
    return OwnAgreement(alike=Share.of(alike, len(own)), spans=Share.of(right, expected), kinds=kinds, texts=texts)
