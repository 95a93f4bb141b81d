r"""Alpaca JSONL in the form of the published CAPID models: ``output`` is the JSON object of a CAPID row's ``piis``.

``input`` has the text before the question; the question is the last line, empty without one::

    Text: I had my knee operated on …
    Question: Can I go back to work?

The object names each value once, so all mentions of a value have one type and relevance. Whatever would not come back is in the loss
report (``piiloom.corpus.formats.capid_writing``). Reading marks every whole-word mention of each value, by the rules of the format capid.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from piiloom.corpus.formats.alpaca import AlpacaFormat
from piiloom.corpus.formats.base import ABSENT, INSIDE_WORD, Json, LossEntry, ReadOptions, ReadTally, RowReject, quoted
from piiloom.corpus.formats.capid_writing import capid_row
from piiloom.corpus.formats.instructions import extracting_values, values_message, values_message_parts
from piiloom.corpus.formats.mention_lists import MentionReader
from piiloom.corpus.formats.native_rows import RowFault, numbered_lines, parse_object, read_rows
from piiloom.corpus.formats.placing import find_values
from piiloom.corpus.formats.row_reading import Made, MakeRow
from piiloom.corpus.record import LostValue, Record, Relevance
from piiloom.taxonomy.entity_types import Taxonomy

_RELEVANCE: Final[dict[str, Relevance]] = {"1": "high", "0": "low", "high": "high", "low": "low"}


class CapidAlpacaFormat(AlpacaFormat):
    """The format; see the module docstring."""

    name = "capid-alpaca"

    def read_with(self, path: Path, options: ReadOptions, tally: ReadTally, make: MakeRow[Made]) -> Iterator[Made | RowReject]:
        """See ``NativeShapedFormat``. A row is refused if a value has no place, unless ``skip_values`` leaves the value out."""
        mentions = MentionReader(path.name, options, tally)

        def made(number: int, line: str) -> Made:
            asked, answer = self.texts_in(parse_object(line), tally)
            context, question = values_message_parts(asked)
            try:
                piis = parse_object(answer)
            except RowFault as fault:
                raise RowFault(f"output: {fault}") from fault
            spans, lost = _spans(context, piis, options)
            return make(number, mentions.row_of(number, {"context": context, "question": question, "spans": spans}, lost))

        return read_rows(numbered_lines(path), made, tally)

    def row_in_parts(self, record: Record, taxonomy: Taxonomy) -> tuple[str, str, str, list[LossEntry]]:
        """See ``MentionListFormat``."""
        # Without its source, relevance is spelled 1 and 0, as the published models do.
        row, losses = capid_row(replace(record, source=None))
        message = values_message(record.context, record.question)
        return extracting_values(taxonomy), message, json.dumps(row["piis"], ensure_ascii=False), losses


def _spans(context: str, piis: dict[str, Any], options: ReadOptions) -> tuple[list[Json], list[LostValue]]:
    """Return a span for each mention of the values, and the values without a place, as spans without offsets if all are wanted."""
    spans: list[Json] = []
    lost: list[LostValue] = []
    labels = [_labels(value, about) for value, about in piis.items()]
    found = zip(piis, labels, find_values(context, list(piis)), strict=True)
    for number, (value, (entity_type, relevance), places) in enumerate(found, start=1):
        span: Json = {"text": value, "type": entity_type, "relevance": relevance, "value_id": f"v{number}"}
        spans += ({"start": start, "end": end, **span} for start, end in places)
        if places:
            continue
        if options.all_mentions:
            spans.append({"start": None, "end": None, **span})
            continue
        known = options.taxonomy.resolve(entity_type) or entity_type
        reason = INSIDE_WORD if value in context else ABSENT
        lost.append(LostValue(text=value, entity_type=known, relevance=relevance, reason=reason))
    return spans, lost


def _labels(value: str, about: Any) -> tuple[str, Relevance]:
    """Return type and relevance of *value*. Raises ``RowFault`` if *about* does not state them."""
    known = about if isinstance(about, dict) else {}
    entity_type, relevance = known.get("type"), _RELEVANCE.get(str(known.get("relevance")))
    if not value.strip() or not isinstance(entity_type, str) or relevance is None:
        raise RowFault(f"output[{quoted(value)}]: not a value with a type, and a relevance of 1 or 0")
    return entity_type, relevance
