"""Check that the files an export would replace were written by an earlier export and not changed since."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection
from pathlib import Path
from typing import Any

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
