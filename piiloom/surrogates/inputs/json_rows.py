r"""Read JSON rows: one object per line, the objects of an array, or the one object that a file holds.

In lines only ``\n`` ends a line; blank lines are no rows. A row whose text field is missing, null or no string has no document, stays as
it is, and is counted in the notes. A bad row is an error, or is set aside: of a line nothing stays in the mirror, of an array's element
``{}``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from json.encoder import encode_basestring, encode_basestring_ascii
from typing import Any, Final, NamedTuple

from piiloom.surrogates.documents import OffsetMap, Replaced
from piiloom.surrogates.inputs.given_spans import NOTHING_GIVEN, GivenSpans, bare_spans, looks_like_spans, mentions_of, moved_values
from piiloom.surrogates.inputs.parts import (
    NO_TEXT,
    SPANS,
    FileChange,
    FilePart,
    FoundText,
    Parsed,
    SourceSettings,
    TextSlot,
    escape_pieces,
    fault,
    piece_changes,
    undecoded,
)
from piiloom.surrogates.inputs.tables import NO_QUESTION, CellsSlot, TextCell, asked, question_start

WantedKeys = dict[str, "WantedKeys"]
Scan = Callable[[str, int], tuple[Any, int]]
# The C scanner for strings, which also returns the end offset. The type stubs do not have it.
scanstring: Final[Callable[[str, int, bool], tuple[str, int]]] = vars(json.decoder)["scanstring"]
_BLANK: Final = re.compile(r"[ \t\n\r]*")
_KEY: Final = re.compile(r'[ \t\n\r]*"([^"\\\x00-\x1f]*)"[ \t\n\r]*:[ \t\n\r]*')  # a key without an escape, as nearly all are
_ESCAPE: Final = re.compile(r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|.)")
_FAR_ESCAPE: Final = re.compile(r"\\u(?!00[0-7])")


class Hit(NamedTuple):
    """A wanted value: its dotted path, the range of its JSON source, and the parsed value."""

    path: str
    start: int
    end: int
    value: Any


def wanted_tree(paths: Iterable[str]) -> WantedKeys:
    """Return the tree of keys to look for. "note.text" means the key "text" in the object "note", or a key with a dot in its name."""
    tree: WantedKeys = {}
    for path in paths:
        tree.setdefault(path, {})
        level = tree
        for key in path.split("."):
            level = level.setdefault(key, {})
    return tree


def key_scanner(see: Callable[[str], object] | None) -> Scan:
    """Return a scanner: (text, offset) -> (value, end). *see* is called with each key of the objects inside the values."""
    if see is None:
        return _scanner(json.JSONDecoder())

    def hook(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        for key, _ in pairs:
            see(key)
        return dict(pairs)

    return _scanner(json.JSONDecoder(object_pairs_hook=hook))


def _scanner(decoder: json.JSONDecoder) -> Scan:
    scan: Scan = vars(decoder)["scan_once"]
    return scan


def blank_end(text: str, at: int) -> int:
    """Return the offset of the first character from *at* on that is no JSON white space."""
    if text[at : at + 1] > " ":
        return at
    match = _BLANK.match(text, at)
    return match.end() if match else at


def walk_object(text: str, at: int, wanted: WantedKeys, scan: Scan) -> tuple[list[Hit], list[str], int]:
    """Return the wanted values of the object at *at*, the keys that were passed, and the offset of its end.

    Raises ``ValueError`` (or a subclass), ``IndexError`` or ``RecursionError`` if the object is malformed.
    """
    hits: list[Hit] = []
    keys: list[str] = []
    return hits, keys, _through(text, at, wanted, "", scan, hits, keys)


def _through(text: str, at: int, wanted: WantedKeys, prefix: str, scan: Scan, hits: list[Hit], keys: list[str]) -> int:
    """Walk through the object at *at*; *prefix* is its path with a dot. Return the offset of its end."""
    sign = "{"
    while sign != "}":
        plain = _KEY.match(text, at + 1)
        if plain is not None:
            key, at = plain[1], plain.end()
        else:
            at = blank_end(text, at + 1)
            if sign == "{" and text[at] == "}":
                break
            key, at = _key(text, at)
        keys.append(key)
        below = wanted.get(key)
        if below and text[at] == "{":
            end = _through(text, at, below, f"{prefix}{key}.", scan, hits, keys)
        else:
            try:
                value, end = scan(text, at)
            except StopIteration as error:
                raise ValueError("a value is missing") from error
            if below is not None:
                hits.append(Hit(prefix + key, at, end, value))
        at = end
        if text[at] not in ",}":
            at = blank_end(text, at)
        sign = text[at]
        if sign not in ",}":
            raise ValueError("a comma is missing")
    return at + 1


def _key(text: str, at: int) -> tuple[str, int]:
    """Return the key at *at*, and the offset of its value."""
    if text[at] != '"':
        raise ValueError("a key is missing")
    key, at = scanstring(text, at + 1, True)
    at = blank_end(text, at)
    if text[at] != ":":
        raise ValueError("a colon is missing")
    return key, blank_end(text, at + 1)


class JsonSlot(TextSlot):
    """A JSON string literal that holds a document's text, in the *row* with that range."""

    __slots__ = ("_row",)

    def __init__(self, hit: Hit, row: tuple[int, int]) -> None:
        super().__init__(hit.start, hit.end)
        self._row = row

    def changes(self, parsed: Parsed, replaced: Replaced) -> Iterable[FileChange]:
        """See ``TextSlot``."""
        encode = encode_basestring_ascii if self.is_ascii(parsed) else encode_basestring
        start, end = self.start + 1, self.end - 1
        pieces = escape_pieces(_ESCAPE.finditer(parsed.raw, start, end), start, end)
        return piece_changes(pieces, replaced, lambda words: encode(words)[1:-1])

    def is_ascii(self, parsed: Parsed) -> bool:
        """Whether other characters are escaped: if the literal does so, else if the row does so, else if the file is all ASCII."""
        for start, end in ((self.start, self.end), self._row):
            part = parsed.raw[start:end]
            if not part.isascii():
                return False
            if "\\" in part and _FAR_ESCAPE.search(part):
                return True
        return parsed.ascii


