"""The file of a names index: how it is laid out, read and checked.

All numbers are little-endian. The file begins with 32 bytes::

    magic "PIINAMES" · u32 version · u32 length of the header · u32 CRC-32 of the header · u32 CRC-32 of the body · u64 file length

Then the header (JSON, padded with spaces so that the body begins at a multiple of 8), then the body. The header holds ``source``
(what the index was made of), ``countries`` (alpha-2 codes; a country's number is its place here), ``country_names`` and for
each table ("first", "last", and "first_native", "last_native" for names in their own script) what ``names.tables`` reads of it:
``names`` (how many), ``plain`` (how they are sorted), ``sections`` (name → offset in the body, number of items), ``lists`` and
``order``. Sections of a table, for its names in ascending order:

=========== ====== =================================================================================================
text        u8     the names in UTF-8, one after another
text_at     u32    where each name begins in ``text``; one more than there are names, as in all ``…_at``
shares_at   u32    where the countries of each name begin in ``country`` and ``share``
country     u8     number of a country
share       u16    how many thousandths of the bearers of the name live there; the highest bit: the name has a rank there
ranks_at    u32    where the ranks of each name begin in ``rank``
rank        u16    the ranks, in the order of the countries that have one
gender      u16    thousandths of bearers who are female and male, two a name; 65535: not known
listed      u32    names (by number) in order of rank, list after list as ``lists`` tells
=========== ====== =================================================================================================
"""

from __future__ import annotations

import json
import mmap
import struct
import sys
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO, Final, Literal

from piiloom.foundation.errors import DataError

MAGIC: Final = b"PIINAMES"
VERSION: Final = 1
HEAD: Final = struct.Struct("<8sIIIIQ")
RANKED: Final = 0x8000
UNKNOWN: Final = 0xFFFF
CODES: Final[Mapping[str, Literal["B", "H", "I"]]] = {
    "text": "B",
    "text_at": "I",
    "shares_at": "I",
    "country": "B",
    "share": "H",
    "ranks_at": "I",
    "rank": "H",
    "gender": "H",
    "listed": "I",
}
_CHUNK: Final = 1 << 20
_BUILD: Final = "Build it again with `piiloom names build`."


class Opened:
    """The header and body of an index, memory-mapped or in memory. The body is checked once; pages are read on demand."""

    def __init__(self, header: Mapping[str, Any], body: memoryview) -> None:
        self.header = header
        self._body = body

    def section(self, table: Mapping[str, Any], name: str) -> memoryview:
        """Return one section of *table* as a memoryview of items of its type."""
        offset, items = table["sections"][name]
        code = CODES[name]
        return self._body[offset : offset + items * struct.calcsize(code)].cast(code)


def open_file(path: Path) -> Opened:
    """Memory-map an index; raises ``DataError`` if it is missing, truncated, damaged, of another version, or no index at all."""
    where = str(path)
    try:
        with path.open("rb") as file:
            head = file.read(HEAD.size)
            version_checked(head, where)
            _, _, length, header_sum, body_sum, size = HEAD.unpack(head)
            if path.stat().st_size != size:
                raise DataError("the names index is cut short or has grown", where=where, remedy=_BUILD)
            header = file.read(length)
            if zlib.crc32(header) != header_sum or _checksum(file) != body_sum:
                raise DataError("the names index is damaged: its checksum is wrong", where=where, remedy=_BUILD)
            mapped = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    except OSError as error:
        raise DataError(f"the names index cannot be read: {error.strerror or 'not a file'}", where=where, remedy=_BUILD) from error
    return Opened(_parsed(header, where), mapped[HEAD.size + length :])


def open_bytes(data: bytes, where: str) -> Opened:
    """Open an index that is in memory; *where* names it in errors. Raises the same errors as ``open_file``."""
    version_checked(data[: HEAD.size], where)
    _, _, length, header_sum, body_sum, size = HEAD.unpack(data[: HEAD.size])
    view = memoryview(data)
    header, body = view[HEAD.size : HEAD.size + length], view[HEAD.size + length :]
    if len(data) != size or zlib.crc32(header) != header_sum or zlib.crc32(body) != body_sum:
        raise DataError("the names index is damaged: its checksum is wrong", where=where, remedy=_BUILD)
    return Opened(_parsed(bytes(header), where), body)


def version_checked(head: bytes, where: str) -> None:
    """Raise ``DataError`` unless *head* is the start of an index that this version of piiloom can read on this machine."""
    if len(head) < HEAD.size or not head.startswith(MAGIC):
        raise DataError("this is not a names index", where=where, remedy="Name a file that `piiloom names build` has made.")
    version = HEAD.unpack(head)[1]
    if version > VERSION:
        raise DataError(f"the names index has version {version}, newer than {VERSION}", where=where, remedy="Use a newer piiloom.")
    if version < VERSION:
        raise DataError(f"the names index has version {version}; this piiloom reads {VERSION}", where=where, remedy=_BUILD)
    if sys.byteorder != "little":
        raise DataError("the names index is little-endian, this machine is not", where=where, remedy="Use another machine.")


def _checksum(file: BinaryIO) -> int:
    # Read instead of mapped, so that pages read only for the checksum do not count as memory of this process.
    total = 0
    while chunk := file.read(_CHUNK):
        total = zlib.crc32(chunk, total)
    return total


def _parsed(header: bytes, where: str) -> dict[str, Any]:
    try:
        parsed = json.loads(header)
    except ValueError as error:
        raise DataError("the names index is damaged: its header is not JSON", where=where, remedy=_BUILD) from error
    if not isinstance(parsed, dict):
        raise DataError("the names index is damaged: its header is not an object", where=where, remedy=_BUILD)
    return parsed
