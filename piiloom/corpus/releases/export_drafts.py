"""Drafts of an export, moved to their places when all are complete, and the refusal to replace files of others."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from piiloom.corpus.releases.manifest import MANIFEST
from piiloom.foundation.errors import OutputError


def refuse_foreign(out: Path, manifest: str, names: Collection[str]) -> None:
    """Raise ``OutputError`` naming the first file in *out* that would be replaced though no export wrote it, or it was changed since.

    The file *manifest* in *out* lists what an export wrote, with SHA-256 hashes: these files would be replaced, and *names*. A
    manifest that piiloom did not write is an error, too.
    """
    listed = listed_files(out / manifest)
    if listed is None and _is_there(out / manifest):
        raise _foreign(out / manifest, "was not written by an export of piiloom")
    for name in sorted({*names, *(listed or ())}):
        path = out / name
        if not _is_there(path):
            continue
        if listed is None or name not in listed:
            raise _foreign(path, f"was not written by an export of piiloom: no {manifest} lists it")
        if path.is_symlink() or sha256_of(path) != listed[name]:
            raise _foreign(path, f"was changed since it was exported: {manifest} has another SHA-256")


def listed_files(path: Path) -> dict[str, str] | None:
    """Return the files and folders that a manifest of piiloom lists, with their hashes; None if it is absent or not ours.

    Names that lead out of the manifest's folder make it a manifest that piiloom did not write.
    """
    try:
        about: Any = json.loads(path.read_text(encoding="utf-8"))
        ours = isinstance(about["schema"], int) and isinstance(about["piiloom"], str)
        listed = {str(name): str(file["sha256"]) for name, file in about["files"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    return listed if ours and all(Path(name).name == name for name in listed) else None


def _is_there(path: Path) -> bool:
    return path.exists() or path.is_symlink()


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file, or of a folder: that of one line "path, tab, SHA-256" per file, sorted by path."""
    if path.is_dir():
        files = sorted(each.relative_to(path).as_posix() for each in path.rglob("*") if each.is_file())
        listing = "".join(f"{name}\t{sha256_of(path / name)}\n" for name in files)
        return hashlib.sha256(listing.encode("utf-8")).hexdigest()
    with path.open("rb") as fh:
        return hashlib.file_digest(fh, "sha256").hexdigest()


def _foreign(path: Path, why: str) -> OutputError:
    return OutputError(f"the file {why}", where=str(path), remedy="Nothing was changed. Move it away, or name another folder with --out")


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
