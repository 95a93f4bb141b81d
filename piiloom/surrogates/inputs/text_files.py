"""Text files: their encodings, and their parts.

All readers work on UTF-8. A file in another encoding is first converted to UTF-8, if the round trip gives the same bytes, and its mirror
is converted back. Parts are cut between rows; files of formats without rows stay whole.
"""

from __future__ import annotations

import codecs
import difflib
import re
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from typing import BinaryIO, Final

from piiloom.foundation.errors import DataError, UsageError
from piiloom.surrogates.inputs.json_rows import blank_end, key_scanner
from piiloom.surrogates.inputs.parts import ConllLayout, ParquetLayout, SourceFile, TableLayout, line_at
from piiloom.surrogates.inputs.tables import cut_table

UTF8_BOM: Final = codecs.BOM_UTF8
# The longer byte-order marks first: UTF-32-LE's begins with UTF-16-LE's.
_MARKS: Final = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_DECLARED: Final = re.compile(rb"""\A<\?xml[^>]*?\sencoding\s*=\s*["']([A-Za-z0-9._-]+)["']""")
_COMMON: Final = (
    "utf-8",
    "latin-1",
    "iso-8859-15",
    "cp1252",
    "cp1250",
    "cp1251",
    "utf-16",
    "shift_jis",
    "gb18030",
    "big5",
    "euc-kr",
    "koi8-r",
)
_BLOCK: Final = 1 << 20


def known_encoding(name: str, where: str = "--encoding") -> str:
    """Return Python's name for the encoding *name*. Raises ``UsageError`` with similar names if there is none."""
    try:
        found = codecs.lookup(name).name
        "".encode(found)  # fails for codecs that are no text encodings ("zlib")
    except (LookupError, ValueError):
        near = difflib.get_close_matches(name.lower(), _COMMON, n=2, cutoff=0.5) or ["utf-8", "cp1252", "latin-1"]
        raise UsageError(f"there is no encoding {name!r}", where=where, remedy=f"Try --encoding {' or '.join(near)}") from None
    return found


def encoding_of(head: bytes, file_format: str, told: str | None, name: str) -> tuple[str, bytes]:
    """Return the encoding of a file that begins with *head*, and its byte-order mark (empty if there is none).

    The mark decides, else *told* (the user's setting), else the XML declaration, else UTF-8. Raises ``UsageError`` for an unknown name.
    """
    if head.startswith(UTF8_BOM):
        return "utf-8", UTF8_BOM
    for mark, encoding in _MARKS:
        if head.startswith(mark):
            return encoding, mark
    if told is not None:
        return known_encoding(told), b""
    declared = _DECLARED.match(head) if file_format == "xml" else None
    if declared:
        return known_encoding(declared[1].decode("ascii"), name), b""
    return "utf-8", b""


def to_utf8(file: SourceFile, target: Path) -> int:
    """Write the file's text to *target* as UTF-8, without its byte-order mark. Return the size in bytes.

    Raises ``DataError`` if the bytes do not fit the encoding (with line and offset), or if encoding the text gives other bytes.
    """
    decoder = codecs.getincrementaldecoder(file.encoding)("strict")
    encoder = codecs.getincrementalencoder(file.encoding)("strict")
    there, back = blake2b(), blake2b()
    size, done = 0, len(file.bom)
    with file.path.open("rb") as source, target.open("wb") as out:
        source.seek(done)
        while True:
            block = source.read(_BLOCK)
            try:
                text = decoder.decode(block, final=not block)
                back.update(encoder.encode(text, final=not block))
            except UnicodeDecodeError as error:
                raise _does_not_fit(file, done - (len(error.object) - len(block)) + error.start) from error
            except UnicodeEncodeError as error:
                raise _not_the_same(file) from error
            there.update(block)
            size += out.write(text.encode("utf-8"))
            done += len(block)
            if not block:
                break
    if there.digest() != back.digest():
        raise _not_the_same(file)
    return size


def _does_not_fit(file: SourceFile, offset: int) -> DataError:
    # The decoder keeps the first bytes of a character that a block cuts, so the offset may be before the block.
    return DataError(
        f"the byte at offset {offset} is not {file.encoding.upper()}",
        where=f"{file.name}:{line_at(file.path, offset)}",
        remedy="Name the file's encoding with --encoding",
    )


