"""How far the annotation work is and its pace, and one person's own work: by day, and how it agrees with what was decided.

The consensus on a record is what it was last validated as: what all who finished it had alike, or what an adjudicator chose. Records
that nobody else has finished say nothing, so they are left out. Hidden controls count as finished on their day, or they could be told
from other records; nothing is ever decided on them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from math import ceil

from piiloom.annotation_app.documents.document import EditedDocument, State
from piiloom.annotation_app.documents.merging import differences_between
from piiloom.annotation_app.figures.intervals import Share
from piiloom.corpus.store.adjudications import load_adjudications
from piiloom.corpus.store.annotation_documents import list_heads, load_documents
from piiloom.corpus.store.annotation_figures import finished_by_day, status_counts, work_by_day, work_left
from piiloom.corpus.store.annotation_items import Status, load_items
from piiloom.corpus.store.database import Store

STATUS_ORDER: tuple[Status, ...] = ("generated", "annotated", "agreed", "adjudicated", "validated", "rejected")
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
    by_day = _finished(days)
    per_day, done_on = _pace(by_day, left, today)
    return ProjectProgress(
        statuses={status: found.get(status, 0) for status in STATUS_ORDER},
        records=sum(found.values()),
        finished=sum(by_day.values()),
        left=left,
        per_day=per_day,
        done_on=done_on,
        days=days,
    )


def days_of_work(store: Store, roles: Collection[str] = ("work",)) -> tuple[DayOfWork, ...]:
    """Return the work of everybody on records of *roles*, by day and person."""
    documents: dict[tuple[str, str], dict[str, int]] = {}
    for day, person, verdict, count in finished_by_day(store, roles):
        documents.setdefault((day, person), {})[verdict] = count
    work = {(day, person): (edits, seconds) for day, person, edits, seconds in work_by_day(store, _PAUSE_S)}
    found = []
    for day, person in sorted(documents.keys() | work.keys()):
        verdicts, (edits, seconds) = documents.get((day, person), {}), work.get((day, person), (0, 0.0))
        accepted, rejected = verdicts.get("accepted", 0), verdicts.get("rejected", 0)
        found.append(DayOfWork(day=day, person=person, accepted=accepted, rejected=rejected, edits=edits, seconds=seconds))
    return tuple(found)


def _finished(days: Iterable[DayOfWork]) -> dict[str, int]:
    by_day: dict[str, int] = {}
    for one in days:
        if one.finished:
            by_day[one.day] = by_day.get(one.day, 0) + one.finished
    return by_day


def _pace(by_day: dict[str, int], left: int, today: date) -> tuple[float | None, str | None]:
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
    """How one person's versions of ``records`` compare with the consensus.

    ``alike``: records that are equal in text, question and all spans. ``spans``: spans of the consensus that the person has equal in ends,
    type and relevance. The other counts are of differences: spans that the person lacks or has too many, and those with other ends,
    another type, another relevance.
    """

    records: int
    alike: Share
    spans: Share
    missed: int
    surplus: int
    ends: int
    types: int
    relevance: int
    texts: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnWork:
    """The days on which the person worked, oldest first, and the agreement; None while no record of theirs is decided on."""

    days: tuple[DayOfWork, ...]
    agreement: OwnAgreement | None


def own_work(store: Store, person: str) -> OwnWork:
    """Return the work of *person*."""
    days = tuple(day for day in days_of_work(store, ("work", "control")) if day.person == person)
    return OwnWork(days=days, agreement=_agreement(store, person))


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
    return _compared([(consensus[row.record_id], State.from_json(row.state).document) for row in own])


def _compared(pairs: list[tuple[EditedDocument, EditedDocument]]) -> OwnAgreement:
    kinds: Counter[str] = Counter()
    alike = right = expected = texts = 0
    for consensus, own in pairs:
        differences = differences_between(consensus, own)
        wrong = {one.left.id for one in differences if one.left is not None}
        kinds.update(one.kind for one in differences)
        alike += not differences
        texts += any(one.kind in {"text", "question"} for one in differences)
        right += sum(mark.id not in wrong for mark in consensus.marks)
        expected += len(consensus.marks)
    return OwnAgreement(
        records=len(pairs),
        alike=Share.of(alike, len(pairs)),
        spans=Share.of(right, expected),
        missed=kinds["only_left"],
        surplus=kinds["only_right"],
        ends=kinds["boundary"],
        types=kinds["type"],
        relevance=kinds["relevance"],
        texts=texts,
    )
