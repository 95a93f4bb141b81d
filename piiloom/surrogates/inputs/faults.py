"""Errors in input files, with the file and line as a user looks for them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from piiloom.foundation.errors import DataError, UsageError
from piiloom.surrogates.inputs.parts import InputFile, Part

_BLOCK: Final = 1 << 20
_SHOWN: Final = 12


UNDECODED: Final = re.compile("[\udc80-\udcff]")  # what Python's "surrogateescape" makes of bytes that are not UTF-8


class BadRow(Exception):
    """Raised for a row that cannot be read, where bad rows are set aside (``InputSettings.skip_bad_rows``). The message is the reason."""


def check_decoded(raw: str, start: int, end: int) -> None:
    """Raise ``BadRow`` if ``raw[start:end]`` has a byte that is not UTF-8."""
    if not raw.isascii() and (bad := UNDECODED.search(raw, start, end)):
        raise BadRow(f"byte 0x{ord(bad[0]) - 0xDC00:02x} is not UTF-8")


def line_at(path: Path, offset: int) -> int:
    """Return the 1-based line of the byte *offset* in the file at *path*. Lines end at line feeds."""
    line = 1
    with path.open("rb") as fh:
        while offset > 0 and (block := fh.read(min(_BLOCK, offset))):
            line += block.count(b"\n")
            offset -= len(block)
    return line


def fault(part: Part, raw: str, at: int, message: str, remedy: str | None = None) -> DataError:
    """Return the error for a fault at character *at* of *raw*, the text of *part*, with file and line."""
    before = raw[:at].encode("utf-8", "surrogatepass")
    return DataError(message, where=f"{part.file.name}:{line_at(part.file.path, part.start) + before.count(10)}", remedy=remedy)


def row_fault(part: Part, row: int, message: str) -> DataError:
    """Return the error for a bad row of a file that has no lines; *row* is 1-based."""
    return DataError(message, where=f"{part.file.name}:{row}", remedy="Correct the row, or use --skip-bad-rows")


def undecodable(file: InputFile, offset: int, byte: int, line: int, encoding: str) -> DataError:
    """Return the error for a byte at *offset* that is not valid in the encoding."""
    return DataError(
        f"byte 0x{byte:02x} at offset {offset} is not {encoding.upper()}",
        where=f"{file.name}:{line}",
        remedy="Name the file's encoding with --encoding (cp1252 and latin-1 are common)",
    )


def cannot_read(name: str, error: OSError) -> DataError:
    """Return the error for a file that the operating system does not let us read."""
    return DataError(f"the file cannot be read ({error.strerror or type(error).__name__})", where=name, remedy="Check its permissions")


def shown(names: Sequence[str]) -> str:
    """Join the first twelve *names* for a message, and say how many more there are."""
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more if names else "nothing"


def no_column(file: str, field: str, names: Sequence[str], option: str) -> UsageError:
    """Return the error for a table without the column *field*, which the user named with *option*."""
    return UsageError(f"there is no column {field!r}; the table has: {shown(names)}", where=file, remedy=f"Name another with {option}")


def no_text(file: str, missing: Sequence[str], keys: Sequence[str]) -> UsageError:
    """Return the error for a file in which no row has a text.

    *missing* are the requested fields that are in no row, *keys* the fields of the first row.
    """
    what = f"no row has the field {', '.join(map(repr, missing))}" if missing else "no row has a text"
    return UsageError(f"{what}; the first one has: {shown(keys)}", where=file, remedy="Name the field with --text-field")
