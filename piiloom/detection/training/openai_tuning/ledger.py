"""A write-ahead ledger: what is about to be done is on disk before it is done, and what came of it afterwards.

One JSON object a line. A line that a kill cut short is dropped: what it was to announce has not begun.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, Literal

from piiloom.foundation.errors import DataError
from piiloom.foundation.whole_files import output_errors

Did = Literal["intent", "unknown", "refused", "done"]
_UNSURE: Final = frozenset({"intent", "unknown"})


class Ledger:
    """The ledger in the file *path*. *clock* gives seconds since 1970."""

    def __init__(self, path: Path, clock: Callable[[], float] = time.time) -> None:
        self._path, self._clock = path, clock
        self._entries: list[dict[str, Any]] = []
        self._whole = 0  # bytes up to the end of the last whole line
        if path.exists():
            self._read()

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        return iter(self._entries)

    def intent(self, step: str, **facts: object) -> None:
        """Note that *step* is about to be taken."""
        self._append(step, "intent", facts)

    def unknown(self, step: str, **facts: object) -> None:
        """Note that *step* may have been taken or not: its answer was lost."""
        self._append(step, "unknown", facts)

    def refused(self, step: str, **facts: object) -> None:
        """Note that *step* was certainly not taken."""
        self._append(step, "refused", facts)

    def done(self, step: str, **facts: object) -> None:
        """Note that *step* was taken, and what came of it."""
        self._append(step, "done", facts)

    def result(self, step: str) -> Mapping[str, Any] | None:
        """Return what came of *step*, the last time; None if it was not taken."""
        return next((entry for entry in reversed(self._entries) if entry["step"] == step and entry["did"] == "done"), None)

    def unsure_since(self, step: str) -> float | None:
        """Return since when it is unknown whether *step* was taken; None if that is known."""
        last = next((entry for entry in reversed(self._entries) if entry["step"] == step), None)
        return float(last["at"]) if last is not None and last["did"] in _UNSURE else None

    def first_intent(self, step: str) -> float | None:
        """Return when *step* was first about to be taken."""
        return next((float(entry["at"]) for entry in self._entries if entry["step"] == step and entry["did"] == "intent"), None)

    def _append(self, step: str, did: Did, facts: Mapping[str, object]) -> None:
        entry = {"at": round(self._clock(), 3), "step": step, "did": did, **facts}
        line = json.dumps(entry, ensure_ascii=False).encode() + b"\n"
        with output_errors(self._path.parent):
            is_new = not self._path.exists()
            with self._path.open("ab") as fh:
                fh.truncate(self._whole)
                fh.write(line)
                fh.flush()
                os.fsync(fh.fileno())
            if is_new:
                sync_folder(self._path.parent)
        self._whole += len(line)
        self._entries.append(entry)

    def _read(self) -> None:
        data = self._path.read_bytes()
        self._whole = data.rfind(b"\n") + 1
        for number, line in enumerate(data[: self._whole].split(b"\n")[:-1], start=1):
            try:
                entry = json.loads(line)
                float(entry["at"]), entry["step"], entry["did"]
            except (ValueError, KeyError, TypeError):
                remedy = "Restore it from a copy. Without it, look for the job with piiloom train openai --list"
                raise DataError("the ledger of the job is damaged", where=f"{self._path}:{number}", remedy=remedy) from None
            self._entries.append(entry)


def sync_folder(folder: Path) -> None:
    """Have the names of new files in *folder* on disk."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
