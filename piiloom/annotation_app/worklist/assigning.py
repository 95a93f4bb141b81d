"""The settings of a project, and who gets which record by assignments and leases.

A leased record is reserved for the person who works on it, until some minutes after their last activity. No event is written when a lease
expires; the place is then free for others. If it is still free when the person comes back, they get a new lease and continue. Times are
those of the log, which never go back: if the machine's clock is set back, leases last longer.

Annotators work independently, so they see others' work only if the project allows it.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter, ValidationError

from piiloom.annotation_app.event_log import EventLog, StoreService, assignment_of, later
from piiloom.annotation_app.people.accounts import AppUser
from piiloom.corpus.store.annotation_events import NewEvent, list_heads, read_events
from piiloom.corpus.store.annotation_items import OPEN_STATUSES, load_items
from piiloom.corpus.store.annotation_project import (
    GuidelineQuestion,
    RecordStanding,
    assigned_loads,
    best_control,
    best_offer,
    ever_had,
    held_open,
    load_assignments,
    put_assignments,
    put_setting,
    read_settings,
    standing,
)
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.opening import SharedStore
from piiloom.foundation.errors import UsageError
from piiloom.foundation.seeding import derive_rng

MOST_PEOPLE = 50
DEFAULT_WEIGHTS = {"judges": 1.0, "screening": 0.8, "rare": 0.3, "random": 0.2}


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectSettings:
    """All settings of a project.

    ``overlap``: people per record, for records pooled from now on. ``blind``: annotators do not see where a record's labels come
    from. ``see_others``: annotators see others' work. ``lease_minutes``: how long a record is reserved for an inactive person.
    ``lease_limit``: unfinished records that one person can hold at once. ``qualifying_needed`` and ``qualifying_threshold``:
    whether people must pass a test first, and the passing score. ``control_share``: the share of control records among the new
    records handed out. ``priority_weights`` and ``by_uncertainty`` (of suggestions): see ``worklist.pool``. ``seed``: for all
    random draws.
    """

    overlap: int = 1
    blind: bool = True
    see_others: bool = False
    lease_minutes: int = 30
    lease_limit: int = 10
    qualifying_needed: bool = False
    qualifying_threshold: float = 0.8
    control_share: float = 0.0
    priority_weights: Mapping[str, float] = field(default_factory=lambda: dict(DEFAULT_WEIGHTS))
    by_uncertainty: bool = False
    seed: int = 0


_NAMES = tuple(f.name for f in fields(ProjectSettings))


class SettingsStore(StoreService):
    """The settings in the store *shared*, cached in memory because only this process changes them. Thread-safe."""

    def __init__(self, shared: SharedStore, log: EventLog) -> None:
        super().__init__(shared, log)
        self._keeping = threading.Lock()
        self._known: ProjectSettings | None = None
        self._changes = 0

    def current(self) -> ProjectSettings:
        """Return the current settings."""
        known = self._known
        if known is None:
            before = self._changes
            with self._shared.reading() as store:
                known = settings_from(read_settings(store))
            with self._keeping:
                if self._changes == before:  # otherwise the settings read may be older than a concurrent change
                    self._known = known
        return known

    def change(self, actor: str, name: str, value: Any) -> ProjectSettings:
        """Set one setting and return all; raises ``UsageError`` for an unknown name or an invalid value."""
        checked = _checked(name, value)
        with self._shared.writing() as store:
            self._log.append(store, [NewEvent(actor=actor, kind="setting", entry={"name": name, "value": checked})])
            put_setting(store, name, checked)
        with self._keeping:
            self._changes += 1
            self._known = None
        return self.current()


class ProjectService(StoreService):
    """A service over a store that follows the settings of the project."""

    def __init__(self, shared: SharedStore, log: EventLog, settings: SettingsStore) -> None:
        super().__init__(shared, log)
        self._settings = settings


def settings_from(values: Mapping[str, Any]) -> ProjectSettings:
    """Build the settings from stored *values*; unknown names are ignored."""
    return ProjectSettings(**{name: value for name, value in values.items() if name in _NAMES})


def _checked(name: str, value: Any) -> Any:
    if name not in _CHECKS:
        raise UsageError(f"there is no setting {name!r}", remedy=f"Known: {', '.join(_NAMES)}.")
    accepted, wish = _CHECKS[name]
    try:
        TypeAdapter(accepted).validate_python(value, strict=True)
    except ValidationError as error:
        raise UsageError(f"{name} cannot be {value!r}", remedy=f"It must be {wish}.") from error
    return value


def _whole(low: int, high: int) -> Any:
    return Annotated[int, Field(ge=low, le=high)]


# The type and range of each setting, and their description.
_CHECKS: dict[str, tuple[Any, str]] = {
    "overlap": (_whole(1, MOST_PEOPLE), f"a whole number from 1 to {MOST_PEOPLE}"),
    "blind": (bool, "true or false"),
    "see_others": (bool, "true or false"),
    "lease_minutes": (_whole(1, 10_080), "a whole number of minutes, at most a week"),
    "lease_limit": (_whole(1, 1_000), "a whole number from 1 to 1000"),
    "qualifying_needed": (bool, "true or false"),
    "qualifying_threshold": (Annotated[float, Field(ge=0, le=1)], "a number from 0 to 1"),
    "control_share": (Annotated[float, Field(ge=0, le=0.5)], "a number from 0 to 0.5"),
    "priority_weights": (
        dict[Literal["judges", "screening", "rare", "random"], Annotated[float, Field(ge=0, allow_inf_nan=False)]],
        f"numbers from 0 on for {', '.join(DEFAULT_WEIGHTS)}",
    ),
    "by_uncertainty": (bool, "true or false"),
    "seed": (_whole(0, 2**63 - 1), "a whole number from 0 on"),
}


def may_see_people(person: AppUser, settings: ProjectSettings) -> bool:
    """Whether *person* may see who works on what, and what others flagged."""
    return person.may("adjudicator") or settings.see_others


def may_see_why(person: AppUser, settings: ProjectSettings) -> bool:
    """Whether *person* may see where a record's labels come from: plan, judges, model, priority."""
    return person.may("adjudicator") or not settings.blind


