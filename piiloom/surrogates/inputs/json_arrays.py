"""Read the objects of a JSON array, or the one object that a file holds."""

from __future__ import annotations

from functools import partial
from typing import Final

from piiloom.surrogates.inputs.json_rows import JsonReader
from piiloom.surrogates.inputs.json_walking import blank_end
from piiloom.surrogates.inputs.parts import InputSettings, Parsed, Part

_ONE_VALUE: Final = "Correct the file: it is to hold one array or one object. With an object a line, its name is to end in .jsonl"


def read_array(part: Part, raw: str, settings: InputSettings, *, meet_keys: bool) -> Parsed:
    """Read a part of a file that holds an array of objects, or one object. Raises ``DataError`` where it is not valid JSON.

    A part other than the file's last one ends behind a comma of the array.
    """
    reader = JsonReader(part, raw, settings, meet_keys=meet_keys)
    at = blank_end(raw, 0)
    if part.start > 0 or raw.startswith("[", at):
        _read_elements(reader, at)
    elif at < len(raw):
        if raw[at] != "{":
            raise reader.broken(at, "not valid JSON, or the file holds neither an array nor an object")
        at = blank_end(raw, _read_element(reader, at, 0))
        if at < len(raw):
            raise reader.broken(at, "not valid JSON: there is more text after the object", _ONE_VALUE)
    return reader.parsed(raw.count("\n"))


def _read_elements(reader: JsonReader, at: int) -> None:
    raw, part = reader.raw, reader.part
    empty = part.start == 0
    at, seen = blank_end(raw, at + empty), 0
    if empty and raw.startswith("]", at):
        _check_end(reader, at)
        return
    while at < len(raw):
        end = _read_element(reader, at, seen)
        at, seen = blank_end(raw, end), at
        if raw.startswith("]", at):
            _check_end(reader, at)
            return
        if not raw.startswith(",", at):
            raise reader.broken(at, "not valid JSON: a comma or the end of the array is missing", _ONE_VALUE)
        at = blank_end(raw, at + 1)
    if part.end == part.file.size:
        raise reader.broken(at, "not valid JSON: the array ends too early")


def _read_element(reader: JsonReader, at: int, seen: int) -> int:
    """Read the object at *at* and return the offset of its end. Lines were counted up to *seen*."""
    reader.line += reader.raw.count("\n", seen, at)
    if not reader.settings.skip_bad_rows:
        return _read_object(reader, at)
    end = reader.value_end(at)
    reader.guarded(partial(_read_object, reader, at), at, end, "{}")
    return end


def _read_object(reader: JsonReader, at: int) -> int:
    if reader.raw[at] != "{":
        raise reader.fault(at, "an element of the array is not a JSON object")
    return reader.row(at)


def _check_end(reader: JsonReader, at: int) -> None:
    after = blank_end(reader.raw, at + 1)
    if after < len(reader.raw):
        raise reader.broken(after, "not valid JSON: there is more text after the array", _ONE_VALUE)
