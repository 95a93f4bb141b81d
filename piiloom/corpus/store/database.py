"""The store: opens one DuckDB file and provides transactions and the few read and write methods that the query modules use."""

from __future__ import annotations

import json
from array import array
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import fields
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import Any, Self, TypeVar

import duckdb

from piiloom.corpus.store.store_files import (
    Settings,
    bounded,
    connect_to_write,
    duckdb_errors,
    hide_progress_bar,
    log_of,
    not_a_store,
    opening_fault,
    refuse_lone_surrogates,
)
from piiloom.corpus.store.upgrading import MIGRATIONS, Migrations, upgrade
from piiloom.foundation.errors import NotAStore, OutputError, StoreError
from piiloom.foundation.whole_files import OWNER_ONLY, created_without

T = TypeVar("T")
Parameters = Sequence[object] | Mapping[str, object]
# Compared by identity. A path ":memory:" that a user typed is an ordinary file; otherwise everything written to it would be lost.
MEMORY = Path(":memory:")
# Bytes before the first block of a DuckDB file. A file with a table has at least one block, or a write-ahead log beside it.
_HEADERS = 3 * 4096
# Threads that open a new store together would make its tables twice.
_ONE_UPGRADE = Lock()
# Rows per fetch where a result is read in batches.
_FETCH = 10_000


def field_names(kind: type[Any]) -> tuple[str, ...]:
    """Return the names of the fields of a dataclass."""
    return tuple(field.name for field in fields(kind))


def select(columns: Sequence[str], rest: str) -> str:
    """Return ``SELECT columns rest``, where *rest* begins with FROM. Nothing is escaped: no argument may contain a value from outside."""
    return f"SELECT {', '.join(columns)} {rest}"


# A condition on any table with record ids.
AMONG_RECORDS = "record_id IN (SELECT unnest(?::VARCHAR[]))"


def conditions(*given: tuple[str, Any]) -> tuple[str, list[object]]:
    """Return a WHERE clause and its parameters, of the conditions (constant SQL, the value of each ``?``) whose value is not None."""
    held = [(sql, value if isinstance(value, str | int) else list(value)) for sql, value in given if value is not None]
    clause = f"WHERE {' AND '.join(sql for sql, _ in held)}" if held else ""
    return clause, [value for sql, value in held for _ in range(sql.count("?"))]


