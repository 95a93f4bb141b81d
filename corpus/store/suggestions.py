"""Suggestions: spans that a detector proposes for records that people annotate.

A suggestion belongs to one stored revision of its record (``record_order``) and to the run of a detector that gave it. People decide
on it in the annotation app; their decisions are annotation events, so nothing here changes with them. When a detector runs again over a
record, what it no longer finds is withdrawn; the row stays, with the reason.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields

from piiloom.corpus.record import Relevance
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.statements import select
from piiloom.foundation.seeding import digest

# How the id of a span begins that an annotator made of a suggestion; the suggestion's id follows.
ORIGIN = "p-"
# Why a suggestion is withdrawn: its detector looked again and did not find it.
SUPERSEDED = "superseded"
_OWN = (
    "id",
    "run_id",
    "record_id",
    "record_order",
    "revision",
    "span_start",
    "span_end",
    "entity_type",
    "relevance",
    "subtype",
    "score",
    "detector",
    "found_by",
)
_SHOWN = """
    SELECT i.record_id, i.record_order, s.id, s.run_id, s.record_order, s.revision, s.span_start, s.span_end, s.entity_type, s.relevance,
        s.subtype, s.score, s.detector, s.found_by, r.model, r.made_at
    FROM annotation_items i
    LEFT JOIN annotation_controls c ON i.role = 'control' AND c.record_id = i.record_id
    JOIN suggestions s ON s.record_id = coalesce(c.source_id, i.record_id)
    LEFT JOIN suggestion_runs r ON r.id = s.run_id
    WHERE i.role IN ('work', 'control') AND s.withdrawn IS NULL AND i.record_id IN (SELECT unnest(?::VARCHAR[]))
    ORDER BY s.span_start, s.span_end, s.score DESC NULLS LAST, s.id"""
_WITHDRAW = """
    UPDATE suggestions SET withdrawn = ? WHERE detector = ? AND withdrawn IS NULL
        AND record_id IN (SELECT unnest(?::VARCHAR[])) AND id NOT IN (SELECT unnest(?::VARCHAR[]))"""
_RENEW = """
    UPDATE suggestions SET withdrawn = NULL, run_id = given.run_id, score = given.score, relevance = given.relevance,
        subtype = given.subtype, found_by = given.found_by
    FROM (SELECT unnest(?::VARCHAR[]) AS id, unnest(?::VARCHAR[]) AS run_id, unnest(?::DOUBLE[]) AS score,
        unnest(?::VARCHAR[]) AS relevance, unnest(?::VARCHAR[]) AS subtype, unnest(?::VARCHAR[]) AS found_by) AS given
    WHERE suggestions.id = given.id"""


@dataclass(frozen=True, slots=True, kw_only=True)
class SuggestionRun:
    """One run of a detector. ``detector`` is its name as in ``piiloom detect --detector``, ``made_by`` who stored the result."""

    id: str
    detector: str
    model: str | None
    made_by: str
    made_at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """``[start, end)`` of the text of the revision ``record_order`` is proposed as a span.

    ``detector`` names the run's detector and ``found_by`` the part of it that found the span, if it has parts. ``score`` is None if the
    detector gives none. ``model`` and ``made_at`` are the run's. ``text`` is the context that the offsets are of, None if that is the text
    that annotation begins with.
    """

    id: str
    run_id: str
    record_id: str
    record_order: int
    revision: int
    start: int
    end: int
    entity_type: str
    relevance: Relevance | None = None
    subtype: str | None = None
    score: float | None = None
    detector: str
    found_by: str | None = None
    model: str | None = None
    made_at: str = ""
    text: str | None = None


_FIELDS = tuple(field.name for field in fields(Suggestion))[:-1]


@dataclass(frozen=True, slots=True, kw_only=True)
class SuggestionCounts:
    """What a run changed: new suggestions, those that its detector had given before, and those that it withdrew."""

    added: int
    known: int
    withdrawn: int


def suggestion_id(record_order: int, start: int, end: int, entity_type: str, detector: str) -> str:
    """Return the id of a suggestion: the same place and type by the same detector is the same suggestion, whenever it is made."""
    return digest("suggestion", record_order, start, end, entity_type, detector)[:24]


def save_suggestions(store: Store, run: SuggestionRun, looked: Sequence[tuple[str, int]], rows: Sequence[Suggestion]) -> SuggestionCounts:
    """Store what *run* found, in one transaction with what the caller writes.

    *looked* are (record id, record_order) of all records that the detector looked at, also those where it found nothing. *rows* must all
    be of these records; a suggestion that occurs twice is stored once.
    """
    fresh = {row.id: row for row in rows}
    names, ids = list({record_id for record_id, _ in looked}), list(fresh)
    with store.writing():
        before = "SELECT count(*) FROM suggestions WHERE withdrawn IS NOT NULL"
        store.append("suggestion_runs", _names(SuggestionRun), [tuple(getattr(run, name) for name in _names(SuggestionRun))])
        store.append("suggested_records", ("run_id", "record_id", "record_order"), [(run.id, *one) for one in looked])
        withdrawn = store.rows(before)[0][0]
        store.change(_WITHDRAW, [SUPERSEDED, run.detector, names, ids])
        withdrawn = store.rows(before)[0][0] - withdrawn
        known = {name for (name,) in store.rows("SELECT id FROM suggestions WHERE id IN (SELECT unnest(?::VARCHAR[]))", [ids])}
        again = [row for row in fresh.values() if row.id in known]
        if again:
            columns = ("id", "run_id", "score", "relevance", "subtype", "found_by")
            store.change(_RENEW, [[getattr(row, name) for row in again] for name in columns])
        store.append("suggestions", _OWN, [_values(row) for row in fresh.values() if row.id not in known])
    return SuggestionCounts(added=len(fresh) - len(known), known=len(known), withdrawn=withdrawn)


def suggestions_for(store: Store, record_ids: Collection[str]) -> dict[str, list[Suggestion]]:
    """Return, by id of a record of the work list, its suggestions that are not withdrawn, in text order.

    A hidden control record shows those of the record that it was made from: without any it would be told from others at once.
    """
    rows = store.rows(_SHOWN, [list(record_ids)])
    if not rows:
        return {}
    others = {row[4] for row in rows if row[4] != row[1]}
    texts = dict(
        store.rows("SELECT record_order, context FROM records WHERE record_order IN (SELECT unnest(?::BIGINT[]))", [list(others)])
        if others
        else []
    )
    found: dict[str, list[Suggestion]] = {}
    for shown_for, base_order, suggestion, run_id, order, *rest in rows:
        if order == base_order:
            text = None
        elif order in texts:
            text = texts[order]
        else:
            continue  # the revision that it was made for has been deleted
        names = ("id", "run_id", "record_id", "record_order", *_FIELDS[4:])
        values = (suggestion, run_id, shown_for, order, *rest)
        found.setdefault(shown_for, []).append(Suggestion(**dict(zip(names, values, strict=True)), text=text))
    return found


def suggestion_runs(store: Store) -> list[SuggestionRun]:
    """Return all runs, oldest first."""
    names = _names(SuggestionRun)
    found = store.rows(select(names, "suggestion_runs", "ORDER BY made_at, rowid"))
    return [SuggestionRun(**dict(zip(names, row, strict=True))) for row in found]


def _names(kind: type[SuggestionRun]) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))


def _values(row: Suggestion) -> tuple[object, ...]:
    return tuple(getattr(row, name.removeprefix("span_")) for name in _OWN)