def may_see_question(person: AppUser, question: GuidelineQuestion, *, by_name: bool) -> bool:
    """Whether *person*, who sees others' names or not (*by_name*), may see *question*.

    Other people's unanswered questions are hidden: they could bias those who still have to annotate the record.
    """
    return by_name or bool(question.answer) or question.asked_by == person.name


def may_manage(person: AppUser) -> bool:
    """Whether *person* may pool, assign and release records and change settings."""
    return person.may("admin")


# Records with these roles need no lease: everybody works on their own copy at any time.
_UNLEASED_ROLES = ("practice", "qualifying")
_ASK = "Ask an adjudicator to reopen it if something is wrong with it."
_ENDED = {
    "agreed": "This record is finished: those who annotated it agree",
    "adjudicated": "This record is finished: an adjudicator has decided on it",
    "validated": "This record is finished: it has been validated",
    "rejected": "This record is finished: it has been rejected",
}


class Leases(ProjectService):
    """The leases of the store *shared*."""

    def may_edit(self, person: str, record_id: str) -> None:
        """Check that *person* may edit *record_id* now, and take or extend the lease.

        A person without a lease gets one if a place is free. Raises ``UsageError``, with a reason for the user, if the record is
        finished, taken, deleted or not in the work list.
        """
        with self._shared.writing() as store:
            now = self._log.now()
            found = self._standing(store, person, record_id, now)
            if found.role in _UNLEASED_ROLES:
                return
            if found.status not in OPEN_STATUSES:
                raise UsageError(_ENDED.get(found.status, "This record is finished"), remedy=_ASK)
            held = found.leased_until is not None and found.leased_until > now
            if not held and not (found.finished or found.state == "assigned" or found.role == "control") and found.others >= found.wanted:
                if found.state is None:
                    raise UsageError("This record is being annotated by somebody else", remedy="Go on with the next record.")
                raise UsageError(
                    "Your time on this record ran out, and it has been given to somebody else since",
                    remedy="What you changed after that is kept but does not count. Go on with the next record.",
                )
            self.keep(store, person, record_id, found.leased_until)

    def take(self, store: Store, person: str, record_id: str) -> str:
        """Lease *record_id* to *person* without checking that a place is free; returns the end. Call this inside a transaction."""
        until = later(self._log.now(), self._settings.current().lease_minutes)
        self._note(store, NewEvent(actor=person, kind="leased", record_id=record_id, entry={"until": until}))
        return until

    def keep(self, store: Store, person: str, record_id: str, until: str | None) -> str:
        """Like ``take``, but keep the current lease, which ends at *until*, while more than half of its time remains."""
        if until is not None and until > later(self._log.now(), self._settings.current().lease_minutes / 2):
            return until
        return self.take(store, person, record_id)

    def renew(self, person: str, record_id: str) -> None:
        """Extend the lease of a person who is only reading; raises the same errors as ``may_edit``.

        Pages call this at each rerun, so it takes the write lock only if less than half of the lease time remains.
        """
        with self._shared.reading() as store:
            now = self._log.about_now()
            found = self._standing(store, person, record_id, now)
        fresh_until = later(now, self._settings.current().lease_minutes / 2)
        if found.status in OPEN_STATUSES and found.leased_until is not None and found.leased_until > fresh_until:
            return
        self.may_edit(person, record_id)

    def skip(self, person: str, record_id: str) -> None:
        """Skip *record_id*: *person* is offered it again only if nothing else is left for them. Others may get it."""
        with self._shared.writing() as store:
            self._standing(store, person, record_id, self._log.now())
            self._note(store, NewEvent(actor=person, kind="skipped", record_id=record_id))

    def release(self, person: str, record_id: str, *, actor: str | None = None) -> None:
        """End the lease or assignment of *person* on *record_id*; nothing happens if there is none.

        *actor* is the admin who does this for somebody else; None means the person themselves.
        """
        with self._shared.writing() as store:
            found = self._standing(store, person, record_id, self._log.now())
            if found.state in {"leased", "assigned"}:
                self._note(store, _released(person, record_id, actor))

    def release_all(self, person: str, *, actor: str | None = None, assigned: bool = False) -> int:
        """End all leases of *person* (for logging out) and, with *assigned*, all assignments (for a person who left).

        Returns how many were ended. *actor* is as in ``release``.
        """
        states = {"leased", "assigned"} if assigned else {"leased"}
        with self._shared.writing() as store:
            now = self._log.now()
            held = [row for row in load_assignments(store, annotator=person) if row.state in states]
            live = [row for row in held if row.leased_until is None or row.leased_until > now]
            self._note(store, *(_released(person, row.record_id, actor) for row in live))
        return len(live)

    def _standing(self, store: Store, person: str, record_id: str, now: str) -> RecordStanding:
        found = standing(store, person, record_id, now)
        if found is None:
            raise UsageError("This record is not in the work list", where=record_id, remedy="Go back to the list.")
        if not found.stored:
            raise UsageError("This record was deleted from the store", where=record_id, remedy="Go on with the next one.")
        return found

    def _note(self, store: Store, *rows: NewEvent) -> None:
        put_assignments(store, [assignment_of(event) for event in self._log.append(store, rows)])


def _released(person: str, record_id: str, actor: str | None) -> NewEvent:
    entry: dict[str, Any] = {} if actor in {None, person} else {"annotator": person}
    return NewEvent(actor=actor or person, kind="released", record_id=record_id, entry=entry)


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


class WorkList(ProjectService):
    """Assigns the records of the store *shared*. A record is chosen and leased under the write lock, so no two people race for it."""

    def __init__(self, shared: SharedStore, log: EventLog, settings: SettingsStore) -> None:
        super().__init__(shared, log, settings)
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
            dealt = dealt_out(wanted, list(dict.fromkeys(people)), assigned_loads(store), had)
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


def dealt_out(
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
