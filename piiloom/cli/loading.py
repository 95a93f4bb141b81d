"""The work behind ``piiloom.load``: the records of a file, or of an exported folder."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from piiloom.cli.import_file import ReadingChoice
from piiloom.corpus.formats.base import read_records
from piiloom.corpus.formats.columns import check_columns
from piiloom.corpus.formats.registry import get_readable_format
from piiloom.corpus.record import Record
from piiloom.corpus.releases.manifest import MANIFEST, read_manifest
from piiloom.foundation.errors import DataError, UsageError
from piiloom.taxonomy.own_types import types_in_force


def load_records(source: Path, reading: ReadingChoice, *, split: str | None, stated_format: str | None) -> list[Record]:
    """Return the records of *source*; *stated_format* is the format that the caller named, if any. See ``piiloom.load``."""
    if not source.exists():
        raise DataError("there is no such file or folder", where=str(source), remedy="Give a native JSONL file or an exported folder")
    if source.is_file() or (stated_format is not None and not (source / MANIFEST).exists()):
        if split is not None:
            raise UsageError("a split can be chosen in a folder only", where=str(source), remedy="Give the folder of the export")
        return _read(source, reading)
    exported, files = _exported(source)
    if stated_format not in {None, exported}:
        raise UsageError(f"the export is {exported}, not {stated_format}", where=str(source), remedy="Leave the format out")
    if split is not None and split not in files:
        raise UsageError(f"there is no split {split!r}", where=str(source), remedy=f"It has: {', '.join(files) or 'none'}")
    chosen = [name for part, name in files.items() if split in (None, part)]
    return [record for name in chosen for record in _read(source / name, replace(reading, format=exported))]


def _read(source: Path, reading: ReadingChoice) -> list[Record]:
    """Read one file, or a folder of a format of folders, with its own types in force."""
    with types_in_force(reading.own_types(source)):
        options = replace(reading.options(), blank_contexts=True)
        chosen = get_readable_format(reading.format)
        check_columns(chosen, reading.columns)
        return list(read_records(chosen, source, options=options))


def _exported(folder: Path) -> tuple[str, dict[str, str]]:
    """Read the name of the format of an export, and its files by split."""
    about: dict[str, Any] = read_manifest(folder / MANIFEST)
    try:
        files = {described["split"]: name for name, described in about["files"].items() if described["split"] is not None}
        return get_readable_format(about["format"]).name, files
    except (KeyError, TypeError, AttributeError):
        remedy = "Export the release again"
        raise DataError("the description of the export is damaged", where=str(folder / MANIFEST), remedy=remedy) from None
