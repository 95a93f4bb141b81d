"""Lossless formats with a row a record, and tables of others: CSV, Parquet, and folders for Hugging Face ``datasets``.

CSV (RFC 4180, UTF-8) is safe to open in a spreadsheet: ``spans`` and ``meta`` are JSON texts. A spreadsheet takes a cell that begins with
``=`` for a formula, so the text of a cell gets an apostrophe in front if, after any apostrophes that it begins with, it

- goes on with ``=``, ``+``, ``-``, ``@``, a tab, a line end, or one of the full-width signs ``＝＋－＠``, or
- ends: an empty cell is null, so that an empty text is ``'``, and the text ``'`` is ``''``.

Reading takes one apostrophe away from cells that look so; every text comes back. Cells of tables of others are read as they are.

In Parquet ``spans`` is a list of structs; ``meta`` is the ``meta`` of the native format as a JSON text. Where a file has class labels of
Hugging Face ``datasets``, their names are read.

The format ``huggingface`` is a Parquet file a split, a dataset card and ``croissant.json``; no script. Its rows are the same, but ``type``
and ``relevance`` are class labels, whose names are in the schema of each file and in the card.

Both ways are streamed: a file is written batch by batch, one row group each, and read in batches. Columns are built from lists of all
values of a batch, since a dictionary a span would take most of the time.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import accumulate
from pathlib import Path
from typing import Any, Final

from piiloom.corpus.formats.base import Json, LossReport, ReadOptions, ReadTally, RowReject, WriteOptions
from piiloom.corpus.formats.columns import (
    ALL_FIELDS,
    RELEVANCE,
    SPAN_KEYS,
    TEXT_COLUMNS,
    ClassLabel,
    Columns,
    class_labels,
    dataset_info,
    features_metadata,
)
from piiloom.corpus.formats.croissant import croissant_json
from piiloom.corpus.formats.dataset_card import card_text
from piiloom.corpus.formats.native_rows import RowFault, decoded_lines, json_bytes, meta_of, row_of, unencodable
from piiloom.corpus.formats.row_reading import Made, MakeRow, NativeShapedFormat
from piiloom.corpus.record import Record, Span
from piiloom.foundation.errors import DataError
from piiloom.taxonomy.entity_types import Taxonomy

_HEADER: Final = ("id", "locale", "context", "question", "spans", "meta")
_RISKY: Final = re.compile(r"'*(?:[=+\-@\t\r\n＝＋－＠]|\Z)")
_ESCAPED: Final = re.compile(r"'+(?:[=+\-@\t\r\n＝＋－＠]|\Z)")
# An open quotation mark makes one cell of the rest of a file; this many characters of it are read.
_LONGEST_CELL: Final = 64 * 1024 * 1024


class CommaSeparatedFormat(NativeShapedFormat):
    """The CSV format; see the module docstring."""

    name = "csv"
    suffix = ".csv"
    column_fields = ALL_FIELDS

    def read_with(self, path: Path, options: ReadOptions, tally: ReadTally, make: MakeRow[Made]) -> Iterator[Made | RowReject]:
        """Yield the rows of *path*, see ``NativeShapedFormat``; the line of a row is its first."""
        columns = Columns(path, options, tally)
        rows = csv_rows(path)
        header = csv_header(path, rows)
        columns.check_header(header)
        text_of = _foreign if columns.named or "context" not in header else _unescaped

        def parsed(row: TableRow) -> Json:
            if row.fault is not None:
                raise RowFault(row.fault)
            if len(row.cells) != len(header):
                raise RowFault(f"the row has {len(row.cells)} cells, the header {len(header)}")
            return dict(zip(header, map(text_of, row.cells), strict=True))

        yield from columns.read(rows, parsed, make, shown=lambda row: row.text)

    def write(self, records: Iterable[Record], path: Path, options: WriteOptions) -> LossReport:  # noqa: ARG002 - has no tokens
        """Write one row per record; nothing is lost. Raises ``DataError`` for a text that UTF-8 cannot hold."""
        with path.open("w", encoding="utf-8", newline="") as fh:
            writer = csv.writer(fh, lineterminator="\r\n")
            writer.writerow(_HEADER)
            for record in records:
                row = row_of(record)
                try:
                    row |= {name: json_bytes(row[name]).decode() for name in ("spans", "meta")}
                    writer.writerow([_escaped(row[name]) for name in _HEADER])
                except UnicodeEncodeError as error:
                    raise unencodable([record]) from error
        return LossReport()


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row as it stands in the file, and its cells, or why it has none."""

    text: str
    cells: list[str]
    fault: str | None = None


