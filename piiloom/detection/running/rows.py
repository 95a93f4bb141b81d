"""The rows that ``piiloom detect`` writes, native and masked, and the worker that makes them chunk by chunk.

A span has, beside the usual keys, its ``score``, its ``detector`` and, if its type has a validator, ``validated``. Detectors that judge
relevance may add ``relevance_score``. Spans of a record never overlap: of overlapping spans the surest is kept (each code point counts as
0.01), then the earliest.

A masked text has something else in the place of each span:

- ``type``: its type, ``<NAME>``; ``subtype``: its type in the catalogue, ``<PL_PESEL>``;
- ``numbered``: its type and a number, ``[NAME_1]``, as the format ``masked`` has it: equal values of a document share it;
- ``char``: each character is another one, so that lengths and offsets stay.

A value in the question is replaced there, too, if it stands as a whole word exactly as in the text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import count, islice
from pathlib import Path
from typing import Any, Final, NamedTuple

import orjson

from piiloom.corpus.formats.base import Json
from piiloom.corpus.formats.masked import masked_variant, numbered_placeholders, placeholder_label
from piiloom.corpus.formats.native_rows import row_line, row_of
from piiloom.corpus.record import Record, SourceReference, Span
from piiloom.detection.detector import Detector, DetectorText, Findings, ScoredSpan, SetAside, disjoint_spans, examine_texts
from piiloom.detection.registry import make_detector
from piiloom.detection.running.documents import DocumentChunk, InputDocument, RefusedRow
from piiloom.detection.running.request import WorkSettings
from piiloom.foundation.errors import RunError
from piiloom.foundation.portable_errors import unexpected_errors
from piiloom.foundation.repeated_ids import RepeatedIds, unique_ids
from piiloom.taxonomy.entities.entity_catalogue import load_catalogue
from piiloom.taxonomy.own_entities import own_catalogue

OWN_KEYS: Final = ("score", "detector", "validated")
# Of detectors that judge relevance and know how sure they are.
RELEVANCE_SCORE: Final = "relevance_score"


def detected_record(document: InputDocument, spans: Sequence[ScoredSpan]) -> Record:
    """Return the record of *document* with *spans*, which are disjoint and in order. Raises ``RunError`` for a span outside of the text."""
    length = len(document.text)
    for span in spans:
        if not 0 <= span.start < span.end <= length:
            raise RunError(
                f"the detector {span.detector} gave the range [{span.start}, {span.end}) of a text of {length:,} characters",
                where=document.where,
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
        spans=tuple(
            Span(
                id=span["id"],
                start=span["start"],
                end=span["end"],
                entity_type=span["type"],
                relevance=span["relevance"],
                subtype=span.get("subtype"),
            )
            for span in row["spans"]
        ),
        source=SourceReference(file=source["file"], line=source.get("line"), id=source.get("id")),
        group_keys=tuple(row["meta"].get("group_keys", ())),
    )


DOCUMENT: Final = "document"  # in the line of a document that failed: its number in the input, from 1 on


@dataclass(slots=True, kw_only=True)
class SpanCounts:
    """Counts of documents and what was found in them.

    ``failed`` documents, of which nothing could be found out, are none of the ``documents``. ``types`` and ``subtypes`` count spans;
    ``validated`` those whose validator passed. ``overlapping`` were left out in favour of a surer one. ``set_aside`` counts by reason what
    a model or a rule refused. ``catalogues`` has the digests of those used, by locale.
    """

    documents: int = 0
    failed: int = 0
    with_spans: int = 0
    spans: int = 0
    validated: int = 0
    overlapping: int = 0
    types: Counter[str] = field(default_factory=Counter)
    subtypes: Counter[str] = field(default_factory=Counter)
    locales: Counter[str] = field(default_factory=Counter)
    set_aside: Counter[str] = field(default_factory=Counter)
    catalogues: dict[str, str] = field(default_factory=dict)

    def count(self, locale: str, spans: Sequence[ScoredSpan], overlapping: int, set_aside: Iterable[SetAside]) -> None:
        """Count one document."""
        self.documents += 1
        self.with_spans += bool(spans)
        self.spans += len(spans)
        self.validated += sum(span.validated is True for span in spans)
        self.overlapping += overlapping
        self.types.update(span.entity_type for span in spans)
        self.subtypes.update(span.subtype for span in spans if span.subtype is not None)
        self.locales[locale] += 1
        self.set_aside.update(one.reason for one in set_aside)

    def add(self, other: SpanCounts) -> None:
        """Add the counts of other documents."""
        for name in self.__slots__:
            mine, theirs = getattr(self, name), getattr(other, name)
            if isinstance(mine, int):
                setattr(self, name, mine + theirs)
            else:
                mine.update(theirs)

    def to_json(self) -> dict[str, Any]:
        """Return all counts as JSON values, the most frequent first."""
        return {name: dict(_by_count(value)) if isinstance(value := getattr(self, name), dict) else value for name in self.__slots__}

    @classmethod
    def from_json(cls, told: Mapping[str, Any]) -> SpanCounts:
        """Return what ``to_json`` made JSON of."""
        values: dict[str, Any] = {
            name: value if name == "catalogues" or isinstance(value, int) else Counter(value) for name, value in told.items()
        }
        return cls(**values)


def _by_count(counts: dict[str, Any]) -> list[tuple[str, Any]]:
    if not isinstance(counts, Counter):
        return sorted(counts.items())
    return sorted(counts.items(), key=lambda one: (-one[1], one[0]))


class Detected(NamedTuple):
    """What was made of a chunk: lines of the native rows, of the masked ones, of what was set aside, and of documents that failed."""

    rows: bytes
    masked: bytes
    set_aside: bytes
    failed: bytes
    tally: SpanCounts


class ChunkWriter:
    """Makes the lines of chunks from what a detector found."""

    def __init__(self, settings: WorkSettings) -> None:
        self._settings = settings
        self._catalogues: dict[str, str] = {}

    def written(self, chunk: DocumentChunk, found: Sequence[Findings]) -> Detected:
        """Return the lines of *chunk*; *found* has what was found in each of its documents."""
        rows, masked, set_aside, failed, tally = list[bytes](), list[bytes](), list[bytes](), list[bytes](), SpanCounts()
        for number, (document, findings) in enumerate(zip(chunk.documents, found, strict=True), start=chunk.first + 1):
            for one in findings.set_aside:
                set_aside.append(row_line({"row": number, "id": document.id, **one.to_json()}))
            tally.catalogues[document.locale] = self.catalogue(document.locale)
            if findings.failed is not None:
                told = RefusedRow(document.file, document.line, findings.failed, document.text)._asdict()
                failed.append(row_line({**told, "id": document.id, DOCUMENT: number}))
                tally.failed += 1
                tally.set_aside.update(one.reason for one in findings.set_aside)
                continue
            spans = disjoint_spans(findings.spans)
            record = detected_record(document, spans)
            rows.append(native_line(record, spans))
            if self._settings.mask is not None:
                masked.append(row_line(masked_document(record, self._settings.mask, self._settings.mask_character)))
            tally.count(document.locale, spans, len(findings.spans) - len(spans), findings.set_aside)
        return Detected(b"".join(rows), b"".join(masked), b"".join(set_aside), b"".join(failed), tally)

    def catalogue(self, locale: str) -> str:
        """Return the digest of the catalogue of *locale*; empty if the detector uses none."""
        if not self._settings.family.catalogue:
            return ""
        if locale not in self._catalogues:
            chosen = self._settings
            own = [own_catalogue(path) for path in chosen.types]
            self._catalogues[locale] = load_catalogue(locale, own, unconfirmed=chosen.unconfirmed, also=chosen.also).digest
        return self._catalogues[locale]


def detection_worker(settings: WorkSettings) -> Callable[[DocumentChunk], Detected]:
    """Return what does chunks; the detector is made when the first one comes."""
    writer = ChunkWriter(settings)
    detector: Detector | None = None

    def do(chunk: DocumentChunk) -> Detected:
        nonlocal detector
        with unexpected_failures(lambda: chunk.place):
            detector = detector or make_detector(settings)
            return writer.written(
                chunk, examine_texts(detector, [DetectorText(one.text, one.locale, one.question) for one in chunk.documents])
            )

    return do


unexpected_failures = partial(
    unexpected_errors,
    "the detector failed",
    remedy="Please report this as a bug; the input can be detected without the documents named here",
)


def masked_document(record: Record, style: str, character: str) -> Json:
    """Return the row of the masked file: text and question without the values, and the spans of what is in their places."""
    match style:
        case "numbered":
            words = numbered_placeholders(record)
        case "char":
            words = [character * (span.end - span.start) for span in record.spans]
        case _:
            names = [(span.subtype if style == "subtype" else None) or span.entity_type for span in record.spans]
            words = [f"<{placeholder_label(name)}>" for name in names]
    return {"id": record.id, "locale": record.locale, **masked_variant(record, words), "mask": style}


_AT_ONCE: Final = 1000


def with_unique_ids(lines: Path, repeated: RepeatedIds, target: Path, left_out: Collection[int] = ()) -> None:
    """Copy *lines* to *target*.

    A row is the document of its ``row`` (from 1 on) if it has that key, else that of its line, where the documents *left_out* (from 1 on)
    have none.
    """
    numbers = (number for number in count() if number + 1 not in left_out)
    with lines.open("rb") as source, target.open("wb") as out:
        while block := list(islice(source, _AT_ONCE)):
            out.writelines(_renamed(block, list(islice(numbers, len(block))), repeated))


def _renamed(block: list[bytes], numbers: list[int], repeated: RepeatedIds) -> Iterator[bytes]:
    rows: list[dict[str, Any]] = [orjson.loads(line) for line in block]
    if "row" in rows[0]:
        numbers = [row["row"] - 1 for row in rows]
    if numbers == list(range(numbers[0], numbers[0] + len(numbers))):
        new = unique_ids([row["id"] for row in rows], numbers[0], repeated)
    else:
        new = [unique_ids([row["id"]], number, repeated)[0] for row, number in zip(rows, numbers, strict=True)]
    for line, row, name in zip(block, rows, new, strict=True):
        yield line if name == row["id"] else row_line({**row, "id": name})
