"""The files of an export while they are written: in a folder of drafts, moved to their places when all are complete."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from piiloom.corpus.releases.foreign_files import listed_files
from piiloom.corpus.releases.manifest import MANIFEST

_DRAFTS = ".export.part"


class ExportDrafts:
    """Context manager for new files of the folder *out*; what is not published when the block ends is removed."""

    def __init__(self, out: Path) -> None:
        self._out = out
        self.folder = out / _DRAFTS

    def __enter__(self) -> Self:
        shutil.rmtree(self.folder, ignore_errors=True)  # what a killed export left
        self.folder.mkdir()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    def publish(self, names: Iterable[str]) -> None:
        """Move the files and folders *names*, and then the manifest, to their places.

        The old manifest is removed first, because a folder with a manifest is complete by definition. Then all that an earlier
        export wrote is removed.
        """
        earlier = listed_files(self._out / MANIFEST) or {}
        (self._out / MANIFEST).unlink(missing_ok=True)
        for name in earlier:
            _remove(self._out / name)
        for name in [*names, MANIFEST]:
            (self.folder / name).replace(self._out / name)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        with suppress(FileNotFoundError):
            path.unlink()
