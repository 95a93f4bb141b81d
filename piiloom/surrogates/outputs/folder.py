"""The places of a run's outputs: the output folder, the vault of the original values, and the key of an unfinished run.

A run writes to a hidden folder beside it, ``.NAME.partial-PID``, and renames it when it is complete. It is removed when the run fails or is
stopped. If a run was killed, the next run in the same place removes it, with the draft of the vault that belongs to it. This holds
whatever the name of the next run's own folder.

The vault, written on request, and the key of an unfinished run are for their owner alone.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Final, Self, TextIO

from piiloom.foundation.errors import OutputError, UsageError
from piiloom.foundation.interrupts import held_interrupts
from piiloom.foundation.seeding import KEY_BYTES, secret_key
from piiloom.foundation.whole_files import LOCK, is_locked, lock, named, remove_old_drafts

REPORT: Final = "report.json"
RECORDS: Final = "records.jsonl"
MAP: Final = "map.jsonl"
MIRROR: Final = "mirror"
REJECTS: Final = "rejects.jsonl"  # what a model could not give
TOOL: Final = "piiloom surrogate"


class RunFolder:
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
                raise output_fault(self._out, error) from error
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._drop()
        if isinstance(error, OSError):
            raise output_fault(self._out, error) from error

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
    with suppress(OSError, ValueError):
        told = json.loads((folder / REPORT).read_text(encoding="utf-8"))
        return isinstance(told, dict) and told.get("tool") == TOOL
    return False


def output_fault(place: Path, error: OSError) -> OutputError:
    """Return the error for an ``OSError`` while writing the output, such as a full disk."""
    return OutputError(
        f"the output cannot be written ({error.strerror or type(error).__name__}); nothing was left behind",
        where=str(place),
        remedy="Free disk space, or name another place with --out",
    )


_MODE: Final = 0o600
_KEY: Final = ".key-"
WARNING: Final = (
    "The vault undoes the surrogates: whoever has it and the output has the input. Keep it apart, and delete it when you no longer need it."
)


class VaultFile:
    """Context manager for the vault. The file is written under a hidden name in its folder; ``publish`` gives it its final name.

    Its first line has the *key* of the run, if there is one: with it and the input the run can be made again.

    On entry raises ``UsageError`` if the file exists, or if it would be in *out* or in the input *source*, with which it might be passed
    on; ``OutputError`` if it cannot be created. If the block fails after ``publish``, the file is removed.
    """

    def __init__(self, path: Path, out: Path, source: Path, key: bytes = b"") -> None:
        self._path = path.parent.resolve() / path.name
        self.draft = self._path.with_name(f".{self._path.name}.partial-{os.getpid()}")
        self._head = json.dumps({"key": key.hex()}).encode() + b"\n" if key else b""
        self._closed_to = (out.resolve(), source.resolve())
        self._fh: BinaryIO
        self._published = False

    def __enter__(self) -> Self:
        if any(self._path == place or self._path.is_relative_to(place) for place in self._closed_to):
            raise UsageError("the vault must lie outside the output and the input", where="--vault", remedy="Name another file")
        if self._path.exists() or self._path.is_symlink():
            raise UsageError("the file exists, and a vault is never overwritten", where=str(self._path), remedy="Name a new file")
        try:
            remove_old_drafts(self._path)  # of killed runs; they hold originals
            self._fh = os.fdopen(os.open(self.draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, _MODE), "wb")
            lock(self._fh)
            os.fchmod(self._fh.fileno(), _MODE)  # independent of the umask
            self._fh.write(self._head)
        except OSError as error:
            raise output_fault(self._path, error) from error
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        with suppress(OSError):  # of a full disk, which was reported
            self._fh.close()
        self.draft.unlink(missing_ok=True)
        if error is not None and self._published:
            self._path.unlink(missing_ok=True)

    def write(self, data: bytes) -> None:
        """Append lines (JSON, UTF-8). Raises ``OutputError`` if the disk is full."""
        try:
            self._fh.write(data)
        except OSError as error:
            raise self._cannot(error) from error

    def publish(self) -> None:
        """Give the file its final name. Raises ``UsageError`` if such a file was made in the meantime."""
        try:
            self._fh.flush()
            os.link(self.draft, self._path)
        except FileExistsError:
            raise UsageError(
                "the file was created by another process in the meantime", where=str(self._path), remedy="Name a new file"
            ) from None
        except OSError as error:
            raise self._cannot(error) from error
        self._published = True

    def _cannot(self, error: OSError) -> OutputError:
        """Return the error that names the vault, as the output may be on another disk."""
        why = error.strerror or type(error).__name__
        remedy = "Free disk space there, or name another place with --vault"
        return OutputError(f"the vault cannot be written ({why}); nothing was left behind", where=str(self._path), remedy=remedy)

    def warnings(self) -> list[str]:
        """Return warnings for the user, depending on who may access the vault's folder."""
        mode = self._path.parent.stat().st_mode
        told = [WARNING]
        if mode & 0o022 and not mode & 0o1000:
            told.append("Others may write to the vault's folder, and so may remove or replace it.")
        elif mode & 0o004:
            told.append("Others may list the vault's folder; the file itself is readable by its owner only.")
        return told


@contextmanager
def run_key(out: Path, *, keep: bool = False) -> Iterator[tuple[bytes, Callable[[], None]]]:
    """Keep the key of a run that is not finished in a hidden file beside its output *out*. Yield the key, and what removes the file.

    A run that was killed leaves the file, and the next run in the same place takes it over, so that it gives the same bytes. It is to be
    removed right before the output is published. If the block fails, the file is removed, too, but with *keep* only for a ``UsageError``,
    which comes before any work. Raises ``OutputError`` if the file cannot be written.
    """
    out = out.parent.resolve() / out.name
    start = f".{out.name}{_KEY}"
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        left = map(_taken_over, sorted(named(out.parent, start)))
        path, fh = next((one for one in left if one is not None), None) or _new_key(out.parent, start)
        fh.seek(0)
        key = fh.read()
    except OSError as error:
        raise output_fault(out, error) from error
    remove_old_keys(out)
    remove = partial(path.unlink, missing_ok=True)
    with fh:
        try:
            yield key, remove
        except BaseException as error:
            if not keep or isinstance(error, UsageError):
                remove()
            raise


def _new_key(folder: Path, start: str) -> tuple[Path, BinaryIO]:
    number, name = tempfile.mkstemp(prefix=start, dir=folder)  # with mode 600
    fh = os.fdopen(number, "r+b")
    lock(fh)
    fh.write(secret_key())
    fh.flush()
    return Path(name), fh


def _taken_over(path: Path) -> tuple[Path, BinaryIO] | None:
    """Open and lock the key at *path*, if a run of this user left it and nobody else can have read or written it."""
    with suppress(OSError):
        fh = os.fdopen(os.open(path, os.O_RDWR | os.O_NOFOLLOW), "r+b")
        status = os.fstat(fh.fileno())
        with suppress(BlockingIOError):
            if (status.st_uid, status.st_mode & 0o7777, status.st_size) == (os.getuid(), _MODE, KEY_BYTES):
                lock(fh)
                return path, fh
        fh.close()
    return None


def remove_old_keys(out: Path) -> None:
    """Remove the keys of killed runs that wrote to *out*."""
    remove_old_drafts(out, _KEY)
