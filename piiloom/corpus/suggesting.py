"""Make suggestions of what a detector wrote: native rows, as of ``piiloom detect``, whose spans may have ``score`` and ``detector``.

A row is matched by its id with a stored record, and its text must be that of one of the record's revisions, or its offsets would mean
something else. A row that does not fit is rejected with its reason; a span that repeats is one suggestion.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path

from piiloom.corpus.formats.base import Json, ReadTally, RowReject, rejects_file
from piiloom.corpus.formats.native_rows import NativeRow, RowFault, SpanRow, numbered_lines, parse_object, read_rows, valid_row
from piiloom.corpus.store.annotation_events import NewEvent, append_events
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.judgements import (
    Suggestion,
    SuggestionCounts,
    SuggestionRun,
    save_suggestions,
    suggestion_id,
    suggestion_runs,
)
from piiloom.corpus.store.releases import types_of
from piiloom.foundation.errors import DataError, UsageError
from piiloom.foundation.seeding import digest
from piiloom.taxonomy.own_types import extended

# The kind of the event that says that suggestions have been stored.
SUGGESTED = "suggested"
_CHUNK = 1_000
_LONGEST_NAME = 100
# The revisions of records, those that annotation begins with first, then the newest.
_REVISIONS = """
    SELECT r.id, r.record_order, r.revision, r.context FROM records r
    LEFT JOIN annotation_items i ON i.record_id = r.id AND i.record_order = r.record_order
    WHERE r.id IN (SELECT unnest(?::VARCHAR[])) AND r.status <> 'control'
    ORDER BY i.record_id IS NULL, r.revision DESC, r.record_order DESC"""


@dataclass(frozen=True, slots=True, kw_only=True)
class DetectorProposals:
    """What a file proposes: the records that the detector looked at, as (record id, record_order), and the suggestions for them.

    ``rows`` were read, of which ``rejected`` (line, reason) fit no record. ``unknown_types`` counts spans that were left out because
    their type is none of the store's.
    """

    detector: str
    looked: tuple[tuple[str, int], ...]
    suggestions: tuple[Suggestion, ...]
    rows: int
    rejected: tuple[tuple[int, str], ...]
    unknown_types: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class SuggestionReport:
    """What was stored: ``counts`` of suggestions, and what ``DetectorProposals`` has."""

    run: SuggestionRun
    records: int
    counts: SuggestionCounts
    rows: int
    rejected: tuple[tuple[int, str], ...]
    unknown_types: Mapping[str, int]

    def to_json(self) -> Json:
        """Return the report as JSON values."""
        return {
            "run": self.run.id,
            "detector": self.run.detector,
            "model": self.run.model,
            "records": self.records,
            "added": self.counts.added,
            "known": self.counts.known,
            "withdrawn": self.counts.withdrawn,
            "rows": self.rows,
            "rejected": [{"line": line, "reason": reason} for line, reason in self.rejected],
            "unknown_types": dict(self.unknown_types),
        }


def read_proposals(store: Store, path: Path, detector: str | None = None, rejects_path: Path | None = None) -> DetectorProposals:
    """Read the native rows of *path* and hold them against the records of *store*; nothing is written but the file of rejects.

    *detector* is whose they are; None: the one that all spans name. Raises ``DataError`` if the file cannot be read or no row fits, and
    ``UsageError`` if the detector is not known.
    """
    tally, rejected, held = ReadTally(), list[tuple[int, str]](), _Held(extended(types_of(store)).types)
    parsed = read_rows(numbered_lines(path), lambda _, line: _parsed(line), tally)
    with rejects_file(rejects_path) as write_reject:
        numbered = ((tally.line, row) for row in parsed)
        while chunk := list(islice(numbered, _CHUNK)):
            revisions = _revisions(store, [str(row.id) for _, row in chunk if isinstance(row, NativeRow)])
            for line, row in chunk:
                fault = row if isinstance(row, RowReject) else held.take(line, row, revisions)
                if fault is not None:
                    rejected.append((fault.line, fault.reason))
                    write_reject(fault)
    if not held.looked:
        why = f"; the first fault: {rejected[0][1]}" if rejected else ""
        where = path.name if not rejected else f"{path.name}:{rejected[0][0]}"
        raise DataError(f"no row is about a record of the store{why}", where=where, remedy="Give what was found in records of this store")
    name = _detector(detector, [span for *_, span in held.spans])
    return DetectorProposals(
        detector=name,
        looked=tuple(held.looked.items()),
        suggestions=tuple(_suggestion(name, *one) for one in held.spans),
        rows=tally.rows,
        rejected=tuple(rejected),
        unknown_types=dict(held.unknown),
    )


def store_proposals(store: Store, proposals: DetectorProposals, *, actor: str, at: str, model: str | None = None) -> SuggestionReport:
    """Store *proposals* and the event that says so, in one transaction. *at* is the time as in the event log."""
    run = SuggestionRun(
        id=digest("suggestion run", len(suggestion_runs(store)), at, proposals.detector)[:24],
        detector=proposals.detector,
        model=model,
        made_by=actor,
        made_at=at,
    )
    named = [replace(one, run_id=run.id) for one in proposals.suggestions]
    with store.writing():
        counts = save_suggestions(store, run, proposals.looked, named)
        report = SuggestionReport(
            run=run,
            records=len(proposals.looked),
            counts=counts,
            rows=proposals.rows,
            rejected=proposals.rejected,
            unknown_types=proposals.unknown_types,
        )
        told = report.to_json()
        told["rejected"] = len(proposals.rejected)
        append_events(store, [NewEvent(actor=actor, kind=SUGGESTED, entry=told)], at)
    return report


@dataclass(slots=True)
class _Held:
    """The rows so far that fit a record: ``looked`` has the record_order by record id."""

    types: Container[str]
    looked: dict[str, int] = field(default_factory=dict)
    spans: list[tuple[str, int, int, SpanRow]] = field(default_factory=list)
    unknown: Counter[str] = field(default_factory=Counter)

    def take(self, line: int, row: NativeRow, revisions: Mapping[str, Sequence[tuple[int, int, str]]]) -> RowReject | None:
        """Take *row*, or return it as a reject if it does not fit."""
        name = str(row.id)
        try:
            order, revision = _fitting(row, revisions.get(name, ()))
        except RowFault as error:
            fault: str | None = str(error)
        else:
            fault = "the record is in the file twice" if name in self.looked else None
        if fault is not None:
            return RowReject(line=line, reason=fault, row=row.model_dump_json(by_alias=True, exclude_unset=True))
        self.unknown.update(span.type for span in row.spans if span.type not in self.types)
        self.spans += [(name, order, revision, span) for span in row.spans if span.type in self.types]
        self.looked[name] = order
        return None


def _parsed(line: str) -> NativeRow:
    row = valid_row(NativeRow, parse_object(line))
    if row.id is None:
        raise RowFault("the row has no id, so that its record is not known")
    return row


def _revisions(store: Store, record_ids: Sequence[str]) -> dict[str, list[tuple[int, int, str]]]:
    found: dict[str, list[tuple[int, int, str]]] = {}
    for record_id, *rest in store.rows(_REVISIONS, [list(record_ids)]):
        found.setdefault(record_id, []).append((rest[0], rest[1], rest[2]))
    return found


def _fitting(row: NativeRow, stored: Sequence[tuple[int, int, str]]) -> tuple[int, int]:
    """Return the record_order and revision whose text the row has, after checking its spans; raises ``RowFault``."""
    if not stored:
        raise RowFault("the store has no record of this id")
    fitting = next(((order, revision) for order, revision, context in stored if context == row.context), None)
    if fitting is None:
        raise RowFault("the text is none that the record has in the store")
    for number, span in enumerate(row.spans, start=1):
        if not span.start < span.end <= len(row.context) or row.context[span.start : span.end] != span.text:
            raise RowFault(f"span {number} [{span.start}, {span.end}) does not have the text that it tells")
        if span.score is not None and not (math.isfinite(span.score) and 0 <= span.score <= 1):
            raise RowFault(f"the score of span {number} is not from 0 to 1")
    return fitting


def _detector(given: str | None, spans: Sequence[SpanRow]) -> str:
    names = sorted({span.detector for span in spans if span.detector}) if not given else [given.strip()]
    if len(names) != 1:
        said = f"the spans name several detectors ({', '.join(names[:5])})" if names else "the spans name no detector"
        raise UsageError(said, remedy="Say whose suggestions they are")
    if not names[0] or len(names[0]) > _LONGEST_NAME or not names[0].isprintable():
        raise UsageError("that is no name of a detector", remedy=f"Use up to {_LONGEST_NAME} printable characters")
    return names[0]


def _suggestion(detector: str, record_id: str, order: int, revision: int, span: SpanRow) -> Suggestion:
    found_by = span.detector if span.detector and span.detector != detector else None
    return Suggestion(
        id=suggestion_id(order, span.start, span.end, span.type, detector),
        run_id="",
        record_id=record_id,
        record_order=order,
        revision=revision,
        start=span.start,
        end=span.end,
        entity_type=span.type,
        relevance=span.relevance,
        subtype=span.subtype,
        score=span.score,
        detector=detector,
        found_by=None if found_by is None else found_by[:_LONGEST_NAME],
    )
