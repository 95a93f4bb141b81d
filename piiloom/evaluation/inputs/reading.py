"""Documents of a file of any readable format, one after the other, and the format of a file where none is named.

A format is recognized by the suffix, then by the first row: native rows have ``context`` and ``spans``, CAPID rows ``context`` and
``piis``, tasks of Label Studio ``data`` and ``annotations``, and rows of other tools a shape that ``piiloom.corpus.formats.columns`` knows,
or the columns that are named; the columns of a table tell an entity table from one of records. All other formats have to be named.

Unlike records, documents keep overlapping and repeated mentions, types as they are written, and predicted values without a place. Every row
must be a document: a row that is none is an error with its line, for an evaluation of a part of the rows would be of something else. Rows
that do not count by the file's own word, as those that an annotator rejected, are left out and counted.

In native rows, a span without ``text`` has that of its range; ``annotator``, ``identifier`` (direct or quasi) and ``score`` (a number from
0 to 1, else it is none) are read where spans have them. CAPID rows, as models write them:

- ``piis: null`` means that no prediction was made: there are no values. ``piis`` may also be a list of objects with the key ``value`` or
  ``text``.
- An entry that is no object (a model's malformed JSON) is dropped and counted as malformed.
- A type that is null or no text is none, which is never right.
- Relevance is high for 1, "1", "high" and true, low for 0, "0", "low" and false, in any case; anything else is none. Its spelling is kept.

For schemes that compare values, these are the values in the order of the file, also such as are not in the text, without a place. For
those that compare places, a value is mentioned wherever it is a whole word, also within another value, or else at a seam of digits and
letters (``piiloom.corpus.formats.row_reading``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, get_args

import orjson
from pydantic import Field, TypeAdapter, ValidationError

from piiloom.corpus.formats.base import ABSENT, INSIDE_WORD, Json, ReadOptions, ReadTally, RowReject, is_stand_in, quoted
from piiloom.corpus.formats.columns import check_columns, has_shape, shape_of
from piiloom.corpus.formats.native_rows import RowFault, array_rows, as_text, numbered_lines, parse_object, read_rows
from piiloom.corpus.formats.registry import READABLE, get_readable_format, object_in
from piiloom.corpus.formats.row_reading import NativeShapedFormat, find_values
from piiloom.corpus.mention_search import stands_alone
from piiloom.corpus.record import Relevance
from piiloom.evaluation.inputs.documents import (
    COLUMNS,
    AnnotatedDocument,
    AnnotatedMention,
    IdentifierKind,
    Needs,
    SideSummary,
    TypeNames,
    distinct_values,
    is_entity_table,
    table_header,
)
from piiloom.foundation.errors import DataError, UsageError
from piiloom.taxonomy.entity_types import Taxonomy

_TEXTS = ("type", "text", "subtype", "value_id", "subject", "annotator")
_WORDS: dict[str, tuple[str, ...]] = {"relevance": get_args(Relevance), "identifier": get_args(IdentifierKind)}
RELEVANCES: dict[str, Relevance] = {
    **dict.fromkeys(("high", "1", "1.0", "true"), "high"),
    **dict.fromkeys(("low", "0", "0.0", "false"), "low"),
}
_VALUE_KEYS = ("value", "text")
TABLE = "table"
# The files of the Text Anonymization Benchmark; they have to be named.
TAB = "tab"
_BY_SUFFIX = {".spacy": "spacy", ".conll": "conll"}
_TABLES = {".parquet": "parquet", ".csv": "csv", ".tsv": TABLE}
_SHOWN = 12
# Fields of which one at least is named where a file is read by named columns.
_NAMED = {"context", "tokens", "tags"}
_FORM = "Compare it with docs/schemes.md, tab"
_Offset = Annotated[int, Field(ge=0, strict=True)]
_PLACES = TypeAdapter(list[tuple[_Offset, _Offset]])


class MentionRows:
    """Makes the documents of the rows of one file, with what a scheme *needs*; *locale* is for rows that name none."""

    def __init__(self, file: str, locale: str | None, types: TypeNames, summary: SideSummary, needs: Needs, tally: ReadTally) -> None:
        self._file, self._locale, self._types = file, locale, types
        self._summary, self._needs, self._tally = summary, needs, tally

    def native(self, number: int, row: Json) -> AnnotatedDocument:
        """Return the document of row *number*; raises ``RowFault`` (field) if it is none."""
        context, spans = _context_of(row), row.get("spans")
        if not isinstance(spans, list):
            raise RowFault("spans: must be a list" if "spans" in row else "spans: is missing")
        return AnnotatedDocument(
            where=f"{self._file}:{number}",
            id=document_id(row),
            text=context,
            question=text_or_none(row, "question"),
            locale=text_or_none(row, "locale") or self._locale,
            group_keys=_group_keys(row.get("meta")),
            mentions=tuple(mention for at, span in enumerate(spans) if (mention := self._mention(context, at, span)) is not None),
        )

    def _mention(self, context: str, at: int, span: object) -> AnnotatedMention | None:
        """Return the mention of a span, or None if it is left out."""
        if not isinstance(span, dict):
            raise RowFault(f"spans[{at}]: must have keys and values")
        span = {**span, **{key: as_text(span[key]) for key in ("value_id", "subject") if type(span.get(key)) is int}}
        if fault := _fault_of_span(span):
            raise RowFault(f"spans[{at}].{fault}")
        named = self._types.of(span.get("type"))
        if named is None:
            return None
        start, end = span.get("start"), span.get("end")
        text, misfit = _at_place(context, start, end, span.get("text"))
        if misfit is not None:
            if not self._summary.keep(f"spans[{at}]: {quoted(text)} {misfit}"):
                return None
            start = end = None
        detector = span.get("detector")
        return AnnotatedMention(
            text=text,
            entity_type=named.name,
            start=start,
            end=end,
            score=_score(span.get("score")),
            detector=detector if isinstance(detector, str) else None,
            **{key: span.get(key) for key in ("relevance", "subtype", "value_id", "subject", "annotator", "identifier")},
        )

    def capid(self, number: int, row: Json) -> AnnotatedDocument:
        """Return the document of row *number*; raises ``RowFault`` (key) if it is none."""
        context = _context_of(row)
        if "piis" not in row:
            raise RowFault("piis: is missing (null means that no prediction was made)")
        entries = list(_entries(row["piis"]))
        values = [value for entry in entries if entry is not None and (value := self._value(*entry)) is not None]
        return AnnotatedDocument(
            where=f"{self._file}:{number}",
            id=document_id(row),
            text=context,
            question=text_or_none(row, "question"),
            locale=self._locale,
            mentions=tuple(self._placed(context, values) if self._needs == "places" else values),
            malformed=entries.count(None),
        )

    def _value(self, text: str, about: Json) -> AnnotatedMention | None:
        raw, relevance = about.get("type"), about.get("relevance")
        written = str(relevance).strip().lower() if isinstance(relevance, str | int | float) else ""
        named = self._types.of(raw if isinstance(raw, str) else None)
        if named is None:
            return None
        return AnnotatedMention(
            text=text,
            entity_type=named.name,
            relevance=RELEVANCES.get(written),
            written_relevance=written or None,
        )

    def _placed(self, context: str, values: list[AnnotatedMention]) -> Iterator[AnnotatedMention]:
        found = find_values(context, [value.text for value in values])
        for number, (value, places) in enumerate(zip(values, found, strict=True), start=1):
            why = INSIDE_WORD if value.text and value.text in context else ABSENT
            if not places and not self._summary.keep(f"piis[{quoted(value.text)}]: {why}"):
                continue
            self._tally.seams += bool(places) and not stands_alone(context, *places[0])
            one = replace(value, value_id=f"v{number}")
            yield from (replace(one, start=start, end=end) for start, end in places)
            if not places:
                yield one


def _score(found: object) -> float | None:
    return float(found) if isinstance(found, int | float) and not isinstance(found, bool) and 0 <= found <= 1 else None


def _context_of(row: Json) -> str:
    context = row.get("context")
    if not isinstance(context, str):
        raise RowFault("context: must be text" if "context" in row else "context: is missing")
    return context


def document_id(row: Json) -> str | None:
    """Return the id of a row, a number as text; raises ``RowFault`` if it is anything else, or empty."""
    found = row.get("id")
    if isinstance(found, int) and not isinstance(found, bool):
        return str(found)
    if found is None or (isinstance(found, str) and found):
        return found
    raise RowFault("id: must be text that is not empty, or a whole number")


def text_or_none(row: Json, key: str) -> str | None:
    """Return ``row[key]``, None if there is none; raises ``RowFault`` if it is no text."""
    found = row.get(key)
    if found is None or isinstance(found, str):
        return found
    raise RowFault(f"{key}: must be text or null")


def _fault_of_span(span: Json) -> str | None:
    """Return what is wrong with the first key of *span* that does not fit, None if all do."""
    for key in ("start", "end"):
        if type(span.get(key)) not in {int, type(None)}:
            return f"{key}: must be a whole number"
    for key, words in _WORDS.items():
        if span.get(key) not in (None, *words):
            return f"{key}: must be {', '.join(map(repr, words))} or null"
    texts = (key for key in _TEXTS if not isinstance(span.get(key), str | None))
    return next((f"{key}: must be text or null" for key in texts), None)


def _at_place(context: str, start: int | None, end: int | None, said: str | None) -> tuple[str, str | None]:
    """Return the text of a mention, and why it has no place in *context*: None if it has one."""
    if start is None or end is None:
        return said or "", "has no place in the context"
    if not 0 <= start < end <= len(context):
        return said or "", f"has the range [{start}, {end}), which is empty or outside the context"
    there = context[start:end]
    if said is not None and said != there:
        return said, f"differs from context[{start}:{end}]"
    return there, None


def _group_keys(meta: object) -> tuple[str, ...]:
    """Return the group keys, and the pair of types that the record was made for as a key "pair:age+health".

    The groups of people are keys, too ("student:female Africa"); releases do not read them.
    """
    meta = meta if isinstance(meta, dict) else {}
    keys, pair = meta.get("group_keys"), meta.get("pair")
    found = [key for key in keys if isinstance(key, str)] if isinstance(keys, list) else []
    if isinstance(pair, list) and len(pair) == 2 and all(isinstance(name, str) for name in pair):
        found.append(f"pair:{'+'.join(pair)}")
    people = meta.get("person_groups")
    if isinstance(people, dict):  # of surrogates: "student:female Africa"
        found += [f"{role}:{group}" for role, groups in people.items() if isinstance(groups, list) for group in groups]
    return tuple(found)


def _entries(piis: object) -> Iterator[tuple[str, Json] | None]:
    """Yield (value, what is said of it), or None for an entry that is malformed."""
    if isinstance(piis, dict):
        for value, about in piis.items():
            yield (value, about) if isinstance(about, dict) else None
    elif isinstance(piis, list):
        for entry in piis:
            about = entry if isinstance(entry, dict) else {}
            text = next((about[key] for key in _VALUE_KEYS if isinstance(about.get(key), str)), None)
            yield None if text is None else (str(text), about)
    elif piis is not None:
        raise RowFault("piis: must be an object of values, or null")


def checked_format(name: str) -> str:
    """Return *name* if it is a format that can be read; raises ``UsageError``, listing those, if not."""
    return name if name == TABLE else get_readable_format(name).name


def find_format(path: Path, columns: Mapping[str, str]) -> str:
    """Return the format of *path*: a name of the registry, or ``TABLE``. *columns*: see ``--columns``.

    Raises ``DataError`` if the file cannot be read or is empty, and ``UsageError`` if its format has to be named.
    """
    if path.is_dir():
        if any(path.rglob("*.ann")):
            return "brat"
        files = ", ".join(sorted(one.name for one in path.iterdir() if one.is_file())[:_SHOWN]) or "none"
        raise UsageError("this is a folder without .ann files", where=str(path), remedy=f"Name one file of it; there are: {files}")
    if path.suffix in _BY_SUFFIX:
        return _BY_SUFFIX[path.suffix]
    if path.suffix in _TABLES:
        header = table_header(path)
        others = "document" not in {*header, *columns} and has_shape(dict.fromkeys(header))
        records = {"context", "spans"} <= set(header) or others or bool(_NAMED & columns.keys())
        return _TABLES[path.suffix] if records and not is_entity_table(header, columns) else TABLE
    return _of_json(path, columns)


def columns_of(path: Path, file_format: str, columns: Mapping[str, str], *, stated: bool) -> dict[str, str]:
    """Return those of *columns* by which *path* is read; *stated*: the format was named and not found out.

    The columns hold for both sides, and a file whose rows have their own names needs none. Raises ``UsageError`` if a format that was
    named does not read a field from a column of any name.
    """
    fields = {name: column for name, column in columns.items() if name not in COLUMNS}
    if file_format == TABLE or not fields:
        return {}
    if stated:
        check_columns(READABLE[file_format], fields)
        return fields
    if file_format not in {"bio", "json", "native", *_TABLES.values()}:
        return {}
    first = dict.fromkeys(table_header(path)) if path.suffix in _TABLES else _first_row(path)
    return fields if _has_named(first, fields) else {}


def _has_named(row: Json, columns: Mapping[str, str]) -> bool:
    return any(columns[name].partition(".")[0] in row or columns[name] in row for name in _NAMED & columns.keys())


def is_array(path: Path) -> bool:
    """Whether the content of *path* begins as a JSON array. Raises ``DataError`` if it holds nothing but blanks."""
    first = next(numbered_lines(path), None)
    if first is None:
        raise DataError("the file is empty", where=str(path), remedy="Give a file with at least one document")
    return first[1].lstrip().startswith("[")


def _objects(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the objects of *path*: those of an array, or else its lines; raises ``DataError`` if it is empty."""
    return array_rows(path) if is_array(path) else numbered_lines(path)


