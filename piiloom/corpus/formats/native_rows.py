r"""JSON Lines, and the native rows of records as pydantic models (DESIGN 2.2).

Each line is one object. Lines end only at ``\n``: U+2028, U+0085 and lone carriage returns are text (``str.splitlines`` would split
there). A byte-order mark before the first row is dropped; anywhere else it is text. Blank lines are ignored. Unknown keys in a native row
are allowed and counted, but not stored.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal, TypeVar

import orjson
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from piiloom.corpus.formats.base import Json, LossEntry, LossReport, ReadTally, RowReject, WriteOptions
from piiloom.corpus.record import LostValue, Record, SourceReference, Span
from piiloom.foundation.errors import DataError
from piiloom.foundation.schema_faults import schema_faults
from piiloom.foundation.seeding import digest

Row = TypeVar("Row")
Made = TypeVar("Made")
Model = TypeVar("Model", bound=BaseModel)

_BOM = b"\xef\xbb\xbf"
_ENCODE = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


class RowFault(Exception):
    """Why a row cannot become a record; the message names fields, positions and the value at fault, no other text."""


class RowLeftOut(RowFault):
    """Why the file itself says that a row does not count: its annotator did not accept it."""


class _RepeatedKey(ValueError):
    """A JSON object has the same key twice."""


def decoded_lines(path: Path, remedy: str | None = None) -> Iterator[tuple[int, str]]:
    """Yield (1-based number, line with its end) of *path*; raises ``DataError`` (*remedy*) if it cannot be read or is not UTF-8."""
    number = 0
    try:
        with path.open("rb") as fh:
            for number, raw in enumerate(fh, start=1):
                yield number, (raw.removeprefix(_BOM) if number == 1 else raw).decode("utf-8")
    except UnicodeDecodeError as error:
        raise DataError("the file is not UTF-8 text", where=f"{path.name}:{number}", remedy="Convert it to UTF-8") from error
    except OSError as error:
        raise DataError(f"the file cannot be read ({error.strerror})", where=str(path), remedy=remedy) from error


def numbered_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield (1-based number, line) of the non-blank lines of *path*; raises ``DataError`` if it cannot be read or is not UTF-8."""
    for number, line in decoded_lines(path, "Check the path"):
        if line.strip(" \t\r\n"):
            yield number, line.rstrip("\r\n")


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
    if "\\u" in text and not encodes(json.dumps(value, ensure_ascii=False)):
        raise RowFault("a text holds a lone surrogate (half of a character), which UTF-8 cannot hold")
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


def valid_row(model: type[Model], content: object) -> Model:
    """Return *content* as a *model*; raises ``RowFault`` with the first fault, as ``spans[2].start: must be a whole number``."""
    try:
        return model.model_validate(content)
    except ValidationError as error:
        raise RowFault(schema_faults(error, model, noun="field")[0].said("the row")) from error


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


class _RowPart(BaseModel):
    # strict: "3" is not accepted as an offset, nor 1 as a text. The reader counts extra keys.
    model_config = ConfigDict(strict=True, extra="allow", frozen=True)


_Name = Annotated[str, Field(min_length=1)]


class SpanRow(_RowPart):
    """One span; ``text`` must equal ``context[start:end]`` (code points), which the reader verifies. Ids of others may be numbers.

    ``score``, ``detector``, ``validated`` and ``relevance_score`` are what ``piiloom detect`` says of its spans; records have no place for
    them.
    """

    start: int = Field(ge=0)
    end: int = Field(ge=1)
    text: str
    type: str
    relevance: Literal["high", "low"] | None = None
    id: _Name | int | None = None
    subtype: str | None = None
    value_id: str | int | None = None
    subject: str | int | None = None
    score: float | None = None
    detector: str | None = None
    validated: bool | None = None
    relevance_score: float | None = None


class LostRow(_RowPart):
    """A value of the originally imported row that the record lacks."""

    text: str
    type: str
    reason: str
    relevance: Literal["high", "low"] | None = None
    start: int | None = Field(default=None, ge=0)
    end: int | None = Field(default=None, ge=1)


class SourceRow(_RowPart):
    """The origin of an imported text, and the values that its record lacks."""

    file: str
    line: int | None = None
    id: str | int | None = None
    lost: list[LostRow] = []
    relevance_as: Literal["high/low"] | None = None

    def reference(self) -> SourceReference:
        """Convert to a ``SourceReference``."""
        lost = (
            LostValue(text=one.text, entity_type=one.type, reason=one.reason, relevance=one.relevance, start=one.start, end=one.end)
            for one in self.lost
        )
        return SourceReference(file=self.file, line=self.line, id=as_text(self.id), lost=tuple(lost), relevance_as=self.relevance_as)


class ProvenanceRow(_RowPart):
    """How the record was made; provider and model are separate fields of ``meta``."""

    stage: str
    templates: list[list[str]] = []
    seed: int | None = None
    parents: list[str] = []


class MetaRow(_RowPart):
    """Everything about a record that is neither text nor span."""

    pair: list[str] | None = Field(default=None, min_length=2, max_length=2)
    topic: str | None = None
    subtopic: str | None = None
    provider: str | None = None
    model: str | None = None
    scenario: str | None = None
    rationale: str | None = None
    register_: str | None = Field(default=None, alias="register")
    cue_level: str | None = None
    lookalikes: list[str] = []
    source: SourceRow | None = None
    group_keys: list[str] = []
    revision: int = Field(default=0, ge=0)
    provenance: ProvenanceRow | None = None


