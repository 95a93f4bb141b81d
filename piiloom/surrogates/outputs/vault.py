"""Files for their owner alone: the vault, written on request, and the key of an unfinished run."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Final, Self

from piiloom.foundation.errors import OutputError, UsageError
from piiloom.foundation.scratch_places import lock, named, remove_old_drafts
from piiloom.foundation.seeding import KEY_BYTES, secret_key
from piiloom.surrogates.outputs.folder import cannot_write

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
        self._fh: BinaryIO | None = None
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
            raise cannot_write(self._path, error) from error
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._fh is not None:
            with suppress(OSError):  # of a full disk, which was reported
                self._fh.close()
        self.draft.unlink(missing_ok=True)
        if error is not None and self._published:
            self._path.unlink(missing_ok=True)

    def write(self, data: bytes) -> None:
        """Append lines (JSON, UTF-8). Raises ``OutputError`` if the disk is full."""
        if self._fh is not None:
            with self._named():
                self._fh.write(data)

    def publish(self) -> None:
        """Give the file its final name. Raises ``UsageError`` if such a file was made in the meantime."""
        if self._fh is None:
            return
        try:
            with self._named():
                self._fh.flush()
                os.link(self.draft, self._path)
        except FileExistsError:
            raise UsageError(
                "the file was created by another process in the meantime", where=str(self._path), remedy="Name a new file"
            ) from None
        self._published = True

    @contextmanager
    def _named(self) -> Iterator[None]:
        """Name the vault in the error for an ``OSError`` of the block, as the output may lie on another disk."""
        try:
            yield
        except FileExistsError:
            raise
        except OSError as error:
            why = error.strerror or type(error).__name__
            remedy = "Free disk space there, or name another place with --vault"
            raise OutputError(f"the vault cannot be written ({why}); nothing was left behind", where=str(self._path), remedy=remedy) from error

    def warnings(self) -> list[str]:
        """Return warnings for the user, depending on who may access the vault's folder."""
        mode = self._path.parent.stat().st_mode
        told = [WARNING]
        if mode & 0o022 and not mode & 0o1000:
            told.append("Others may write to the vault's folder, and so may remove or replace it.")
        elif mode & 0o004:
            told.append("Others may list the vault's folder; the file itself is readable by its owner only.")
        return told


class KeyFile:
    """Context manager for the key of a run that is not finished: a hidden file beside its output *out*.

    A run that was killed leaves the file, and the next run in the same place takes it over, so that it gives the same bytes. ``remove``
    is called right before the output is published. If the block fails, the file is removed, too, but with *keep* only for a
    ``UsageError``, which comes before any work. Raises ``OutputError`` if the file cannot be written.
    """

    def __init__(self, out: Path, *, keep: bool = False) -> None:
        self._out, self._keep = out.parent.resolve() / out.name, keep
        self._path: Path | None = None
        self._fh: BinaryIO | None = None
        self.key = b""

    def __enter__(self) -> Self:
        folder, start = self._out.parent, f".{self._out.name}{_KEY}"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if not any(map(self._take_over, sorted(named(folder, start)))):
                number, name = tempfile.mkstemp(prefix=start, dir=folder)  # with mode 600
                self._path, self._fh, self.key = Path(name), os.fdopen(number, "r+b"), secret_key()
                lock(self._fh)
                self._fh.write(self.key)
                self._fh.flush()
        except OSError as error:
            raise cannot_write(self._out, error) from error
        remove_old_keys(self._out)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if error is not None and not (self._keep and not isinstance(error, UsageError)):
            self.remove()
        if self._fh is not None:
            self._fh.close()

    def _take_over(self, path: Path) -> bool:
        """Take the key at *path*, if a run of this user left it and nobody else can have read or written it."""
        with suppress(OSError):
            fh = os.fdopen(os.open(path, os.O_RDWR | os.O_NOFOLLOW), "r+b")
            status, key = os.fstat(fh.fileno()), fh.read(KEY_BYTES)
            with suppress(BlockingIOError):
                if (status.st_uid, status.st_mode & 0o7777, len(key)) == (os.getuid(), _MODE, KEY_BYTES):
                    lock(fh)
                    self._path, self._fh, self.key = path, fh, key
                    return True
            fh.close()
        return False

    def remove(self) -> None:
        """Delete the file."""
        if self._path is not None:
            self._path.unlink(missing_ok=True)


def remove_old_keys(out: Path) -> None:
    """Remove the keys of killed runs that wrote to *out*."""
    remove_old_drafts(out, _KEY)
