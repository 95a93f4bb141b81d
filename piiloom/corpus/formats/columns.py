"""Which columns of a table, or keys of a JSON object, hold the fields of a record, and how they become a native row.

Without ``ReadOptions.columns`` the columns have the names that piiloom writes. With it, only the named fields are read:

- a record's fields are ``context`` (which must be named), ``question``, ``spans``, ``id`` and ``locale``;
- ``spans`` is a list of objects, an object of equally long lists, or a text that holds one of these as JSON or as a Python literal;
- ``spans.start``, ``spans.end``, ``spans.type`` … name keys of these objects; a key that is not named has its own name;
- an object without ``text`` gets the text of its range;
- a dotted name reaches into objects, unless a column has that very name.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterable, Mapping
from typing import Any, Final

from piiloom.corpus.formats.base import Json, ReadOptions, ReadTally
from piiloom.corpus.formats.json_rows import RowFault, parse_value
from piiloom.foundation.errors import DataError, UsageError

FIELDS: Final = ("context", "question", "spans", "id", "locale")
SPAN_KEYS: Final = ("start", "end", "text", "type", "relevance", "id", "subtype", "value_id", "subject")
_SPANS: Final = "spans."
_MOST_SHOWN: Final = 40
MISSING: Final = object()
_REMEDY: Final = (
    f"Write context=COLUMN,spans=COLUMN,spans.type=KEY …; the fields: {', '.join(FIELDS)}; the keys of spans: {', '.join(SPAN_KEYS)}"
)


class Columns:
    """Makes native rows of the rows of one file; raises ``UsageError`` if ``ReadOptions.columns`` names a field that there is not."""

    def __init__(self, file: str, options: ReadOptions, tally: ReadTally) -> None:
        self._file = file
        self._tally = tally
        self.named = dict(options.columns)
        if self.named:
            _check_fields(self.named)
            if any(field.startswith(_SPANS) for field in self.named):
                self.named.setdefault("spans", "spans")
        self._fields = {field: name for field, name in self.named.items() if not field.startswith(_SPANS)}
        self._keys = {key: self.named.get(_SPANS + key, key) for key in SPAN_KEYS}
        self._unseen = set(self._fields.values())
        self._known: dict[str, None] = {}

    def check_header(self, names: Iterable[str]) -> None:
        """Raise ``DataError``, telling the columns that there are, unless all that are to be read are among *names*."""
        self._known = dict.fromkeys(names)
        wanted = list(self._fields.values()) or ["context", "spans"]
        for name in wanted:
            if name not in self._known and name.partition(".")[0] not in self._known:
                raise self._no_column(name)

    def check_all_seen(self) -> None:
        """Raise ``DataError`` if a named column was in no row; to be called when rows were read."""
        if self._tally.rows and self._unseen:
            raise self._no_column(min(self._unseen))

    def native(self, row: Json) -> Json:
        """Return *row* in the native shape; raises ``RowFault`` if it lacks the context or its spans cannot be understood."""
        if not self.named:
            return _own(row)
        if len(self._known) < _MOST_SHOWN:
            self._known |= dict.fromkeys(row)
        found = {field: reached(row, name) for field, name in self._fields.items()}
        self._unseen -= {name for field, name in self._fields.items() if found[field] is not MISSING}
        absent = [field for field, value in found.items() if value is MISSING]
        for field in absent:
            if field in {"context", "spans"}:
                raise RowFault(f"{field}: the row has no {self._fields[field]!r}")
            del found[field]
        used = {name if name in row else name.partition(".")[0] for name in self._fields.values()}
        self._tally.ignored_fields.update(row.keys() - used)
        context = found["context"] = "" if found["context"] is None else found["context"]
        number = found.get("id")
        if isinstance(number, int) and not isinstance(number, bool):
            found["id"] = str(number)
        found["spans"] = [self._span(span, at, context) for at, span in enumerate(_span_list(found["spans"]))] if "spans" in found else []
        return found

    def _span(self, span: object, at: int, context: object) -> Json:
        if not isinstance(span, dict):
            raise RowFault(f"spans[{at}]: not an object")
        found = {key: value for key, name in self._keys.items() if (value := reached(span, name)) is not MISSING}
        if "text" not in found and _SPANS + "text" not in self.named:
            start, end = found.get("start"), found.get("end")
            if isinstance(context, str) and isinstance(start, int) and isinstance(end, int) and start >= 0:
                found["text"] = context[start:end]
        return found

    def _no_column(self, name: str) -> DataError:
        known = [repr(known) for known in self._known]
        shown = ", ".join(known[:_MOST_SHOWN]) + (" …" if len(known) > _MOST_SHOWN else "")
        remedy = "Name the columns of the fields: --columns context=…,spans=…"
        return DataError(f"there is no column {name!r}; there are: {shown or 'none'}", where=self._file, remedy=remedy)


def _check_fields(columns: Mapping[str, str]) -> None:
    known = {*FIELDS, *(_SPANS + key for key in SPAN_KEYS)}
    for field in columns:
        if field not in known:
            raise UsageError(f"there is no field {field!r}", where="--columns", remedy=_REMEDY)
    if "context" not in columns:
        raise UsageError("the column of the context is not named", where="--columns", remedy=_REMEDY)


def _own(row: Json) -> Json:
    """Return a row with the columns that piiloom writes; ``spans`` and ``meta`` may be JSON texts."""
    found = {key: parse_value(value) if key in {"spans", "meta"} and isinstance(value, str) else value for key, value in row.items()}
    if found.get("meta", MISSING) is None:
        del found["meta"]
    return found


def reached(row: Json, name: str) -> Any:
    """Return the value of the key *name*, or of the keys that it names one inside the other; ``MISSING`` if there is none."""
    if name in row:
        return row[name]
    value: Any = row
    for key in name.split("."):
        if not isinstance(value, dict) or key not in value:
            return MISSING
        value = value[key]
    return value


def _span_list(held: Any) -> list[Any]:
    value = _parsed(held) if isinstance(held, str) else held
    if isinstance(value, dict) and value and all(isinstance(part, list) for part in value.values()):
        if len({len(part) for part in value.values()}) > 1:
            raise RowFault("spans: an object of lists that are not equally long")
        return [dict(zip(value, parts, strict=True)) for parts in zip(*value.values(), strict=True)]
    if not isinstance(value, list):
        raise RowFault("spans: neither a list of objects nor a text that holds one")
    return value


def _parsed(text: str) -> Any:
    """Return the JSON value in *text*, or the Python literal that tables made with pandas often hold; nothing is executed."""
    try:
        return parse_value(text)
    except RowFault as fault:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # escapes that Python does not know
                return ast.literal_eval(text)
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            raise RowFault(f"spans: {fault}") from fault
