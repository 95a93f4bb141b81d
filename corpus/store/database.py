"""The store: opening one DuckDB file, transactions, and the few verbs that the query modules are written with."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import duckdb

from piiloom.corpus.store.connecting import bounded, connect_to_write
from piiloom.corpus.store.faults import duckdb_errors, not_a_store, opening_fault, refuse_lone_surrogates
from piiloom.corpus.store.migrations import MIGRATIONS, Migrations
from piiloom.corpus.store.upgrading import upgrade
from piiloom.foundation.errors import NotAStore, OutputError, StoreError

# Only this object: a path of this name that somebody typed is a file like any other, or all of it would be lost.
MEMORY = Path(":memory:")
# Bytes before the first block of a DuckDB file; with a table it has a block at least, or a log beside it.
_HEADERS = 3 * 4096
# Rows fetched at a time where a result is read in pieces.
_FETCH = 10_000


class Store:
    """An open store; a context manager. Made by ``Store.open``.

    One process at a time can hold a file. Inside it the store may be used from any thread (a worker thread, say), but by
    one thread at a time: the caller sees to that. A commit is on disk when the transaction's block ends; a process that
    is killed later loses nothing of it, since DuckDB replays its write-ahead log at the next opening.
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection, path: Path) -> None:
        self._connection = connection
        self._in_transaction = False
        self._closed = False
        self.path = path

    @classmethod
    def open(
        cls,
        path: Path,
        *,
        create: bool = True,
        memory_limit: str = "64MB",
        threads: int = 1,
        migrations: Migrations = MIGRATIONS,
    ) -> Store:
        """Open the store at *path* (``MEMORY`` for one that is never written), made or upgraded as needed.

        *memory_limit* and *threads* bound DuckDB. An older store is first copied to ``<name>.v<version>.bak``. Raises
        ``StoreLocked``, ``StoreTooNew``, ``NotAStore``, ``StoreError`` (absent without *create*, damaged, failed upgrade)
        and ``OutputError`` (cannot be written).
        """
        in_memory = path is MEMORY
        is_new = not in_memory and _prepare(path, create=create)
        try:
            connection = connect_to_write(str(path if in_memory else path.absolute()), bounded(memory_limit, threads))
        except duckdb.Error as error:
            fault = opening_fault(error, path)
            if is_new and isinstance(fault, OutputError):
                path.unlink(missing_ok=True)  # a stump without a header would be taken for somebody else's file
            raise fault from error
        try:
            # It would be drawn on standard output, in the midst of what a command prints there.
            with duckdb_errors(path):
                connection.execute("SET enable_progress_bar = false")
            if not in_memory:
                _refuse_unwritten(connection, path)
            upgrade(connection, path, migrations, is_new=in_memory or _is_blank(path))
        except BaseException:
            connection.close()
            raise
        return cls(connection, path)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def beside(self) -> Self:
        """Another store over the same open file, for another thread (``piiloom.corpus.store.shared``); closed by itself."""
        self._check_open()
        return type(self)(self._connection.cursor(), self.path)

    def close(self) -> None:
        """Fold the write-ahead log into the file and let go of it. An open transaction is undone. May be called twice."""
        if self._closed:
            return
        self._closed = True
        if self._in_transaction:
            self._roll_back()
        # Without room for a checkpoint the log stays beside the file with every commit in it and is replayed next time.
        try:
            with suppress(StoreError, OutputError), duckdb_errors(self.path):
                self._connection.execute("CHECKPOINT")
        finally:
            with suppress(duckdb.Error):
                self._connection.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All writes in the block are committed together at its end, or none when it raises.

        Raises ``StoreError`` inside another transaction, and ``OutputError`` when the commit cannot be written.
        """
        self._check_open()
        if self._in_transaction:
            raise StoreError("a transaction is open already on this store", where=str(self.path))
        with duckdb_errors(self.path):
            self._connection.begin()
        self._in_transaction = True
        try:
            yield
            with duckdb_errors(self.path):
                self._connection.commit()
        except BaseException:
            self._roll_back()
            raise
        finally:
            self._in_transaction = False

    @contextmanager
    def writing(self) -> Iterator[None]:
        """The open transaction if there is one, else one of its own: for functions that write more than one table."""
        if self._in_transaction:
            yield
        else:
            with self.transaction():
                yield

    def rows(self, sql: str, parameters: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """All rows of a query."""
        with duckdb_errors(self.path):
            return list(self._execute(sql, parameters).fetchall())

    def integers(self, sql: str, parameters: Sequence[object] = ()) -> array[int]:
        """The first column of a query as 64-bit integers, eight bytes each."""
        numbers: array[int] = array("q")
        with duckdb_errors(self.path):
            result = self._execute(sql, parameters)
            while batch := result.fetchmany(_FETCH):
                numbers.extend(row[0] for row in batch)
        return numbers

    def change(self, sql: str, parameters: Sequence[object] = ()) -> None:
        """Run one statement that gives no rows."""
        with duckdb_errors(self.path):
            self._execute(sql, parameters)

    def append(self, table: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
        """Insert *rows*; the first column names a row in errors. Raises ``DataError`` for text that UTF-8 cannot hold.

        DuckDB's appender: 4 to 6 times as fast as lists through ``unnest``, and no slower for one row.
        """
        self._check_open()
        if not rows:
            return
        with duckdb_errors(self.path):
            try:
                with self._connection.appender(table, columns=list(columns)) as appender:
                    appender.append_rows(rows)
            except duckdb.InvalidInputException:
                refuse_lone_surrogates(table, columns, rows)
                raise

    def _execute(self, sql: str, parameters: Sequence[object]) -> duckdb.DuckDBPyConnection:
        self._check_open()
        try:
            return self._connection.execute(sql, list(parameters))
        except duckdb.InvalidInputException:
            for value in parameters:
                refuse_lone_surrogates("query", ["parameter"], [[one] for one in (value if isinstance(value, list) else [value])])
            raise

    def _roll_back(self) -> None:
        # DuckDB ends the transaction itself when a commit fails; then there is nothing left to undo.
        with suppress(StoreError, OutputError), duckdb_errors(self.path):
            self._connection.rollback()

    def _check_open(self) -> None:
        if self._closed:
            raise StoreError("the store is closed", where=str(self.path))


def _refuse_unwritten(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Raise ``NotAStore`` where DuckDB has opened tables of a data file (CSV, JSON, Parquet) in memory instead of a database on disk.

    It does so by the name's end, for files that are no database; all that was written would be lost. We ask what it did and
    don't read the file ourselves: that would give up this process's lock on it (``faults``).
    """
    with duckdb_errors(path):
        on_disk = connection.execute("SELECT path FROM duckdb_databases() WHERE database_name = current_database()").fetchall()[0][0]
    if on_disk is None:
        raise not_a_store(path)


def _is_blank(path: Path) -> bool:
    """Whether the opened file is nothing but DuckDB's three headers, so that there is no need to ask it for its tables (7 ms)."""
    return path.stat().st_size <= _HEADERS and not path.with_name(f"{path.name}.wal").exists()


def _prepare(path: Path, *, create: bool) -> bool:
    """See that there is a file at *path*, or a folder to make one in; whether it has yet to be made."""
    try:
        if path.exists():
            if not path.is_file():
                raise NotAStore("the path is not a file", where=str(path), remedy="Name a file with --store")
            return False
        if not create:
            raise StoreError("there is no store here", where=str(path), remedy="Generate one first, or name another with --store")
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(
            f"no store can be made here ({error.strerror})", where=str(path), remedy="Name another file with --store"
        ) from error
    return True
