"""Entity tables: CSV (TSV, if the suffix says so) or Parquet with a row a mention, and the columns ``document``, ``text`` and ``type``.

Columns ``start`` and ``end`` (code points, half-open) may say where it stands; columns of other names are named by ``--columns``. Texts
and types are taken exactly as they are: nothing is stripped or unescaped. Documents are told apart by their ids as texts, so that 3 in
Parquet is "3" in CSV. A table cannot list a document without mentions: what a table lacks is taken for an empty document.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, TypeVar

from piiloom.corpus.formats.base import Json, quoted
from piiloom.corpus.formats.comma_separated import csv_header, csv_rows
from piiloom.corpus.formats.native_rows import RowFault
from piiloom.corpus.formats.parquet import parquet_columns, parquet_rows
from piiloom.evaluation.inputs.documents import AnnotatedDocument, AnnotatedMention
from piiloom.evaluation.inputs.sides import SideSummary, TypeNames
from piiloom.foundation.errors import DataError

COLUMNS: Final = ("document", "text", "type", "start", "end")
REQUIRED: Final = COLUMNS[:3]
_SHOWN: Final = 40
Converted = TypeVar("Converted", str, int)


def is_entity_table(header: Collection[str], columns: Mapping[str, str]) -> bool:
    """Whether a file with this header has all columns that a table needs."""
    return all(_column(header, name, columns) is not None for name in REQUIRED)


def table_header(path: Path) -> list[str]:
    """Return the names of the columns of *path*; raises ``DataError`` if it cannot be read."""
    return parquet_columns(path) if _is_parquet(path) else csv_header(path, csv_rows(path, _delimiter(path)))


def read_entity_table(
    path: Path, columns: Mapping[str, str], types: TypeNames, summary: SideSummary, *, offsets: bool
) -> dict[str, AnnotatedDocument]:
    """Return the documents of the whole table *path* by their ids; with *offsets*, start and end are required.

    Raises ``DataError`` (line, column) if the file, a column or a value is missing or unusable.
    """
    header = table_header(path)
    wanted = COLUMNS if offsets else REQUIRED
    found = {name: column for name in COLUMNS if (column := _column(header, name, columns)) is not None}
    missing = [columns.get(name, name) for name in wanted if name not in found]
    if missing:
        shown = ", ".join(map(repr, header[:_SHOWN])) + (" …" if len(header) > _SHOWN else "")
        without = " (the scheme compares places)" if not {"start", "end"}.isdisjoint(missing) else ""
        raise DataError(
            f"the table has no column {' and no column '.join(map(repr, missing))}{without}; there are: {shown or 'none'}",
            where=str(path),
            remedy="Name its columns: --columns document=…,text=…,type=… (and start=…,end=…)",
        )
    mentions: dict[str, list[AnnotatedMention]] = {}
    lines: dict[str, int] = {}
    for number, row in _rows(path, header):
        try:
            if isinstance(row, RowFault):
                raise row
            document, mention = _read(row, found, types, summary, offsets=offsets)
        except RowFault as fault:
            raise DataError(str(fault), where=f"{path}:{number}", remedy="Correct the row, or take it out") from fault
        lines.setdefault(document, number)
        mentions.setdefault(document, []).extend([] if mention is None else [mention])
    return {name: AnnotatedDocument(where=f"{path}:{lines[name]}", id=name, mentions=tuple(given)) for name, given in mentions.items()}


def _column(header: Collection[str], name: str, columns: Mapping[str, str]) -> str | None:
    # The name that piiloom expects serves, too: --columns may be meant for the other side.
    return next((column for column in (columns.get(name, name), name) if column in header), None)


def _is_parquet(path: Path) -> bool:
    return path.suffix == ".parquet"


def _delimiter(path: Path) -> str:
    return "\t" if path.suffix == ".tsv" else ","


def _rows(path: Path, header: Sequence[str]) -> Iterator[tuple[int, Json | RowFault]]:
    if _is_parquet(path):
        yield from parquet_rows(path)
        return
    rows = csv_rows(path, _delimiter(path))
    csv_header(path, rows)
    for number, line in rows:
        if line.fault is not None or len(line.cells) != len(header):
            yield number, RowFault(line.fault or f"the row has {len(line.cells)} cells, the header {len(header)}")
        else:
            yield number, dict(zip(header, line.cells, strict=True))


def _read(
    row: Json, columns: Mapping[str, str], types: TypeNames, summary: SideSummary, *, offsets: bool
) -> tuple[str, AnnotatedMention | None]:
    """Return the document and the mention of a row, None if it is left out; raises ``RowFault`` if it is no mention.

    *columns*: the columns of the table by their content.
    """
    document = _cell(row, columns["document"], _as_name)
    text, raw = (_cell(row, columns[name], _as_text) for name in ("text", "type"))
    start, end = (_cell(row, columns.get(name), _as_number) for name in ("start", "end"))
    for name, value in (("document", document), ("text", text)):
        if not value:
            raise RowFault(f"{columns[name]}: is empty")
    named = types.of(raw or None)
    if named is None:
        return str(document), None
    fault = _fault(start, end, len(str(text))) if offsets or start is not None or end is not None else None
    if fault is not None:
        if not summary.keep(f"{quoted(str(text))} {fault}"):
            return str(document), None
        start = end = None
    return str(document), AnnotatedMention(text=str(text), entity_type=named.name, start=start, end=end)


def _cell(row: Json, column: str | None, convert: Callable[[object], Converted | None]) -> Converted | None:
    try:
        return None if column is None else convert(row.get(column))
    except ValueError as error:
        raise RowFault(f"{column}: {error}") from error


def _fault(start: int | None, end: int | None, length: int) -> str | None:
    if start is None or end is None:
        return "has no start, or no end"
    if start < 0 or end - start != length:
        return f"has the range [{start}, {end}), but {length} characters"
    return None


def _as_name(value: object) -> str | None:
    if isinstance(value, float) and value.is_integer():  # a column of integers that once had a gap
        value = int(value)
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else _as_text(value)


def _as_text(value: object) -> str | None:
    if value is None or isinstance(value, str):
        return value
    raise ValueError("must be text")


def _as_number(value: object) -> int | None:
    if value is None or value == "":
        return None
    if isinstance(value, float) and value.is_integer():  # as above; as text it ends in ".0"
        return int(value)
    try:
        return int(str(value).removesuffix(".0"))
    except ValueError as error:
        raise ValueError("must be a whole number") from error
