"""Append events to the log with timestamps that never go backward, even if the machine's clock does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from piiloom.corpus.store.annotation_events import AnnotationEvent, NewEvent, append_events, newest_time
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.opening import SharedStore

Clock = Callable[[], datetime]


def utc_now() -> datetime:
    """Return the current UTC time by this machine's clock."""
    return datetime.now(UTC)


def stamp(moment: datetime) -> str:
    """Format *moment* as events store it: ISO 8601 in UTC with milliseconds. Such strings sort by time."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds")


class EventLog:
    """The event log of the store *shared*. *clock* returns the current time as an aware ``datetime``."""

    def __init__(self, shared: SharedStore, clock: Clock = utc_now) -> None:
        self.clock = clock
        with shared.reading() as store:
            self._last = newest_time(store)

    def now(self) -> str:
        """Return the timestamp of an event that happens now, never earlier than the last one. Only inside ``SharedStore.writing``."""
        self._last = max(self._last, stamp(self.clock()))
        return self._last

    def about_now(self) -> str:
        """Return the timestamp that ``now`` would give. Safe in any thread; a later call may return an earlier time."""
        return max(self._last, stamp(self.clock()))

    def append(self, store: Store, rows: Sequence[NewEvent]) -> list[AnnotationEvent]:
        """Append *rows* at the current time, within the transaction open on *store* (``SharedStore.writing``), and return the events."""
        return append_events(store, rows, self.now())