class RowSpans(TextSlot):
    """The spans of a JSON row, whose text is *text* at *slot*: offsets, and copies of words, in which an original would be a leak."""

    __slots__ = ("_slot", "_spans", "_text")

    def __init__(self, hit: Hit, text: str, slot: JsonSlot) -> None:
        super().__init__(hit.start, hit.end)
        self._spans: list[Any] = hit.value
        self._text, self._slot = text, slot

    def rest(self, parsed: Parsed) -> str:  # noqa: ARG002 - a slot's signature
        """Return all of the spans but offsets and words, as JSON."""
        return json.dumps(bare_spans(self._spans, self._text), ensure_ascii=False)

    def changes(self, parsed: Parsed, replaced: Replaced) -> Iterator[FileChange]:
        """Yield the changes for each offset and each copy of the text, in order."""
        moves = OffsetMap(place[:4] for place in replaced.placed)
        ascii_only = self._slot.is_ascii(parsed)
        for item, hits in zip(self._spans, _items(parsed.raw, self.start), strict=True):
            new = moved_values(item, self._text, replaced.text, moves)
            yield from ((hit.start, hit.end, json.dumps(new[hit.path], ensure_ascii=ascii_only)) for hit in hits if hit.path in new)


def _items(raw: str, start: int) -> Iterator[list[Hit]]:
    """Yield, for each span of the list at *start*, its values with their positions in *raw*."""
    scan = key_scanner(None)
    for span in _elements(raw, start, scan):
        if isinstance(span.value, dict):
            yield walk_object(raw, span.start, {key: {} for key in span.value}, scan)[0]
        else:
            yield _elements(raw, span.start, scan)


def _elements(raw: str, at: int, scan: Scan) -> list[Hit]:
    """Return the elements of the list at *at* (paths are their indices)."""
    hits: list[Hit] = []
    at = blank_end(raw, at + 1)
    while raw[at] != "]":
        value, end = scan(raw, at)
        hits.append(Hit(str(len(hits)), at, end, value))
        at = blank_end(raw, end)
        if raw[at] == ",":
            at = blank_end(raw, at + 1)
    return hits


_DEFAULT_TEXTS: Final = ("text", "context")
NO_FIELD: Final = "rows without the field "
_NOT_JSON: Final = "not valid JSON"
_DIGITS: Final = "a number has too many digits, or the JSON is nested too deeply"
_ONE_VALUE: Final = "Correct the file: it is to hold one array or one object. With an object a line, its name is to end in .jsonl"


def absent_fields(fields: Iterable[str], notes: Mapping[str, int], rows: int) -> list[str]:
    """Return the *fields* that are in none of a file's *rows* rows, according to the counts in its *notes*."""
    return [name for name in fields if notes.get(NO_FIELD + name, 0) == rows]


_SPENT: Final = key_scanner(None)


