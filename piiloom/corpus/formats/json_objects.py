"""A JSON array of objects, or JSON lines: native rows, those of other tools, and objects of any shape with ``ReadOptions.columns``.

``piiloom.corpus.formats.columns`` has the shapes; spaCy's ``[text, {"entities": [[start, end, label]]}]`` is read, too. Written is an
array of native rows, so that nothing is lost.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from piiloom.corpus.formats.base import Json, LossReport, ReadOptions, ReadTally, RowReject, WriteOptions
from piiloom.corpus.formats.columns import ALL_FIELDS, Columns
from piiloom.corpus.formats.native_rows import RowFault, array_or_lines, parse_value, read_rows, row_of, write_array
from piiloom.corpus.formats.row_reading import Made, MakeRow, NativeShapedFormat
from piiloom.corpus.record import Record


class JsonFormat(NativeShapedFormat):
    """The JSON format; see the module docstring."""

    name = "json"
    suffix = ".json"
    column_fields = ALL_FIELDS

    def read_with(self, path: Path, options: ReadOptions, tally: ReadTally, make: MakeRow[Made]) -> Iterator[Made | RowReject]:
        """Yield the rows of *path*, see ``NativeShapedFormat``; in an array, which is read as a whole, an object's number is its line."""
        columns = Columns(path, options, tally)
        yield from read_rows(array_or_lines(path), lambda number, text: make(number, columns.native(object_in(text))), tally)
        columns.check_all_seen()

    def write(self, records: Iterable[Record], path: Path, options: WriteOptions) -> LossReport:  # noqa: ARG002 - has no tokens
        """Write one object per record; nothing is lost."""
        write_array(map(row_of, records), path)
        return LossReport()


def object_in(text: str) -> Json:
    """Return the object in *text*, or what spaCy's pair of a text and an object of annotations is as one."""
    match parse_value(text):
        case dict(row):
            return row
        case [str(words), dict(annotations)]:
            return {**annotations, "text": words}
    raise RowFault("not a JSON object")
