"""What the formats with lists of mentions have in common (``alpaca``, ``chat``); each of them is a spelling of the same three texts.

These are the instruction, the message with question and text (``piiloom.corpus.formats.instructions``), and the answer, a JSON list of
all mentions (``piiloom.corpus.formats.mention_lists``).
"""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Iterable, Iterator
from pathlib import Path

from piiloom.corpus.formats.base import Json, LossEntry, LossReport, ReadOptions, ReadTally, RowReject, WriteOptions
from piiloom.corpus.formats.chat_rows import LOST_FIELDS
from piiloom.corpus.formats.instructions import asks_relevance, extracting, message, message_parts
from piiloom.corpus.formats.mention_lists import MentionReader, mention_list
from piiloom.corpus.formats.native_rows import numbered_lines, parse_object, read_rows, write_rows
from piiloom.corpus.formats.row_reading import Made, MakeRow, NativeShapedFormat
from piiloom.corpus.record import Record
from piiloom.taxonomy.entity_types import Taxonomy


class MentionListFormat(NativeShapedFormat):
    """Writes and reads such rows; a subclass says how a row is spelled."""

    suffix = ".jsonl"

    @abstractmethod
    def row_of(self, instruction: str, asked: str, answer: str) -> Json:
        """Return the row with these texts."""

    @abstractmethod
    def texts_in(self, row: Json, tally: ReadTally) -> tuple[str, str]:
        """Return what is asked and answered in *row*; raises ``RowFault`` if it has no such texts."""

    def read_with(self, path: Path, options: ReadOptions, tally: ReadTally, make: MakeRow[Made]) -> Iterator[Made | RowReject]:
        """Yield the rows of *path*, see ``NativeShapedFormat``. Instructions are not stored."""
        mentions = MentionReader(path.name, options, tally)

        def made(number: int, line: str) -> Made:
            asked, answer = self.texts_in(parse_object(line), tally)
            context, question = message_parts(asked)
            return make(number, mentions.row(number, context, question, answer))

        return read_rows(numbered_lines(path), made, tally)

    def write(self, records: Iterable[Record], path: Path, options: WriteOptions) -> LossReport:
        """Write one row per record and report what the rows do not express."""
        entries: list[LossEntry] = []
        write_rows((self._row(record, entries, options.taxonomy) for record in records), path)
        return LossReport(fields=LOST_FIELDS, entries=tuple(entries))

    def row_in_parts(self, record: Record, taxonomy: Taxonomy) -> tuple[str, str, str, list[LossEntry]]:
        """Return instruction, message and answer of *record*, and what reading them would not bring back."""
        mentions, losses = mention_list(record, taxonomy)
        instruction = extracting(taxonomy, relevance=asks_relevance(record))
        return instruction, message(record.context, record.question), json.dumps(mentions, ensure_ascii=False), losses

    def _row(self, record: Record, entries: list[LossEntry], taxonomy: Taxonomy) -> Json:
        *texts, losses = self.row_in_parts(record, taxonomy)
        entries += losses
        return self.row_of(*texts)