class BadRow(Exception):
    """Raised for a row that cannot be read, where bad rows are set aside (``SourceSettings.skip_bad_rows``). The message is the reason."""


class JsonReader:
    """Reads the rows of one part, whose text is *raw*. With *meet_keys*, also counts all keys (``Parsed.met``)."""

    def __init__(self, part: FilePart, raw: str, settings: SourceSettings, *, meet_keys: bool) -> None:
        self.part, self.raw, self.settings = part, raw, settings
        self.parsed = Parsed(raw, lines=raw.count("\n"), ascii=part.ascii)
        self.line = 0
        self._texts = settings.text_fields or _DEFAULT_TEXTS
        self._several = len(settings.text_fields) > 1
        self._ids = settings.id_field or "id"
        self._spans = (settings.spans_field or SPANS) if settings.takes_spans else ""
        self._question = settings.question_field or ""
        self._wanted: WantedKeys = wanted_tree([*self._texts, self._ids, *filter(None, [self._spans, self._question])])
        self._meets = meet_keys
        self._scan = key_scanner(self._meet if meet_keys else None)

    def row(self, at: int) -> int:
        """Read the object at offset *at* and return the offset of its end. Raises ``fault`` if it is malformed."""
        try:
            hits, keys, end = walk_object(self.raw, at, self._wanted, self._scan)
        except IndexError:
            if self.settings.skip_bad_rows:  # how far it was read depends on where the part ends
                raise BadRow(_NOT_JSON) from None
            raise self.fault(at, "not valid JSON: the row ends too early") from None
        except RecursionError:
            raise self.fault(at, f"JSON that cannot be read: {_DIGITS}") from None
        except ValueError as error:  # includes JSONDecodeError
            where = getattr(error, "pos", at)
            raise self.fault(where if isinstance(where, int) else at, _NOT_JSON) from None
        for key in keys if self._meets else ():
            self._meet(key)
        values = {hit.path: hit for hit in hits}
        if len(values) != len(hits):
            raise self.fault(at, "the row gives one of its fields twice")
        self._take(values, at, end)
        self.parsed.rows += 1
        self.parsed.keys = self.parsed.keys or tuple(dict.fromkeys(keys))
        return end

    def fault(self, at: int, message: str) -> Exception:
        """Return the error for a bad row, at offset *at*: a ``DataError`` with file and line, or a ``BadRow`` if it is to be set aside."""
        return BadRow(message) if self.settings.skip_bad_rows else self.broken(at, message, "Correct the row, or use --skip-bad-rows")

    def broken(self, at: int, message: str, remedy: str = "Correct the file") -> Exception:
        """Return a ``DataError`` for offset *at*, behind which no rows can be told apart."""
        return fault(self.part, self.raw, min(at, len(self.raw)), message, remedy)

    def value_end(self, at: int) -> int:
        """Return the offset of the end of the JSON value at *at*. Raises ``broken`` if it is malformed."""
        try:
            return self._scan(self.raw, at)[1]
        except (ValueError, StopIteration, IndexError, RecursionError):
            raise self.broken(at, "not valid JSON, so where the next row begins cannot be known") from None

    def guarded(self, read: Callable[[], object], start: int, end: int, instead: str = "") -> None:
        """Call *read* for the row ``raw[start:end]``, and set the row aside if it raises ``BadRow``."""
        known, rows = len(self.parsed.found), self.parsed.rows
        reason = undecoded(self.raw, start, end)
        if reason is None:
            try:
                read()
            except BadRow as bad:
                reason = str(bad)
            else:
                return
        self.parsed.rows = rows
        del self.parsed.found[known:]
        self.parsed.set_aside(start, end, self.line, reason, instead)

    def _take(self, values: dict[str, Hit], at: int, end: int) -> None:
        texts = [hit for hit in map(values.get, self._texts) if hit is not None and isinstance(hit.value, str)]
        if not self.settings.text_fields:
            texts = texts[:1]
        elif len(texts) < len(self._texts):
            for name in self._texts:
                if name not in values:
                    self.parsed.notes.add(NO_FIELD + name, self.line)
        if not texts:
            self.parsed.notes.add(NO_TEXT, self.line)
        row_id = _text_of(values[self._ids].value) if self._ids in values else None
        if len(texts) > 1:
            texts.sort(key=lambda hit: hit.start)
        question = self._question_of(values)
        for hit in texts:
            self._check_whole(hit)
            literal = JsonSlot(hit, (at, end))
            slot: TextSlot = literal
            given, spans = self._spans_of(values, hit, literal, at)
            if question is not None or spans is not None:
                cells = [TextCell(hit.value, literal)]
                if question is not None:
                    cells.append(TextCell(question.value, JsonSlot(question, (at, end)), question_start(hit.value)))
                slot = CellsSlot(cells, (at, end), spans)
            one = FoundText(hit.value, slot, row_id, self.line, hit.path if self._several else "", given.mentions, given.covered)
            self.parsed.found.append(one if question is None else asked(one, question.value))

    def _question_of(self, values: dict[str, Hit]) -> Hit | None:
        if not self._question:
            return None
        hit = values.get(self._question)
        if hit is None or not isinstance(hit.value, str):
            self.parsed.notes.add(NO_QUESTION, self.line)
            return None
        self._check_whole(hit)
        return hit

    def _spans_of(self, values: dict[str, Hit], text: Hit, slot: JsonSlot, at: int) -> tuple[GivenSpans, RowSpans | None]:
        hit = values.get(self._spans) if self._spans else None
        if hit is None and self._spans and self.settings.skip_bad_rows:
            raise BadRow(f"the row has no {self._spans}")  # otherwise the engine refuses it
        if hit is None or self.settings.kind_of is None or not (self.settings.spans_field or looks_like_spans(hit.value)):
            return NOTHING_GIVEN, None
        try:
            given = mentions_of(hit.value, text.value, self.settings.kind_of)
        except ValueError as error:
            raise self.fault(at, f"{self._spans}{'' if str(error).startswith('[') else ' '}{error}") from None
        given.note(self.parsed.notes, self.line)
        return given, RowSpans(hit, text.value, slot)

    def _check_whole(self, hit: Hit) -> None:
        if self.raw.find("\\", hit.start, hit.end) < 0:  # only escapes give half of a character
            return
        try:
            hit.value.encode("utf-8")
        except UnicodeEncodeError:
            raise self.fault(hit.start, "the text holds a lone surrogate (half of a character), which UTF-8 cannot hold") from None

    def _meet(self, key: str) -> None:
        self.parsed.met.setdefault(key, [0, self.line])[0] += 1

    def end(self) -> Parsed:
        """Return what was read. The reader cannot be used afterwards."""
        self._scan = _SPENT  # it refers to this reader, and such a circle would keep the whole part until it is collected
        return self.parsed


