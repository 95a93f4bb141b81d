"""Opening a store for the app: builds all services of the serving process. Add further services here, and only here."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from piiloom.annotation_app.adjudication.resolving import Resolver
from piiloom.annotation_app.agreement.readings import ReadingRoom
from piiloom.annotation_app.desk.delivering import Desk
from piiloom.annotation_app.event_log import Clock, EventLog, utc_now
from piiloom.annotation_app.onboarding.controls import Controls
from piiloom.annotation_app.onboarding.guidelines import Guidelines
from piiloom.annotation_app.onboarding.practice import Practice
from piiloom.annotation_app.onboarding.qualifying import QualifyingTest
from piiloom.annotation_app.people.accounts import Accounts
from piiloom.annotation_app.people.logging_in import LoginDesk
from piiloom.annotation_app.people.login_sessions import LoginSessions
from piiloom.annotation_app.snapshots import SnapshotKeeper
from piiloom.annotation_app.worklist.assigning import WorkList
from piiloom.annotation_app.worklist.filters import Lists
from piiloom.annotation_app.worklist.pool import Pool
from piiloom.annotation_app.worklist.project_settings import SettingsBook
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.guidelines import newest_version
from piiloom.corpus.store.own_types import types_of
from piiloom.corpus.store.shared import SharedStore
from piiloom.taxonomy.entity_types import set_process_taxonomy
from piiloom.taxonomy.own_types import extended

# DuckDB limits. Enough for aggregates over a large store; the commands use less.
_MEMORY, _THREADS = "512MB", 2
SNAPSHOT_EVERY_S, KEEP_SNAPSHOTS = 900.0, 24


@dataclass(frozen=True, slots=True, kw_only=True)
class Workplace:
    """The open store and all services on it."""

    path: Path
    shared: SharedStore
    log: EventLog
    accounts: Accounts
    logins: LoginDesk
    settings: SettingsBook
    pool: Pool
    work: WorkList
    lists: Lists
    desk: Desk
    resolver: Resolver
    readings: ReadingRoom
    guidelines: Guidelines
    practice: Practice
    test: QualifyingTest
    controls: Controls
    snapshots: SnapshotKeeper

    def close(self) -> None:
        """Stop the snapshots, close the store once a running write is done, and remove the store's own types from the process."""
        self.snapshots.stop()
        self.shared.close()
        set_process_taxonomy(None)


def open_workplace(
    path: Path, *, clock: Clock = utc_now, snapshot_every_s: float = SNAPSHOT_EVERY_S, keep_snapshots: int = KEEP_SNAPSHOTS
) -> Workplace:
    """Open the existing store at *path* and build its services. Raises what ``Store.open`` raises.

    The own types of the store are in force in the whole process until the workplace is closed. Snapshots begin with ``snapshots.start``.
    """
    store = Store.open(path, create=False, memory_limit=_MEMORY, threads=_THREADS)
    try:
        set_process_taxonomy(extended(types_of(store)))
        return _over(path, SharedStore(store), clock, SnapshotPlan(snapshot_every_s, keep_snapshots))
    except BaseException:
        set_process_taxonomy(None)
        store.close()
        raise


@dataclass(frozen=True, slots=True)
class SnapshotPlan:
    """How often snapshots are made, and how many are kept."""

    every_s: float
    keep: int


def _over(path: Path, shared: SharedStore, clock: Clock, plan: SnapshotPlan) -> Workplace:
    log = EventLog(shared, clock)
    accounts = Accounts(shared, log)
    book = SettingsBook(shared, log)
    work = WorkList(shared, log, book)
    resolver = Resolver(shared, log)
    desk = Desk(shared, log, may_edit=work.leases.may_edit, guideline=newest_version, on_saved=resolver.on_saved)
    guidelines = Guidelines(shared, log)
    guidelines.ensure()
    return Workplace(
        path=path,
        shared=shared,
        log=log,
        accounts=accounts,
        logins=LoginDesk(shared, log, accounts, LoginSessions(shared, log)),
        settings=book,
        pool=Pool(shared, log, book),
        work=work,
        lists=Lists(shared, log, book),
        desk=desk,
        resolver=resolver,
        readings=ReadingRoom(),
        guidelines=guidelines,
        practice=Practice(shared, log, book),
        test=QualifyingTest(shared, log, book, desk.reopen),
        controls=Controls(shared, log, book),
        snapshots=SnapshotKeeper(shared, plan.every_s, plan.keep, clock),
    )
