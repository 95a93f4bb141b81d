"""Cut files into parts between rows. Files of formats without rows stay whole."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import BinaryIO

from piiloom.foundation.errors import DataError
from piiloom.surrogates.inputs.decoding import UTF8_BOM
from piiloom.surrogates.inputs.faults import line_at
from piiloom.surrogates.inputs.json_walking import Scan, blank_end, key_scanner
from piiloom.surrogates.inputs.parts import ConllLayout, InputFile, ParquetLayout, TableLayout
from piiloom.surrogates.inputs.tables import cut_table

_BLOCK = 1 << 16
_LONGEST_BORDER = 64


def cuts(fh: BinaryIO, file: InputFile, chunk_bytes: int) -> Iterator[int]:
    """Yield the end offset of each part of *file* (open as *fh*), in order: bytes, or rows for Parquet. The last one is the file's size.

    Yields nothing for an empty file. Raises ``DataError`` for a JSON array or a table that cannot be cut.
    """
    layout = file.layout
    if isinstance(layout, ParquetLayout):
        yield from (min(at + layout.batch, file.size) for at in range(0, file.size, layout.batch))
    elif isinstance(layout, TableLayout):
        yield from cut_table(fh, file.name, layout, chunk_bytes)
    elif isinstance(layout, ConllLayout):
        mark = layout.mark.encode()
        yield from _cut_before(fh, file.size, chunk_bytes, re.compile(rb"\n(?=" + re.escape(mark) + rb")" if mark else rb"\n[ \t\r]*\n"))
    elif file.format == "jsonl":
        yield from _cut_lines(fh, file.size, chunk_bytes)
    elif file.format == "json":
        yield from _ArrayCutter(fh, file, chunk_bytes).cuts()
    elif file.size:
        yield file.size


def _cut_lines(fh: BinaryIO, size: int, chunk_bytes: int) -> Iterator[int]:
    at = 0
    while at < size:
        at += chunk_bytes
        fh.seek(at - 1)  # if a line ends exactly here, the part is not extended
        while block := fh.read(_BLOCK):
            found = block.find(b"\n")
            if found >= 0:
                at += found
                break
            at += len(block)
        at = min(at, size)
        yield at


def _cut_before(fh: BinaryIO, size: int, chunk_bytes: int, border: re.Pattern[bytes]) -> Iterator[int]:
    """Yield offsets behind matches of *border*, about *chunk_bytes* apart."""
    at = 0
    while at < size:
        fh.seek(at)
        block = fh.read(chunk_bytes)
        searched = max(chunk_bytes - _LONGEST_BORDER, 0)
        while more := fh.read(_BLOCK):
            block += more
            if found := border.search(block, searched):
                at += found.end()
                break
            searched = max(len(block) - _LONGEST_BORDER, 0)
        else:
            at = size
        yield at


class _ArrayCutter:
    """Cuts the array of a .json file between its elements.

    The bytes are decoded as Latin-1, so offsets are bytes; JSON's syntax is ASCII.
    """

    def __init__(self, fh: BinaryIO, file: InputFile, chunk_bytes: int) -> None:
        self._fh, self._file, self._chunk = fh, file, chunk_bytes
        self._scan: Scan = key_scanner(None)
        self._text = ""
        self._base = 0
        self._at = 0

    def cuts(self) -> Iterator[int]:
        """See the function ``cuts``. A file that holds no array is one part."""
        self._more()
        if self._text.startswith(UTF8_BOM.decode("latin-1")):
            self._at = len(UTF8_BOM)
        sign = self._next_sign()
        if sign != "[":
            if self._file.size:
                yield self._file.size  # also of blanks, which the mirror has, too
            return
        self._at += 1
        start = 0
        if self._next_sign() != "]":
            while True:
                self._element()
                sign = self._next_sign()
                if sign == "]":
                    break
                if sign != ",":
                    raise self._fault("a comma or the end of the array is missing")
                self._at += 1
                if (end := self._base + self._at) - start >= self._chunk:
                    yield end
                    start = end
                    self._text, self._base, self._at = self._text[self._at :], end, 0
                self._next_sign()
        self._at += 1
        if self._next_sign():
            raise self._fault("there is more text after the array")
        yield self._file.size

    def _more(self) -> bool:
        block = self._fh.read(max(self._chunk, len(self._text), _BLOCK))
        self._text += block.decode("latin-1")
        return bool(block)

    def _next_sign(self) -> str:
        while True:
            self._at = blank_end(self._text, self._at)
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._more():
                return ""

    def _element(self) -> None:
        """Advance to the end of the element that begins here."""
        while True:
            try:
                _, end = self._scan(self._text, self._at)
            except (ValueError, StopIteration):
                if not self._more():  # an element that the block cuts off fails like a malformed one, so read on first
                    raise self._fault("an element cannot be read") from None
            except RecursionError:
                raise self._fault("an element is nested too deeply") from None
            else:
                self._at = end
                return

    def _fault(self, message: str) -> DataError:
        where = f"{self._file.name}:{line_at(self._file.path, self._base + self._at)}"
        return DataError(f"not valid JSON: {message}", where=where, remedy="Correct the file")