def read_lines(part: FilePart, raw: str, settings: SourceSettings, *, meet_keys: bool) -> Parsed:
    """Read a part of a file with one object per line. Raises ``DataError`` for a malformed line."""
    reader = JsonReader(part, raw, settings, meet_keys=meet_keys)
    lines = 0
    for start, end in _lines(raw):
        reader.line = lines
        lines += 1
        at = start if raw[start] == "{" else blank_end(raw, start)
        if at >= end:
            continue
        if settings.skip_bad_rows:
            reader.guarded(partial(_read_line, reader, at, end), start, end)
        else:
            _read_line(reader, at, end)
    return reader.end()


def _read_line(reader: JsonReader, at: int, end: int) -> None:
    raw = reader.raw
    if raw[at] != "{":
        raise reader.fault(at, "the line is not a JSON object")
    stop = reader.row(at)
    if stop > end:
        if reader.settings.skip_bad_rows:
            raise BadRow(_NOT_JSON)
        raise reader.fault(at, "the object continues on the next line; a .jsonl file has one object a line")
    after = raw[stop:end]
    if after != "\n" and after.strip(" \t\r\n"):
        raise reader.fault(stop, "not valid JSON: there is more text after the object")


def _lines(raw: str) -> Iterator[tuple[int, int]]:
    at = 0
    while at < len(raw):
        end = raw.find("\n", at) + 1 or len(raw)
        yield at, end
        at = end


def read_array(part: FilePart, raw: str, settings: SourceSettings, *, meet_keys: bool) -> Parsed:
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
    return reader.end()


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
    if reader.raw[at] in ",]":
        raise reader.broken(at, "not valid JSON: an element is missing")
    if reader.raw[at] != "{":
        raise reader.fault(at, "an element of the array is not a JSON object")
    return reader.row(at)


def _check_end(reader: JsonReader, at: int) -> None:
    after = blank_end(reader.raw, at + 1)
    if after < len(reader.raw):
        raise reader.broken(after, "not valid JSON: there is more text after the array", _ONE_VALUE)


def _text_of(value: Any) -> str | None:
    if isinstance(value, bool) or value is None or isinstance(value, dict | list):
        return None
    return str(value) or None
