"""Open a store: for writing, for the threads of a server, and for reading only, from a copy while another process writes.

DuckDB lets several processes read a file, or one process write it. If no process writes the file, ``open_to_read`` opens it read-only. This
also works in a read-only folder, and includes what a killed process left in the write-ahead log. If a process does write it, a copy is
read (``store_files.copy_in_use``) and the caller is told so. Reading never changes a store: one with an older schema is upgraded in a copy.
"""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import duckdb

from piiloom.corpus.store.database import Store, refuse_absent
from piiloom.corpus.store.records import count_records
from piiloom.corpus.store.releases import types_of
from piiloom.corpus.store.runs import list_runs
from piiloom.corpus.store.store_files import (
    Settings,
    bounded,
    copy_in_use,
    duckdb_errors,
    folder_for_copies,
    hide_progress_bar,
    holder_command,
    holding_process,
    is_store_locked,
    opening_fault,
    patiently,
    remove_files,
)
from piiloom.corpus.store.upgrading import MIGRATIONS, Migrations, refuse_newer, upgrade, version_of
from piiloom.foundation.errors import PiiloomError, StoreError
from piiloom.taxonomy.own_types import extended


@contextmanager
def store_for_writing(path: Path) -> Iterator[Store]:
    """Open the store at *path*, creating it if needed. After an error, a store that was created here and is still empty is deleted."""
    existed = True
    with suppress(OSError):  # what Store.open reports
        existed = path.exists()
    with Store.open(path) as store:
        try:
            yield store
        except PiiloomError:
            if not existed and _is_empty(store):
                store.close()
                path.unlink(missing_ok=True)
            raise


def _is_empty(store: Store) -> bool:
    with suppress(PiiloomError):
        return not list_runs(store) and not count_records(store)
    return False


class SharedStore:
    """A thread-safe wrapper around *store*. After wrapping, use the store only through this object.

    ``taxonomy``: the types that ship and those of the store, as they were then.
    """

    def __init__(self, store: Store) -> None:
        self.path, self.taxonomy = store.path, extended(types_of(store))
        self._store = store
        self._writer = threading.Lock()
        self._next = threading.Lock()
        self._own = threading.local()

    @contextmanager
    def reading(self) -> Iterator[Store]:
        """Give this thread's view of the store. It sees committed data, and what the thread's own open transaction has written."""
        yield self._view()

    @contextmanager
    def writing(self) -> Iterator[Store]:
        """Give this thread's view in a transaction: commit the block at its end, or roll it back if it raises.

        Waits for the write lock. A nested block of the same thread joins the outer transaction.
        """
        with self._turn():
            view = self._view()
            with view.writing():
                yield view

    @contextmanager
    def alone(self) -> Iterator[Store]:
        """Give this thread's view with the write lock but no transaction, for code that opens its own transactions."""
        with self._turn():
            yield self._view()

    def close(self) -> None:
        """Wait for the write lock, then close the file. Views must not be used afterwards."""
        with self._turn():
            self._store.close()

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """Acquire the write lock; reentrant. Waiting threads go before the previous holder.

        So a long job that releases the lock between steps starves nobody. With a plain lock the releasing thread mostly took it
        again, and others waited for seconds; here the next waiter already holds ``_next``, so the releasing thread queues behind.
        """
        if getattr(self._own, "writes", False):
            yield
            return
        with self._next:
            self._writer.acquire()
        self._own.writes = True
        try:
            yield
        finally:
            self._own.writes = False
            self._writer.release()

    def _view(self) -> Store:
        view: Store | None = getattr(self._own, "view", None)
        if view is None:
            view = self._own.view = self._store.beside()
        return view


_COPY = "copy.duckdb"
_PATIENCE_S = 30.0  # to retry until a copy is consistent
_TRY_AGAIN = "Nothing was read. Try again, or wait until it has ended"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """What a reader sees: the file itself, or a copy with all commits up to ``copied_at`` (UTC; None: the file itself).

    ``holder`` is the id of the process that had the file open and ``command`` its command line, if known. ``version`` is the file's
    schema version if it is an older one (the copy was upgraded), else None.
    """

    copied_at: datetime | None = None
    holder: int | None = None
    command: str | None = None
    version: int | None = None


@contextmanager
def open_to_read(
    path: Path,
    *,
    memory_limit: str = "64MB",
    tell: Callable[[Sight, Store], None] | None = None,
    patience_s: float = _PATIENCE_S,
    migrations: Migrations = MIGRATIONS,
) -> Iterator[Store]:
    """Open the store at *path* for reading. Before any query, call *tell* with what is read (file or copy) and the store.

    Copies are temporary. *patience_s*: seconds to retry for a consistent copy.

    Raises ``StoreTooNew``, ``NotAStore``, ``StoreError`` (absent, not readable, damaged, or no whole copy within *patience_s*) and
    ``OutputError`` (no room for a copy).
    """
    _check_readable(path)
    store, sight = _open(path, _settings(path, memory_limit), patience_s, migrations)
    with store:
        if tell is not None:
            tell(sight, store)
        yield store


