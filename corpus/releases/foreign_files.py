"""Which files of a folder an export of ours wrote: only those may another export replace."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection
from pathlib import Path
from typing import Any

from piiloom.foundation.errors import OutputError


def refuse_foreign(out: Path, manifest: str, names: Collection[str]) -> None:
    """Raise ``OutputError`` naming the first of *names* in *out* that no export wrote, or that was changed since.

    What an export wrote, its *manifest* lists with the hash of its content. A manifest of somebody else's is refused too.
    """
    listed = _listed(out / manifest)
    if listed is None and _is_there(out / manifest):
        raise _foreign(out / manifest, "was not written by an export of piiloom")
    for name in sorted(names):
        path = out / name
        if not _is_there(path):
            continue
        if listed is None or name not in listed:
            raise _foreign(path, f"was not written by an export of piiloom: no {manifest} lists it")
        if not path.is_file() or _sha256(path) != listed[name]:
            raise _foreign(path, f"was changed since it was exported: {manifest} has another SHA-256")


def _listed(path: Path) -> dict[str, str] | None:
    """The files that a manifest of ours lists, with their hashes; None when it is absent or none of ours."""
    try:
        about: Any = json.loads(path.read_text(encoding="utf-8"))
        ours = isinstance(about["schema"], int) and isinstance(about["piiloom"], str)
        listed = {str(name): str(file["sha256"]) for name, file in about["files"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    return listed if ours else None


def _is_there(path: Path) -> bool:
    return path.exists() or path.is_symlink()


def _sha256(path: Path) -> str:
    with path.open("rb") as fh:
        return hashlib.file_digest(fh, "sha256").hexdigest()


def _foreign(path: Path, why: str) -> OutputError:
    return OutputError(f"the file {why}", where=str(path), remedy="Nothing was changed. Move it away, or name another folder with --out")