def csv_rows(path: Path, delimiter: str = ",") -> Iterator[tuple[int, TableRow]]:
    """Yield (1-based number of the first line, row) of *path*, but for blank lines; raises ``DataError`` if it cannot be read."""
    if csv.field_size_limit() < _LONGEST_CELL:
        csv.field_size_limit(_LONGEST_CELL)
    taken: list[str] = []
    rows = csv.reader(_lines(path, taken), strict=True, delimiter=delimiter)
    while True:
        taken.clear()
        number = rows.line_num + 1
        try:
            cells = next(rows)
        except StopIteration:
            return
        except csv.Error as error:
            yield number, TableRow("".join(taken).rstrip("\r\n"), [], f"not valid CSV ({error})")
        else:
            if cells:
                yield number, TableRow("".join(taken).rstrip("\r\n"), cells)


def _lines(path: Path, taken: list[str]) -> Iterator[str]:
    r"""Yield the lines of *path*, which end only at ``\n``, and append them to *taken*."""
    for _, line in decoded_lines(path):
        taken.append(line)
        yield line


def csv_header(path: Path, rows: Iterator[tuple[int, TableRow]]) -> list[str]:
    """Return the names of the columns, the first of *rows*; raises ``DataError`` if there is none or a name comes twice."""
    number, row = next(rows, (1, TableRow("", [], "the file is empty")))
    fault = row.fault or ("the header names a column twice" if len(set(row.cells)) < len(row.cells) else None)
    if fault is not None:
        remedy = "The first row must name the columns, separated by commas"
        raise DataError(fault, where=f"{path.name}:{number}", remedy=remedy)
    return row.cells


def _escaped(text: object) -> str:
    if text is None:
        return ""
    return f"'{text}" if _RISKY.match(str(text)) else str(text)


def _unescaped(cell: str) -> str | None:
    return (cell[1:] if _ESCAPED.match(cell) else cell) if cell else None


def _foreign(cell: str) -> str | None:
    return cell or None


_CARD = "README.md"
_CROISSANT = "croissant.json"
# A batch, written or read, ends at whichever comes first: with long contexts, records alone would not bound its memory.
_MOST_RECORDS: Final = 2_000
_MOST_CHARACTERS: Final = 4_000_000
_MOST_ROWS_READ: Final = 500


class ParquetFormat(NativeShapedFormat):
    """The Parquet format; see the module docstring."""

    name = "parquet"
    suffix = ".parquet"
    column_fields = ALL_FIELDS

    def read_with(self, path: Path, options: ReadOptions, tally: ReadTally, make: MakeRow[Made]) -> Iterator[Made | RowReject]:
        """Yield the rows of *path*, see ``NativeShapedFormat``; the number of a row takes the place of a line."""
        columns = Columns(path, options, tally)
        columns.check_header(parquet_columns(path))
        yield from columns.read(parquet_rows(path), _unless_fault, make, shown=_shown)

    def write(self, records: Iterable[Record], path: Path, options: WriteOptions) -> LossReport:  # noqa: ARG002 - has no tokens
        """Write one row per record; nothing is lost."""
        write_parquet(records, path)
        return LossReport()


def _unless_fault(row: Json | RowFault) -> Json:
    if isinstance(row, RowFault):
        raise row
    return row


def _shown(row: Json | RowFault) -> str:
    return "" if isinstance(row, RowFault) else json.dumps(row, ensure_ascii=False, default=str)


