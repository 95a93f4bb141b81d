"""Make the native row of a document and its spans: what ``piiloom detect`` writes.

A span has, beside what all spans have, its ``score``, its ``detector`` and, if its type has a validator, ``validated``; from detectors
that know it, ``relevance_score``. Spans of a record never overlap: of those that do, the surest is kept (each code point counts as 0.01),
then the earliest.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

from piiloom.corpus.formats.base import Json
from piiloom.corpus.formats.json_rows import row_line
from piiloom.corpus.formats.native_rows import row_of
from piiloom.corpus.record import Record, SourceReference, Span
from piiloom.detection.detector import ScoredSpan
from piiloom.detection.running.documents import Document
from piiloom.foundation.errors import RunError
from piiloom.patterns.resolving import PER_CHARACTER

OWN_KEYS: Final = ("score", "detector", "validated")
# Of detectors that judge relevance and know how sure they are.
RELEVANCE_SCORE: Final = "relevance_score"


def disjoint_spans(spans: Sequence[ScoredSpan]) -> list[ScoredSpan]:
    """Return *spans* in text order, without those that overlap a surer one."""
    ordered = sorted(spans, key=lambda one: (one.start, one.end))
    if all(one.end <= following.start for one, following in pairwise(ordered)):
        return ordered
    kept: list[tuple[int, int, ScoredSpan]] = []
    for span in sorted(ordered, key=lambda one: (-one.score - PER_CHARACTER * (one.end - one.start), one.start, one.subtype or "")):
        at = bisect_left(kept, span.start, key=lambda other: other[0])
        if (at == 0 or kept[at - 1][1] <= span.start) and (at == len(kept) or span.end <= kept[at][0]):
            kept.insert(at, (span.start, span.end, span))
    return [span for _, _, span in kept]


def record_of(document: Document, spans: Sequence[ScoredSpan]) -> Record:
    """Return the record of *document* with *spans*, which are disjoint and in order. Raises ``RunError`` for a span outside of the text."""
    length = len(document.text)
    for span in spans:
        if not 0 <= span.start < span.end <= length:
            raise RunError(
                f"the detector {span.detector} gave the range [{span.start}, {span.end}) of a text of {length:,} characters",
                where=document.file if document.line is None else f"{document.file}:{document.line}",
                remedy="Please report this as a bug",
            )
    return Record(
        id=document.id,
        context=document.text,
        locale=document.locale,
        question=document.question,
        spans=tuple(
            Span(
                id=f"s{number}",
                start=span.start,
                end=span.end,
                entity_type=span.entity_type,
                relevance=span.relevance,
                subtype=span.subtype,
            )
            for number, span in enumerate(spans, start=1)
        ),
        source=SourceReference(file=document.file, line=document.line, id=document.given_id),
        group_keys=document.group_keys,
    )


def native_line(record: Record, spans: Sequence[ScoredSpan]) -> bytes:
    """Return the line of *record*, whose *spans* also tell what only ``ScoredSpan`` has. Raises ``RunError`` if they do not fit it."""
    row = row_of(record)
    said: Any = row["spans"]
    for one, span in zip(said, spans, strict=True):
        if one["text"] != record.context[span.start : span.end]:
            raise RunError("a span does not tell its text", where=f"record {record.id}", remedy="Please report this as a bug")
        one["score"] = span.score
        one["detector"] = span.detector
        if span.validated is not None:
            one["validated"] = span.validated
        if span.relevance_score is not None:
            one[RELEVANCE_SCORE] = span.relevance_score
    return row_line(row)


def record_from(row: Mapping[str, Any]) -> Record:
    """Return the record of a row that ``native_line`` wrote."""
    source = row["meta"]["source"]
    return Record(
        id=row["id"],
        context=row["context"],
        locale=row["locale"],
        question=row["question"],
        spans=tuple(_span(span) for span in row["spans"]),
        source=SourceReference(file=source["file"], line=source.get("line"), id=source.get("id")),
        group_keys=tuple(row["meta"].get("group_keys", ())),
    )


def _span(row: Json) -> Span:
    told: Any = row
    return Span(
        id=told["id"],
        start=told["start"],
        end=told["end"],
        entity_type=told["type"],
        relevance=told["relevance"],
        subtype=told.get("subtype"),
    )
