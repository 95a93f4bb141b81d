"""Drafts and scratch folders of running processes. Those of a killed process are removed by the next one that works in the same place.

A place is in use as long as its lock is held, which the system lets go when the process ends, however it ends.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Final

LOCK: Final = ".lock"
_YOUNG_S: Final = 60.0  # a place without a lock may be of a process that is about to lock it


def lock(fh: IO[bytes] | IO[str]) -> None:
    """Lock the open file *fh*, until it is closed. Raises ``BlockingIOError`` if another process holds it."""
    fcntl.flock(fh, fcntl.LOCK_EX | fcntl.LOCK_NB)


def is_locked(path: Path) -> bool:
    """Whether a process holds the lock of the file at *path*. A file that is not there is not locked."""
    with suppress(OSError), path.open("r+b") as fh:
        try:
            lock(fh)
        except BlockingIOError:
            return True
    return False


def named(folder: Path, start: str, mark: str = "") -> list[Path]:
    """Return what is in *folder* by a name that begins with *start* and holds *mark* after it. Quick where thousands of others are."""
    try:
        names = os.listdir(folder)  # noqa: PTH208 - without a path for each of the others
    except OSError:  # it is not there, or is not to be read
        return []
    return [folder / name for name in names if name.startswith(start) and mark in name[len(start) :]]


def remove_old_drafts(path: Path, mark: str = ".partial-") -> None:
    """Remove the drafts of *path* (".NAME.partial-…" beside it) that no process holds."""
    for draft in named(path.parent, f".{path.name}{mark}"):
        if draft.is_file() and not draft.is_symlink() and not is_locked(draft):
            with suppress(OSError):
                draft.unlink(missing_ok=True)


@contextmanager
def scratch_folder(prefix: str, parent: Path | None = None) -> Iterator[Path]:
    """Make a folder named *prefix* and something, which is removed at the end.

    Before, folders of that prefix are removed that killed processes of this user left. *parent* None: the system's place for such.
    """
    with TemporaryDirectory(prefix=prefix, dir=parent) as made:
        folder = Path(made)
        with (folder / LOCK).open("wb") as fh:
            lock(fh)
            for old in named(folder.parent, prefix):
                if old != folder and _is_abandoned(old):
                    shutil.rmtree(old, ignore_errors=True)
            yield folder


def _is_abandoned(folder: Path) -> bool:
    with suppress(OSError):
        status = folder.lstat()
        if folder.is_symlink() or not folder.is_dir() or status.st_uid != os.getuid() or is_locked(folder / LOCK):
            return False
        return (folder / LOCK).exists() or time.time() - status.st_mtime > _YOUNG_S
    return False