class HuggingFaceFormat(ParquetFormat):
    """The format of Hugging Face ``datasets``; see the module docstring."""

    name = "huggingface"

    def read_with(self, path: Path, options: ReadOptions, tally: ReadTally, make: MakeRow[Made]) -> Iterator[Made | RowReject]:
        """Yield the rows of *path*, the file of one split, see ``NativeShapedFormat``."""
        if path.is_dir():
            names = ", ".join(sorted(file.name for file in path.glob("*.parquet"))) or "none"
            raise DataError("this is a folder", where=str(path), remedy=f"Name the file of one split; there are: {names}")
        return super().read_with(path, options, tally, make)

    def write(self, records: Iterable[Record], path: Path, options: WriteOptions) -> LossReport:
        """Write one row per record; nothing is lost. Raises ``DataError`` for a type that is not in ``options.taxonomy``."""
        write_parquet(records, path, list(options.taxonomy.types))
        return LossReport()

    def write_extras(self, folder: Path, about: Json, taxonomy: Taxonomy) -> Sequence[str]:
        """Write the dataset card and ``croissant.json``."""
        splits: Any = about["splits"]
        info = dataset_info(list(taxonomy.types), {split: parquet_size(folder / f"{split}{self.suffix}") for split in splits})
        (folder / _CARD).write_text(card_text(about, info, taxonomy), encoding="utf-8", newline="\n")
        text = json.dumps(croissant_json(folder, about, taxonomy), ensure_ascii=False, indent=2) + "\n"
        (folder / _CROISSANT).write_text(text, encoding="utf-8", newline="\n")
        return (_CARD, _CROISSANT)


def write_parquet(records: Iterable[Record], path: Path, types: Sequence[str] | None = None) -> None:
    """Write *records* to the new Parquet file *path*.

    With *types*, ``type`` and ``relevance`` are class labels: the place in *types* and in ``RELEVANCE``. Raises ``DataError`` for a type
    that is not among them, and for a text that UTF-8 cannot hold.
    """
    pyarrow, parquet = _modules()
    columns = _Columns(pyarrow, types)
    with parquet.ParquetWriter(path, columns.schema, compression="zstd", compression_level=1) as writer:
        for batch in _batches(records):
            writer.write_batch(columns.batch(batch))


def parquet_size(path: Path) -> tuple[int, int]:
    """Return the number of rows of *path*, and that of bytes before compression."""
    with _open(path) as file:
        return _size(file)


def parquet_columns(path: Path) -> list[str]:
    """Return the names of the columns of *path*; raises ``DataError`` if it is damaged or no Parquet file."""
    with _open(path) as file:
        return list(file.schema_arrow.names)


def parquet_rows(path: Path) -> Iterator[tuple[int, Json | RowFault]]:
    """Yield (1-based number, row) of *path*, or the fault of a row that cannot be read; class labels are given by their names.

    Raises ``DataError`` if the file is damaged or no Parquet file.
    """
    pyarrow, _ = _modules()
    number = 0
    with _open(path) as file:
        labels = class_labels(file.schema_arrow.metadata)
        try:
            for batch in file.iter_batches(batch_size=_rows_at_once(file), use_threads=False):
                for row in _rows(batch):
                    number += 1
                    yield number, row if isinstance(row, RowFault) else _named(row, labels)
        except (pyarrow.ArrowException, OSError) as error:
            raise DataError("the Parquet file is damaged", where=f"{path.name}:{number + 1}", remedy="Get it again") from error


def _size(file: Any) -> tuple[int, int]:
    about = file.metadata
    return about.num_rows, sum(about.row_group(group).total_byte_size for group in range(about.num_row_groups))


