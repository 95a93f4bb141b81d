"""Make records of rows in the shape of the native format (DESIGN 2.2), whatever file they come from.

A reader of another format turns each row into such a shape (``NativeShapedFormat``) and leaves all rules to ``RowReader``: a row is
refused if a span's ``text`` differs from ``context[start:end]`` (see ``ReadOptions.skip_values``), or if it has an unknown type or a
repeated id. Spans may be in any order; of overlapping spans the longest is kept, then the earliest, and the tally lists the others. Types
of labels are looked up in the label map of an import first, then in the names and aliases of the taxonomy.

A value is mentioned wherever it is a whole word. A value that is no whole word anywhere has an exact place all the same if it is one side
of a seam, where a digit and a letter meet (``29`` and ``F`` in ``29F``), and there is just one such place.

Files of some tools have no room for all that a span of ours has; ``kept_aside`` and ``details_of`` return the rest of it for another
place in the file. A tool may move, add and remove spans between writing and reading, so both parts are joined by place and label: the
rest is used only for a span that still has the place and the label that were written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from piiloom.corpus.formats.base import (
    OVERLAPPED,
    Json,
    Overlap,
    ReadOptions,
    ReadTally,
    RowReject,
    SkippedValue,
    is_stand_in,
    quoted,
)
from piiloom.corpus.formats.native_rows import (
    ImportedIds,
    JsonRowWriter,
    MetaRow,
    NativeRow,
    RowFault,
    SpanRow,
    array_rows,
    as_text,
    extra_keys,
    numbered_lines,
    objects_in,
    parse_object,
    read_rows,
    row_of,
    valid_row,
)
from piiloom.corpus.mention_search import ends_at_seams, exact_mentions, occurrences, without_overlaps
from piiloom.corpus.record import LostValue, Provenance, Record, RecordPlan, SourceReference, Span
from piiloom.foundation.errors import UsageError
from piiloom.foundation.words import Range
from piiloom.taxonomy.entity_types import Taxonomy
from piiloom.taxonomy.label_maps import label_map
from piiloom.taxonomy.locales import resolve_locale

UNKNOWN_TYPE = "not one of the known types"

Made = TypeVar("Made")
# Makes something of (1-based number, row in the native shape); raises ``RowFault`` if it cannot.
MakeRow = Callable[[int, Json], Made]


@dataclass(frozen=True, slots=True)
class Reading:
    """A file that is read, with its options and its tally."""

    path: Path
    options: ReadOptions
    tally: ReadTally


class NativeShapedFormat:
    """A readable format whose rows are turned into the shape of native rows, of which records are made, or what else is wanted."""

    name: str
    suffix: str
    column_fields: tuple[str, ...] = ()
    label_map_name: str | None = None  # of a shipped label map, in which the labels of records are looked up

    def texts(self, reading: Reading) -> Iterator[tuple[int, str]]:
        """Yield the rows of the file as JSON texts, each with its number: of an array if the suffix is ``.json``, else the lines."""
        return array_rows(reading.path) if self.suffix == ".json" else numbered_lines(reading.path)

    def native(self, number: int, row: Json, reading: Reading) -> Json:  # noqa: ARG002 - a row may be native already
        """Return row *number* in the native shape, and count in the tally what is not stored; raises ``RowFault`` if it has none."""
        return row

    def read_with(self, path: Path, options: ReadOptions, tally: ReadTally, make: MakeRow[Made]) -> Iterator[Made | RowReject]:
        """Yield what *make* returns for each row of *path*, in order, or a reject; for the rest see ``ReadableFormat.read``."""
        reading = Reading(path, options, tally)
        return read_rows(self.texts(reading), lambda number, row: make(number, self.native(number, parse_object(row), reading)), tally)

    def read(self, path: Path, options: ReadOptions, tally: ReadTally) -> Iterator[Record | RowReject]:
        """Yield the rows of *path* as records, see ``ReadableFormat.read``."""
        if self.label_map_name is not None:
            options = replace(options, label_map={**label_map(self.label_map_name, options.taxonomy), **options.label_map})
        return self.read_with(path, options, tally, RowReader(path.name, options, tally).record)


class JsonRowFormat(JsonRowWriter, NativeShapedFormat):
    """A format with an object of JSON for each record, see both bases."""


class RowReader:
    """Makes the records of one file."""

    def __init__(self, file: str, options: ReadOptions, tally: ReadTally) -> None:
        self._options = options
        self._file = file
        self.tally = tally
        self._labels = Labels(options, tally)
        self._ids = ImportedIds()
        self._taken: set[str] = set()
        self._locales: dict[str, str] = {}

    def record(self, number: int, content: Json) -> Record:
        """Return the record of row *number* (1-based). Raises ``RowFault`` if the row cannot become a record."""
        row = valid_row(NativeRow, content)
        if not (self._options.blank_contexts or row.context.strip()):
            raise RowFault("context: there is no text in it")
        self.tally.ignored_fields.update(extra_keys(row))
        lost: list[LostValue] = []
        spans = self._spans(number, row, lost)
        plan = self._plan(row.meta)
        marked = [(span.start, span.end, span.entity_type, span.relevance) for span in spans]
        record_id = as_text(row.id) or self._ids.next("native", row.context, row.question, marked)
        if record_id in self._taken:
            raise RowFault("id: an earlier row of the file has this id")
        self._taken.add(record_id)
        self.tally.skipped_values += (SkippedValue(line=number, value=one) for one in lost if one.reason != OVERLAPPED)
        return Record(
            id=record_id,
            revision=row.meta.revision,
            locale=self._locale(row.locale),
            context=row.context,
            question=row.question,
            spans=spans,
            plan=plan,
            source=self._source(number, row, lost),
            group_keys=tuple(row.meta.group_keys),
            provenance=_provenance(row.meta),
        )

    def _locale(self, stated: str | None) -> str:
        """Return the locale of a row that states *stated*; a language alone may be that of the options. Raises ``RowFault``."""
        if stated is None:
            return self._options.locale
        if stated not in self._locales:
            try:
                self._locales[stated] = resolve_locale(stated)
            except UsageError as error:
                if self._options.locale.partition("_")[0] != stated.strip().lower():
                    raise RowFault(f"locale: {error.message}. {error.remedy}") from None
                self._locales[stated] = self._options.locale
        return self._locales[stated]

    def _place(self, number: int, row: NativeRow) -> SourceReference | None:
        """Return this file and line as the origin of a row that piiloom did not write; its own rows state their origin: None."""
        says_all = row.meta.provenance or row.meta.pair or "source" in row.meta.model_fields_set
        return None if says_all else SourceReference(file=self._file, line=number, id=as_text(row.id))

    def _source(self, number: int, row: NativeRow, lost: Sequence[LostValue]) -> SourceReference | None:
        source = row.meta.source.reference() if row.meta.source else self._place(number, row)
        if lost:
            source = source or SourceReference(file=self._file, line=number, id=as_text(row.id))
            source = replace(source, lost=(*source.lost, *lost))
        return source

    def _spans(self, number: int, row: NativeRow, lost_values: list[LostValue]) -> tuple[Span, ...]:
        """Return the spans of the row, and append to *lost_values* those that were left out.

        Raises ``RowFault`` for an unknown type, for repeated or partly missing span ids, and, without ``skip_values``, for a text
        that differs from the context.
        """
        resolved = [
            (position, span, self._labels.resolve(span.type))
            for position, span in enumerate(row.spans)
            if not self._labels.is_left_out(span.type)
        ]
        labelled = [(position, span, label) for position, span, label in resolved if label is not None]
        if len(labelled) < len(resolved):  # all were counted
            position = next(position for position, _, label in resolved if label is None)
            raise RowFault(f"spans[{position}].type: {UNKNOWN_TYPE}")
        self.tally.values += len(labelled)
        exact: list[tuple[SpanRow, Label]] = []
        for position, span, label in labelled:
            fault = _text_fault(row.context, span)
            if fault is None:
                exact.append((span, label))
            elif self._options.skip_values:
                self.tally.missing += 1
                lost_values.append(_lost(span, label, fault))
            else:
                raise RowFault(f"spans[{position}].text: {quoted(span.text)} {fault}")
        self.tally.exact += len(exact)
        self.tally.stand_ins.update(span.detector for span, _ in exact if is_stand_in(span.detector))
        placed = keep_disjoint(((span.start, span.end), at) for at, (span, _) in enumerate(exact))
        kept = [exact[at] for _, at in placed.kept]
        for place, at, winner in placed.dropped:
            span, label = exact[at]
            lost = _is_lost(span, [other for other, _ in kept])
            self.tally.overlapping.append(Overlap(line=number, kept=winner, dropped=place, dropped_type=label.entity_type, value_lost=lost))
            lost_values.append(_lost(span, label, OVERLAPPED))
        ids = _span_ids([as_text(span.id) for span, _ in kept])
        return tuple(_span(span, label, span_id) for (span, label), span_id in zip(kept, ids, strict=True))

    def _label(self, raw: str, field: str) -> Label:
        label = self._labels.resolve(raw)
        if label is None:
            raise RowFault(f"{field}: {UNKNOWN_TYPE}")
        return label

    def _plan(self, meta: MetaRow) -> RecordPlan | None:
        if meta.pair is None:
            return None
        first, second = (self._label(name, "meta.pair").entity_type for name in meta.pair)
        return RecordPlan(
            pair=(first, second),
            topic=meta.topic,
            subtopic=meta.subtopic,
            scenario=meta.scenario,
            rationale=meta.rationale,
            register=meta.register_,
            cue_level=meta.cue_level,
            lookalikes=tuple(meta.lookalikes),
        )


def _text_fault(context: str, span: SpanRow) -> str | None:
    """Return why *span* has no exact place in the context; None if it has one."""
    if not span.start < span.end <= len(context):
        return f"has the range [{span.start}, {span.end}), which is empty or outside the context"
    if context[span.start : span.end] != span.text:
        return f"differs from context[{span.start}:{span.end}]"
    return None


def _lost(span: SpanRow, label: Label, reason: str) -> LostValue:
    return LostValue(text=span.text, entity_type=label.entity_type, relevance=span.relevance, start=span.start, end=span.end, reason=reason)


def _is_lost(lost: SpanRow, kept: Sequence[SpanRow]) -> bool:
    """Whether no kept span mentions the same value, compared by value_id if it has one, otherwise by type and text."""
    if lost.value_id is not None:
        return all(other.value_id != lost.value_id for other in kept)
    return all((other.type, other.text) != (lost.type, lost.text) for other in kept)


def _span_ids(given: list[str | None]) -> list[str]:
    """Return the given ids, with ``s1``, ``s2`` … by position for spans without one; raises ``RowFault`` if an id repeats."""
    named = {name for name in given if name is not None}
    if len(named) != sum(name is not None for name in given):
        raise RowFault("spans: an id is used twice")
    ids = [name if name is not None else f"s{position}" for position, name in enumerate(given, start=1)]
    if len(set(ids)) != len(ids):
        raise RowFault("spans: give every span an id, or none")
    return ids


def _span(row: SpanRow, label: Label, span_id: str) -> Span:
    return Span(
        id=span_id,
        start=row.start,
        end=row.end,
        entity_type=label.entity_type,
        relevance=row.relevance,
        subtype=label.subtype if row.subtype is None else row.subtype,
        value_id=as_text(row.value_id),
        subject=as_text(row.subject),
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


@dataclass(frozen=True, slots=True)
class Label:
    """A type and, if the label map names one, its subtype."""

    entity_type: str
    subtype: str | None = None


class Labels:
    """Resolves the labels of one file, and counts in *tally* those that were mapped, left out or not known."""

    def __init__(self, options: ReadOptions, tally: ReadTally) -> None:
        self._map, self._taxonomy = options.label_map, options.taxonomy
        self._tally = tally
        self._found: dict[str, Label | None] = {}

    def is_left_out(self, raw: str) -> bool:
        """Whether the label map says that *raw* is no personal information; each call with such a label is counted."""
        if raw in self._map and self._map[raw] is None:
            self._tally.unmapped_labels[raw] += 1
            return True
        return False

    def resolve(self, raw: str) -> Label | None:
        """Return the type of the label *raw*, or None if it has none, which is counted."""
        if raw not in self._found:
            self._found[raw] = self._resolved(raw)
        label = self._found[raw]
        if label is None:
            self._tally.unknown_types[raw] += 1
        return label

    def _resolved(self, raw: str) -> Label | None:
        name, _, subtype = (self._map.get(raw) or raw).partition("/")
        resolved = self._taxonomy.resolve(name)
        if resolved is None:
            return None
        if resolved != raw:
            self._tally.mapped_types[raw] = f"{resolved}/{subtype}" if subtype else resolved
        return Label(resolved, subtype or None)


def types_of_release(about: Json, taxonomy: Taxonomy) -> list[str]:
    """Return all types of *taxonomy*, then those that only the release described by *about* (``release.json``) has."""
    splits = about.get("splits")
    counts = [split.get("types", {}) for split in splits.values()] if isinstance(splits, dict) else []
    return types_and((name for types in counts for name in types), taxonomy)


def types_and(others: Iterable[str], taxonomy: Taxonomy) -> list[str]:
    """Return all types of *taxonomy*, then *others* by name."""
    known = list(taxonomy.types)
    return [*known, *sorted(set(others).difference(known))]


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptMentions:
    """Mentions as (range, index of the value).

    ``kept`` are disjoint and sorted; ``dropped`` has the others, each with the range of the kept mention that it overlaps.
    """

    kept: tuple[tuple[Range, int], ...]
    dropped: tuple[tuple[Range, int, Range], ...]


def keep_disjoint(mentions: Iterable[tuple[Range, int]]) -> KeptMentions:
    """Of overlapping mentions keep the longest, of equally long ones the earliest (of equal ranges the first value)."""
    longest_first = sorted(mentions, key=lambda m: (m[0][0] - m[0][1], m[0][0], m[1]))
    kept, dropped = without_overlaps(longest_first, lambda m: m[0])
    return KeptMentions(kept=tuple(kept), dropped=tuple(sorted((*lost, winner) for lost, (winner, _) in dropped)))


def find_values(context: str, values: Sequence[str]) -> list[list[Range]]:
    """Return for each value its exact mentions in *context*: whole words (``mention_search``), or else its place at a seam."""
    return [exact_mentions(context, value) or _at_seam(context, value) for value in values]


def _at_seam(context: str, value: str) -> list[Range]:
    """Return the only place of *value* that begins and ends at an edge of a word or at a seam; none if there are several."""
    found = [place for place in occurrences(context, value) if ends_at_seams(context, *place)]
    return found if len(found) == 1 else []


def kept_aside(record: Record) -> Json:
    """Return the native row of *record* without its texts: id, locale and meta, and spans by place."""
    row = row_of(record)
    spans = [{key: value for key, value in span.items() if key != "text"} for span in objects_in(row["spans"])]
    return {"id": row["id"], "locale": row["locale"], "spans": spans, "meta": row["meta"]}


def rejoined(found: Iterable[Json], aside: object, label_of: Callable[[Json], str]) -> list[Json]:
    """Return the spans *found* in a file (start, end, text, type), completed by those of *aside* if these are what was written.

    *label_of* returns the label that is written for a span kept aside.
    """
    kept = {(one.get("start"), one.get("end")): one for one in objects_in(aside)}
    spans: list[Json] = []
    for span in found:
        ours = kept.get((span["start"], span["end"]))
        spans.append({**ours, "text": span["text"]} if ours is not None and label_of(ours) == span["type"] else span)
    return with_all_ids(spans)


def details_of(span: Span) -> Json:
    """Return subtype (with the type it belongs to), value and subject of *span*, as far as it has them."""
    told = {"type": span.entity_type, "subtype": span.subtype} if span.subtype is not None else {}
    return told | {key: value for key in ("value_id", "subject") if (value := getattr(span, key)) is not None}


def with_details(span: Json, details: object) -> Json:
    """Return *span* with the *details* that ``details_of`` returned for it; no subtype if the type is another one now."""
    told = details if isinstance(details, dict) else {}
    keys = ("subtype", "value_id", "subject") if told.get("type") == span["type"] else ("value_id", "subject")
    return {**span, **{key: told[key] for key in keys if key in told}}


def with_all_ids(spans: Sequence[Json]) -> list[Json]:
    """Return *spans*, with ids for those without one if others have one (someone added spans to a record of ours)."""
    taken = {span["id"] for span in spans if span.get("id") is not None}
    if not taken:
        return list(spans)
    free = (name for number in range(1, len(spans) + len(taken) + 1) if (name := f"new{number}") not in taken)
    return [span if span.get("id") is not None else {**span, "id": next(free)} for span in spans]
