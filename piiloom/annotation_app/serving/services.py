"""All services over one open store, and the holder of those of this process. Add further services here, and only here.

The holder is a module global, since pages, routes and callbacks all need it and Streamlit's ``cache_resource`` belongs to one script.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from piiloom.annotation_app.adjudication.resolving import Resolver
from piiloom.annotation_app.agreement.finished_records import FinishedRecords
from piiloom.annotation_app.comments import Comments
from piiloom.annotation_app.event_log import Clock, EventLog, utc_now
from piiloom.annotation_app.onboarding.controls import Controls
from piiloom.annotation_app.onboarding.guidelines import Guidelines
from piiloom.annotation_app.onboarding.practice import Practice
from piiloom.annotation_app.onboarding.qualifying import QualifyingTest
from piiloom.annotation_app.people.accounts import Accounts
from piiloom.annotation_app.people.login_service import LoginService
from piiloom.annotation_app.people.login_sessions import LoginSessions
from piiloom.annotation_app.snapshots import PeriodicSnapshots
from piiloom.annotation_app.sync.service import DocumentService
from piiloom.annotation_app.worklist.assigning import WorkList
from piiloom.annotation_app.worklist.detection_runs import DetectionRuns, Detectors
from piiloom.annotation_app.worklist.pool import Pool
from piiloom.annotation_app.worklist.project_settings import SettingsStore
from piiloom.annotation_app.worklist.record_lists import RecordLists
from piiloom.annotation_app.worklist.suggestion_intake import SuggestionIntake
from piiloom.corpus.store.annotation_project import newest_version
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.opening import SharedStore

# DuckDB limits. Enough for aggregates over a large store; the commands use less.
_MEMORY, _THREADS = "512MB", 2
SNAPSHOT_EVERY_S, KEEP_SNAPSHOTS = 900.0, 24


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """The open store and all services on it."""

    path: Path
    shared: SharedStore
    log: EventLog
    accounts: Accounts
    logins: LoginService
    settings: SettingsStore
    pool: Pool
    work: WorkList
    lists: RecordLists
    documents: DocumentService
    resolver: Resolver
    finished_records: FinishedRecords
    guidelines: Guidelines
    practice: Practice
    test: QualifyingTest
    controls: Controls
    snapshots: PeriodicSnapshots
    suggestions: SuggestionIntake
    detection: DetectionRuns
    comments: Comments

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
    """Open the existing store at *path* and build its services. Raises what ``Store.open`` raises.

    Snapshots begin with ``snapshots.start``. *detectors* are
    those that admins can choose from.
    """
    store = Store.open(path, create=False, memory_limit=_MEMORY, threads=_THREADS)
    try:
        shared = SharedStore(store)
        log = EventLog(shared, clock)
        return _over(path, shared, log, PeriodicSnapshots(shared, snapshot_every_s, keep_snapshots, clock), detectors)
    except BaseException:
        store.close()
        raise


def _over(path: Path, shared: SharedStore, log: EventLog, snapshots: PeriodicSnapshots, detectors: Detectors | None) -> Services:
    accounts = Accounts(shared, log)
    settings = SettingsStore(shared, log)
    work = WorkList(shared, log, settings)
    resolver = Resolver(shared, log)
    pool = Pool(shared, log, settings)
    documents = DocumentService(shared, log, may_edit=work.leases.may_edit, guideline=newest_version, on_saved=resolver.on_saved)
    suggestions = SuggestionIntake(shared, log, settings, pool)
    guidelines = Guidelines(shared, log)
    guidelines.ensure()
    return Services(
        path=path,
        shared=shared,
        log=log,
        accounts=accounts,
        logins=LoginService(shared, log, accounts, LoginSessions(shared, log)),
        settings=settings,
        pool=pool,
        work=work,
        lists=RecordLists(shared, log, settings),
        documents=documents,
        resolver=resolver,
        finished_records=FinishedRecords(),
        guidelines=guidelines,
        practice=Practice(shared, log, settings),
        test=QualifyingTest(shared, log, settings, documents.reopen),
        controls=Controls(shared, log, settings),
        snapshots=snapshots,
        suggestions=suggestions,
        detection=DetectionRuns(shared, log, suggestions, detectors),
        comments=Comments(shared, log),
    )


_held: list[Services] = []


def set_services(services: Services | None) -> None:
    """Set the services of this process; None removes them."""
    _held[:] = [] if services is None else [services]


def get_services() -> Services:
    """Return the services of this process. Raises ``RuntimeError`` if there are none."""
    if not _held:
        raise RuntimeError("no store is open in this process")
    return _held[0]
