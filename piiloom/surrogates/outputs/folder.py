"""The output folder, which gets its name only when it is complete.

A run writes to a hidden folder beside it, ``.NAME.partial-PID``. That is removed when the run fails or is stopped; if a run was killed,
the next run in the same place removes it, whatever the name of its own folder, with the draft of the vault that belongs to it.
"""

from __future__ import annotations

import json
import os
import shutil
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Final, Self, TextIO

from piiloom.foundation.errors import OutputError, UsageError
from piiloom.foundation.interrupts import held_interrupts
from piiloom.foundation.scratch_places import LOCK, is_locked, lock, named

REPORT: Final = "report.json"
RECORDS: Final = "records.jsonl"
MAP: Final = "map.jsonl"
MIRROR: Final = "mirror"
REJECTS: Final = "rejects.jsonl"  # what a model could not give
TOOL: Final = "piiloom surrogate"


class OutputFolder:
    """Context manager for the output folder. Write to ``partial``, then call ``publish``; otherwise the exit removes it.

    Raises ``UsageError`` if *out* is inside *source* or the other way around, or if *out* is not empty and not an earlier run's output
    to be replaced (*force*; None: the command has no ``--force``). Raises ``OutputError`` if nothing can be written there, also for
    an ``OSError`` in the block.
    """

    def __init__(self, out: Path, source: Path, *, force: bool | None = None) -> None:
        # Do not follow a link in the last component: ``_check`` refuses an output folder that is a link.
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
            self._lock = (self.partial / LOCK).open("w", encoding="utf-8")
            lock(self._lock)
        except BaseException as error:  # also Ctrl-C, since ``__exit__`` is not called if ``__enter__`` fails
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
                remedy = "Name another with --out" + (", or replace an earlier run's with --force" if self._force is not None else "")
                raise UsageError("the folder is not empty", where=str(out), remedy=remedy)
            if not _is_ours(out):
                raise UsageError(
                    "the folder holds files that no earlier run wrote, and is not replaced",
                    where=str(out),
                    remedy="Name another with --out",
                )

    def publish(self) -> None:
        """Rename the partial folder to its final name. An earlier run's folder of that name is replaced as a whole."""
        self._unlock()
        (self.partial / LOCK).unlink()
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
        """Clean up after killed runs.

        Partial folders are removed unless their lock is held, which means that a run is still at work. A folder that was moved aside to
        be replaced gets its name back if no new one took its place.
        """
        for folder in named(self._out.parent, f".{self._out.name}.replaced-"):
            if self._out.exists():
                shutil.rmtree(folder, ignore_errors=True)
            else:
                folder.rename(self._out)
        own = f".{self._out.name}.partial-"
        for folder in named(self._out.parent, ".", ".partial-"):
            known = folder.name.startswith(own) or (folder / LOCK).is_file()  # nobody else's folder of such a name
            if known and folder.is_dir() and not folder.is_symlink() and not is_locked(folder / LOCK):
                _remove_draft_of(folder)
                shutil.rmtree(folder, ignore_errors=True)

    def note_draft(self, draft: Path) -> None:
        """Note that *draft* belongs to this run, so that the next one removes both if this one is killed."""
        assert self._lock is not None  # noqa: S101 - called in the block
        self._lock.write(str(draft))
        self._lock.flush()

    def _unlock(self) -> None:
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def _drop(self) -> None:
        with held_interrupts():
            self._unlock()
            if self.partial.exists():
                shutil.rmtree(self.partial, ignore_errors=True)


def _remove_draft_of(folder: Path) -> None:
    with suppress(OSError, ValueError):
        draft = Path((folder / LOCK).read_text(encoding="utf-8"))
        if ".partial-" in draft.name and draft.is_file() and not draft.is_symlink() and not is_locked(draft):
            draft.unlink()


def _is_ours(folder: Path) -> bool:
    try:
        with (folder / REPORT).open(encoding="utf-8") as fh:
            told = json.load(fh)
    except (OSError, ValueError):
        return False
    return isinstance(told, dict) and told.get("tool") == TOOL


def cannot_write(place: Path, error: OSError) -> OutputError:
    """Return the error for an ``OSError`` while writing the output, such as a full disk."""
    return OutputError(
        f"the output cannot be written ({error.strerror or type(error).__name__}); nothing was left behind",
        where=str(place),
        remedy="Free disk space, or name another place with --out",
    )
