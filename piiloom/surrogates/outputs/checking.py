"""Verify a run's output: read all of it again and compare it with the input.

Of the code that wrote the output only the format readers are used. Texts of the input, the mirror and the records are read in parallel.
Each code point outside the replaced ranges is compared, and so is everything in the files that is no text.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple, TextIO

from piiloom.foundation.errors import DataError
from piiloom.surrogates.inputs.column_files import batches_of
from piiloom.surrogates.inputs.conll_files import TokenSlot
from piiloom.surrogates.inputs.input_settings import SourceSettings
from piiloom.surrogates.inputs.parts import FoundText, SourceFile, ParquetLayout, Parsed, TableLayout
from piiloom.surrogates.inputs.reading import read_parts
from piiloom.surrogates.inputs.source import InputSource, open_source
from piiloom.surrogates.inputs.text_cells import CellsSlot, joined_texts, joined_ranges, question_start
from piiloom.surrogates.offset_map import OffsetMap
from piiloom.surrogates.outputs.folder import MAP, MIRROR, RECORDS, REPORT


@dataclass(slots=True)
class Checked:
    """Counts of what was compared: documents, replaced ranges, and code points outside them (``same``)."""

    documents: int = 0
    ranges: int = 0
    same: int = 0


class _Strand(NamedTuple):
    """A section of a file: the content before the next text (``between``), and that text.

    For the rest after the last text ``found`` is None. ``line`` is the 1-based line of the text; ``parsed`` is the part it is in.
    """

    file: SourceFile
    line: int
    between: str
    found: FoundText | None
    parsed: Parsed


def verify_folder(folder: Path, source: Path) -> Checked:
    """Compare the output *folder* with its input *source*. Raises ``DataError`` that names the first place where they do not agree."""
    settings = run_settings(folder, source)
    checked = Checked()
    with ExitStack() as stack:
        before = stack.enter_context(open_source(settings))
        after = stack.enter_context(open_source(replace(settings, path=folder / MIRROR)))
        _check_files(before, after)
        maps = stack.enter_context((folder / MAP).open(encoding="utf-8", newline="\n"))
        records = stack.enter_context((folder / RECORDS).open(encoding="utf-8", newline="\n"))
        rows = _rows(maps, records)
        for old, new in zip_longest(_strands(before), _strands(after)):
            if old is None or new is None or old.file.number != new.file.number or (old.found is None) != (new.found is None):
                raise _fault(f"{MIRROR}/{(old or new).file.name}", "has other rows than the input")
            where = f"{MIRROR}/{old.file.name}:{new.line}"
            if old.between != new.between:
                raise _fault(where, "differs from the input outside of its texts")
            if old.found is not None and new.found is not None:
                _check_surroundings(old, new, where)
                _check_document(old, new.found, next(rows, None), checked)
        if next(rows, None) is not None:
            raise _fault(MAP, "has more lines than there are documents")
        _check_columns(before, after)
    return checked


def report_of(folder: Path) -> dict[str, Any]:
    """Return the report of the run in *folder*. Raises ``DataError`` if there is none."""
    try:
        report: dict[str, Any] = json.loads((folder / REPORT).read_text(encoding="utf-8"))
        SourceSettings.from_json(folder, report["input"]["settings"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataError(
            "there is no readable report of a run", where=str(folder / REPORT), remedy="Give the folder that piiloom surrogate run made"
        ) from error
    return report


def run_settings(folder: Path, source: Path) -> SourceSettings:
    """Return the settings with which the run in *folder* read its input, to read *source* in the same way."""
    return SourceSettings.from_json(source, report_of(folder)["input"]["settings"])


def _check_files(before: InputSource, after: InputSource) -> None:
    names = [[file.name for file in source.files] for source in (before, after)]
    _refuse(names[0] != names[1], MIRROR, "has other files than the input")
    for old, new in zip(before.files, after.files, strict=True):
        recoded = (old.encoding, old.bom) != (new.encoding, new.bom)
        _refuse(recoded, f"{MIRROR}/{old.name}", "has another encoding or byte-order mark")
        if isinstance(old.layout, TableLayout):  # read the mirror with the input's layout, as surrogates must not affect the detection
            after.files[new.number] = new._replace(layout=old.layout)


def _strands(source: InputSource) -> Iterator[_Strand]:
    file, line, between, parsed = source.files[0], 1, "", Parsed()
    with closing(read_parts(source)) as parts:
        for part, read in parts:
            if part.file.number != file.number:
                yield _Strand(file, line, between, None, parsed)
                file, line, between = part.file, 1, ""
            parsed, at = read, 0
            for found in parsed.found:
                yield _Strand(file, line + found.line, between + parsed.outside(at, found.slot.start), found, parsed)
                at, between = found.slot.end, ""
            between += parsed.outside(at, len(parsed.raw))
            line += parsed.lines
        yield _Strand(file, line, between, None, parsed)


def _check_surroundings(old: _Strand, new: _Strand, where: str) -> None:
    """Compare ids, and what is in a slot besides the text: markup of XML, the rest of a JSON row with spans."""
    assert old.found is not None and new.found is not None  # noqa: S101, PT018 - checked by the caller
    if old.found.id != new.found.id:
        raise _fault(where, "the row has another id")
    if old.found.slot.rest(old.parsed) != new.found.slot.rest(new.parsed):
        of_row = isinstance(old.found.slot, CellsSlot)
        raise _fault(where, "the row differs outside of its text and spans" if of_row else "the markup or the annotations differ")


def _rows(maps: TextIO, records: TextIO) -> Iterator[tuple[int, dict[str, Any], dict[str, Any]]]:
    for number, (one, other) in enumerate(zip_longest(maps, records), start=1):
        try:
            yield number, json.loads(one), json.loads(other)
        except (TypeError, ValueError) as error:
            raise _fault(f"{MAP}:{number}", "or the record beside it is missing, or is not JSON") from error


def _check_document(old: _Strand, new: FoundText, row: tuple[int, dict[str, Any], dict[str, Any]] | None, checked: Checked) -> None:
    assert old.found is not None  # noqa: S101 - checked before
    if row is None:
        raise _fault(MAP, "has fewer lines than there are documents")
    number, mapped, record = row
    where = f"{MAP}:{number}"
    text, context = old.found.text, record["context"]
    of_record = f"{RECORDS}:{number}"
    questions = {question is None for question in (record["question"], old.found.question_at, new.question_at)}
    _refuse(len(questions) > 1, of_record, "has a question that the input has not, or none")
    own, ranges, new_text = _moves(mapped, record, old.found.question_at, where)
    elsewhere = mapped["file"] != old.file.name or (mapped["line"] is not None and mapped["line"] != old.line)
    _refuse(elsewhere, where, "names another place than the document's")
    _refuse(new_text != new.text, of_record, "has another text than the mirror")
    _refuse(not ranges.agrees(text, new_text), where, "the text differs from the input outside of the replaced ranges")
    _check_moved(old, new, ranges)
    spans = record["spans"]
    others = [(span["start"], span["end"]) for span in spans] != [(start, end) for _, _, start, end in own.ranges]
    _refuse(others, of_record, "has other spans than the map has ranges")
    changed = any(context[span["start"] : span["end"]] != span["text"] for span in spans)
    _refuse(changed, of_record, "a span's text is not that of the context")
    _refuse(record["meta"]["source"]["id"] != mapped["id"], of_record, "has another id than the map")
    checked.documents += 1
    checked.ranges += len(ranges.ranges)
    checked.same += len(text) - sum(end - start for start, end, _, _ in ranges.ranges)


def _moves(mapped: dict[str, Any], record: dict[str, Any], asked: int | None, where: str) -> tuple[OffsetMap, OffsetMap, str]:
    """Return the maps of the text alone and of text and question, and the new text of both. *asked* is where the question began."""
    context = record["context"]
    try:
        own = OffsetMap(mapped["ranges"])
        if asked is None:
            return own, own, context
        ranges = joined_ranges(own.ranges, mapped["question_ranges"], asked, question_start(context))
        return own, OffsetMap(ranges), joined_texts(context, record["question"])
    except (DataError, KeyError, TypeError, ValueError) as error:
        raise _fault(where, "the ranges are not a valid offset map") from error


def _check_moved(old: _Strand, new: FoundText, ranges: OffsetMap) -> None:
    """Compare what the file tells of places of the text: spans, and the columns of tokens."""
    assert old.found is not None  # noqa: S101 - checked before
    moved = [(ranges.to_output(start), ranges.to_output(end, end=True)) for start, end in old.found.slot.ranges]
    if list(dict.fromkeys(moved)) != list(dict.fromkeys(new.slot.ranges)):
        raise _fault(f"{MIRROR}/{old.file.name}", "its stand-off spans are not where the map has them")
    if isinstance(old.found.slot, TokenSlot) and isinstance(new.slot, TokenSlot):
        sides = zip(*(((start, end), (new_start, new_end)) for start, end, new_start, new_end in ranges.ranges), strict=True)
        before, after = tuple(sides) or ((), ())
        if old.found.slot.columns_outside(before) != new.slot.columns_outside(after):
            raise _fault(f"{MIRROR}/{old.file.name}", "the columns differ outside of the replaced tokens")


def _check_columns(before: InputSource, after: InputSource) -> None:
    """Compare the columns of Parquet files that hold no text."""
    for old, new in zip(before.files, after.files, strict=True):
        if not isinstance(old.layout, ParquetLayout):
            continue
        texts = [*old.layout.columns, *filter(None, [old.layout.spans, old.layout.question])]
        for one, other in zip(batches_of(old), batches_of(new), strict=True):
            rows, new_rows = one.drop_columns(texts), other.drop_columns(texts)
            if rows.schema != new_rows.schema or not rows.equals(new_rows):
                raise _fault(f"{MIRROR}/{old.name}", "differs from the input outside of its texts")


def _refuse(wrong: bool, where: str, message: str) -> None:  # noqa: FBT001 - what is wrong
    if wrong:
        raise _fault(where, message)


def _fault(where: str, message: str) -> DataError:
    return DataError(message, where=where, remedy="The output was changed after the run: run again")
