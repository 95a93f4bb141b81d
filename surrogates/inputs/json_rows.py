r"""Read JSON rows: one object per line, or the objects of an array.

Only ``\n`` ends a line; blank lines are no rows. A row whose text field is missing, null or no string has no document, stays as it is,
and is counted in the notes. A bad row is an error, or is set aside: of a line nothing stays in the mirror, of an array's element ``{}``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, Final

from piiloom.surrogates.inputs.faults import BadRow, check_decoded, fault
from piiloom.surrogates.inputs.given_spans import SpanRewriter, looks_like_spans, mentions_of
from piiloom.surrogates.inputs.json_walking import Hit, JsonSlot, Wanted, blank_end, key_scanner, walk_object, wanted_tree
from piiloom.surrogates.inputs.parts import BAD_ROWS, DROPPED_SPANS, NO_TEXT, ORIGINALS, Found, Notes, Parsed, Part, Skip, Spelling
from piiloom.surrogates.inputs.questions import NO_QUESTION, asked
from piiloom.surrogates.inputs.settings import InputSettings
from piiloom.surrogates.inputs.splicing import changed

_DEFAULT_TEXTS: Final = ("text", "context")
SPANS: Final = "spans"
NO_FIELD: Final = "rows without the field "
PLACEHOLDER_KEYS: Final = "placeholders in JSON keys"
_ONE_VALUE: Final = "Correct the file: it is to hold one array or one object. With an object a line, its name is to end in .jsonl"
_NOT_JSON: Final = "not valid JSON"
_DIGITS: Final = "a number has too many digits, or the JSON is nested too deeply"


def absent_fields(fields: Iterable[str], notes: Mapping[str, int], rows: int) -> list[str]:
    """Return the *fields* that are in none of a file's *rows* rows, according to the counts in its *notes*."""
    return [name for name in fields if notes.get(NO_FIELD + name, 0) == rows]


_SPENT: Final = key_scanner(None)