def _first_row(path: Path) -> Json:
    try:
        return object_in(next(_objects(path), (1, "{}"))[1])
    except RowFault as fault:
        raise _unknown(path, f"its first row is {fault}" if str(fault).startswith("not") else str(fault)) from fault


def _of_json(path: Path, columns: Mapping[str, str]) -> str:
    row = _first_row(path)
    if "context" in row and "piis" in row:
        return "capid"
    if "context" in row and "spans" in row:
        return "json" if is_array(path) else "native"
    if "full_text" in row and "spans" in row:
        return "presidio"
    if isinstance(row.get("data"), dict) and ("annotations" in row or "completions" in row):
        return "label-studio"
    try:
        shape, named = shape_of(row), _has_named(row, columns)
    except RowFault as fault:
        raise _unknown(path, str(fault)) from fault
    if shape or named:
        return "bio" if "tags" in (columns if named else shape) else "json"
    shown = ", ".join(map(repr, list(row)[:_SHOWN])) + (" …" if len(row) > _SHOWN else "")
    raise _unknown(path, f"its first row has {f'the keys {shown}' if shown else 'no keys'}")


def _unknown(path: Path, why: str) -> UsageError:
    known = (*(name for name in READABLE if name != TAB), TABLE, TAB)
    return UsageError(f"the format cannot be told: {why}", where=str(path), remedy=f"Name it: {', '.join(known)}")


