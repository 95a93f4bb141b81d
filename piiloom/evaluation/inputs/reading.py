"""Documents of a file of any readable format, one after the other.

Types are as they are written, mentions may overlap and repeat, and every row must be a document: a row that is none is an error with
its line, for an evaluation of a part of the rows would be of something else. Rows that do not count by the file's own word, as those that
an annotator rejected, are left out and counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType

from piiloom.corpus.formats.base import ReadOptions, ReadTally, RowReject, is_stand_in
from piiloom.corpus.formats.native_rows import array_rows, numbered_lines, parse_object, read_rows
from piiloom.corpus.formats.registry import READABLE
from piiloom.corpus.formats.row_reading import NativeShapedFormat
from piiloom.evaluation.inputs.capid_documents import RELEVANCES, CapidDocuments
from piiloom.evaluation.inputs.detecting import is_array
from piiloom.evaluation.inputs.distinct_values import distinct_values
from piiloom.evaluation.inputs.documents import Document, Needs
from piiloom.evaluation.inputs.native_documents import NativeDocuments
from piiloom.evaluation.inputs.summary import SideSummary
from piiloom.evaluation.inputs.type_map import TypeNames
from piiloom.evaluation.inputs.unplaced import Unplaced
from piiloom.foundation.errors import DataError, UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingOptions:
    """How to read one file.

    ``format`` is a name of the registry. ``columns``: field of a record → column or key, as for an import. ``locale`` is for documents
    that name none.
    """

    format: str
    needs: Needs
    columns: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    locale: str | None = None


def read_documents(path: Path, options: ReadingOptions, types: TypeNames, unplaced: Unplaced, summary: SideSummary) -> Iterator[Document]:
    """Yield the documents of *path*, and count them in *summary*.

    Raises ``DataError`` (file, line, field) for a row that is no document, and if there is none.
    """
    tally = ReadTally()
    for row in _rows(path, options, types, unplaced, tally):
        if isinstance(row, RowReject) and row.left_out:
            summary.rows_left_out += 1
            summary.left_out[f"rows ({row.reason})"] += 1
            continue
        if isinstance(row, RowReject):
            remedy = f"Correct the row; all rows of the file must be of the format {options.format}"
            raise DataError(row.reason, where=f"{path}:{row.line}", remedy=remedy)
        document = row if options.format == "capid" else with_needed(row, options.needs)
        count_document(document, summary)
        yield document
    summary.joined_texts, summary.seams = tally.joined_texts, tally.seams
    summary.left_out.update(tally.ignored_fields)
    if not summary.documents:
        raise DataError("the file holds no documents", where=str(path), remedy="Give a file with at least one document")


def with_needed(document: Document, needs: Needs) -> Document:
    """Return *document* with what a scheme *needs*: all of its mentions, or its values."""
    return replace(document, mentions=distinct_values(document.mentions)) if needs == "values" else document


def count_document(document: Document, summary: SideSummary) -> None:
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


def _rows(path: Path, options: ReadingOptions, types: TypeNames, unplaced: Unplaced, tally: ReadTally) -> Iterator[Document | RowReject]:
    if options.format == "capid":
        maker = CapidDocuments(str(path), options.locale, types, unplaced, options.needs, tally)
        rows = array_rows(path) if is_array(path) else numbered_lines(path)
        return read_rows(rows, lambda number, text: maker.document(number, parse_object(text)), tally)
    found = READABLE[options.format]
    if not isinstance(found, NativeShapedFormat):
        raise UsageError(f"the format {options.format!r} cannot be read", where=str(path))
    native = NativeDocuments(str(path), options.locale, types, unplaced)
    reading = ReadOptions(taxonomy=types.taxonomy, blank_contexts=True, columns=options.columns, all_mentions=True)
    return found.read_with(path, reading, tally, native.document)
