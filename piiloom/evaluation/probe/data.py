"""Read the rows that a probe trains on or is tested on: native or CAPID JSONL, detected row by row, or a format that is named.

A probe measures a published set as it is. A CAPID value becomes one span, at its first whole-word occurrence or else at its
first occurrence of any kind; values without a place or relevance are left out and counted. (``piiloom.corpus.formats.capid``,
which imports rows as our own data, marks every mention and refuses such rows.) Of overlapping spans, the one that starts
first is kept; of those that start together, the longest. Types are taken as spelled (in native rows ``_`` is read as a space),
so sets with their own types can be probed, too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from piiloom.corpus.formats.base import ReadOptions, read_records
from piiloom.corpus.formats.native_rows import RowFault, numbered_lines, parse_object
from piiloom.corpus.formats.registry import get_readable_format
from piiloom.corpus.record import Record, Relevance
from piiloom.corpus.releases.manifest import types_beside
from piiloom.foundation.errors import DataError
from piiloom.foundation.words import whole_word
from piiloom.tagging.model import GoldSpan, TaggingExample
from piiloom.taxonomy.own_types import extended

# Reasons for leaving a value out, as used in ``ProbeCorpus.left_out`` and in reports.
OVERLAPPING = "overlapping"
NOT_FOUND = "not in the context"
NO_RELEVANCE = "no relevance"

_RELEVANCE: dict[object, Relevance] = {"high": "high", "low": "low", "1": "high", "0": "low", 1: "high", 0: "low"}  # note: True == 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeRecord(TaggingExample):
    """One row, and its 1-based line (in a named format, its number)."""

    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeCorpus:
    """The content of a file; ``file`` is its path as given, ``left_out`` counts values by the reason they were left out."""

    file: str
    records: tuple[ProbeRecord, ...]
    left_out: Mapping[str, int]


def read_corpus(path: Path, format_name: str | None = None) -> ProbeCorpus:
    """Read *path*; with *format_name*, as piiloom imports a file of that format.

    Raises ``DataError`` (naming file, line and field) if it cannot be read, holds no rows, or has a row that is neither native nor CAPID
    (or, with *format_name*, that would be refused), and ``UsageError`` for a format that is unknown or cannot be read.
    """
    if not path.exists():
        raise DataError("there is no such file", where=str(path), remedy="Check the path")
    left_out: Counter[str] = Counter()
    records: list[ProbeRecord] = []
    if format_name is not None:
        options = ReadOptions(taxonomy=extended(types_beside(path)), blank_contexts=True)
        found = read_records(get_readable_format(format_name), path, options)
        records = [_probe_record(number, record) for number, record in enumerate(found, start=1)]
        if not records:
            raise DataError("the file holds no records", where=str(path), remedy="Give a file with at least one row")
        return ProbeCorpus(file=str(path), records=tuple(records), left_out=MappingProxyType({}))
    for number, line in numbered_lines(path):
        try:
            records.append(_record(number, line, left_out))
        except RowFault as fault:
            remedy = "Correct the row, or take it out; docs/data.md describes both layouts"
            raise DataError(str(fault), where=f"{path}:{number}", remedy=remedy) from fault
    if not records:
        raise DataError("the file holds no records", where=str(path), remedy="Give a native or CAPID JSONL file with at least one row")
    return ProbeCorpus(file=str(path), records=tuple(records), left_out=MappingProxyType(dict(sorted(left_out.items()))))


def _probe_record(number: int, record: Record) -> ProbeRecord:
    spans = tuple(GoldSpan(start=s.start, end=s.end, entity_type=s.entity_type, relevance=s.relevance) for s in record.spans)
    question, keys = record.question or "", record.group_keys
    return ProbeRecord(line=number, context=record.context, question=question, spans=spans, group_keys=keys)


def _record(number: int, line: str, left_out: Counter[str]) -> ProbeRecord:
    row = parse_object(line)
    context, question = row.get("context"), row.get("question")
    if not isinstance(context, str):
        raise RowFault("context: not a text")
    if question is not None and not isinstance(question, str):
        raise RowFault("question: neither a text nor null")
    if "spans" in row:
        spans = list(_native_spans(context, row["spans"]))
    elif "piis" in row:
        spans = list(_capid_spans(context, row["piis"], left_out))
    else:
        raise RowFault("neither spans (a native row) nor piis (a CAPID row)")
    kept = tuple(_disjoint(spans))
    left_out.update({OVERLAPPING: len(spans) - len(kept)} if len(kept) < len(spans) else {})
    return ProbeRecord(line=number, context=context, question=question or "", spans=kept, group_keys=_group_keys(row))


def _group_keys(row: Mapping[str, object]) -> tuple[str, ...]:
    """The keys of a native row; none where there are none, for a probe takes rows as they are."""
    about = row.get("meta")
    keys = about.get("group_keys") if isinstance(about, dict) else None
    return tuple(key for key in keys if isinstance(key, str)) if isinstance(keys, list) else ()


def _native_spans(context: str, rows: object) -> Iterator[GoldSpan]:
    if not isinstance(rows, list):
        raise RowFault("spans: not a list")
    for position, row in enumerate(rows):
        place = f"spans[{position}]"
        if not isinstance(row, dict):
            raise RowFault(f"{place}: not an object")
        start, end, text, given = row.get("start"), row.get("end"), row.get("text"), row.get("relevance")
        if type(start) is not int or type(end) is not int:  # ``type`` rather than isinstance, to exclude booleans
            raise RowFault(f"{place}: start and end are not whole numbers")
        if not 0 <= start < end <= len(context):
            raise RowFault(f"{place}: empty, or outside the context")
        if text is not None and text != context[start:end]:
            raise RowFault(f"{place}.text: not what the context holds there")
        relevance = _relevance(given)
        if relevance is None and given is not None:
            raise RowFault(f"{place}.relevance: neither high/low, 1/0 nor null")
        yield GoldSpan(start=start, end=end, entity_type=_type(row, place).replace("_", " "), relevance=relevance)


def _capid_spans(context: str, piis: object, left_out: Counter[str]) -> Iterator[GoldSpan]:
    if not isinstance(piis, dict):
        raise RowFault("piis: not an object of values")
    for position, (value, about) in enumerate(piis.items()):
        place = f"piis[{position}]"
        if not value:
            raise RowFault(f"{place}: an empty value")
        if not isinstance(about, dict):
            raise RowFault(f"{place}: not an object with type and relevance")
        relevance = _relevance(about.get("relevance"))
        if relevance is None:
            left_out[NO_RELEVANCE] += 1
            continue
        found = whole_word(value).search(context)
        start = found.start() if found else context.find(value)
        if start < 0:
            left_out[NOT_FOUND] += 1
        else:
            yield GoldSpan(start=start, end=start + len(value), entity_type=_type(about, place), relevance=relevance)


def _relevance(given: object) -> Relevance | None:
    return _RELEVANCE.get(given) if isinstance(given, str | int | float) else None


def _type(row: Mapping[str, object], place: str) -> str:
    given = row.get("type")
    if not isinstance(given, str) or not given.strip():
        raise RowFault(f"{place}.type: not a name")
    return given


def _disjoint(spans: Iterable[GoldSpan]) -> Iterator[GoldSpan]:
    last = 0
    for span in sorted(spans, key=lambda span: (span.start, -span.end)):
        if span.start >= last:
            last = span.end
            yield span