def _settings(path: Path, memory_limit: str) -> Settings:
    settings = bounded(memory_limit, threads=1)
    if not os.access(path.absolute().parent, os.W_OK):
        # By default DuckDB spills to a folder beside the file, which is not writable here.
        with suppress(OSError):
            settings["temp_directory"] = str(Path(tempfile.gettempdir(), f"piiloom-spill-{os.getpid()}"))
    return settings


def _open(path: Path, settings: Settings, patience_s: float, migrations: Migrations) -> tuple[Store, Sight]:
    def once() -> tuple[Store, Sight]:
        found = _open_file(path, settings, migrations)
        if isinstance(found, Store):
            return found, Sight()
        if (copied := _open_copy(path, found, settings, migrations)) is not None:
            return copied
        who = "another process" if found.holder is None else f"process {found.holder}"
        raise StoreError(
            f"{who} is writing to the store, and no consistent copy of it could be made within {patience_s:.0f} s",
            where=str(path),
            remedy=_TRY_AGAIN,
        )

    return patiently(once, lambda error: isinstance(error, StoreError) and error.remedy == _TRY_AGAIN, patience_s)


def _open_file(path: Path, settings: Settings, migrations: Migrations) -> Store | Sight:
    """Open the file itself read-only. If a copy is needed, return a ``Sight`` that says why: a writer, or an older schema."""
    try:
        connection = duckdb.connect(str(path.absolute()), read_only=True, config=settings)
    except duckdb.Error as error:
        if is_store_locked(error):
            pid = holding_process(error)
            return Sight(holder=pid, command=None if pid is None else holder_command(pid))
        if isinstance(error, duckdb.ConnectionException):  # this process has it open to write
            return Store.open(path, create=False, memory_limit=str(settings["memory_limit"]))
        raise opening_fault(error, path) from error
    try:
        version = _version(connection, path, migrations)
        if version == migrations.latest:
            return _store(connection, path)
    except BaseException:
        connection.close()
        raise
    connection.close()
    return Sight(version=version)


def _open_copy(path: Path, why: Sight, settings: Settings, migrations: Migrations) -> tuple[Store, Sight] | None:
    """Copy the store and open the copy. Return None if the copy is inconsistent.

    The copy's files are deleted right away; the open connection keeps its file descriptors and needs no more.
    """
    with folder_for_copies() as folder:
        copy = folder / _COPY
        limits: Settings = settings | {"temp_directory": str(folder.with_name(f"piiloom-spill-{os.getpid()}"))}
        moment = datetime.now(UTC)
        try:
            if not copy_in_use(path, copy):
                return None
            connection = duckdb.connect(str(copy), read_only=True, config=limits)
        except duckdb.Error:
            return None  # an inconsistent copy: errors of the file itself would have been raised before
        except OSError as error:
            raise StoreError(f"the store cannot be read ({error.strerror})", where=str(path)) from error
        try:
            version = _version(connection, path, migrations)
            if version == migrations.latest:
                return _store(connection, path), replace(why, copied_at=moment)
            connection.close()
            connection = _brought_up(copy, path, limits, migrations)
            remove_files(copy)
            return _store(connection, path), replace(why, copied_at=moment, version=version)
        except BaseException:
            connection.close()
            raise


def _store(connection: duckdb.DuckDBPyConnection, path: Path) -> Store:
    with duckdb_errors(path):
        hide_progress_bar(connection)
    return Store(connection, path)


def _version(connection: duckdb.DuckDBPyConnection, path: Path, migrations: Migrations) -> int:
    version = version_of(connection, path)
    refuse_newer(version, migrations, path, what="store", remedy="Upgrade piiloom, or use another file with --store")
    return version


def _brought_up(copy: Path, path: Path, settings: Settings, migrations: Migrations) -> duckdb.DuckDBPyConnection:
    """Open *copy* for writing and upgrade it to the current schema. Return the connection."""
    connection = duckdb.connect(str(copy), config=settings)
    try:
        upgrade(connection, path, migrations, keep_copy=False)
    except BaseException:
        connection.close()
        raise
    return connection


def _check_readable(path: Path) -> None:
    """Raise ``StoreError`` or ``NotAStore`` unless *path* is a readable file.

    Does not open the file: closing it again would release this process's locks on it.
    """
    try:
        refuse_absent(path)
        readable = os.access(path, os.R_OK)
    except OSError:
        readable = False
    if not readable:
        raise StoreError("the store cannot be read: permission is denied", where=str(path), remedy="Ask its owner, or name another")
