"""What the tests of the formats for language models share: records to write, and what of a record such a format must bring back."""

from __future__ import annotations

import json
from pathlib import Path

from piiloom.corpus.formats.base import Json, ReadableFormat, ReadOptions, ReadTally, RowReject, WriteOptions, read_records
from piiloom.corpus.formats.registry import get_readable_format
from piiloom.corpus.record import Record, Relevance, Span
from piiloom.taxonomy.entity_types import shipped_taxonomy
from tests.shared_files import shared


def record_of(context: str, *spans: tuple[str, str, Relevance | None], question: str | None = "And now?") -> Record:
    """A record of which the span values follow each other in *context*; a value "…x" begins behind the text "…"."""
    at, made = 0, []
    for number, (text, kind, relevance) in enumerate(spans, start=1):
        before, _, value = text.rpartition("…")
        at = context.index(before + value, at) + len(before)
        made.append(Span(id=f"s{number}", start=at, end=at + len(value), entity_type=kind, relevance=relevance))
        at += len(value)
    return Record(id="r1", context=context, question=question, spans=tuple(made))


def bare(record: Record) -> tuple[object, ...]:
    return record.context, record.question, [(s.start, s.end, s.entity_type, s.relevance) for s in record.spans]


def export(file_format: ReadableFormat, path: Path, *records: Record) -> list[tuple[str, str | None, str]]:
    """Write *records* and return the losses of single records."""
    return [
        (e.record_id, e.value, e.reason)
        for e in file_format.write(records, path, WriteOptions(taxonomy=shipped_taxonomy())).entries
        if e.record_id
    ]


def read(
    file_format: ReadableFormat, path: Path, *rows: Json, options: ReadOptions | None = None, tally: ReadTally | None = None
) -> list[Record | RowReject]:
    """Read *rows* as a file of *file_format*."""
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return list(file_format.read(path, options or ReadOptions(taxonomy=shipped_taxonomy()), tally or ReadTally()))


def rows_of(path: Path) -> list[Json]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n")[:-1]]


def shared_records() -> list[Record]:
    """The records of CAPID's samples."""
    capid = get_readable_format("capid")
    found: list[Record] = []
    for name in ("validated_sample", "raw_pipeline_sample"):
        rows = capid.read(shared(f"data/capid/{name}.jsonl"), ReadOptions(taxonomy=shipped_taxonomy()), ReadTally())
        found += (row for row in rows if isinstance(row, Record))
    return found


def assert_equal_but_for_the_named(file_format: ReadableFormat, records: list[Record], path: Path) -> list[tuple[str, str | None, str]]:
    """Write and read *records*: those that the loss report does not name are equal. Returns the losses."""
    losses = export(file_format, path, *records)
    named = {record_id for record_id, _, _ in losses}
    kept = [record for record in records if record.id not in named]
    file_format.write(kept, path, WriteOptions(taxonomy=shipped_taxonomy()))
    assert [
        bare(record) for record in read_records(file_format, path, options=ReadOptions(taxonomy=shipped_taxonomy(), blank_contexts=True))
    ] == [bare(record) for record in kept]
    return losses
