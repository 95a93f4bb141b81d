"""The values that a model gave, on the disk between the asking and the filling: an SQLite file that every worker reads."""

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
    """Writes the file; a context manager. What was put in is there when the block ends without an error."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> Self:
        self._path.unlink(missing_ok=True)
        try:
            self._connection = sqlite3.connect(self._path, isolation_level=None)
            # Nobody reads it before it is closed, and a run that fails throws it away.
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
        """Keep *value* for the value *numbers* of a document."""
        try:
            self._connection.executemany("INSERT INTO given VALUES (?, ?, ?)", [(document, number, value) for number in numbers])
        except sqlite3.Error as error:
            raise self._cannot(error) from error

    def tell(self, report: Mapping[str, Any]) -> None:
        """Keep what the run's report is to say."""
        self._connection.execute("INSERT INTO told VALUES (?)", [json.dumps(report, ensure_ascii=False)])

    def _cannot(self, error: sqlite3.Error) -> OutputError:
        return OutputError(f"the values cannot be written ({error})", where=str(self._path), remedy="Make room there")


class GivenValues:
    """Reads the file, in any number of processes at once. Raises ``RunError`` when it is not there."""

    def __init__(self, path: Path) -> None:
        try:
            # Immutable: nobody writes to it any more, so no lock is taken, also on file systems that have none.
            self._connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True, check_same_thread=False)
            ((report,),) = self._connection.execute("SELECT report FROM told").fetchall()
        except (sqlite3.Error, ValueError) as error:
            raise RunError("the values of the model cannot be read", where=str(path), remedy="Every worker must see this file") from error
        self.report: dict[str, Any] = json.loads(report)

    def of(self, document: int) -> dict[int, str]:
        """The values of document number *document* by their numbers."""
        return dict(self._connection.execute("SELECT number, value FROM given WHERE document = ?", [document]))
