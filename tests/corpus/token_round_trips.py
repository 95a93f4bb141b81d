"""What comes back of records that were written in a format with tokens, and real records to try."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from piiloom.corpus.formats.base import LossEntry, ReadableFormat, ReadOptions, ReadTally, WriteOptions
from piiloom.corpus.formats.capid import CapidFormat
from piiloom.corpus.formats.row_reading import RowReader
from piiloom.corpus.record import Record, Span
from piiloom.taxonomy.entity_types import shipped_taxonomy
from tests.shared_files import shared

DATA = shared("data")
AS_WRITTEN = ReadOptions(locale="zz_ZZ", blank_contexts=True, taxonomy=shipped_taxonomy())

Mark = tuple[int, int, str, str | None]


def written_and_read(file_format: ReadableFormat, records: Sequence[Record], path: Path, tokenizer: str) -> tuple[LossEntry, ...]:
    """Write *records* to *path*, read them, and check that what differs is in the losses, which are returned, and nothing else is."""
    entries = file_format.write(iter(records), path, WriteOptions(tokenizer=tokenizer, taxonomy=shipped_taxonomy())).entries
    back = list(file_format.read(path, AS_WRITTEN, ReadTally()))
    assert len(back) == len(records)
    for record, again in zip(records, back, strict=True):
        assert isinstance(again, Record), again
        assert (again.id, again.locale, again.context, again.question) == (record.id, record.locale, record.context, record.question)
        named = {entry.value for entry in entries if entry.record_id == record.id}
        told, found = marks(record), marks(again)
        gone = {mark for mark in told - found if record.context[mark[0] : mark[1]] not in named}
        assert not gone, "lost without a word"
        changed = [mark for mark in told if record.context[mark[0] : mark[1]] in named]
        assert all(any(new[0] < old[1] and old[0] < new[1] and new[2:] == old[2:] for old in changed) for new in found - told)
        assert found == told or named
    return entries


def marks(record: Record) -> set[Mark]:
    return {(span.start, span.end, span.entity_type, span.relevance) for span in record.spans}


def shared_records() -> list[Record]:
    """The shared samples with spans."""
    capid = [DATA / "capid" / f"{name}.jsonl" for name in ("validated_sample", "raw_pipeline_sample")]
    read = [
        row for path in capid for row in CapidFormat().read(path, ReadOptions(skip_values=True, taxonomy=shipped_taxonomy()), ReadTally())
    ]
    others = json.loads((DATA / "presidio_research" / "generated_small.json").read_text(encoding="utf-8"))
    reader = RowReader("generated_small.json", ReadOptions(label_map=_PRESIDIO, skip_values=True, taxonomy=shipped_taxonomy()), ReadTally())
    read += [reader.record(number, _presidio(row)) for number, row in enumerate(others, start=1)]
    return [row for row in read if isinstance(row, Record)]


_PRESIDIO = {"ADDRESS": "location", "DOMAIN_NAME": "code", "IP_ADDRESS": "code", "US_DRIVER_LICENSE": "code", "TITLE": "name"}


def _presidio(row: dict[str, object]) -> dict[str, object]:
    spans = [
        {"start": s["start_position"], "end": s["end_position"], "text": s["entity_value"], "type": s["entity_type"]}
        for s in row["spans"]  # type: ignore[attr-defined] # a list of dicts
    ]
    return {"context": row["full_text"], "spans": spans}


def marked(text: str, *values: str, **fields: object) -> Record:
    """A record whose spans, low ones of names, are the first mentions of *values*, one after the other."""
    at, spans = 0, []
    for number, value in enumerate(values, start=1):
        at = text.index(value, at)
        spans.append(Span(id=f"s{number}", start=at, end=at + len(value), entity_type="name", relevance="low"))
        at += len(value)
    return Record(id="r1", context=text, spans=tuple(spans), **fields)  # type: ignore[arg-type] # the fields of Record


# Emoji with joiners, combining marks, right-to-left, all line ends, quotes, tokens that look like syntax.
HARD = [
    marked("👩‍🚀 Jose\u0301 met 👍🏽 Zoë\r\nin\tKöln", "Jose\u0301", "Zoë", "Köln", question="Who?\r\n\u2028"),
    marked("אני שרה לוי מתל אביב. مرحبا ليلى", "שרה לוי", "ليلى", question=""),
    marked('# id = 5\n\n# "Ann" -DOCSTART- O B-NAME\\ \x85 \u2028 \0 Bo', '"Ann"', "B-NAME", "Bo", locale="he_IL"),
    marked("  Ann\n\nLee  \n", "Ann\n\nLee"),
    marked("<|B-NAME|> [SEP] Ann_Lee-Bo \ufeff\u200b Ann", "Ann_Lee-Bo", "Ann"),
]