class Store:
    """An open store; a context manager. Create it with ``Store.open``.

    Only one process at a time can have the file open for writing. Within that process any thread may use the store, but only
    one at a time; the caller must ensure this. A commit is on disk when the transaction's block ends. If the process is killed
    later, the commit is not lost: DuckDB replays its write-ahead log when the file is opened again.
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
        """Open the store at *path* (``MEMORY``: in memory, without a file). Create it or upgrade its schema as needed.

        Only their owner may read a new store, its log and its copies (mode 0600).

        *memory_limit* and *threads* are DuckDB's limits. Before an upgrade the store is copied to ``<name>.v<version>.bak``.

        Raises ``StoreLocked`` (open elsewhere), ``StoreTooNew``, ``NotAStore``, ``StoreError`` (absent without *create*, damaged,
        failed upgrade) and ``OutputError`` (cannot be written).
        """
        in_memory = path is MEMORY
        is_new = not in_memory and _prepare(path, create=create)
        with created_without(OWNER_ONLY):
            return cls._opened(path, bounded(memory_limit, threads), migrations, is_new=is_new)

    @classmethod
    def _opened(cls, path: Path, settings: Settings, migrations: Migrations, *, is_new: bool) -> Store:
        in_memory = path is MEMORY
        try:
            connection = connect_to_write(str(path if in_memory else path.absolute()), settings)
        except duckdb.Error as error:
            fault = opening_fault(error, path)
            if is_new and isinstance(fault, OutputError):
                with suppress(OSError):  # the next opening would take a file without a header for something that is no store
                    path.unlink(missing_ok=True)
            raise fault from error
        try:
            with duckdb_errors(path):
                hide_progress_bar(connection)
            if not in_memory:
                _refuse_unwritten(connection, path)
            with _ONE_UPGRADE:
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
        """Return another store on the same open file, for another thread (``piiloom.corpus.store.opening``). It is closed separately."""
        self._check_open()
        return type(self)(self._connection.cursor(), self.path)

    def close(self) -> None:
        """Checkpoint the write-ahead log into the file and close the file. Roll back an open transaction. Calling it twice is harmless."""
        if self._closed:
            return
        self._closed = True
        if self._in_transaction:
            self._roll_back()
        # If there is no room for a checkpoint, the log stays beside the file with all commits and is replayed at the next opening.
        try:
            with suppress(StoreError, OutputError), duckdb_errors(self.path), created_without(OWNER_ONLY):
                self._connection.execute("CHECKPOINT")
        finally:
            with suppress(duckdb.Error), created_without(OWNER_ONLY):
                self._connection.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Commit all writes in the block together at its end, or none if it raises.

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
            with duckdb_errors(self.path), created_without(OWNER_ONLY):
                self._connection.commit()
        except BaseException:
            self._roll_back()
            raise
        finally:
            self._in_transaction = False

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Join the open transaction if there is one, else open one. For functions that write more than one table."""
        if self._in_transaction:
            yield
        else:
            with self.transaction():
                yield

    def rows(self, sql: str, parameters: Parameters = ()) -> list[tuple[Any, ...]]:
        """Return all rows of a query; *parameters* by place (``?``) or by name (``$name``)."""
        with duckdb_errors(self.path):
            return list(self._execute(sql, parameters).fetchall())

    def column(self, sql: str, parameters: Parameters = ()) -> list[Any]:
        """Return the first column of a query."""
        return [row[0] for row in self.rows(sql, parameters)]

    def value(self, sql: str, parameters: Parameters = ()) -> Any:
        """Return the first value of the first row of a query."""
        return self.rows(sql, parameters)[0][0]

    def objects(self, kind: type[T], sql: str, parameters: Parameters = (), *, decoded: Collection[str] = ()) -> list[T]:
        """Return the rows of a query as objects of the dataclass *kind*, with tuples for lists. Its fields *decoded* are JSON in the store.

        *sql* begins with FROM, then the columns are those that *kind* has fields for; or it selects the values of the fields in order.
        """
        names = field_names(kind)
        found: list[T] = []
        for row in self.rows(select(names, sql) if sql.startswith("FROM") else sql, parameters):
            values = dict(zip(names, row, strict=True))
            values.update({name: json.loads(values[name]) for name in decoded if values[name] is not None})
            found.append(kind(**{name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}))
        return found

    def integers(self, sql: str, parameters: Parameters = ()) -> array[int]:
        """Return the first column of a query as a compact array of 64-bit integers (8 bytes each)."""
        numbers: array[int] = array("q")
        with duckdb_errors(self.path):
            result = self._execute(sql, parameters)
            while batch := result.fetchmany(_FETCH):
                numbers.extend(row[0] for row in batch)
        return numbers

    def change(self, sql: str, parameters: Parameters = ()) -> None:
        """Run one statement that returns no rows."""
        with duckdb_errors(self.path), created_without(OWNER_ONLY):
            self._execute(sql, parameters)

    def add(self, table: str, rows: Sequence[Any], *, encoded: Collection[str] = (), sort_keys: bool = False) -> None:
        """Insert *rows*, objects of one dataclass with a field for each column that is set. Its fields *encoded* are JSON in the store."""

        def held(row: Any, name: str) -> object:
            value = getattr(row, name)
            if name not in encoded or value is None:
                return value
            return json.dumps(value, ensure_ascii=False, sort_keys=sort_keys, default=dict)

        if rows:
            names = field_names(type(rows[0]))
            self.append(table, names, [tuple(held(row, name) for name in names) for row in rows])

    def append(self, table: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
        """Insert *rows*. Raise ``DataError`` for text that UTF-8 cannot encode; the message identifies the row by its first column.

        Uses DuckDB's appender: 4 to 6 times as fast as passing lists through ``unnest``, and no slower for one row.
        """
        self._check_open()
        if not rows:
            return
        with duckdb_errors(self.path), created_without(OWNER_ONLY):
            try:
                with self._connection.appender(table, columns=list(columns)) as appender:
                    appender.append_rows(rows)
            except duckdb.InvalidInputException:
                refuse_lone_surrogates(table, columns, rows)
                raise

    def _execute(self, sql: str, parameters: Parameters) -> duckdb.DuckDBPyConnection:
        self._check_open()
        try:
            return self._connection.execute(sql, dict(parameters) if isinstance(parameters, Mapping) else list(parameters))
        except duckdb.InvalidInputException:
            for value in parameters.values() if isinstance(parameters, Mapping) else parameters:
                refuse_lone_surrogates("query", ["parameter"], [[one] for one in (value if isinstance(value, list) else [value])])
            raise

    def _roll_back(self) -> None:
        # When a commit fails, DuckDB has ended the transaction already and the rollback fails; ignore that.
        with suppress(StoreError, OutputError), duckdb_errors(self.path):
            self._connection.rollback()

    def _check_open(self) -> None:
        if self._closed:
            raise StoreError("the store is closed", where=str(self.path))


def _refuse_unwritten(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Raise ``NotAStore`` if DuckDB opened a data file (CSV, JSON, Parquet) as in-memory tables instead of a database on disk.

    DuckDB does so depending on the file extension; everything written would be lost. Ask DuckDB rather than read the file here:
    closing the file again would release this process's lock on it (``faults``).
    """
    with duckdb_errors(path):
        on_disk = connection.execute("SELECT path FROM duckdb_databases() WHERE database_name = current_database()").fetchall()[0][0]
    if on_disk is None:
        raise not_a_store(path)


def _is_blank(path: Path) -> bool:
    """Whether the opened file holds only DuckDB's three headers. This saves listing its tables, which takes 7 ms."""
    return path.stat().st_size <= _HEADERS and not log_of(path).exists()


def refuse_absent(path: Path) -> None:
    """Raise ``StoreError`` if nothing is at *path*, and ``NotAStore`` if that is not a file."""
    if not path.exists():
        raise StoreError("there is no store here", where=str(path), remedy="Generate one first, or name another with --store")
    if not path.is_file():
        raise NotAStore("the path is not a file", where=str(path), remedy="Name a file with --store")


def _prepare(path: Path, *, create: bool) -> bool:
    """Check that *path* is a file, or create its parent folder. Return whether the file has yet to be created.

    Raises ``NotAStore`` (not a regular file), ``StoreError`` (absent without *create*) and ``OutputError`` (no folder can be made).
    """
    try:
        if path.exists() or not create:
            refuse_absent(path)
            return False
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(
            f"no store can be made here ({error.strerror})", where=str(path), remedy="Name another file with --store"
        ) from error
    return True
