"""All services over one open store with its periodic snapshots, and the holder of those of this process.

Add further services here, and only here. The holder is a module global, since pages, routes and callbacks all need it and Streamlit's
``cache_resource`` belongs to one script.
"""

from __future__ import annotations

import threading
from datetime import datetime, timedelta
from pathlib import Path

from piiloom.annotation_app.adjudication.resolving import Resolver
from piiloom.annotation_app.event_log import Clock, Comments, EventLog, utc_now
from piiloom.annotation_app.figures.spans import FinishedRecords
from piiloom.annotation_app.onboarding.controls import Controls
from piiloom.annotation_app.onboarding.exercises import Practice, QualifyingTest
from piiloom.annotation_app.onboarding.guidelines import Guidelines
from piiloom.annotation_app.people.accounts import Accounts
from piiloom.annotation_app.people.logins import LoginService
from piiloom.annotation_app.project_files import ProjectFiles
from piiloom.annotation_app.sync.service import DocumentService
from piiloom.annotation_app.worklist.assigning import SettingsStore, WorkList
from piiloom.annotation_app.worklist.detection_runs import DetectionRuns, Detectors, SuggestionIntake
from piiloom.annotation_app.worklist.pool import Pool, RecordLists
from piiloom.corpus.store.annotation_project import newest_version
from piiloom.corpus.store.database import MEMORY, Store
from piiloom.corpus.store.derived_stores import OldSnapshotsRemain, take_snapshot
from piiloom.corpus.store.opening import SharedStore
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


# DuckDB limits. Enough for aggregates over a large store; the commands use less.
_MEMORY, _THREADS = "512MB", 2
SNAPSHOT_EVERY_S, KEEP_SNAPSHOTS = 900.0, 24


class Services:
    """The open store and all services on it. Admins can choose among *detectors*. Snapshots begin with ``snapshots.start``."""

    def __init__(
        self, path: Path, shared: SharedStore, clock: Clock, snapshot_every_s: float, keep_snapshots: int, detectors: Detectors | None
    ) -> None:
        self.path, self.shared, self.files = path, shared, ProjectFiles(path)
        self.log = log = EventLog(shared, clock)
        self.accounts = Accounts(shared, log)
        self.logins = LoginService(shared, log, self.accounts)
        self.settings = settings = SettingsStore(shared, log)
        self.pool = Pool(shared, log, settings)
        self.work = WorkList(shared, log, settings)
        self.lists = RecordLists(shared, log, settings)
        self.resolver = Resolver(shared, log)
        may_edit, on_saved = self.work.leases.may_edit, self.resolver.on_saved
        self.documents = DocumentService(shared, log, may_edit=may_edit, guideline=newest_version, on_saved=on_saved)
        self.finished_records = FinishedRecords()
        self.guidelines = Guidelines(shared, log)
        self.guidelines.ensure()
        self.practice = Practice(shared, log, settings)
        self.test = QualifyingTest(shared, log, settings, self.documents.reopen)
        self.controls = Controls(shared, log, settings)
        self.comments = Comments(shared, log)
        self.suggestions = SuggestionIntake(shared, log, settings, self.pool)
        self.detection = DetectionRuns(shared, log, self.suggestions, detectors)
        self.snapshots = PeriodicSnapshots(shared, snapshot_every_s, keep_snapshots, clock)

    def close(self) -> None:
        """Stop a detector at work and the snapshots, and close the store once a running write is done."""
        self.detection.stop()
        self.snapshots.stop()
        self.shared.close()


def open_services(
    path: Path,
    *,
    clock: Clock = utc_now,
    snapshot_every_s: float = SNAPSHOT_EVERY_S,
    keep_snapshots: int = KEEP_SNAPSHOTS,
    detectors: Detectors | None = None,
) -> Services:
    """Open the existing store at *path* and build its services. Raises what ``Store.open`` raises."""
    store = Store.open(path, create=False, memory_limit=_MEMORY, threads=_THREADS)
    try:
        return Services(path, SharedStore(store), clock, snapshot_every_s, keep_snapshots, detectors)
    except BaseException:
        store.close()
        raise


_held: list[Services] = []


def set_services(services: Services | None) -> None:
    """Set the services of this process; None removes them."""
    _held[:] = [] if services is None else [services]


def get_services() -> Services:
    """Return the services of this process. Raises ``RuntimeError`` if there are none."""
    if not _held:
        raise RuntimeError("no store is open in this process")
    return _held[0]
