"""How far the annotation work is and its pace, and one person's own work: by day, and how it agrees with what was decided.

The consensus on a record is what it was last validated as: what all who finished it had alike, or what an adjudicator chose. Records
that nobody else has finished say nothing, so they are left out. Hidden controls count as finished on their day, or they could be told
from other records; nothing is ever decided on them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import date, timedelta
from math import ceil
from typing import Any

from piiloom.annotation_app.documents.document import EditedDocument, State
from piiloom.annotation_app.documents.merging import differences_between
from piiloom.annotation_app.figures.intervals import Share
from piiloom.corpus.store.adjudications import load_adjudications
from piiloom.corpus.store.annotation_events import list_heads, load_documents
from piiloom.corpus.store.annotation_figures import finished_by_day, status_counts, work_by_day, work_left
from piiloom.corpus.store.annotation_items import ItemStatus, load_items
from piiloom.corpus.store.database import Store

STATUS_ORDER: tuple[ItemStatus, ...] = ("generated", "annotated", "agreed", "adjudicated", "validated", "rejected")
# The pace is the mean over this many latest days with finished documents. A longer gap between two edits (seconds) is a break.
_PACE_DAYS = 7
_PAUSE_S = 300.0


@dataclass(frozen=True, slots=True, kw_only=True)
class DayOfWork:
    """One person's work on one day.

    A document counts on the day of its last edit. ``seconds`` is the working time without breaks.
    """

    day: str
    person: str
    accepted: int = 0
    rejected: int = 0
    edits: int = 0
    seconds: float = 0.0

    @property
    def finished(self) -> int:
        """Number of finished documents, accepted or rejected."""
        return self.accepted + self.rejected


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


def days_of_work(store: Store, roles: Collection[str] = ("work",)) -> tuple[DayOfWork, ...]:
    """Return the work of everybody on records of *roles*, by day and person."""
    found: dict[tuple[str, str], DayOfWork] = {}
    for day, person, edits, seconds in work_by_day(store, _PAUSE_S):
        found[day, person] = DayOfWork(day=day, person=person, edits=edits, seconds=seconds)
    for day, person, verdict, count in finished_by_day(store, roles):
        counted: dict[str, Any] = {verdict: count}
        found[day, person] = replace(found.get((day, person), DayOfWork(day=day, person=person)), **counted)
    return tuple(found[key] for key in sorted(found))


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
