"""Store for the values that a model gave: an SQLite file, written before the run replaces anything and read by every worker."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from piiloom.foundation.errors import OutputError, RunError

_TABLES: Final = """
    CREATE TABLE given (document INTEGER NOT NULL, number INTEGER NOT NULL, value TEXT NOT NULL,
        PRIMARY KEY (document, number)) WITHOUT ROWID;
    CREATE TABLE told (report TEXT NOT NULL);
"""


class GivenFile:
    """Writer of the file; a context manager. The values are committed when the block ends without an error.

    An existing file is replaced. Raises ``OutputError`` when the file cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> Self:
        self._path.unlink(missing_ok=True)
        try:
            self._connection = sqlite3.connect(self._path, isolation_level=None)
            # No journal and no fsync: nobody reads the file before it is closed, and a failed run throws it away.
            self._connection.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;" + _TABLES)
            self._connection.execute("BEGIN")
        except sqlite3.Error as error:
            raise self._cannot(error) from error
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        try:
            if error is None:
                self._connection.execute("COMMIT")
        except sqlite3.Error as fault:
            raise self._cannot(fault) from fault
        finally:
            self._connection.close()

    def put(self, document: int, numbers: Sequence[int], value: str) -> None:
        """Store *value* for the value *numbers* of the plan of document number *document*. Raises ``OutputError``."""
        try:
            self._connection.executemany("INSERT INTO given VALUES (?, ?, ?)", [(document, number, value) for number in numbers])
        except sqlite3.Error as error:
            raise self._cannot(error) from error

    def tell(self, report: Mapping[str, Any]) -> None:
        """Store what the run's report says about the model. To be called once: ``GivenValues`` expects one row."""
        self._connection.execute("INSERT INTO told VALUES (?)", [json.dumps(report, ensure_ascii=False)])

    def _cannot(self, error: sqlite3.Error) -> OutputError:
        return OutputError(f"the values cannot be written ({error})", where=str(self._path), remedy="Free disk space there")


class GivenValues:
    """Reader of the file; any number of processes may read at once. Raises ``RunError`` when the file is missing or incomplete."""

    def __init__(self, path: Path) -> None:
        try:
            # immutable=1: nobody writes any more, so SQLite takes no locks and works on file systems without locks.
            self._connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True, check_same_thread=False)
            ((report,),) = self._connection.execute("SELECT report FROM told").fetchall()
        except (sqlite3.Error, ValueError) as error:
            raise RunError("the values of the model cannot be read", where=str(path), remedy="Every worker must see this file") from error
        self.report: dict[str, Any] = json.loads(report)

    def of(self, document: int) -> dict[int, str]:
        """Return the values of document number *document*, by their numbers in its plan."""
        return dict(self._connection.execute("SELECT number, value FROM given WHERE document = ?", [document]))