def read_tab_predictions(path: Path) -> Iterator[AnnotatedDocument]:
    """Yield what is predicted for each document. The file has no texts; pairing adds them.

    Raises ``DataError`` (file, document) for what has another form.
    """
    try:
        rows = orjson.loads(path.read_bytes())
    except OSError as error:
        raise UsageError(f"cannot be read: {error.strerror}", where=path.name, remedy="Check the path") from error
    except orjson.JSONDecodeError as error:
        raise DataError(f"is not valid JSON (line {error.lineno})", where=path.name, remedy=_FORM) from error
    if not rows:
        raise DataError("holds no document", where=path.name, remedy=_FORM)
    if not isinstance(rows, dict):
        raise DataError("is not a JSON object of lists of ranges by document", where=path.name, remedy=_FORM)
    for name, listed in rows.items():
        where = f"{path.name}: {name}"
        try:
            places = _PLACES.validate_python(listed)
        except ValidationError as error:
            at = "".join(f"[{step}]" for step in error.errors()[0]["loc"])
            raise DataError(f"{at or 'the value'} is not [start, end]", where=where, remedy=_FORM) from error
        mentions = (AnnotatedMention(text="", entity_type=None, start=start, end=end) for start, end in places)
        yield AnnotatedDocument(where=where, id=name, mentions=tuple(mentions))


