"""List the files of an input: one file, or those of a folder, each folder sorted by name.

Hidden files and files of unknown formats are skipped and reported. Links must stay inside the input and must not form a cycle.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from piiloom.foundation.errors import DataError, UsageError
from piiloom.surrogates.inputs.faults import cannot_read
from piiloom.surrogates.inputs.settings import FORMATS, InputSettings


class Listed(NamedTuple):
    """A file of the input: its path inside the input, its path on disk, and its format (or "zip")."""

    name: str
    path: Path
    format: str


def format_of(name: str, told: str | None) -> str | None:
    """Return the format by the suffix of *name*, or *told* (the user's setting) if the suffix is unknown.

    No suffix tells that a text or table is in CoNLL's columns, so there *told* decides.
    """
    if told == "conll" and FORMATS.get(Path(name).suffix.lower()) in {"txt", "tsv"}:
        return told
    return FORMATS.get(Path(name).suffix.lower(), told)


def list_files(settings: InputSettings, skipped: list[str]) -> Iterator[Listed]:
    """Yield the files to read, and append the names of skipped ones to *skipped*.

    Raises ``UsageError`` if there is nothing to read, and ``DataError`` for bad links, unreadable folders and names that are not UTF-8.
    """
    root = settings.path
    if root.is_file():
        known = format_of(root.name, settings.format)
        if known is None:
            remedy = f"The format follows from the suffix ({', '.join(FORMATS)}); give another with --input-format"
            raise UsageError("the file's format is not known", where=str(root), remedy=remedy)
        yield Listed(root.name, root, known)
        return
    if not root.is_dir():
        raise UsageError("there is no such file or folder", where=str(root), remedy="Check the path")
    empty = True
    for name, path in _walk(root, "", root.resolve(), (root.resolve(),)):
        known = format_of(name, settings.format)
        if not _is_unicode(name):
            raise DataError("the file's name is not UTF-8", where=ascii(name), remedy="Rename it")
        if known is None or path.name.startswith("."):
            skipped.append(name)
        else:
            empty = False
            yield Listed(name, path, known)
    if empty:
        raise UsageError("the folder has no file of a known format", where=str(root), remedy=f"Known are {', '.join(FORMATS)}")


def _is_unicode(name: str) -> bool:
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _walk(folder: Path, prefix: str, root: Path, above: tuple[Path, ...]) -> Iterator[tuple[str, Path]]:
    try:
        with os.scandir(folder) as entries:
            names = sorted((entry.name, entry.is_symlink()) for entry in entries)
    except OSError as error:
        raise cannot_read(prefix or str(folder), error) from error
    for name, is_link in names:
        path, inner = folder / name, f"{prefix}{name}"
        real = _inside(path, inner, root) if is_link else path
        if real.is_dir():
            if name.startswith("."):
                continue
            target = real.resolve()
            if target in above:
                raise DataError("the link leads back to a folder that contains it", where=inner, remedy="Remove it")
            yield from _walk(path, f"{inner}/", root, (*above, target))
        elif real.is_file():
            yield inner, path


def _inside(link: Path, inner: str, root: Path) -> Path:
    try:
        real = link.resolve(strict=True)
    except (OSError, RuntimeError) as error:
        raise DataError("the target of the link does not exist", where=inner, remedy="Remove it") from error
    if not real.is_relative_to(root):
        raise DataError("the link leads out of the input folder", where=inner, remedy="Put the file itself there, or remove the link")
    return real
