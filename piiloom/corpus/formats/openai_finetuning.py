"""JSONL for OpenAI's fine-tuning: the user's message has question and text, the assistant gives the text back with span markers.

``piiloom.corpus.markers`` has the markers, ``piiloom.corpus.formats.instructions`` the layout of the user's message. Ranges, types and
relevance come back exactly. A row is refused if its answer is not the text with markers. With signs (``MarkerSet.pairs``) a row has no
question and no relevance; spans without a sign are not marked and are in the loss report. A reader finds out which markers a row has.

OpenAI takes a file of at least ten examples, each a conversation that ends with the assistant, and cuts an example at the model's
training context (65,536 tokens for the GPT-4o family). The loss report tells of a split or an example out of these limits.
Tokens are estimated as a quarter of the bytes of UTF-8, which is usual for English.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from piiloom.corpus.formats.base import Json, LossEntry, LossReport, ReadOptions, ReadTally, RowReject, WriteOptions
from piiloom.corpus.formats.chat_rows import LOST_FIELDS, UNKNOWN_TYPE, chat_row, read_chat
from piiloom.corpus.formats.instructions import asks_relevance, marking, message, message_parts
from piiloom.corpus.formats.native_rows import RowFault, numbered_lines, parse_object, read_rows, write_rows
from piiloom.corpus.formats.row_reading import Made, MakeRow, NativeShapedFormat
from piiloom.corpus.markers import MARKER_SETS, MarkedSpan, MarkerFault, MarkerSet, marked_text, unmarked
from piiloom.corpus.record import Record

FEWEST_EXAMPLES = 10
MOST_TOKENS = 65_536
_BYTES_PER_TOKEN = 4

TOO_FEW = f"the file has fewer than {FEWEST_EXAMPLES} examples: OpenAI refuses it"
NO_SIGN = "the markers have no sign for its type: it is not marked"
TOO_LONG = f"the example has probably more than {MOST_TOKENS:,} tokens: OpenAI cuts it there"


class OpenAIFineTuningFormat(NativeShapedFormat):
    """The format of OpenAI's fine-tuning; see the module docstring."""

    name = "openai"
    suffix = ".jsonl"

    def read_with(self, path: Path, options: ReadOptions, tally: ReadTally, make: MakeRow[Made]) -> Iterator[Made | RowReject]:  # noqa: ARG002 - the rows need none
        """Yield the rows of *path*, see ``NativeShapedFormat``. The system's message is not stored."""
        return read_rows(numbered_lines(path), lambda number, line: make(number, _read(line, tally)), tally)

    def write(self, records: Iterable[Record], path: Path, options: WriteOptions) -> LossReport:
        """Write one row per record; the report tells what OpenAI would refuse or cut. A split with too few has an entry without an id."""
        entries: list[LossEntry] = []
        rows = _Counted(_row(record, entries, options) for record in records)
        write_rows(rows, path)
        if rows.count < FEWEST_EXAMPLES:
            entries.append(LossEntry(record_id="", value=None, reason=TOO_FEW))
        unsigned = () if not options.markers.pairs else ("question", "relevance")
        return LossReport(fields=(*LOST_FIELDS, *unsigned), entries=tuple(entries))


class _Counted:
    """Rows, and how many of them were taken."""

    def __init__(self, rows: Iterator[Json]) -> None:
        self._rows = rows
        self.count = 0

    def __iter__(self) -> Iterator[Json]:
        for row in self._rows:
            self.count += 1
            yield row


def _row(record: Record, entries: list[LossEntry], options: WriteOptions) -> Json:
    context, taxonomy, markers = record.context, options.taxonomy, options.markers
    texts = (
        marking(taxonomy, relevance=asks_relevance(record), markers=markers),
        message(context, None if markers.pairs else record.question),
        marked_text(context, record.spans, markers),
    )
    if sum(len(text.encode("utf-8")) for text in texts) > MOST_TOKENS * _BYTES_PER_TOKEN:
        entries.append(LossEntry(record_id=record.id, value=None, reason=TOO_LONG))
    for span in record.spans:
        reason = UNKNOWN_TYPE if span.entity_type not in taxonomy.types else NO_SIGN if markers.label(span, context) is None else None
        if reason is not None:
            entries.append(LossEntry(record_id=record.id, value=span.text_in(context), reason=reason))
    return chat_row(*texts)


def _read(line: str, tally: ReadTally) -> Json:
    """Return the native row of a line."""
    asked, answer = read_chat(parse_object(line), tally)
    context, question = message_parts(asked)
    faults: list[RowFault] = []
    for markers in MARKER_SETS.values():
        try:
            found = unmarked(answer, markers=markers)
        except MarkerFault as fault:
            faults.append(RowFault(f"the answer: {fault}"))
            continue
        if found.context == context:
            return {"context": context, "question": question, "spans": [_span(one, context, markers) for one in found.spans]}
        at = next((n for n, (ours, theirs) in enumerate(zip(found.context, context, strict=False)) if ours != theirs), None)
        where = min(len(context), len(found.context)) if at is None else at
        faults.append(RowFault(f"the answer: without its markers it differs from the text at position {where}"))
    raise faults[0]


def _span(span: MarkedSpan, context: str, markers: MarkerSet) -> Json:
    start, end, label, relevance = span
    entity_type, subtype = markers.type_of(label)
    row: Json = {"start": start, "end": end, "text": context[start:end], "type": entity_type, "relevance": relevance}
    return row | ({"subtype": subtype} if subtype else {})
