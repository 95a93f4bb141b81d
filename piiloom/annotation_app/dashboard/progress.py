"""How far the annotation work is, its pace, and when it will be done at that pace."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from math import ceil

from piiloom.corpus.store.annotation_figures import finished_by_day, status_counts, work_by_day, work_left
from piiloom.corpus.store.annotation_items import ItemStatus
from piiloom.corpus.store.database import Store

STATUSES: tuple[ItemStatus, ...] = ("generated", "annotated", "agreed", "adjudicated", "validated", "rejected")
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
class Progress:
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


def progress(store: Store, today: date) -> Progress:
    """Return the progress of the work list. ``done_on`` is counted from *today*."""
    found, left = status_counts(store), work_left(store)
    days = days_of_work(store)
    by_day = _finished(days)
    per_day, done_on = _pace(by_day, left, today)
    return Progress(
        statuses={status: found.get(status, 0) for status in STATUSES},
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