class NativeRow(_RowPart):
    """One line of a native file."""

    id: _Name | int | None = None
    locale: str | None = Field(default=None, min_length=1)
    context: str
    question: str | None = None
    spans: list[SpanRow]
    meta: MetaRow = MetaRow()


def as_text(name: str | int | None) -> str | None:
    """Return an id, which may be a number in the files of others, as text."""
    return str(name) if isinstance(name, int) else name


def row_of(record: Record) -> Json:
    """Return the native row of *record*; keys in fixed order, optional ones left out if they have no value."""
    return {
        "id": record.id,
        "locale": record.locale,
        "context": record.context,
        "question": record.question,
        "spans": [_span(record.context, span) for span in record.spans],
        "meta": meta_of(record),
    }


class JsonRowWriter:
    """Writes an object of JSON for each record: in an array if its suffix is ``.json``, else a line each."""

    name: str
    suffix: str
    lost_fields: tuple[str, ...] = ()  # of a record, that no row has

    def row(self, record: Record, options: WriteOptions, entries: list[LossEntry]) -> Json:  # noqa: ARG002 - nothing is lost
        """Return the row of *record*, by default the native one, and append to *entries* what it does not express."""
        return row_of(record)

    def rows(self, records: Iterable[Record], options: WriteOptions, entries: list[LossEntry]) -> Iterator[Json]:
        """Yield the rows of *records*."""
        return (self.row(record, options, entries) for record in records)

    def write(self, records: Iterable[Record], path: Path, options: WriteOptions) -> LossReport:
        """Write one row per record and report what the rows do not express."""
        entries: list[LossEntry] = []
        write = write_array if self.suffix == ".json" else write_rows
        write(self.rows(records, options, entries), path)
        return LossReport(fields=self.lost_fields, entries=tuple(entries))


# The columns that every record has in a table.
COLUMNS = ("id", "locale", "context", "question", "spans")


def flat_row_of(record: Record) -> Json:
    """Return the native row of *record* as columns of a table: what is in its ``meta`` stands beside the rest."""
    return {name: value for name, value in row_of(record).items() if name != "meta"} | meta_of(record)


def unencodable(records: Sequence[Record]) -> DataError:
    """Return the error that names the first of *records* with a text that UTF-8 cannot hold."""
    owner = next(record.id for record in records if not encodes(json.dumps(row_of(record), ensure_ascii=False)))
    where = f"record {owner.encode('unicode_escape').decode('ascii')}"
    return DataError("a text holds a lone surrogate (half of a character), which UTF-8 cannot hold", where=where)


def extra_keys(row: NativeRow) -> list[str]:
    """Return the dotted names of the keys that the reader does not store."""
    parts: list[tuple[str, _RowPart | None]] = [("", row), ("meta.", row.meta), ("meta.source.", row.meta.source)]
    parts += [("meta.source.lost.", lost) for lost in (row.meta.source.lost if row.meta.source else ())]
    parts += [("meta.provenance.", row.meta.provenance), *(("spans.", span) for span in row.spans)]
    found = [prefix + key for prefix, part in parts if part is not None for key in (part.model_extra or ())]
    if row.meta.pair is None:  # a plan without a pair is not stored
        plan_keys = ("topic", "subtopic", "scenario", "rationale", "register_", "cue_level", "lookalikes")
        found += [f"meta.{key.rstrip('_')}" for key in plan_keys if getattr(row.meta, key) not in (None, [])]
    return found


def _span(context: str, span: Span) -> Json:
    start, end = span.start, span.end
    row: Json = {
        "start": start,
        "end": end,
        "text": context[start:end],
        "type": span.entity_type,
        "relevance": span.relevance,
        "id": span.id,
    }
    return row | _stated({"subtype": span.subtype, "value_id": span.value_id, "subject": span.subject})


def meta_of(record: Record) -> Json:
    """Return ``meta`` of the native row: everything about *record* that is neither text nor span."""
    plan, made, source = record.plan, record.provenance, record.source
    meta: Json = {} if plan is None else {"pair": list(plan.pair), "topic": plan.topic, "subtopic": plan.subtopic}
    if made is not None:
        meta |= {"provider": made.provider, "model": made.model}
    if plan is not None:
        meta |= _stated({"scenario": plan.scenario, "rationale": plan.rationale, "register": plan.register, "cue_level": plan.cue_level})
        meta |= _filled({"lookalikes": list(plan.lookalikes)})
    if source is not None:
        meta["source"] = _source(source)
    elif plan is None and made is None:
        meta["source"] = None  # explicit null: otherwise a reader takes the row for one that piiloom did not write
    meta |= _filled({"group_keys": list(record.group_keys), "revision": record.revision})
    if made is not None:
        lists = _filled({"templates": [list(template) for template in made.templates], "parents": list(made.parents)})
        meta["provenance"] = {"stage": made.stage, **_stated({"seed": made.seed}), **lists}
    return meta


def _source(source: SourceReference) -> Json:
    about = _stated({"line": source.line, "id": source.id, "relevance_as": source.relevance_as})
    return {"file": source.file, **about, **_filled({"lost": [_lost(one) for one in source.lost]})}


def _lost(value: LostValue) -> Json:
    place = _stated({"relevance": value.relevance, "start": value.start, "end": value.end})
    return {"text": value.text, "type": value.entity_type, "reason": value.reason, **place}


def _stated(fields: Mapping[str, object]) -> Json:
    return {key: value for key, value in fields.items() if value is not None}


def _filled(fields: Mapping[str, object]) -> Json:
    return {key: value for key, value in fields.items() if value}