def _rows_at_once(file: Any) -> int:
    rows, size = _size(file)
    return max(1, min(_MOST_ROWS_READ, rows * _MOST_CHARACTERS // max(size, 1)))


def _rows(batch: Any) -> Iterator[Json | RowFault]:
    try:
        yield from batch.to_pylist()
    except UnicodeDecodeError:  # then one by one, to find the row; none was yielded, as the list comes whole
        for at in range(batch.num_rows):
            try:
                yield batch.slice(at, 1).to_pylist()[0]
            except UnicodeDecodeError:
                yield RowFault("a text of the row is not UTF-8")


def _named(row: Json, labels: Sequence[ClassLabel]) -> Json | RowFault:
    try:
        for label in labels:
            label.name_in(row)
    except RowFault as fault:
        return fault
    return row


def _open(path: Path) -> Any:
    pyarrow, parquet = _modules()
    try:
        return parquet.ParquetFile(path, pre_buffer=False, buffer_size=1 << 16, memory_map=False)
    except pyarrow.ArrowInvalid as error:
        remedy = "Check that --input-format names the file's format"
        raise DataError("the file is not a Parquet file, or is damaged", where=str(path), remedy=remedy) from error
    except OSError as error:
        raise DataError(f"the file cannot be read ({error.strerror or 'not a Parquet file, or damaged'})", where=str(path)) from error


def _modules() -> tuple[Any, Any]:
    # pyarrow.parquet takes a fifth of a second to load.
    return import_module("pyarrow"), import_module("pyarrow.parquet")


def _batches(records: Iterable[Record]) -> Iterator[list[Record]]:
    batch: list[Record] = []
    characters = 0
    for record in records:
        batch.append(record)
        characters += len(record.context)
        if len(batch) == _MOST_RECORDS or characters >= _MOST_CHARACTERS:
            yield batch
            batch, characters = [], 0
    if batch:
        yield batch


class _Columns:
    """Makes batches of one schema."""

    def __init__(self, pyarrow: Any, types: Sequence[str] | None) -> None:
        self._pyarrow = pyarrow
        text, label = pyarrow.string(), pyarrow.string() if types is None else pyarrow.int64()
        self._types = None if types is None else {name: at for at, name in enumerate(types)}
        self._relevance = {None: None} | {name: name if types is None else at for at, name in enumerate(RELEVANCE)}
        kinds = {"int32": pyarrow.int32(), "string": text}
        span = pyarrow.struct([(key, kinds.get(dtype, label)) for key, dtype in SPAN_KEYS.items()])
        texts = [(name, text) for name in TEXT_COLUMNS]
        self._spans = pyarrow.list_(span)
        self.schema = pyarrow.schema(
            [*texts, ("spans", self._spans), ("meta", text)], metadata=None if types is None else features_metadata(types)
        )

    def batch(self, records: Sequence[Record]) -> Any:
        array, text = self._pyarrow.array, self._pyarrow.string()
        try:
            return self._pyarrow.RecordBatch.from_arrays(
                [
                    array([record.id for record in records], text),
                    array([record.locale for record in records], text),
                    array([record.context for record in records], text),
                    array([record.question for record in records], text),
                    self._span_lists(records),
                    array([json_bytes(meta_of(record)) for record in records], text),
                ],
                schema=self.schema,
            )
        except UnicodeEncodeError as error:
            raise unencodable(records) from error

    def _span_lists(self, records: Sequence[Record]) -> Any:
        spans = [span for record in records for span in record.spans]
        values = [
            [span.start for span in spans],
            [span.end for span in spans],
            [record.context[span.start : span.end] for record in records for span in record.spans],
            self._labels(records, spans),
            [self._relevance.get(span.relevance or "") for span in spans],
            [span.id for span in spans],
            [span.subtype for span in spans],
            [span.value_id for span in spans],
            [span.subject for span in spans],
        ]
        fields = list(self._spans.value_type)
        arrays = [self._pyarrow.array(column, field.type) for column, field in zip(values, fields, strict=True)]
        offsets = self._pyarrow.array(list(accumulate((len(record.spans) for record in records), initial=0)), self._pyarrow.int32())
        return self._pyarrow.ListArray.from_arrays(offsets, self._pyarrow.StructArray.from_arrays(arrays, fields=fields), type=self._spans)

    def _labels(self, records: Sequence[Record], spans: Sequence[Span]) -> list[Any]:
        if self._types is None:
            return [span.entity_type for span in spans]
        try:
            return [self._types[span.entity_type] for span in spans]
        except KeyError as error:
            owner = next(record.id for record in records if any(span.entity_type not in self._types for span in record.spans))
            reason = f"a span has the type {error}, which is not one of the types in force"
            raise DataError(reason, where=f"record {owner}", remedy="Define the type in a file and name it with --types") from error
