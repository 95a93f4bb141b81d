"""Where in a file something is wrong, named as people look for it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from piiloom.foundation.errors import DataError, UsageError
from piiloom.surrogates.inputs.parts import InputFile, Part

_BLOCK: Final = 1 << 20
_SHOWN: Final = 12


def line_at(path: Path, offset: int) -> int:
    """The 1-based line of the byte *offset* (line feeds end lines)."""
    line = 1
    with path.open("rb") as fh:
        while offset > 0 and (block := fh.read(min(_BLOCK, offset))):
            line += block.count(b"\n")
            offset -= len(block)
    return line


def fault(part: Part, raw: str, at: int, message: str, remedy: str | None = None) -> DataError:
    """An error at *raw*[at] of *part*, with file and line."""
    before = raw[:at].encode("utf-8", "surrogatepass")
    return DataError(message, where=f"{part.file.name}:{line_at(part.file.path, part.start) + before.count(10)}", remedy=remedy)


def undecodable(file: InputFile, offset: int, byte: int, line: int, encoding: str) -> DataError:
    """The byte at *offset* does not fit the encoding."""
    return DataError(
        f"byte 0x{byte:02x} at offset {offset} is not {encoding.upper()}",
        where=f"{file.name}:{line}",
        remedy="Name the file's encoding with --encoding (cp1252 and latin-1 are common)",
    )


def cannot_read(name: str, error: OSError) -> DataError:
    """The system does not let us read."""
    return DataError(f"the file cannot be read ({error.strerror or type(error).__name__})", where=name)


def shown(names: Sequence[str]) -> str:
    """The first dozen of *names*, and how many more there are."""
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more if names else "nothing"


def no_column(file: str, field: str, names: Sequence[str], option: str) -> UsageError:
    """The table has no column *field*, which *option* names."""
    return UsageError(f"there is no column {field!r}; the table has: {shown(names)}", where=file, remedy=f"Name another with {option}")


def no_text(file: str, missing: Sequence[str], keys: Sequence[str]) -> UsageError:
    """No row of the file has a text; *missing* are the fields that were asked for and are in no row, *keys* those of the first row."""
    what = f"no row has the field {', '.join(map(repr, missing))}" if missing else "no row has a text"
    return UsageError(f"{what}; the first one has: {shown(keys)}", where=file, remedy="Name the field with --text-field")
