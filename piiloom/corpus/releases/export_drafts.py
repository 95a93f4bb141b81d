"""The files of an export while they are written: in a folder of drafts, moved to their places when all are complete."""

from __future__ import annotations

import shutil
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from piiloom.corpus.releases.foreign_files import listed_files, refuse_foreign, sha256_of
from piiloom.corpus.releases.manifest import MANIFEST
from piiloom.foundation.errors import OutputError

_DRAFTS = ".export.part"


def check_folder(out: Path, names: Collection[str], *, force: bool) -> None:
    """Raise ``OutputError`` unless an export with the files *names* may be written to *out*; nothing is changed.

    A folder that is new, empty, or holds only what a killed export left may be written to, and with *force* also one in which no other
    file would be replaced than those of an earlier export.
    """
    if out.exists() and not out.is_dir():
        raise OutputError("this is not a folder", where=str(out), remedy="Name a new folder with --out")
    begun = _begun(out)
    held = {path.name for path in out.iterdir()} - {_DRAFTS} - begun if out.exists() else set()
    if held and not force:
        remedy = "Name another with --out, or replace the export there with --force"
        raise OutputError("the folder is not empty", where=str(out), remedy=remedy)
    refuse_foreign(out, MANIFEST, set(names) - begun)


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


class ExportDrafts:
    """Context manager for new files of the existing folder *out*; what is not published when the block ends is removed."""

    def __init__(self, out: Path) -> None:
        self.out = out
        self.folder = out / _DRAFTS

    def __enter__(self) -> Self:
        for name in _begun(self.out):
            _remove(self.out / name)
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    def publish(self, names: Iterable[str]) -> None:
        """Move the files and folders *names*, and then the manifest, to their places.

        The old manifest is removed first, because a folder with a manifest is complete by definition. Then all that an earlier
        export wrote is removed.
        """
        earlier = listed_files(self.out / MANIFEST) or {}
        (self.out / MANIFEST).unlink(missing_ok=True)
        for name in earlier:
            _remove(self.out / name)
        for name in [*names, MANIFEST]:
            (self.folder / name).replace(self.out / name)


def _begun(out: Path) -> set[str]:
    """Return the names in *out* that an export had published when it was killed: its manifest is still a draft and lists them."""
    listed = listed_files(out / _DRAFTS / MANIFEST) or {}
    found = {name for name in listed if (out / name).exists() and not (out / name).is_symlink()}
    return {name for name in found if sha256_of(out / name) == listed[name]}


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        with suppress(FileNotFoundError):
            path.unlink()
