"""Where in a file something is wrong, named as people look for it."""

from __future__ import annotations

from pathlib import Path

from foundation.errors import DataError
from surrogates.inputs.parts import InputFile, Part

_BLOCK = 1 << 20


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
