"""Documents of a file of any readable format, one after the other, and the format of a file where none is named.

A format is recognized by the suffix, then by the first row: native rows have ``context`` and ``spans``, CAPID rows ``context`` and
``piis``, tasks of Label Studio ``data`` and ``annotations``, and rows of other tools a shape that ``piiloom.corpus.formats.columns`` knows,
or the columns that are named; the columns of a table tell an entity table from one of records. All other formats have to be named.

Types are as they are written, mentions may overlap and repeat, and every row must be a document: a row that is none is an error with
its line, for an evaluation of a part of the rows would be of something else. Rows that do not count by the file's own word, as those that
an annotator rejected, are left out and counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import orjson
from pydantic import Field, TypeAdapter, ValidationError

from piiloom.corpus.formats.base import Json, ReadOptions, ReadTally, RowReject, is_stand_in
from piiloom.corpus.formats.columns import check_columns, has_shape, shape_of
from piiloom.corpus.formats.native_rows import RowFault, array_rows, numbered_lines, parse_object, read_rows
from piiloom.corpus.formats.registry import READABLE, get_readable_format, object_in
from piiloom.corpus.formats.row_reading import NativeShapedFormat
from piiloom.evaluation.inputs.documents import AnnotatedDocument, AnnotatedMention, Needs, distinct_values
from piiloom.evaluation.inputs.entity_tables import COLUMNS, is_entity_table, table_header
from piiloom.evaluation.inputs.rows import RELEVANCES, MentionRows
from piiloom.evaluation.inputs.sides import SideSummary, TypeNames
from piiloom.foundation.errors import DataError, UsageError
from piiloom.taxonomy.entity_types import Taxonomy

TABLE = "table"
# The files of the Text Anonymization Benchmark; they have to be named.
TAB = "tab"
_BY_SUFFIX = {".spacy": "spacy", ".conll": "conll"}
_TABLES = {".parquet": "parquet", ".csv": "csv", ".tsv": TABLE}
_SHOWN = 12
# Fields of which one at least is named where a file is read by named columns.
_TEXTS = {"context", "tokens", "tags"}


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
        records = {"context", "spans"} <= set(header) or others or bool(_TEXTS & columns.keys())
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
    return any(columns[name].partition(".")[0] in row or columns[name] in row for name in _TEXTS & columns.keys())


def is_array(path: Path) -> bool:
    """Whether the content of *path* begins as a JSON array. Raises ``DataError`` if it holds nothing but blanks."""
    first = next(numbered_lines(path), None)
    if first is None:
        raise DataError("the file is empty", where=str(path), remedy="Give a file with at least one document")
    return first[1].lstrip().startswith("[")


def _first_row(path: Path) -> Json:
    try:
        return object_in(next(array_rows(path) if is_array(path) else numbered_lines(path), (1, "{}"))[1])
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
    raise _unknown(path, f"its first row has {_keys(row)}")


def _keys(row: Json) -> str:
    shown = [repr(key) for key in list(row)[:_SHOWN]]
    return ("the keys " + ", ".join(shown) + (" …" if len(row) > _SHOWN else "")) if shown else "no keys"


def _unknown(path: Path, why: str) -> UsageError:
    known = (*(name for name in READABLE if name != TAB), TABLE, TAB)
    return UsageError(f"the format cannot be told: {why}", where=str(path), remedy=f"Name it: {', '.join(known)}")


_FORM = "Compare it with docs/schemes.md, tab"

_Offset = Annotated[int, Field(ge=0, strict=True)]
_PLACES = TypeAdapter(list[tuple[_Offset, _Offset]])


def read_tab_predictions(path: Path) -> Iterator[AnnotatedDocument]:
    """Yield what is predicted for each document. The file has no texts; pairing adds them.

    Raises ``DataError`` (file, document) for what has another form.
    """
    rows = _loaded(path)
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


def _loaded(path: Path) -> object:
    try:
        content: object = orjson.loads(path.read_bytes())
    except OSError as error:
        raise UsageError(f"cannot be read: {error.strerror}", where=path.name, remedy="Check the path") from error
    except orjson.JSONDecodeError as error:
        raise DataError(f"is not valid JSON (line {error.lineno})", where=path.name, remedy=_FORM) from error
    if not content:
        raise DataError("holds no document", where=path.name, remedy=_FORM)
    return content


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
        document = row if summary.format == "capid" else with_needed(row, needs)
        count_document(document, summary)
        yield document
    summary.joined_texts, summary.seams = tally.joined_texts, tally.seams
    summary.left_out.update(tally.ignored_fields)
    if not summary.documents:
        raise DataError("the file holds no documents", where=str(path), remedy="Give a file with at least one document")


def with_needed(document: AnnotatedDocument, needs: Needs) -> AnnotatedDocument:
    """Return *document* with what a scheme *needs*: all of its mentions, or its values."""
    return replace(document, mentions=distinct_values(document.mentions)) if needs == "values" else document


def count_document(document: AnnotatedDocument, summary: SideSummary) -> None:
    """Count *document* and its mentions in *summary*."""
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


def _rows(
    path: Path, name: str, columns: Mapping[str, str], taxonomy: Taxonomy, made: MentionRows, tally: ReadTally
) -> Iterator[AnnotatedDocument | RowReject]:
    if name == "capid":
        rows = array_rows(path) if is_array(path) else numbered_lines(path)
        return read_rows(rows, lambda number, text: made.capid(number, parse_object(text)), tally)
    found = READABLE[name]
    if not isinstance(found, NativeShapedFormat):
        raise UsageError(f"the format {name!r} cannot be read", where=str(path))
    reading = ReadOptions(taxonomy=taxonomy, blank_contexts=True, columns=columns, all_mentions=True)
    return found.read_with(path, reading, tally, made.native)
