"""The vault: what stood where surrogates stand now. Only on request, in a file of its own that none but its owner may read."""

from __future__ import annotations

import os
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Final, Self

from piiloom.foundation.errors import UsageError
from piiloom.surrogates.outputs.folder import cannot_write

_MODE: Final = 0o600
WARNING: Final = (
    "The vault undoes the surrogates: whoever has it and the output has the input. Keep it apart, and delete it when it has served."
)


class VaultFile:
    """A context manager. The file is written beside its place under a hidden name, and ``publish`` gives it its own.

    Raises ``UsageError`` when there is such a file, or it would lie in *out* or in the input, where it would be handed on;
    ``OutputError`` when it cannot be written.
    """

    def __init__(self, path: Path, out: Path, source: Path) -> None:
        self._path = path.parent.resolve() / path.name
        self._draft = self._path.with_name(f".{self._path.name}.partial-{os.getpid()}")
        self._closed_to = (out.resolve(), source.resolve())
        self._fh: BinaryIO | None = None
        self._published = False

    def __enter__(self) -> Self:
        if any(self._path == place or self._path.is_relative_to(place) for place in self._closed_to):
            raise UsageError("the vault must lie outside the output and the input", where="--vault", remedy="Name another file")
        if self._path.exists() or self._path.is_symlink():
            raise UsageError("there is such a file, and a vault is never written over", where=str(self._path), remedy="Name a new file")
        try:
            self._draft.unlink(missing_ok=True)  # of a process that had our number and was killed
            self._fh = os.fdopen(os.open(self._draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, _MODE), "wb")
            os.fchmod(self._fh.fileno(), _MODE)  # whatever the umask took or left
        except OSError as error:
            raise cannot_write(self._path, error) from error
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._fh is not None:
            self._fh.close()
        self._draft.unlink(missing_ok=True)
        if error is not None and self._published:
            self._path.unlink(missing_ok=True)

    def write(self, data: bytes) -> None:
        """Add lines."""
        if self._fh is not None:
            self._fh.write(data)

    def publish(self) -> None:
        """Give the file its name, unless somebody has taken it meanwhile."""
        if self._fh is None:
            return
        self._fh.flush()
        try:
            os.link(self._draft, self._path)
        except FileExistsError:
            raise UsageError("somebody has made such a file meanwhile", where=str(self._path), remedy="Name a new file") from None
        self._published = True

    def warnings(self) -> list[str]:
        """What the user must be told."""
        mode = self._path.parent.stat().st_mode
        told = [WARNING]
        if mode & 0o022 and not mode & 0o1000:
            told.append("Others may write to the vault's folder, and so may remove or replace it.")
        elif mode & 0o004:
            told.append("Others may list the vault's folder; the file itself is readable by its owner only.")
        return told
