"""Assign records: the next one for a person on request, and many to several people in advance."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from piiloom.annotation_app.event_log import EventLog
from piiloom.annotation_app.worklist.leases import Leases
from piiloom.annotation_app.worklist.project_settings import ProjectSettings, SettingsStore
from piiloom.annotation_app.worklist.work_events import assignment_of
from piiloom.corpus.store.annotation_assignments import (
    assigned_loads,
    best_control,
    best_offer,
    ever_had,
    held_open,
    load_assignments,
    put_assignments,
)
from piiloom.corpus.store.annotation_events import NewEvent, list_heads, read_events
from piiloom.corpus.store.annotation_items import OPEN_STATUSES, load_items
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.opening import SharedStore
from piiloom.foundation.errors import UsageError
from piiloom.foundation.seeding import derive_rng

OfferWhy = Literal["resumed", "assigned", "new", "skipped", "held"]
# The record id, why it was chosen, and when the person's current lease on it ends (None without a lease).
_Choice = tuple[str, OfferWhy, str | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A record that is now leased to the person who asked.

    ``why``: the person had begun it ("resumed"), was assigned it, has not had it yet ("new"), had skipped it and nothing else is
    left, or has reached the lease limit and gets back the record untouched for longest ("held"). Control records count as new.
    """

    record_id: str
    why: OfferWhy
    leased_until: str


class WorkList:
    """Assigns the records of the store *shared*. A record is chosen and leased under the write lock, so no two people race for it."""

    def __init__(self, shared: SharedStore, log: EventLog, settings: SettingsStore) -> None:
        self._shared = shared
        self._log = log
        self._settings = settings
        self.leases = Leases(shared, log, settings)

    def next_for(self, person: str, besides: Collection[str] = ()) -> Offer | None:
        """Lease the next record to *person*; None if nothing is left.

        The ids in *besides* are skipped, unless the person has reached the lease limit and gets back a record they hold. Raises
        ``UsageError`` if the project requires a qualifying test that the person has not passed.
        """
        settings = self._settings.current()
        with self._shared.writing() as store:
            if settings.qualifying_needed and not has_qualified(store, person):
                raise UsageError("You have not passed the qualifying test of this project yet", remedy="Take the test first.")
            chosen = self._chosen(store, person, besides, settings)
            if chosen is None:
                return None
            record_id, why, until = chosen
            return Offer(record_id=record_id, why=why, leased_until=self.leases.keep(store, person, record_id, until))

    def _chosen(self, store: Store, person: str, besides: Collection[str], settings: ProjectSettings) -> _Choice | None:
        now = self._log.now()
        best = best_offer(store, person, now, besides)
        if best is not None and best[1] == "resumed":
            return best
        held, oldest = held_open(store, person, now)
        if oldest is not None and held >= settings.lease_limit:
            return oldest, "held", None
        if best is not None and best[1] == "new" and _is_controls_turn(settings, person, ever_had(store, person)):
            control = best_control(store, person, besides)
            return (control, "new", None) if control is not None else best
        return best

    def assign(self, actor: str, record_ids: Sequence[str], people: Sequence[str]) -> dict[str, int]:
        """Assign *record_ids* to *people* with balanced loads; returns how many records each person was assigned.

        Each record goes to as many people as it still needs. Raises ``UsageError`` if *people* is empty or a record is finished
        or not in the work list.
        """
        if not people:
            raise UsageError("nobody is named to assign the records to", remedy="Choose one person or more.")
        with self._shared.writing() as store:
            wanted, had = self._places(store, record_ids)
            dealt = deal(wanted, list(dict.fromkeys(people)), assigned_loads(store), had)
            rows = [
                NewEvent(actor=actor, kind="assigned", record_id=record_id, entry={"annotator": name})
                for record_id, names in dealt.items()
                for name in names
            ]
            put_assignments(store, [assignment_of(event) for event in self._log.append(store, rows)])
        return {name: sum(name in names for names in dealt.values()) for name in dict.fromkeys(people)}

    def _places(self, store: Store, record_ids: Sequence[str]) -> tuple[dict[str, int], dict[str, set[str]]]:
        """Return, by record id, how many people it still needs and who has it already (assigned, leased or finished)."""
        items = {item.record_id: item for item in load_items(store, record_ids, roles=["work"])}
        unfit = [name for name in record_ids if name not in items or items[name].status not in OPEN_STATUSES]
        if unfit:
            raise UsageError(
                f"{len(unfit):,} of these records cannot be assigned: finished, or not in the work list",
                where=unfit[0],
                remedy="Leave them out.",
            )
        now, chosen = self._log.now(), set(record_ids)
        had: dict[str, set[str]] = {record_id: set() for record_id in record_ids}
        for row in load_assignments(store):
            if row.record_id in chosen and (row.state == "assigned" or (row.state == "leased" and (row.leased_until or "") > now)):
                had[row.record_id].add(row.annotator)
        for head in list_heads(store, record_ids=chosen):
            if head.verdict != "open":
                had[head.record_id].add(head.annotator)
        return {record_id: max(0, items[record_id].wanted - len(had[record_id])) for record_id in record_ids}, had


def deal(
    wanted: Mapping[str, int], people: Sequence[str], loads: Mapping[str, int], had: Mapping[str, Collection[str]]
) -> dict[str, list[str]]:
    """Choose people for each record: those with the lowest load; on a tie, those who share fewest records with the ones chosen.

    *wanted* is the number of people per record id, *loads* the current load per person, *had* the people who have each record
    already. Nobody gets a record twice; a record gets fewer people if there are not enough.
    """
    load = {name: loads.get(name, 0) for name in people}
    together: dict[frozenset[str], int] = {}
    dealt: dict[str, list[str]] = {}
    for record_id, places in wanted.items():
        chosen: list[str] = []
        free = [name for name in people if name not in had.get(record_id, ())]
        while free and len(chosen) < places:
            name = min(free, key=lambda who: (load[who], sum(together.get(frozenset((who, other)), 0) for other in chosen)))
            for other in chosen:
                pair = frozenset((name, other))
                together[pair] = together.get(pair, 0) + 1
            free.remove(name)
            chosen.append(name)
            load[name] += 1
        dealt[record_id] = chosen
    return dealt


def has_qualified(store: Store, person: str) -> bool:
    """Whether *person* has ever passed the qualifying test."""
    return any(event.entry.get("passed") for event in read_events(store, actor=person, kinds=["qualified"]))


def _is_controls_turn(settings: ProjectSettings, person: str, given: int) -> bool:
    """Draw, from the seed, whether the record that follows *given* earlier ones is a control record; people cannot predict it."""
    return derive_rng("control turn", settings.seed, person, given).random() < settings.control_share