def read_documents(
    path: Path, needs: Needs, columns: Mapping[str, str], locale: str | None, types: TypeNames, summary: SideSummary
) -> Iterator[AnnotatedDocument]:
    """Yield the documents of *path*, of the format ``summary.format``, and count them in *summary*.

    *columns*: field of a record → column or key, as for an import. *locale* is for documents that name none. Raises ``DataError`` (file,
    line, field) for a row that is no document, and if there is none.
    """
    tally = ReadTally()
    made = MentionRows(str(path), locale, types, summary, needs, tally)
    for row in _rows(path, summary.format, columns, types.taxonomy, made, tally):
        if isinstance(row, RowReject) and row.left_out:
            summary.rows_left_out += 1
            summary.left_out[f"rows ({row.reason})"] += 1
            continue
        if isinstance(row, RowReject):
            remedy = f"Correct the row; all rows of the file must be of the format {summary.format}"
            raise DataError(row.reason, where=f"{path}:{row.line}", remedy=remedy)
        yield taken(row, "mentions" if summary.format == "capid" else needs, summary)
    summary.joined_texts, summary.seams = tally.joined_texts, tally.seams
    summary.left_out.update(tally.ignored_fields)
    if not summary.documents:
        raise DataError("the file holds no documents", where=str(path), remedy="Give a file with at least one document")


