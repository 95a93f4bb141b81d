"""Write a file, or the files of a folder, so that they are whole or not there; limit who may read what is created.

Drafts and scratch folders of running processes. Those of a killed process are removed by the next one that works in the same place.

A place is in use as long as its lock is held, which the system lets go when the process ends, however it ends.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, BinaryIO, Final

from piiloom.foundation.errors import OutputError

OWNER_ONLY: Final = 0o077  # leaves 0600 of the mode of a file: stores, their logs and copies
OWNER_AND_GROUP: Final = 0o027  # leaves 0640: exports
_masks: list[int] = []
_outer_mask = 0
_changing_mask = threading.Lock()


@contextmanager
def created_without(mask: int) -> Iterator[None]:
    """Create no file or folder in the block with the permissions *mask*, from its first byte on, also where a library creates it.

    The permissions that the umask of the process takes away are missing as well. The umask is the same for all threads, so another
    thread's files may get fewer permissions meanwhile, never more.
    """
    _change_mask(mask, add=True)
    try:
        yield
    finally:
        _change_mask(mask, add=False)


def _change_mask(mask: int, *, add: bool) -> None:
    global _outer_mask  # noqa: PLW0603 - a process has one umask
    with _changing_mask:
        if add:
            if not _masks:
                _outer_mask = os.umask(OWNER_ONLY)
            _masks.append(mask)
        else:
            _masks.remove(mask)
        inner = _outer_mask
        for one in _masks:
            inner |= one
        os.umask(inner)


@contextmanager
def replaced(path: Path, *, by: str = "part") -> Iterator[BinaryIO]:
    """Open a draft beside *path* and make its folder. At the end the draft is synced to disk and takes the place of *path*.

    After an error the draft is removed. *by* ends its name: processes that may write *path* at once need a draft each.
    """
    draft = path.with_name(f".{path.name}.{by}")
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with draft.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)


@contextmanager
def drafted(path: Path, what: str = "the file", *, remedy: str = "Name another place") -> Iterator[BinaryIO]:
    """Do as ``replaced`` does, but raise ``OutputError`` if *what* the draft contains cannot be written."""
    with write_errors(path, what, remedy=remedy), replaced(path) as file:
        yield file


@contextmanager
def write_errors(path: Path, what: str, *, remedy: str) -> Iterator[None]:
    """Raise ``OutputError`` for an ``OSError`` in the block: *what* it writes to *path* cannot be written."""
    try:
        yield
    except OSError as error:
        raise OutputError(f"{what} cannot be written ({error.strerror or error})", where=str(path), remedy=remedy) from error


def check_folder(out: Path, *, force: bool, option: str = "--out") -> None:
    """Raise ``OutputError`` if *out* is not a folder, or is not empty (allowed with *force*). Call this before the work begins.

    *option* is the one that named it.
    """
    with output_errors(out, option):
        if out.exists() and not out.is_dir():
            raise OutputError("this is not a folder", where=str(out), remedy=f"Name a new folder with {option}")
        if not force and out.exists() and any(out.iterdir()):
            remedy = f"Name another with {option}, or replace what is there with --force"
            raise OutputError("the folder is not empty", where=str(out), remedy=remedy)


def write_folder(out: Path, contents: Mapping[str, bytes], *, stale: Iterable[str] = (), option: str = "--out") -> None:
    """Write *contents*, by file name, to *out*, and remove *stale* files of an earlier run. Raises ``OutputError``.

    All are written as drafts first, and the last one takes its place last: a folder that has it is complete.
    """
    drafts = {name: out / f".{name}.part" for name in contents}
    with output_errors(out, option):
        out.mkdir(parents=True, exist_ok=True)
        try:
            for name, content in contents.items():
                drafts[name].write_bytes(content)
            for name in (*stale, *list(contents)[-1:]):
                (out / name).unlink(missing_ok=True)
            for name, draft in drafts.items():
                draft.replace(out / name)
        finally:
            for draft in drafts.values():
                with suppress(OSError):
                    draft.unlink(missing_ok=True)


def output_errors(out: Path, option: str = "--out") -> AbstractContextManager[None]:
    """Raise ``OutputError`` for an ``OSError`` in the block, which writes to the folder *out*, that *option* named."""
    return write_errors(out, "the folder", remedy=f"Name another folder with {option}")


@contextmanager
def new_folders(folders: Sequence[Path]) -> Iterator[None]:
    """Create *folders*. After an error, remove those (and their parents) that were created here and are still empty."""
    made: list[Path] = []
    try:
        for folder in folders:
            for path in (*reversed(folder.parents), folder):
                if not path.exists():
                    path.mkdir()
                    made.append(path)
        yield
    except BaseException:
        for path in reversed(made):
            with suppress(OSError):
                path.rmdir()
        raise


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file, or of a folder: that of one line "path, tab, SHA-256" per file, sorted by path."""
    if path.is_dir():
        files = sorted(each.relative_to(path).as_posix() for each in path.rglob("*") if each.is_file())
        listing = "".join(f"{name}\t{sha256_of(path / name)}\n" for name in files)
        return hashlib.sha256(listing.encode("utf-8")).hexdigest()
    with path.open("rb") as fh:
        return hashlib.file_digest(fh, "sha256").hexdigest()


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
