"""Leases: a record is reserved for the person who works on it, until some minutes after their last activity.

No event is written when a lease expires; the place is then free for others. If it is still free when the person comes back,
they get a new lease and continue. Times are those of the log, which never go back: if the machine's clock is set back, leases
last longer.
"""

from __future__ import annotations

from typing import Any

from piiloom.annotation_app.event_log import EventLog
from piiloom.annotation_app.worklist.project_settings import SettingsStore
from piiloom.annotation_app.worklist.work_events import assignment_of, later
from piiloom.corpus.store.annotation_assignments import RecordStanding, load_assignments, put_assignments, standing
from piiloom.corpus.store.annotation_events import NewEvent
from piiloom.corpus.store.annotation_items import OPEN_STATUSES
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.opening import SharedStore
from piiloom.foundation.errors import UsageError

# Records with these roles need no lease: everybody works on their own copy at any time.
_UNLEASED_ROLES = ("practice", "qualifying")
_ASK = "Ask an adjudicator to reopen it if something is wrong with it."
_ENDED = {
    "agreed": "This record is finished: those who annotated it agree",
    "adjudicated": "This record is finished: an adjudicator has decided on it",
    "validated": "This record is finished: it has been validated",
    "rejected": "This record is finished: it has been rejected",
}


class Leases:
    """The leases of the store *shared*."""

    def __init__(self, shared: SharedStore, log: EventLog, settings: SettingsStore) -> None:
        self._shared = shared
        self._log = log
        self._settings = settings

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
                raise _taken(had=found.state is not None)
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


def _taken(*, had: bool) -> UsageError:
    if had:
        return UsageError(
            "Your time on this record ran out, and it has been given to somebody else since",
            remedy="What you changed after that is kept but does not count. Go on with the next record.",
        )
    return UsageError("This record is being annotated by somebody else", remedy="Go on with the next record.")
