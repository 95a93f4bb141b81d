r"""Read and write JSON lines, one object per line.

Lines end only at ``\n``: U+2028, U+0085 and lone carriage returns are text (``str.splitlines`` would split there). A
byte-order mark before the first row is dropped; anywhere else it is text. Blank lines are ignored.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TypeVar

import orjson
from pydantic import BaseModel, ValidationError

from piiloom.corpus.formats.base import Json, ReadTally, RowReject
from piiloom.foundation.errors import DataError
from piiloom.foundation.schema_faults import schema_faults
from piiloom.foundation.seeding import digest

Row = TypeVar("Row")
Made = TypeVar("Made")

_BOM = b"\xef\xbb\xbf"
_ENCODE = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


class RowFault(Exception):
    """Why a row cannot become a record; the message names fields, positions and the value at fault, no other text."""


class RowLeftOut(RowFault):
    """Why the file itself says that a row does not count: its annotator did not accept it."""


class _RepeatedKey(ValueError):
    """A JSON object has the same key twice."""


def numbered_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield (1-based number, line) of the non-blank lines of *path*; raises ``DataError`` if it cannot be read or is not UTF-8."""
    number = 0
    try:
        with path.open("rb") as fh:
            for number, raw in enumerate(fh, start=1):
                line = (raw.removeprefix(_BOM) if number == 1 else raw).decode("utf-8").rstrip("\r\n")
                if line.strip(" \t\r"):
                    yield number, line
    except UnicodeDecodeError as error:
        raise DataError("the file is not UTF-8 text", where=f"{path.name}:{number}", remedy="Convert it to UTF-8") from error
    except OSError as error:
        raise DataError(f"the file cannot be read ({error.strerror})", where=str(path), remedy="Check the path") from error


def read_rows(
    rows: Iterable[tuple[int, Row]], read: Callable[[int, Row], Made], tally: ReadTally, *, shown: Callable[[Row], str] = str
) -> Iterator[Made | RowReject]:
    """Yield ``read(number, row)`` for each (number, row), or a reject if it raises ``RowFault``; *tally* counts the rows.

    *shown* makes the text of a rejected row, if rows are no texts.
    """
    for number, row in rows:
        tally.rows += 1
        tally.line = number
        try:
            yield read(number, row)
        except RowFault as fault:
            yield RowReject(line=number, reason=str(fault), row=shown(row), left_out=isinstance(fault, RowLeftOut))


def parse_object(line: str) -> Json:
    """Return the JSON object in *line*; raises ``RowFault`` if it is anything else, repeats a key or has a lone surrogate."""
    row = parse_value(line)
    if not isinstance(row, dict):
        raise RowFault("not a JSON object")
    return row


def parse_list(text: str) -> list[object]:
    """Return the JSON array in *text*, by the rules of ``parse_value``."""
    found = parse_value(text)
    if not isinstance(found, list):
        raise RowFault("not a JSON list")
    return found


def parse_value(text: str) -> object:
    """Return the JSON value in *text*; raises ``RowFault`` if it is not valid, repeats a key or has a lone surrogate."""
    try:
        value: object = _DECODE(text)
    except json.JSONDecodeError as error:
        raise RowFault(f"not valid JSON (column {error.colno})") from error
    except _RepeatedKey as error:
        raise RowFault("an object uses the same key twice") from error
    except (RecursionError, ValueError) as error:  # nested too deeply; a number with thousands of digits
        raise RowFault("JSON that cannot be read (nested too deeply, or a number too long)") from error
    if "\\u" in text:
        _refuse_lone_surrogates(value)
    return value


def json_bytes(value: object) -> bytes:
    """Return *value* as JSON in UTF-8, without spaces, keys in the given order, non-ASCII characters not escaped.

    Raises ``UnicodeEncodeError`` for a text with a lone surrogate.
    """
    try:
        return orjson.dumps(value)
    except orjson.JSONEncodeError:  # a lone surrogate, or a number of more than 64 bits
        return _ENCODE(value).encode("utf-8")


def row_line(row: Json) -> bytes:
    """Return *row* as ``json_bytes`` with a line end."""
    return json_bytes(row) + b"\n"


def write_rows(rows: Iterable[Json], path: Path) -> None:
    """Write *rows* to the new file *path*, a ``row_line`` each."""
    with path.open("wb") as fh:
        fh.writelines(map(row_line, rows))


def write_array(rows: Iterable[Json], path: Path) -> None:
    """Write *rows* to the new file *path* as one JSON array, a line each."""
    with path.open("wb") as fh:
        fh.write(b"[")
        for number, row in enumerate(rows):
            fh.write((b",\n" if number else b"\n") + json_bytes(row))
        fh.write(b"\n]\n")


def array_rows(path: Path) -> Iterator[tuple[int, str]]:
    """Yield (1-based number, object as JSON text) of the array in *path*, which is read as a whole.

    Raises ``DataError`` if the file cannot be read or is not a JSON array.
    """
    try:
        content = json.loads(path.read_bytes().removeprefix(_BOM))
    except OSError as error:
        raise DataError(f"the file cannot be read ({error.strerror})", where=str(path)) from error
    except (ValueError, RecursionError) as error:
        line = f":{error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
        raise DataError("the file is not valid JSON", where=f"{path.name}{line}", remedy="Is it a whole file of this format?") from error
    if not isinstance(content, list):
        raise DataError("the file is not a JSON array", where=path.name, remedy="Name another --input-format")
    for number, row in enumerate(content, start=1):
        shown = json.dumps(row, ensure_ascii=False)
        yield number, shown if shown.isascii() or encodes(shown) else json.dumps(row)


def array_or_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the objects of *path*: those of an array, which is read as a whole, with their numbers, or else its lines."""
    first = next(numbered_lines(path), (1, ""))[1]
    return array_rows(path) if first.lstrip().startswith("[") else numbered_lines(path)


def fault_of(error: ValidationError, model: type[BaseModel]) -> RowFault:
    """Return the first validation error of a row for *model*, as ``spans[2].start: must be a whole number``."""
    return RowFault(schema_faults(error, model, noun="field")[0].said("the row"))


class ImportedIds:
    """Makes ids for rows without one: a digest of the content and of the number of earlier rows with the same content.

    Moving or removing rows with other content does not change an id.
    """

    def __init__(self) -> None:
        self._seen: dict[str, int] = {}

    def next(self, *content: object) -> str:
        """Return the id (16 hex digits) of the next row with this content."""
        key = digest(*content)
        ordinal = self._seen.get(key, 0)
        self._seen[key] = ordinal + 1
        return digest("imported", key, ordinal)[:16]


def objects_in(value: object) -> list[Json]:
    """Return the objects of *value*, if it is a list; what else is in it is left out."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def encodes(text: str) -> bool:
    """Whether UTF-8 can hold *text*: it has no lone surrogate."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _unique(pairs: list[tuple[str, object]]) -> Json:
    row = dict(pairs)
    if len(row) != len(pairs):
        raise _RepeatedKey
    return row


_DECODE = json.JSONDecoder(object_pairs_hook=_unique).decode  # made once: ``json.loads`` would make one a row


def _refuse_lone_surrogates(value: object) -> None:
    if not encodes(json.dumps(value, ensure_ascii=False)):
        raise RowFault("a text holds a lone surrogate (half of a character), which UTF-8 cannot hold")