def _not_the_same(file: SourceFile) -> DataError:
    return DataError(
        f"the file's bytes would not come back the same from {file.encoding}, so its mirror could not be exact",
        where=file.name,
        remedy="Convert the file to UTF-8 first",
    )


def _escaped_for_json(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    signs = error.object[error.start : error.end].encode("utf-16-be")
    units = [signs[at : at + 2] for at in range(0, len(signs), 2)]
    return "".join(f"\\u{unit[0]:02x}{unit[1]:02x}" for unit in units), error.end


codecs.register_error("piiloom.json", _escaped_for_json)


class MirrorEncoder:
    """Incremental encoder from a mirror's UTF-8 to the file's encoding.

    In XML and JSON, characters that the encoding lacks are written as escapes.
    """

    def __init__(self, file: SourceFile) -> None:
        self._name = file.name
        self._encoding = file.encoding
        errors = {"xml": "xmlcharrefreplace", "json": "piiloom.json", "jsonl": "piiloom.json"}.get(file.format, "strict")
        self._decoder = codecs.getincrementaldecoder("utf-8")("strict")
        self._encoder = codecs.getincrementalencoder(file.encoding)(errors)

    def encode(self, block: bytes, *, last: bool = False) -> bytes:
        """Return the encoded bytes of *block*. Raises ``DataError`` for a character that the encoding lacks and that has no escape."""
        try:
            return self._encoder.encode(self._decoder.decode(block, final=last), final=last)
        except UnicodeEncodeError as error:
            raise DataError(
                f"a surrogate has a sign that {self._encoding} does not have",
                where=self._name,
                remedy="Convert the file to UTF-8 first, or ask for --english-only names",
            ) from error


_ARRAY: Final = re.compile(r"(?:\u00ef\u00bb\u00bf)?[ \t\r\n]*\[")  # in Latin-1, as below
_STEP = 1 << 16
_LONGEST_BORDER = 64


def cuts(fh: BinaryIO, file: SourceFile, chunk_bytes: int) -> Iterator[int]:
    """Yield the end offset of each part of *file* (open as *fh*), in order: bytes, or rows for Parquet. The last one is the file's size.

    Yields nothing for an empty file. Raises ``DataError`` for a table that cannot be cut.
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
    elif file.format == "json" and file.size:
        yield from _cut_array(fh, file.size, chunk_bytes)
    elif file.size:
        yield file.size


def _cut_lines(fh: BinaryIO, size: int, chunk_bytes: int) -> Iterator[int]:
    at = 0
    while at < size:
        at += chunk_bytes
        fh.seek(at - 1)  # if a line ends exactly here, the part is not extended
        while block := fh.read(_STEP):
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
        while more := fh.read(_STEP):
            block += more
            if found := border.search(block, searched):
                at += found.end()
                break
            searched = max(len(block) - _LONGEST_BORDER, 0)
        else:
            at = size
        yield at


def _cut_array(fh: BinaryIO, size: int, chunk_bytes: int) -> Iterator[int]:
    """Yield the ends of parts of a file that holds an array, between its elements. A file that holds no array is one part.

    The bytes are decoded as Latin-1, so offsets are bytes; JSON's syntax is ASCII. Faults are left to the reader of the parts.
    """
    scan = key_scanner(None)
    text = fh.read(max(chunk_bytes, _STEP)).decode("latin-1")
    head = _ARRAY.match(text)
    at, start = head.end() if head else size, 0
    while at < size:
        try:
            end = blank_end(text, scan(text, blank_end(text, at))[1])
            is_last = text[end] != ","
        except (ValueError, StopIteration, IndexError, RecursionError):  # an element that the block cuts off fails like a malformed one
            block = fh.read(max(chunk_bytes, len(text), _STEP))
            text += block.decode("latin-1")
            if not block:
                break
            continue
        if is_last:
            break
        at = end + 1
        if at >= chunk_bytes:
            start += at
            yield start
            text, at = text[at:], 0
    if start < size:
        yield size
