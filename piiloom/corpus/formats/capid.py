r"""CAPID: values with type and relevance, without offsets, as JSON Lines (``capid``) and as rows for tuning models (``capid-alpaca``).

``capid``::

    {"context", "question", "piis": {value: {"type", "relevance": "1" | "0"}}}

Reading marks every whole-word mention of each value, and otherwise its place at a seam of digits and letters
(``piiloom.corpus.formats.row_reading``). A row is refused as a whole if a value is absent, occurs only inside a longer word, or has an
unknown type or relevance, because a record with an unmarked value would teach a detector to miss it. With ``skip_values``,
absent values and those inside a word are left out and the row is kept. Relevance may be spelled 1/0 or high/low and is written in the
same way. Of overlapping mentions the longest is kept, then the earliest.

Writing puts the values in text order (not high ones first, which would reveal the labels). The format is keyed by value, so
mentions merge. The losses are found by placing the row's values again in memory, as reading would: a record without an entry is read back
with the same context, question and (range, type, relevance) of every span. A value of a user-defined type is reported as well: piiloom
can read it, by the definition in ``release.json``, but other readers cannot.

``capid-alpaca`` is Alpaca JSONL in the form of the published CAPID models: ``output`` is the JSON object of a CAPID row's ``piis``, and
``input`` has the text before the question, which is the last line, empty without one::

    Text: I had my knee operated on …
    Question: Can I go back to work?
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from piiloom.corpus.formats.base import (
    ABSENT,
    INSIDE_WORD,
    LOST_FIELDS_WITHOUT_ID,
    OVERLAPPED,
    Json,
    LossEntry,
    Overlap,
    ReadOptions,
    ReadTally,
    RowReject,
    SkippedValue,
    WriteOptions,
    quoted,
)
from piiloom.corpus.formats.instruction_tuning import (
    AlpacaFormat,
    extracting_values,
    values_message,
    values_message_parts,
    with_lost_values,
)
from piiloom.corpus.formats.native_rows import ImportedIds, JsonRowWriter, RowFault, numbered_lines, parse_object, read_rows
from piiloom.corpus.formats.row_reading import UNKNOWN_TYPE, KeptMentions, Labels, Reading, find_values, keep_disjoint
from piiloom.corpus.mention_search import stands_alone
from piiloom.corpus.record import LostValue, Record, Relevance, SourceReference, Span
from piiloom.foundation.words import Range
from piiloom.taxonomy.entity_types import shipped_taxonomy

BLANK = "blank value: left out"
NO_RELEVANCE = "no relevance: the value is left out"
DISAGREE = "mentions disagree about type or relevance: the value gets the labels of its first high mention, or of its first"
REPEATED = "repeated value: its mentions merge into one entry"
UNMARKED = "also stands where it is not marked: reading would mark it there too"
NOT_WHOLE = "stands only inside a longer word: reading would refuse the row"
OWN_TYPE = "its type is none of CAPID's fifteen: written under its own name, which other readers of the format don't know"
LONGER_MARKED = "reading would mark a longer or earlier value where this one stands"

_RELEVANCE: Final[dict[str, Relevance]] = {"1": "high", "high": "high", "0": "low", "low": "low"}
_CODE: Final[dict[Relevance, str]] = {"high": "1", "low": "0"}
_WORD: Final[dict[Relevance, str]] = {"high": "high", "low": "low"}


class CapidFormat(JsonRowWriter):
    """The CAPID format; see the module docstring."""

    name = "capid"
    suffix = ".jsonl"
    lost_fields = LOST_FIELDS_WITHOUT_ID
    column_fields: tuple[str, ...] = ()

    def read(self, path: Path, options: ReadOptions, tally: ReadTally) -> Iterator[Record | RowReject]:
        """Yield the rows of *path*, see ``ReadableFormat.read``.

        Record ids are digests of content and ordinal; ``source`` has the file, the line and what was left out.
        """
        return read_rows(numbered_lines(path), _CapidReader(path.name, options, tally).record, tally)

    def row(self, record: Record, options: WriteOptions, entries: list[LossEntry]) -> Json:  # noqa: ARG002 - has no tokens
        """See ``JsonRowWriter``."""
        return _row(record, entries)


class CapidAlpacaFormat(AlpacaFormat):
    """The rows for tuning models; see the module docstring."""

    name = "capid-alpaca"

    def row(self, record: Record, options: WriteOptions, entries: list[LossEntry]) -> Json:
        """See ``JsonRowFormat``. Without its source, relevance is spelled 1 and 0, as the published models do."""
        piis = _row(replace(record, source=None), entries)["piis"]
        asked = values_message(record.context, record.question)
        return self.row_of(extracting_values(options.taxonomy), asked, json.dumps(piis, ensure_ascii=False))

    def native(self, number: int, row: Json, reading: Reading) -> Json:
        """See ``JsonRowFormat``. A value without a place is lost, or a span without offsets if all mentions are wanted."""
        asked, answer = self.texts_in(row, reading.tally)
        context, question = values_message_parts(asked)
        try:
            piis = parse_object(answer)
        except RowFault as fault:
            raise RowFault(f"output: {fault}") from fault
        spans: list[Json] = []
        lost: list[LostValue] = []
        labels = [_labels_of(value, about) for value, about in piis.items()]
        found = zip(piis, labels, find_values(context, list(piis)), strict=True)
        for position, (value, (entity_type, relevance), places) in enumerate(found, start=1):
            span: Json = {"text": value, "type": entity_type, "relevance": relevance, "value_id": f"v{position}"}
            spans += ({"start": start, "end": end, **span} for start, end in places)
            if not places and reading.options.all_mentions:
                spans.append({"start": None, "end": None, **span})
            elif not places:
                known, reason = reading.options.taxonomy.resolve(entity_type) or entity_type, INSIDE_WORD if value in context else ABSENT
                lost.append(LostValue(text=value, entity_type=known, relevance=relevance, reason=reason))
        return with_lost_values(number, {"context": context, "question": question, "spans": spans}, lost, reading)


def _labels_of(value: str, about: Any) -> tuple[str, Relevance]:
    """Return type and relevance of *value*. Raises ``RowFault`` if *about* does not state them."""
    known = about if isinstance(about, dict) else {}
    entity_type, relevance = known.get("type"), _RELEVANCE.get(str(known.get("relevance")))
    if not value.strip() or not isinstance(entity_type, str) or relevance is None:
        raise RowFault(f"output[{quoted(value)}]: not a value with a type, and a relevance of 1 or 0")
    return entity_type, relevance


def _row(record: Record, entries: list[LossEntry]) -> Json:
    """Return the row of *record*, and append its losses to *entries*, in text order.

    A value has the labels of its first high mention, otherwise of the first with a relevance.
    """
    mentions: dict[str, list[Span]] = {}
    for span in record.spans:
        mentions.setdefault(span.text_in(record.context), []).append(span)
    labels: dict[str, tuple[str, Relevance]] = {}
    for value, spans in mentions.items():
        judged = [(span.entity_type, span.relevance) for span in spans if span.relevance is not None]
        if judged and value.strip():
            labels[value] = next((one for one in judged if one[1] == "high"), judged[0])
    spelt = _WORD if record.source is not None and record.source.relevance_as == "high/low" else _CODE
    piis = {value: {"type": entity_type, "relevance": spelt[relevance]} for value, (entity_type, relevance) in labels.items()}
    entries += _losses(record, mentions, labels)
    return {"context": record.context, "question": record.question, "piis": piis}


def _losses(record: Record, mentions: Mapping[str, list[Span]], labels: Mapping[str, tuple[str, Relevance]]) -> Iterator[LossEntry]:
    values = list(labels)
    placed = keep_disjoint((place, at) for at, places in enumerate(find_values(record.context, values)) for place in places)
    overlapped = {values[at] for _, at, _ in placed.dropped}
    read: dict[str, set[Range]] = {}
    for place, at in placed.kept:
        read.setdefault(values[at], set()).add(place)
    for value, spans in mentions.items():
        marked = {(span.start, span.end) for span in spans}
        if value not in labels:
            reasons = {NO_RELEVANCE if all(span.relevance is None for span in spans) else BLANK: True}
        else:
            reasons = {
                DISAGREE: any((span.entity_type, span.relevance) != labels[value] for span in spans),
                OWN_TYPE: labels[value][0] not in shipped_taxonomy().types,
                REPEATED: len(spans) > 1,
                UNMARKED: bool(read.get(value, set()) - marked),
                LONGER_MARKED if value in overlapped else NOT_WHOLE: bool(marked - read.get(value, set())),
            }
        yield from (LossEntry(record_id=record.id, value=value, reason=reason) for reason, applies in reasons.items() if applies)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Value:
    """One entry of ``piis``; ``position`` is its index in the row. ``in_words``: its relevance was spelled high/low, not 1/0."""

    text: str
    entity_type: str
    relevance: Relevance
    position: int
    in_words: bool

    def lost(self, reason: str, text: str | None = None, place: Range | None = None) -> LostValue:
        start, end = place or (None, None)
        kind, relevance = self.entity_type, self.relevance
        return LostValue(text=text or self.text, entity_type=kind, relevance=relevance, start=start, end=end, reason=reason)


class _CapidReader:
    """State while one file is read."""

    def __init__(self, file: str, options: ReadOptions, tally: ReadTally) -> None:
        self._options = options
        self._file = file
        self.tally = tally
        self._types = Labels(options, tally)
        self._ids = ImportedIds()

    def record(self, number: int, line: str) -> Record:
        row = parse_object(line)
        context, question, piis, own_id = (row.get(key) for key in ("context", "question", "piis", "id"))
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
                relevance_as="high/low" if values and all(value.in_words for value in values) else None,
            ),
        )

    def _values(self, context: str, piis: dict[str, Any]) -> list[_Value]:
        """Return the values in the order of their first occurrence in the context; their order in the row has no meaning.

        Raises ``RowFault`` naming all empty values, unknown types and unknown relevances.
        """
        faults: list[str] = []
        values: list[_Value] = []
        for position, (text, about) in enumerate(piis.items()):
            labels = about if isinstance(about, dict) else {}
            raw, degree = labels.get("type"), labels.get("relevance")
            if isinstance(raw, str) and self._types.is_left_out(raw):
                continue
            self.tally.ignored_fields.update(f"piis.{key}" for key in labels if key not in {"type", "relevance"})
            label = self._types.resolve(raw) if isinstance(raw, str) else None
            # bool is a subclass of int, and JSON true is not accepted as 1.
            relevance = _RELEVANCE.get(str(degree)) if isinstance(degree, int | str) and not isinstance(degree, bool) else None
            if not text.strip():
                faults.append(f"piis[{quoted(text)}]: an empty value")
            elif label is None:
                faults.append(f"piis[{quoted(text)}].type: {UNKNOWN_TYPE}")
            elif relevance is None:
                faults.append(f"piis[{quoted(text)}].relevance: neither 1/0 nor high/low")
            else:
                kind, in_words = label.entity_type, degree in _CODE
                values.append(_Value(text=text, entity_type=kind, relevance=relevance, position=position, in_words=in_words))
        if faults:
            raise RowFault("; ".join(faults))
        return sorted(values, key=lambda value: (context.find(value.text), -len(value.text)))

    def _unplaced(self, context: str, values: list[_Value], found: list[list[Range]]) -> list[LostValue]:
        """Count the values and return those without a place; raises ``RowFault`` naming them unless ``skip_values`` is set."""
        faults: list[tuple[_Value, str]] = []
        for value, places in zip(values, found, strict=True):
            self.tally.values += 1
            if places and stands_alone(context, *places[0]):
                self.tally.exact += 1
                self.tally.ambiguous += len(places) > 1
                continue
            inside = bool(places) or value.text in context
            self.tally.inside_word += inside
            self.tally.missing += not inside
            if places:
                self.tally.seams += 1
            else:
                faults.append((value, INSIDE_WORD if inside else ABSENT))
        faults.sort(key=lambda one: one[0].position)
        if faults and not self._options.skip_values:
            raise RowFault("; ".join(f"piis[{quoted(value.text)}]: {fault}" for value, fault in faults))
        return [value.lost(fault) for value, fault in faults]

    def _overlaps(self, number: int, context: str, values: list[_Value], placed: KeptMentions) -> list[LostValue]:
        """Add the mentions that were dropped for longer ones to the tally, and return them."""
        left = {value for _, value in placed.kept}
        self.tally.overlapping += (
            Overlap(line=number, kept=winner, dropped=place, dropped_type=values[at].entity_type, value_lost=at not in left)
            for place, at, winner in placed.dropped
        )
        return [values[at].lost(OVERLAPPED, context[slice(*place)], place) for place, at, _ in placed.dropped]


def _spans(values: list[_Value], placed: KeptMentions) -> tuple[Span, ...]:
    names = {at: f"v{number}" for number, at in enumerate(dict.fromkeys(at for _, at in placed.kept), start=1)}
    return tuple(
        Span(
            id=f"s{position}",
            start=start,
            end=end,
            entity_type=values[at].entity_type,
            relevance=values[at].relevance,
            value_id=names[at],
        )
        for position, ((start, end), at) in enumerate(placed.kept, start=1)
    )