class JsonReader:
    """Reads the rows of one part, whose text is *raw*. With *note_keys*, also notes JSON keys that look like placeholders."""

    def __init__(self, part: Part, raw: str, settings: InputSettings, *, note_keys: bool) -> None:
        self.part, self.raw, self.settings = part, raw, settings
        self.texts = settings.text_fields or _DEFAULT_TEXTS
        self.several = len(settings.text_fields) > 1
        self.ids = settings.id_field or "id"
        self.spans = (settings.spans_field or SPANS) if settings.takes_spans else ""
        self.question = settings.question_field or ""
        self.wanted: Wanted = wanted_tree([*self.texts, self.ids, *filter(None, [self.spans, self.question])])
        self.found: list[Found] = []
        self.notes = Notes()
        self.spelling = Spelling(part.ascii)
        self.skips: list[Skip] = []
        self.keys: tuple[str, ...] = ()
        self.rows = 0
        self.line = 0
        self._look = settings.look_at_key if note_keys else None
        self._known_keys: dict[str, bool] = {}
        self._plain_keys: list[str] = []  # those of a row, of which none looks like a placeholder
        self._scan = key_scanner(self._see if self._look else None)

    def row(self, at: int) -> int:
        """Read the object at offset *at* and return the offset of its end. Raises ``fault`` if it is malformed."""
        try:
            hits, keys, end = walk_object(self.raw, at, self.wanted, self._scan)
        except IndexError:
            if self.settings.skip_bad_rows:  # how far it was read depends on where the part ends
                raise BadRow(_NOT_JSON) from None
            raise self.fault(at, "not valid JSON: the row ends too early") from None
        except RecursionError:
            raise self.fault(at, f"JSON that cannot be read: {_DIGITS}") from None
        except ValueError as error:  # includes JSONDecodeError
            where = getattr(error, "pos", at)
            raise self.fault(where if isinstance(where, int) else at, _NOT_JSON) from None
        if self._look and keys != self._plain_keys:
            self._see_all(keys)
        values = {hit.path: hit for hit in hits}
        if len(values) != len(hits):
            raise self.fault(at, "the row gives one of its fields twice")
        self._take(values, at, end)
        self.rows += 1
        self.keys = self.keys or tuple(dict.fromkeys(keys))
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
        known, rows = len(self.found), self.rows
        try:
            check_decoded(self.raw, start, end)
            read()
        except BadRow as bad:
            self.rows = rows
            del self.found[known:]
            self.skips.append(Skip(start, end, self.line, str(bad), instead))
            self.notes.add(BAD_ROWS, self.line)

    def _take(self, values: dict[str, Hit], at: int, end: int) -> None:
        texts = [hit for hit in map(values.get, self.texts) if hit is not None and isinstance(hit.value, str)]
        if not self.settings.text_fields:
            texts = texts[:1]
        elif len(texts) < len(self.texts):
            for name in self.texts:
                if name not in values:
                    self.notes.add(NO_FIELD + name, self.line)
        if not texts:
            self.notes.add(NO_TEXT, self.line)
        row_id = _text_of(values[self.ids].value) if self.ids in values else None
        if len(texts) > 1:
            texts.sort(key=lambda hit: hit.start)
        question = self._question(values)
        for hit in texts:
            if self.raw.find("\\", hit.start, hit.end) >= 0:  # nothing else tells of half a character
                self._check_whole(hit)
            mentions, edits = self._spans(values, hit, (at, end), question)
            slot = JsonSlot(hit, (at, end), self.spelling, edits=edits, question=question)
            one = Found(hit.value, row_id, self.line, hit.path if self.several else "", slot, mentions)
            self.found.append(one if question is None else asked(one, question.value))

    def _question(self, values: dict[str, Hit]) -> Hit | None:
        if not self.question:
            return None
        hit = values.get(self.question)
        if hit is None or not isinstance(hit.value, str):
            self.notes.add(NO_QUESTION, self.line)
            return None
        self._check_whole(hit)
        return hit

    def _spans(self, values: dict[str, Hit], text: Hit, row: tuple[int, int], question: Hit | None) -> tuple[Any, SpanRewriter | None]:
        hit = values.get(self.spans) if self.spans else None
        if hit is None and self.spans and self.settings.skip_bad_rows:
            raise BadRow(f"the row has no {self.spans}")  # otherwise the engine refuses it
        if hit is None or self.settings.kind_of is None or not (self.settings.spans_field or looks_like_spans(hit.value)):
            return None, None
        try:
            given = mentions_of(hit.value, text.value, self.settings.kind_of)
        except ValueError as error:
            raise self.fault(row[0], f"{self.spans}{'' if str(error).startswith('[') else ' '}{error}") from None
        if given.dropped:
            self.notes.add(DROPPED_SPANS, self.line, given.dropped)
        known = sorted((one.start, one.end) for one in (hit, text, question) if one is not None)
        if given.told_in(changed(self.raw, *row, [(start, end, "") for start, end in known])):
            self.notes.add(ORIGINALS, self.line)
        return given.mentions, SpanRewriter(hit, text.value)

    def _check_whole(self, hit: Hit) -> None:
        try:
            hit.value.encode("utf-8")
        except UnicodeEncodeError:
            raise self.fault(hit.start, "the text holds a lone surrogate (half of a character), which UTF-8 cannot hold") from None

    def _see_all(self, keys: list[str]) -> None:
        told = [self._see(key) for key in keys]  # each is noted
        if True not in told:
            self._plain_keys = keys

    def _see(self, key: str) -> bool:
        """Note *key* if it looks like a placeholder, and return whether it does."""
        known = self._known_keys.get(key)
        if known is None:
            known = self._look is not None and self._look(key)
            if len(self._known_keys) < 10_000:  # a bound on memory, in case the keys are data
                self._known_keys[key] = known
        if known:
            self.notes.add(PLACEHOLDER_KEYS, self.line)
        return known

    def parsed(self, lines: int) -> Parsed:
        """Return what was read; *lines* is the number of line ends in the part. The reader cannot be used afterwards."""
        self._scan = _SPENT  # it refers to this reader, and such a circle would keep the whole part until it is collected
        return Parsed(self.raw, self.found, self.rows, lines, self.notes, self.keys, skips=self.skips, spelling=self.spelling)


def read_lines(part: Part, raw: str, settings: InputSettings, *, note_keys: bool) -> Parsed:
    """Read a part of a file with one object per line. Raises ``DataError`` for a malformed line."""
    reader = JsonReader(part, raw, settings, note_keys=note_keys)
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
    return reader.parsed(raw.count("\n"))


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


def read_array(part: Part, raw: str, settings: InputSettings, *, note_keys: bool) -> Parsed:
    """Read a part of a file that holds an array of objects, or one object. Raises ``DataError`` where it is not valid JSON.

    A part other than the file's last one ends behind a comma of the array.
    """
    reader = JsonReader(part, raw, settings, note_keys=note_keys)
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


def _lines(raw: str) -> Iterator[tuple[int, int]]:
    at = 0
    while at < len(raw):
        end = raw.find("\n", at) + 1 or len(raw)
        yield at, end
        at = end


def _text_of(value: Any) -> str | None:
    if isinstance(value, bool) or value is None or isinstance(value, dict | list):
        return None
    return str(value) or None
