"""Add records to the work list, and compute their priorities."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TypeVar

from piiloom.annotation_app.event_log import EventLog
from piiloom.annotation_app.worklist.priorities import CERTAIN, Choice, Signals, choice_of, chosen, scored, signals_of, without_choice
from piiloom.annotation_app.worklist.project_settings import MOST_PEOPLE, SettingsStore
from piiloom.annotation_app.worklist.work_events import item_of
from piiloom.corpus.record import Record
from piiloom.corpus.store.annotation_events import NewEvent
from piiloom.corpus.store.annotation_items import (
    OPEN_STATUSES,
    AnnotationItem,
    add_items,
    base_records,
    disagreement_counts,
    item_facts,
    item_pair_counts,
    load_items,
    newest_ids,
    newest_records,
    pooled,
    pooled_ids,
    set_priorities,
    set_wanted,
)
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.opening import SharedStore
from piiloom.corpus.store.releases import types_of
from piiloom.corpus.store.suggestions import uncertainties
from piiloom.foundation.errors import UsageError
from piiloom.taxonomy.own_types import extended

# Number of records per event or batch.
_CHUNK = 1_000
_Row = TypeVar("_Row")


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolReport:
    """The result of pooling: how many records were added, how many were in the list before, and the ids that are not in the store.

    ``otherwise``: how many of the known ones are unfinished and for another number of people; pooling leaves that as it is.
    """

    added: int
    known: int
    otherwise: int = 0
    missing: tuple[str, ...] = ()


class Pool:
    """The work list's pool of records, in the store *shared*."""

    def __init__(self, shared: SharedStore, log: EventLog, settings: SettingsStore) -> None:
        self._shared = shared
        self._log = log
        self._settings = settings

    def add(
        self,
        actor: str,
        *,
        run_id: str | None = None,
        imported: bool = False,
        record_ids: Collection[str] | None = None,
        wanted: int | None = None,
    ) -> PoolReport:
        """Add the records of a run, all imports, or *record_ids* to the pool: the newest revision of each, unless already pooled.

        *wanted* is the number of people to annotate each record (None: the project's overlap). Raises ``UsageError`` if no source
        is named or *wanted* is not from 1 to ``MOST_PEOPLE``.
        """
        if run_id is None and not imported and record_ids is None:
            raise UsageError("nothing is named that could be annotated", remedy="Name a run, the imports, or records.")
        people = _people(self._settings.current().overlap if wanted is None else wanted)
        # The screening gates are slow for many records, so they run before the write lock is taken.
        with self._shared.reading() as store:
            looked, found = _looked_at(store, newest_records(store, run_id=run_id, imported=imported, record_ids=record_ids), people)
        with self._shared.writing() as store:
            there = pooled_ids(store, [item.record_id for item, _ in looked])
            fresh = [(item, signals) for item, signals in looked if item.record_id not in there]
            known = found - {item.record_id for item, _ in fresh}
            otherwise = len(_to_change(store, known, people))
            self._put(store, actor, fresh)
        missing = tuple(sorted(set(record_ids or ()) - found))
        return PoolReport(added=len(fresh), known=len(known), otherwise=otherwise, missing=missing)

    def prioritise(self, actor: str) -> int:
        """Recompute the priorities of all work records, e.g. after new judgments or changed weights; returns how many changed."""
        with self._shared.reading() as store:
            items = load_items(store, roles=["work"])
            against, bases = disagreement_counts(store), base_records(store, [item.record_id for item in items])
            unsure = uncertainties(store)
        looked = [
            (item, signals_of(bases[name], self._shared.taxonomy, against.get(name, 0), unsure.get(name, CERTAIN)))
            for item in items
            if (name := item.record_id) in bases
        ]
        counts, settings = Counter(signals.pair for _, signals in looked if signals.pair), self._settings.current()
        changed: list[tuple[str, float, tuple[str, ...]]] = []
        for item, signals in looked:
            priority, reasons = chosen(*scored(signals, counts, settings), choice_of(item.reasons))
            if (priority, reasons) != (item.priority, item.reasons):
                changed.append((item.record_id, priority, reasons))
        with self._shared.writing() as store:
            self._set_priorities(store, actor, changed)
        return len(changed)

    def put(self, actor: str, record_ids: Collection[str], choice: Choice) -> int:
        """Have *record_ids* come before or after all others, or in their usual place again; returns how many records changed."""
        with self._shared.writing() as store:
            items = [item for item in load_items(store, record_ids, roles=["work"]) if choice_of(item.reasons) != choice]
            changed = [(item.record_id, *chosen(*without_choice(item.priority, item.reasons), choice)) for item in items]
            self._set_priorities(store, actor, changed)
        return len(changed)

    def _set_priorities(self, store: Store, actor: str, changed: Sequence[tuple[str, float, tuple[str, ...]]]) -> None:
        for chunk in batched(changed, _CHUNK):
            rows = [[record_id, priority, list(reasons)] for record_id, priority, reasons in chunk]
            event = self._log.append(store, [NewEvent(actor=actor, kind="prioritised", entry={"items": rows})])[0]
            set_priorities(store, chunk, event.at)

    def want(
        self,
        actor: str,
        wanted: int,
        record_ids: Collection[str] | None = None,
        *,
        run_id: str | None = None,
        imported: bool = False,
    ) -> int:
        """Set how many people annotate each unfinished record among *record_ids*, of a run, or of the imports; returns how many changed.

        Without any of these: all unfinished records. Finished records are left as they are. Raises ``UsageError`` if *wanted* is not from
        1 to ``MOST_PEOPLE``.
        """
        people = _people(wanted)
        with self._shared.writing() as store:
            among = newest_ids(store, run_id=run_id, imported=imported) if run_id is not None or imported else record_ids
            others = _to_change(store, among, people)
            for chunk in batched(others, _CHUNK):
                entry = {"records": chunk, "wanted": people}
                event = self._log.append(store, [NewEvent(actor=actor, kind="pooled", entry=entry)])[0]
                set_wanted(store, chunk, people, event.at)
        return len(others)

    def _put(self, store: Store, actor: str, looked: Sequence[tuple[AnnotationItem, Signals]]) -> None:
        counts = Counter(item_pair_counts(store))
        counts.update(signals.pair for _, signals in looked if signals.pair)
        settings = self._settings.current()
        for chunk in batched(looked, _CHUNK):
            rows = []
            for item, signals in chunk:
                priority, reasons = scored(signals, counts, settings)
                rows.append(pooled(replace(item, priority=priority, reasons=reasons), actor))
            add_items(store, [item_of(event) for event in self._log.append(store, rows)])


