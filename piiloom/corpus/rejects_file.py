"""The file of rejects of an import: every refused row and every skipped value, with its line and reason."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self, TextIO

from piiloom.corpus.formats.base import Json, RowReject, SkippedValue
from piiloom.foundation.errors import OutputError


class RejectsFile:
    """Context manager that writes ``{"line", "reason", "row"}`` objects to *path*; ``row`` is the unchanged original line.

    A value that was left out of a kept row is written as ``{"line", "reason", "value", "type", "relevance"}``.

    The file gets its final name when the block ends, also after an error. Without rejects no file is written, and one of an
    earlier import is removed. Raises ``OutputError`` if the file cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._draft = path.with_name(path.name + ".part")
        self._fh: TextIO | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        try:
            if self._fh is None:
                self._path.unlink(missing_ok=True)
                return
            self._fh.close()
            self._draft.replace(self._path)
        except OSError as fault:
            with suppress(OSError):
                self._draft.unlink(missing_ok=True)
            if error is None:
                raise self._cannot(fault) from fault

    def add(self, reject: RowReject) -> None:
        """Write one refused row."""
        self._write({"line": reject.line, "reason": reject.reason, "row": reject.row})

    def add_value(self, skipped: SkippedValue) -> None:
        """Write one value that was left out of a kept row."""
        said = skipped.to_json()
        self._write({"line": said["line"], "reason": said["reason"], **said})

    def _write(self, row: Json) -> None:
        try:
            if self._fh is None:
                self._path.parent.mkdir(parents=True, exist_ok=True)
                self._fh = self._draft.open("w", encoding="utf-8", newline="\n")
            self._fh.write(json.dumps(row, ensure_ascii=False) + "\n")
        except OSError as fault:
            raise self._cannot(fault) from fault

    def _cannot(self, fault: OSError) -> OutputError:
        return OutputError(
            f"the rejected rows cannot be written ({fault.strerror})", where=str(self._path), remedy="Name another place for them"
        )
