"""CAPID JSONL: ``{"context", "question", "piis": {value: {"type", "relevance": "1" | "0"}}}``, without offsets.

Reading marks every whole-word mention of each value, and otherwise its place at a seam of digits and letters
(``piiloom.corpus.formats.placing``). A row is refused as a whole if a value is absent, occurs only inside a longer word, or has an
unknown type or relevance, because a record with an unmarked value would teach a detector to miss it. With ``skip_values``,
absent values and those inside a word are left out and the row is kept. Relevance may be spelled 1/0 or high/low and is written in the
same way. Of overlapping mentions the longest is kept, then the earliest.

Writing puts the values in text order (not high ones first, which would reveal the labels). The format is keyed by value, so
mentions merge; whatever would be lost if the row were read again is in the loss report.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from piiloom.corpus.formats.base import (
    ABSENT,
    INSIDE_WORD,
    OVERLAPPED,
    Json,
    LossEntry,
    LossReport,
    Overlap,
    ReadOptions,
    ReadTally,
    RowReject,
    SkippedValue,
    WriteOptions,
    quoted,
)
from piiloom.corpus.formats.capid_writing import capid_row
from piiloom.corpus.formats.labels import UNKNOWN_TYPE, Labels
from piiloom.corpus.formats.native_rows import ImportedIds, RowFault, numbered_lines, parse_object, read_rows, write_rows
from piiloom.corpus.formats.placing import Placed, find_values, keep_disjoint
from piiloom.corpus.mention_search import Range, stands_alone
from piiloom.corpus.record import LostValue, Record, Relevance, SourceReference, Span

_RELEVANCE: dict[object, Relevance] = {"1": "high", "high": "high", "0": "low", "low": "low"}
# Fields of a record that a CAPID row cannot store.
_LOST_FIELDS = ("id", "revision", "locale", "span ids", "subtype", "value_id", "subject", "plan", "source", "group_keys", "provenance")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Value:
    """One entry of ``piis``; ``position`` is its index in the row. ``in_words``: its relevance was spelled high/low, not 1/0."""

    text: str
    entity_type: str
    relevance: Relevance
    position: int
    in_words: bool


class CapidFormat:
    """The CAPID format; see the module docstring."""

    name = "capid"
    suffix = ".jsonl"
    column_fields: tuple[str, ...] = ()

    def read(self, path: Path, options: ReadOptions, tally: ReadTally) -> Iterator[Record | RowReject]:
        """Yield the rows of *path*, see ``ReadableFormat.read``.

        Record ids are digests of content and ordinal; ``source`` has the file, the line and what was left out.
        """
        return read_rows(numbered_lines(path), _Reader(path.name, options, tally).record, tally)

    def write(self, records: Iterable[Record], path: Path, options: WriteOptions) -> LossReport:  # noqa: ARG002 - has no tokens
        """Write one row per record and report what the rows do not express."""
        entries: list[LossEntry] = []
        write_rows((_row(record, entries) for record in records), path)
        return LossReport(fields=_LOST_FIELDS, entries=tuple(entries))


def _row(record: Record, entries: list[LossEntry]) -> Json:
    row, losses = capid_row(record)
    entries += losses
    return row


class _Reader:
    """State while one file is read."""

    def __init__(self, file: str, options: ReadOptions, tally: ReadTally) -> None:
        self._options = options
        self._file = file
        self.tally = tally
        self._types = Labels(options, tally)
        self._ids = ImportedIds()

    def record(self, number: int, line: str) -> Record:
        row = parse_object(line)
        context, question, piis = row.get("context"), row.get("question"), row.get("piis")
        if not isinstance(context, str):
            raise RowFault("context: not a text")
        if not (self._options.blank_contexts or context.strip()):
            raise RowFault("context: there is no text in it")
        if question is not None and not isinstance(question, str):
            raise RowFault("question: neither a text nor null")
        if not isinstance(piis, dict):
            raise RowFault("piis: not an object of values")
        self.tally.ignored_fields.update(key for key in row if key not in {"id", "context", "question", "piis"})
        values = self._values(context, piis)
        found = find_values(context, [value.text for value in values])
        lost = self._unplaced(context, values, found)
        placed = keep_disjoint((place, value) for value, places in enumerate(found) for place in places)
        self.tally.skipped_values += (SkippedValue(line=number, value=value) for value in lost)
        lost += self._overlaps(number, context, values, placed)
        own_id = row.get("id")
        in_words = bool(values) and all(value.in_words for value in values)
        return Record(
            id=self._ids.next("capid", context, question, [(v.text, v.entity_type, v.relevance) for v in values]),
            locale=self._options.locale,
            context=context,
            question=question,
            spans=_spans(values, placed),
            source=SourceReference(
                file=self._file,
                line=number,
                id=own_id if isinstance(own_id, str) else None,
                lost=tuple(lost),
                relevance_as="high/low" if in_words else None,
            ),
        )

    def _values(self, context: str, piis: dict[str, Any]) -> list[_Value]:
        """Return the values in the order of their first occurrence in the context; their order in the row has no meaning.

        Raises ``RowFault`` naming all empty values, unknown types and unknown relevances.
        """
        faults: list[str] = []
        values: list[_Value] = []
        for position, (text, about) in enumerate(piis.items()):
            if isinstance(about, dict) and isinstance(about.get("type"), str) and self._types.is_left_out(about["type"]):
                continue
            entity_type, relevance, in_words = self._labels(about)
            if not text.strip():
                faults.append(f"piis[{quoted(text)}]: an empty value")
            elif entity_type is None:
                faults.append(f"piis[{quoted(text)}].type: {UNKNOWN_TYPE}")
            elif relevance is None:
                faults.append(f"piis[{quoted(text)}].relevance: neither 1/0 nor high/low")
            else:
                values.append(_Value(text=text, entity_type=entity_type, relevance=relevance, position=position, in_words=in_words))
        if faults:
            raise RowFault("; ".join(faults))
        return sorted(values, key=lambda value: (context.find(value.text), -len(value.text)))

    def _labels(self, about: object) -> tuple[str | None, Relevance | None, bool]:
        """Return type and relevance (None if unknown), and whether relevance is spelled high/low."""
        labels = about if isinstance(about, dict) else {}
        self.tally.ignored_fields.update(f"piis.{key}" for key in labels if key not in {"type", "relevance"})
        raw, relevance = labels.get("type"), labels.get("relevance")
        label = self._types.resolve(raw) if isinstance(raw, str) else None
        # bool is a subclass of int, and JSON true is not accepted as 1.
        key = str(relevance) if isinstance(relevance, int | str) and not isinstance(relevance, bool) else None
        return label.entity_type if label else None, _RELEVANCE.get(key), key in {"high", "low"}

    def _unplaced(self, context: str, values: list[_Value], found: list[list[Range]]) -> list[LostValue]:
        """Count the values and return those without a place; raises ``RowFault`` naming them unless ``skip_values`` is set."""
        faults: dict[int, tuple[_Value, str]] = {}
        for value, places in zip(values, found, strict=True):
            self.tally.values += 1
            if places and not stands_alone(context, *places[0]):
                self.tally.inside_word += 1
                self.tally.seams += 1
            elif places:
                self.tally.exact += 1
                self.tally.ambiguous += len(places) > 1
            elif value.text in context:
                self.tally.inside_word += 1
                faults[value.position] = value, INSIDE_WORD
            else:
                self.tally.missing += 1
                faults[value.position] = value, ABSENT
        in_order = [faults[position] for position in sorted(faults)]
        if faults and not self._options.skip_values:
            raise RowFault("; ".join(f"piis[{quoted(value.text)}]: {fault}" for value, fault in in_order))
        return [LostValue(text=v.text, entity_type=v.entity_type, relevance=v.relevance, reason=fault) for v, fault in in_order]

    def _overlaps(self, number: int, context: str, values: list[_Value], placed: Placed) -> list[LostValue]:
        """Add the mentions that were dropped for longer ones to the tally, and return them."""
        still_there = {value for _, value in placed.kept}
        lost_mentions = []
        for place, value, winner in placed.dropped:
            lost = value not in still_there
            kind = values[value].entity_type
            self.tally.overlapping.append(Overlap(line=number, kept=winner, dropped=place, dropped_type=kind, value_lost=lost))
            start, end = place
            lost_mentions.append(
                LostValue(
                    text=context[start:end], entity_type=kind, relevance=values[value].relevance, start=start, end=end, reason=OVERLAPPED
                )
            )
        return lost_mentions


def _spans(values: list[_Value], placed: Placed) -> tuple[Span, ...]:
    names: dict[int, str] = {}
    for _, value in placed.kept:
        names.setdefault(value, f"v{len(names) + 1}")
    return tuple(
        Span(
            id=f"s{position}",
            start=start,
            end=end,
            entity_type=values[value].entity_type,
            relevance=values[value].relevance,
            value_id=names[value],
        )
        for position, ((start, end), value) in enumerate(placed.kept, start=1)
    )