def _looked_at(store: Store, records: Iterable[tuple[int, Record]], wanted: int) -> tuple[list[tuple[AnnotationItem, Signals]], set[str]]:
    """Return (item without priority, signals) for each record that is not pooled yet, and the ids of all *records*."""
    against, unsure, taxonomy = disagreement_counts(store), uncertainties(store), extended(types_of(store))
    looked: list[tuple[AnnotationItem, Signals]] = []
    found: set[str] = set()
    for chunk in batched(records, _CHUNK):
        found.update(record.id for _, record in chunk)
        there = pooled_ids(store, [record.id for _, record in chunk])
        for order, record in chunk:
            if record.id not in there:
                item = AnnotationItem(record_id=record.id, record_order=order, wanted=wanted, facts=item_facts(record))
                looked.append((item, signals_of(record, taxonomy, against.get(record.id, 0), unsure.get(record.id, CERTAIN))))
    return looked, found


def _to_change(store: Store, record_ids: Collection[str] | None, people: int) -> list[str]:
    """Return the unfinished records of the list (among *record_ids*) that are for another number of people than *people*."""
    return [i.record_id for i in load_items(store, record_ids, roles=["work"]) if i.wanted != people and i.status in OPEN_STATUSES]


def _people(wanted: int) -> int:
    if not 1 <= wanted <= MOST_PEOPLE:
        raise UsageError(f"{wanted} people per record is not possible", remedy=f"Give a number from 1 to {MOST_PEOPLE}.")
    return wanted


def batched(rows: Iterable[_Row], size: int) -> Iterator[list[_Row]]:
    """Yield *rows* in lists of *size*; the last one may be shorter."""
    rest = iter(rows)
    while chunk := list(islice(rest, size)):
        yield chunk
