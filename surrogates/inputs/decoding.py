"""Which encoding a file has, and the way to UTF-8 and back.

Everything inside works on UTF-8. A file in another encoding is written again as UTF-8 first, and its mirror in its own encoding;
that the bytes come back the same is checked before anything else is done.
"""

from __future__ import annotations

import codecs
import difflib
import re
from hashlib import blake2b
from pathlib import Path
from typing import Final

from piiloom.foundation.errors import DataError, UsageError
from piiloom.surrogates.inputs.faults import line_at
from piiloom.surrogates.inputs.parts import InputFile

UTF8_BOM: Final = codecs.BOM_UTF8
# The longer marks first: UTF-32's begins like UTF-16's.
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
    """Python's name for the encoding *name*; ``UsageError`` with the nearest names when there is none."""
    try:
        found = codecs.lookup(name).name
        "".encode(found)  # what is a codec but no text encoding ("zlib") fails here
    except (LookupError, ValueError):
        near = difflib.get_close_matches(name.lower(), _COMMON, n=2, cutoff=0.5) or ["utf-8", "cp1252", "latin-1"]
        raise UsageError(f"there is no encoding {name!r}", where=where, remedy=f"Try --encoding {' or '.join(near)}") from None
    return found


def encoding_of(head: bytes, file_format: str, told: str | None, name: str) -> tuple[str, bytes]:
    """The encoding of a file that begins with *head*, and its mark: by the mark, else *told*, else what XML declares, else UTF-8."""
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


def to_utf8(file: InputFile, target: Path) -> int:
    """Write the file's text to *target* as UTF-8, without its mark; gives the size.

    Raises ``DataError`` with line and offset where the bytes do not fit the encoding, or when they would not come back the same.
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


def _does_not_fit(file: InputFile, offset: int) -> DataError:
    # A decoder keeps the first bytes of a sign that a block cuts: the offset may lie before the block.
    return DataError(
        f"the byte at offset {offset} is not {file.encoding.upper()}",
        where=f"{file.name}:{line_at(file.path, offset)}",
        remedy="Name the file's encoding with --encoding",
    )


def _not_the_same(file: InputFile) -> DataError:
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
    """From the UTF-8 of a mirror to the file's own encoding. XML and JSON have escapes for signs that it lacks."""

    def __init__(self, file: InputFile) -> None:
        self._name = file.name
        self._encoding = file.encoding
        errors = {"xml": "xmlcharrefreplace", "json": "piiloom.json", "jsonl": "piiloom.json"}.get(file.format, "strict")
        self._decoder = codecs.getincrementaldecoder("utf-8")("strict")
        self._encoder = codecs.getincrementalencoder(file.encoding)(errors)

    def encode(self, block: bytes, *, last: bool = False) -> bytes:
        """The next bytes; ``DataError`` when a surrogate has a sign that the encoding lacks."""
        try:
            return self._encoder.encode(self._decoder.decode(block, final=last), final=last)
        except UnicodeEncodeError as error:
            raise DataError(
                f"a surrogate has a sign that {self._encoding} does not have",
                where=self._name,
                remedy="Convert the file to UTF-8 first, or ask for --english-only names",
            ) from error
