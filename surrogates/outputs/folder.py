"""The output folder, which appears under its name only when all of it is there.

What a run writes goes to a hidden folder beside it, ``.NAME.partial-PID``; it is removed when the run fails or is stopped, and one
that a killed run left is removed by the next run.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Final, Self, TextIO

from piiloom.foundation.errors import OutputError, UsageError
from piiloom.foundation.interrupts import held_interrupts

REPORT: Final = "report.json"
RECORDS: Final = "records.jsonl"
MAP: Final = "map.jsonl"
MIRROR: Final = "mirror"
TOOL: Final = "piiloom surrogate"
_LOCK: Final = ".lock"


class OutputFolder:
    """A context manager; ``partial`` is where to write, ``publish`` gives it its name, anything else removes it.

    Raises ``UsageError`` when *out* and *source* lie in each other, or *out* holds something that is not ours to replace, and
    ``OutputError`` when nothing can be written there.
    """

    def __init__(self, out: Path, source: Path, *, force: bool = False) -> None:
        # Without following a link at its end: a folder that is a link is refused below.
        self._out = out.parent.resolve() / out.name if out.name not in {"", ".", ".."} else out.resolve()
        self._source = source.resolve()
        self._force = force
        self._lock: TextIO | None = None
        self.partial = self._out.with_name(f".{self._out.name}.partial-{os.getpid()}")

    def __enter__(self) -> Self:
        self._check()
        try:
            self._out.parent.mkdir(parents=True, exist_ok=True)
            self._remove_leftovers()
            self.partial.mkdir()
            self._lock = (self.partial / _LOCK).open("w")
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BaseException as error:  # also Ctrl-C: nobody would call ``__exit__``
            self._drop()
            if isinstance(error, OSError):
                raise cannot_write(self._out, error) from error
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._drop()
        if isinstance(error, OSError):
            raise cannot_write(self._out, error) from error

    def _check(self) -> None:
        out, source = self._out, self._source
        if out == source:
            raise UsageError("the output folder is the input", where="--out", remedy="Name another folder")
        if source.is_dir() and out.is_relative_to(source):
            raise UsageError("the output folder lies inside the input folder", where="--out", remedy="Name one outside of it")
        if source.is_relative_to(out):
            raise UsageError("the input lies inside the output folder", where="--out", remedy="Name another folder")
        if out.is_symlink() or (out.exists() and not out.is_dir()):
            raise UsageError("this is not a folder", where=str(out), remedy="Name a new folder with --out")
        if out.is_dir() and any(out.iterdir()):
            if not self._force:
                remedy = "Name another with --out, or replace an earlier run's with --force"
                raise UsageError("the folder is not empty", where=str(out), remedy=remedy)
            if not _is_ours(out):
                raise UsageError(
                    "the folder holds something that is no earlier run, and is not replaced",
                    where=str(out),
                    remedy="Name another with --out",
                )

    def publish(self) -> None:
        """Give the folder its name; an earlier run's there is replaced whole."""
        self._unlock()
        (self.partial / _LOCK).unlink()
        old = self._out.with_name(f".{self._out.name}.replaced-{os.getpid()}")
        replaces = self._out.exists()
        if replaces:
            self._out.rename(old)
        try:
            self.partial.rename(self._out)
        except OSError:
            if replaces:
                old.rename(self._out)
            raise
        if replaces:
            shutil.rmtree(old, ignore_errors=True)

    def _remove_leftovers(self) -> None:
        """Remove what killed runs left. One whose lock is held is at work; an old folder that never got its name back gets it."""
        for folder in self._out.parent.glob(f".{_literal(self._out.name)}.replaced-*"):
            if self._out.exists():
                shutil.rmtree(folder, ignore_errors=True)
            else:
                folder.rename(self._out)
        for folder in self._out.parent.glob(f".{_literal(self._out.name)}.partial-*"):
            if folder.is_dir() and not folder.is_symlink() and not _is_locked(folder / _LOCK):
                shutil.rmtree(folder, ignore_errors=True)

    def _unlock(self) -> None:
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def _drop(self) -> None:
        with held_interrupts():
            self._unlock()
            if self.partial.exists():
                shutil.rmtree(self.partial, ignore_errors=True)


def _literal(name: str) -> str:
    return "".join(f"[{sign}]" if sign in "*?[" else sign for sign in name)


def _is_locked(path: Path) -> bool:
    with suppress(OSError), path.open("r+") as fh:
        try:
            fcntl.flock(fh, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def _is_ours(folder: Path) -> bool:
    try:
        with (folder / REPORT).open(encoding="utf-8") as fh:
            told = json.load(fh)
    except (OSError, ValueError):
        return False
    return isinstance(told, dict) and told.get("tool") == TOOL


def cannot_write(place: Path, error: OSError) -> OutputError:
    """The disk is full, or the like."""
    return OutputError(
        f"the output cannot be written ({error.strerror or type(error).__name__}); nothing was left behind",
        where=str(place),
        remedy="Make room, or name another place with --out",
    )
