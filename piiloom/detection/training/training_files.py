"""Read a file of training records: native or CAPID rows, or any format that piiloom imports."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from piiloom.corpus.formats.base import ReadOptions, ReadTally, RowReject
from piiloom.corpus.formats.capid import CapidFormat
from piiloom.corpus.formats.registry import NativeFormat, get_readable_format
from piiloom.corpus.record import Record
from piiloom.corpus.releases.manifest import types_beside
from piiloom.foundation.errors import DataError
from piiloom.foundation.whole_files import sha256_of
from piiloom.foundation.words import counted
from piiloom.taxonomy.own_types import OwnTypes, extended

_LONGEST_ROW: Final = 1 << 24


@dataclass(frozen=True, slots=True, kw_only=True)
class OneFile:
    """A file that was read: its records, the own types of the export that it belongs to, and notes for the user."""

    path: Path
    records: list[Record]
    own_types: OwnTypes
    sha256: str
    notes: tuple[str, ...]


def read_file(path: Path, format_name: str | None, *, skip_values: bool, where: str) -> OneFile:
    """Read *path*; *where* is the option that named it. *format_name* None: native or CAPID, as its first row is.

    Raises ``DataError`` (file, line, field) for what cannot be read and ``UsageError`` for an unknown format.
    """
    if not path.exists():
        raise DataError("there is no such file", where=f"{where} {path}", remedy="Check the path")
    chosen = get_readable_format(format_name or _guessed(path))
    own_types, tally, records, left_out = types_beside(path), ReadTally(), [], 0
    options = ReadOptions(taxonomy=extended(own_types), blank_contexts=True, skip_values=skip_values)
    for row in chosen.read(path, options, tally):
        if isinstance(row, RowReject) and row.left_out:
            left_out += 1
            continue
        if isinstance(row, RowReject):
            remedy = (
                "Correct the row, or leave such values out with --skip-values" if chosen.name == CapidFormat.name else "Correct the row"
            )
            raise DataError(row.reason, where=f"{path}:{row.line}", remedy=remedy)
        records.append(row)
    notes = [f"{path.name}: {counted(left_out, 'row')} that nobody accepted left out"] if left_out else []
    if tally.skipped_values:
        notes.append(f"{path.name}: {counted(len(tally.skipped_values), 'value')} without an exact place left out")
    if tally.overlapping:
        notes.append(f"{path.name}: {counted(len(tally.overlapping), 'mention')} inside longer ones left out")
    return OneFile(path=path, records=records, own_types=own_types, sha256=sha256_of(path), notes=tuple(notes))


def _guessed(path: Path) -> str:
    """Return "capid" if the first row has ``piis``, else "native", whose reader says what is wrong with it."""
    if path.is_dir():
        raise DataError("this is a folder", where=str(path), remedy="Name a file, or the format with --format")
    with path.open("rb") as fh:
        for line in fh:
            if line.strip():
                try:
                    row = json.loads(line[:_LONGEST_ROW])
                except ValueError:
                    break
                return CapidFormat.name if isinstance(row, dict) and "piis" in row and "spans" not in row else NativeFormat.name
    return NativeFormat.name