def taken(document: AnnotatedDocument, needs: Needs, summary: SideSummary) -> AnnotatedDocument:
    """Return *document* with what a scheme *needs*, all of its mentions or its values, and count it and these in *summary*."""
    if needs == "values":
        document = replace(document, mentions=distinct_values(document.mentions))
    summary.documents += 1
    summary.mentions += len(document.mentions)
    summary.malformed += document.malformed
    for mention in document.mentions:
        if mention.entity_type is None:
            summary.without_type += 1
        else:
            summary.types[mention.entity_type] += 1
        if is_stand_in(mention.detector):
            summary.stand_ins[mention.detector] += 1
        if mention.written_relevance is not None:
            summary.relevances[mention.written_relevance if mention.written_relevance in RELEVANCES else "other"] += 1
    return document


def _rows(
    path: Path, name: str, columns: Mapping[str, str], taxonomy: Taxonomy, made: MentionRows, tally: ReadTally
) -> Iterator[AnnotatedDocument | RowReject]:
    if name == "capid":
        return read_rows(_objects(path), lambda number, text: made.capid(number, parse_object(text)), tally)
    found = READABLE[name]
    if not isinstance(found, NativeShapedFormat):
        raise UsageError(f"the format {name!r} cannot be read", where=str(path))
    reading = ReadOptions(taxonomy=taxonomy, blank_contexts=True, columns=columns, all_mentions=True)
    return found.read_with(path, reading, tally, made.native)
