"""Check that the files an export would replace were written by an earlier export and not changed since."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection
from pathlib import Path
from typing import Any

from piiloom.foundation.errors import OutputError


def refuse_foreign(out: Path, manifest: str, names: Collection[str]) -> None:
    """Raise ``OutputError`` naming the first of *names* in *out* that no export wrote, or that was changed since.

    The file *manifest* in *out* lists what an export wrote, with SHA-256 hashes. A manifest that piiloom did not write is an
    error, too.
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
    """Return the files that a manifest of piiloom lists, with their hashes; None if it is absent or not written by piiloom."""
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
