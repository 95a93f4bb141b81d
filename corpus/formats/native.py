"""Native JSONL: lossless, so that a record that is written and read again is equal.

Reading verifies that every span's ``text`` equals ``context[start:end]``. A row is refused if it does not (see ``skip_values``),
or if it has an unknown type or a repeated id. Spans may be in any order; of overlapping spans the longest is kept, then the
earliest, and the tally lists the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TextIO

from pydantic import ValidationError

from piiloom.corpus.formats.base import OVERLAPPED, LossReport, Overlap, ReadTally, RowReject, SkippedValue, quoted
from piiloom.corpus.formats.json_rows import ImportedIds, RowFault, fault_of, parse_object, read_rows, write_row
from piiloom.corpus.formats.native_rows import MetaRow, NativeRow, SpanRow, extra_keys, row_of
from piiloom.corpus.formats.placing import keep_disjoint
from piiloom.corpus.record import LostValue, Provenance, Record, RecordPlan, SourceReference, Span
from piiloom.taxonomy.entity_types import load_taxonomy


class NativeFormat:
    """The native format; see the module docstring."""

    name = "native"
    suffix = ".jsonl"

    def read(
        self,
        path: Path,
        *,
        locale: str = "en_US",
        tally: ReadTally | None = None,
        skip_values: bool = False,
        blank_contexts: bool = False,
    ) -> Iterator[Record | RowReject]:
        """Yield the rows of *path*, see ``Format.read``; a row without ``id`` gets a digest of its content."""
        reader = _Reader(path.name, locale, ReadTally() if tally is None else tally, skip_values=skip_values, blank_contexts=blank_contexts)
        return read_rows(path, reader.record, reader.tally)

    def write(self, records: Iterable[Record], fh: TextIO) -> LossReport:
        """Write one row per record; nothing is lost."""
        for record in records:
            write_row(row_of(record), fh)
        return LossReport()


class _Reader:
    """State while one file is read."""

    def __init__(self, file: str, locale: str, tally: ReadTally, *, skip_values: bool, blank_contexts: bool) -> None:
        self._blank_contexts = blank_contexts
        self._skip_values = skip_values
        self._file = file
        self._locale = locale
        self.tally = tally
        self._ids = ImportedIds()
        self._taken: set[str] = set()

    def record(self, number: int, line: str) -> Record:
        try:
            row = NativeRow.model_validate(parse_object(line))
        except ValidationError as error:
            raise fault_of(error, NativeRow) from error
        if not (self._blank_contexts or row.context.strip()):
            raise RowFault("context: there is no text in it")
        self.tally.ignored_fields.update(extra_keys(row))
        lost: list[LostValue] = []
        spans = self._spans(number, row, lost)
        plan = self._plan(row.meta)
        marked = [(span.start, span.end, span.entity_type, span.relevance) for span in spans]
        record_id = row.id or self._ids.next("native", row.context, row.question, marked)
        if record_id in self._taken:
            raise RowFault("id: an earlier row of the file has this id")
        self._taken.add(record_id)
        self.tally.skipped_values += (SkippedValue(line=number, value=one) for one in lost if one.reason != OVERLAPPED)
        return Record(
            id=record_id,
            revision=row.meta.revision,
            locale=row.locale or self._locale,
            context=row.context,
            question=row.question,
            spans=spans,
            plan=plan,
            source=self._source(number, row, lost),
            group_keys=tuple(row.meta.group_keys),
            provenance=_provenance(row.meta),
        )

    def _place(self, number: int, row: NativeRow) -> SourceReference | None:
        """Return this file and line as the origin of a row that piiloom did not write; its own rows state their origin: None."""
        says_all = row.meta.provenance or row.meta.pair or "source" in row.meta.model_fields_set
        return None if says_all else SourceReference(file=self._file, line=number, id=row.id)

    def _source(self, number: int, row: NativeRow, lost: Sequence[LostValue]) -> SourceReference | None:
        source = row.meta.source.reference() if row.meta.source else self._place(number, row)
        if lost:
            source = source or SourceReference(file=self._file, line=number, id=row.id)
            source = replace(source, lost=(*source.lost, *lost))
        return source

    def _spans(self, number: int, row: NativeRow, lost_values: list[LostValue]) -> tuple[Span, ...]:
        """Return the spans of the row, and append to *lost_values* those that were left out.

        Raises ``RowFault`` for an unknown type, for repeated or partly missing span ids, and, without ``skip_values``, for a text
        that differs from the context.
        """
        self.tally.values += len(row.spans)
        types = [self._type(span.type, f"spans[{position}].type") for position, span in enumerate(row.spans)]
        exact = []
        for position, span in enumerate(row.spans):
            fault = _text_fault(row.context, span)
            if fault is None:
                exact.append(position)
            elif self._skip_values:
                self.tally.missing += 1
                lost_values.append(_lost(span, types[position], fault))
            else:
                raise RowFault(f"spans[{position}].text: {quoted(span.text)} {fault}")
        self.tally.exact += len(exact)
        placed = keep_disjoint(((row.spans[position].start, row.spans[position].end), position) for position in exact)
        for place, position, winner in placed.dropped:
            lost = _is_lost(row.spans, position, placed.kept)
            self.tally.overlapping.append(Overlap(line=number, kept=winner, dropped=place, dropped_type=types[position], value_lost=lost))
            lost_values.append(_lost(row.spans[position], types[position], OVERLAPPED))
        ids = _span_ids([row.spans[position].id for _, position in placed.kept])
        return tuple(_span(row.spans[position], types[position], span_id) for (_, position), span_id in zip(placed.kept, ids, strict=True))

    def _type(self, raw: str, field: str) -> str:
        resolved = load_taxonomy().resolve(raw)
        if resolved is None:
            self.tally.unknown_types[raw] += 1
            raise RowFault(f"{field}: not one of the known types")
        if resolved != raw:
            self.tally.mapped_types[raw] = resolved
        return resolved

    def _plan(self, meta: MetaRow) -> RecordPlan | None:
        if meta.pair is None:
            return None
        first, second = (self._type(name, "meta.pair") for name in meta.pair)
        return RecordPlan(
            pair=(first, second),
            topic=meta.topic,
            subtopic=meta.subtopic,
            scenario=meta.scenario,
            rationale=meta.rationale,
            register=meta.register_,
            cue_level=meta.cue_level,
        )


def _text_fault(context: str, span: SpanRow) -> str | None:
    """Return why *span* has no exact place in the context; None if it has one."""
    if not span.start < span.end <= len(context):
        return f"has the range [{span.start}, {span.end}), which is empty or outside the context"
    if context[span.start : span.end] != span.text:
        return f"differs from context[{span.start}:{span.end}]"
    return None


def _lost(span: SpanRow, entity_type: str, reason: str) -> LostValue:
    return LostValue(text=span.text, entity_type=entity_type, relevance=span.relevance, start=span.start, end=span.end, reason=reason)


def _is_lost(spans: list[SpanRow], position: int, kept: tuple[tuple[tuple[int, int], int], ...]) -> bool:
    """Whether no kept span mentions the same value, compared by value_id if it has one, otherwise by type and text."""
    lost = spans[position]
    others = (spans[number] for _, number in kept)
    if lost.value_id is not None:
        return all(other.value_id != lost.value_id for other in others)
    return all((other.type, other.text) != (lost.type, lost.text) for other in others)


def _span_ids(given: list[str | None]) -> list[str]:
    """Return the given ids, with ``s1``, ``s2`` … by position for spans without one; raises ``RowFault`` if an id repeats."""
    named = {name for name in given if name is not None}
    if len(named) != sum(name is not None for name in given):
        raise RowFault("spans: an id is used twice")
    ids = [name if name is not None else f"s{position}" for position, name in enumerate(given, start=1)]
    if len(set(ids)) != len(ids):
        raise RowFault("spans: give every span an id, or none")
    return ids


def _span(row: SpanRow, entity_type: str, span_id: str) -> Span:
    return Span(
        id=span_id,
        start=row.start,
        end=row.end,
        entity_type=entity_type,
        relevance=row.relevance,
        subtype=row.subtype,
        value_id=row.value_id,
        subject=row.subject,
    )


def _provenance(meta: MetaRow) -> Provenance | None:
    row = meta.provenance
    if row is None:
        if meta.provider is None and meta.model is None:
            return None
        return Provenance(stage="imported", provider=meta.provider, model=meta.model)
    if any(len(template) != 2 for template in row.templates):
        raise RowFault("meta.provenance.templates: each must be [name, sha256]")
    templates = tuple((name, sha256) for name, sha256 in row.templates)
    return Provenance(
        stage=row.stage, provider=meta.provider, model=meta.model, templates=templates, seed=row.seed, parents=tuple(row.parents)
    )
