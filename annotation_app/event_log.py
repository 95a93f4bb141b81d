"""Appending to the log of events with a time that never goes back, whatever the clock of the machine does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from piiloom.corpus.store.annotation_events import AnnotationEvent, NewEvent, append_events, newest_time
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.shared import SharedStore

Clock = Callable[[], datetime]


def utc_now() -> datetime:
    """The time by the clock of this machine."""
    return datetime.now(UTC)


def stamp(moment: datetime) -> str:
    """Write *moment* as events have it: ISO 8601, UTC, milliseconds; as text it sorts by time."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds")


class EventLog:
    """The log of the store *shared*."""

    def __init__(self, shared: SharedStore, clock: Clock = utc_now) -> None:
        self.clock = clock
        with shared.reading() as store:
            self._last = newest_time(store)

    def now(self) -> str:
        """The time for what happens now: no earlier than the last event's. Inside ``SharedStore.writing`` only."""
        self._last = max(self._last, stamp(self.clock()))
        return self._last

    def about_now(self) -> str:
        """The time as ``now`` would give it, from any thread; what is asked next may be told an earlier one."""
        return max(self._last, stamp(self.clock()))

    def append(self, store: Store, rows: Sequence[NewEvent]) -> list[AnnotationEvent]:
        """Add *rows* within the transaction that is open on *store* (``SharedStore.writing``)."""
        return append_events(store, rows, self.now())
