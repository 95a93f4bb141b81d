"""Convert a record to a CAPID row, and report what the row does not express.

The losses are found by placing the row's values again in memory, as reading would: a record without an entry is read back with
the same context, question and (range, type, relevance) of every span. A value of a user-defined type is reported as well: piiloom
can read it, by the definition in ``release.json``, but other readers cannot.
"""

from __future__ import annotations

from collections.abc import Iterator

from piiloom.corpus.formats.base import Json, LossEntry
from piiloom.corpus.formats.placing import Placed, place_values
from piiloom.corpus.record import Record, Relevance, Span
from piiloom.taxonomy.entity_types import shipped_taxonomy

_Labels = tuple[str, Relevance]  # entity type, relevance

_CODE: dict[Relevance, str] = {"high": "1", "low": "0"}
_WORD: dict[Relevance, str] = {"high": "high", "low": "low"}

BLANK = "blank value: left out"
NO_RELEVANCE = "no relevance: the value is left out"
DISAGREE = "mentions disagree about type or relevance: the value gets the labels of its first high mention, or of its first"
REPEATED = "repeated value: its mentions merge into one entry"
UNMARKED = "also stands where it is not marked: reading would mark it there too"
NOT_WHOLE = "stands only inside a longer word: reading would refuse the row"
OWN_TYPE = "its type is none of CAPID's fifteen: written under its own name, which other readers of the format don't know"
OVERLAPPED = "reading would mark a longer or earlier value where this one stands"


def capid_row(record: Record) -> tuple[Json, list[LossEntry]]:
    """Return the row of *record* and its losses, in text order."""
    by_value: dict[str, list[Span]] = {}
    for span in record.spans:
        by_value.setdefault(span.text_in(record.context), []).append(span)
    labels = {value: chosen for value, mentions in by_value.items() if value.strip() and (chosen := _labels(mentions)) is not None}
    spelt = _WORD if record.source is not None and record.source.relevance_as == "high/low" else _CODE
    piis = {value: {"type": entity_type, "relevance": spelt[relevance]} for value, (entity_type, relevance) in labels.items()}
    row: Json = {"context": record.context, "question": record.question, "piis": piis}
    placed = place_values(record.context, list(labels))
    return row, list(_losses(record.id, by_value, labels, placed))


def _labels(mentions: list[Span]) -> _Labels | None:
    """Return type and relevance of the first high mention, otherwise of the first with a relevance, otherwise None."""
    judged = [(span.entity_type, span.relevance) for span in mentions if span.relevance is not None]
    return next((labels for labels in judged if labels[1] == "high"), judged[0] if judged else None)


def _losses(record_id: str, by_value: dict[str, list[Span]], labels: dict[str, _Labels], placed: Placed) -> Iterator[LossEntry]:
    values = list(labels)
    read: dict[str, set[tuple[int, int]]] = {value: set() for value in values}
    for place, number in placed.kept:
        read[values[number]].add(place)
    overlapped = {values[number] for _, number, _ in placed.dropped}
    for value, mentions in by_value.items():
        for reason in _reasons(mentions, labels.get(value), read.get(value, set()), overlapped=value in overlapped):
            yield LossEntry(record_id=record_id, value=value, reason=reason)


def _reasons(mentions: list[Span], labels: _Labels | None, read: set[tuple[int, int]], *, overlapped: bool) -> Iterator[str]:
    if labels is None:
        yield NO_RELEVANCE if all(span.relevance is None for span in mentions) else BLANK
        return
    if any((span.entity_type, span.relevance) != labels for span in mentions):
        yield DISAGREE
    if labels[0] not in shipped_taxonomy().types:
        yield OWN_TYPE
    if len(mentions) > 1:
        yield REPEATED
    marked = {(span.start, span.end) for span in mentions}
    if read - marked:
        yield UNMARKED
    if marked - read:
        yield OVERLAPPED if overlapped else NOT_WHOLE
