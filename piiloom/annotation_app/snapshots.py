"""Periodic snapshots while the app runs, so that a damaged store costs minutes of work and not the project."""

from __future__ import annotations

import threading
from datetime import datetime, timedelta
from pathlib import Path

from piiloom.annotation_app.event_log import Clock, utc_now
from piiloom.corpus.store.database import MEMORY
from piiloom.corpus.store.opening import SharedStore
from piiloom.corpus.store.snapshots import OldSnapshotsRemain, take_snapshot
from piiloom.corpus.store.store_files import list_snapshots, log_of, snapshot_time
from piiloom.foundation.errors import PiiloomError

_Marks = tuple[tuple[int, int], ...]


class PeriodicSnapshots:
    """A background thread that takes a snapshot of *shared* every *every_s* seconds and keeps the newest *keep*.

    It skips a snapshot if the store has not changed since the last one, so that idle hours do not push out older snapshots. ``fault`` is
    the error of the thread's last try, None if it succeeded; pages show it. An error does not stop the thread.
    """

    def __init__(self, shared: SharedStore, every_s: float, keep: int, clock: Clock = utc_now) -> None:
        self.every_s = every_s
        self.keep = keep
        self.fault: PiiloomError | None = None
        self._shared = shared
        self._clock = clock
        self._last: _Marks = ()
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Start the thread. Its first snapshot is immediate if the newest is older than the interval. No-op for an in-memory store."""
        if self._thread is None and self._shared.path is not MEMORY:
            self._stopped.clear()
            self._thread = threading.Thread(target=self._run, name="snapshots", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """Stop the thread after a snapshot in progress is done. Call it before the store is closed."""
        self._stopped.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def take(self) -> Path:
        """Take a snapshot now, whether the store has changed or not, and return its path. Raises what ``take_snapshot`` raises."""
        marks = self._marks()
        try:
            with self._shared.reading() as store:
                snapshot = take_snapshot(store, self._clock(), self.keep)
        except OldSnapshotsRemain:
            self._last = marks  # else an idle store would get a snapshot in each period, and none could be deleted
            raise
        self._last = marks
        return snapshot

    def snapshots(self) -> list[Path]:
        """List the existing snapshots, oldest first."""
        return list_snapshots(self._shared.path)

    def _run(self) -> None:
        wait = self._first_wait(self._clock())
        while not self._stopped.wait(wait):
            wait = self.every_s
            if self._marks() == self._last:
                continue
            try:
                self.take()
                self.fault = None
            except PiiloomError as error:
                self.fault = error

    def _first_wait(self, now: datetime) -> float:
        """Return the seconds from *now* until the newest snapshot is ``every_s`` old; 0 if there is none.

        A snapshot dated in the future counts as just made.
        """
        found = self.snapshots()
        made = snapshot_time(found[-1]) if found else None
        if made is None:
            return 0.0
        return max(timedelta(0), timedelta(seconds=self.every_s) - max(timedelta(0), now - made)).total_seconds()

    def _marks(self) -> _Marks:
        """Return (size, mtime in ns) of the database file and its write-ahead log. They tell whether the store has changed.

        The files are not opened: opening and closing the database file would release DuckDB's lock on it.
        """
        path = self._shared.path
        marks: list[tuple[int, int]] = []
        for file in (path, log_of(path)):
            try:
                found = file.stat()
                marks.append((found.st_size, found.st_mtime_ns))
            except OSError:
                marks.append((-1, 0))
        return tuple(marks)
