"""Suggestions: spans that a detector proposes for records that people annotate.

A suggestion belongs to one stored revision of its record (``record_order``) and to the run of a detector that gave it. People decide
on it in the annotation app; their decisions are annotation events, so nothing here changes with them. When a detector runs again over a
record, what it no longer finds is withdrawn; the row stays, with the reason.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields, replace

from piiloom.corpus.record import Relevance
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.records import select
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
# Statements apart: the tables are large, and one joined statement took twice as long.
_SOURCES = "SELECT record_id, source_id FROM annotation_controls WHERE list_contains(?::VARCHAR[], record_id)"
_LISTED = "SELECT record_id, record_order, role FROM annotation_items WHERE list_contains(?::VARCHAR[], record_id)"
_OPEN = "WHERE withdrawn IS NULL AND list_contains(?::VARCHAR[], record_id) ORDER BY span_start, span_end, score DESC NULLS LAST, id"
_TEXTS = "SELECT record_order, context FROM records WHERE record_order IN (SELECT unnest(?::BIGINT[]))"
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
    sources = dict(store.rows(_SOURCES, [list(record_ids)]))
    made_for = {name: sources.get(name, name) for name in record_ids}
    by_record: dict[str, list[Suggestion]] = {}
    for row in store.rows(select(_OWN, "suggestions", _OPEN), [list(set(made_for.values()))]):
        one = Suggestion(**{name.removeprefix("span_"): value for name, value in zip(_OWN, row, strict=True)})
        by_record.setdefault(one.record_id, []).append(one)
    if not by_record:
        return {}
    runs = {run.id: run for run in suggestion_runs(store)}
    listed = {name: order for name, order, role in store.rows(_LISTED, [list(record_ids)]) if _may_show(role, name in sources)}
    pairs = [(name, base, one) for name, base in listed.items() for one in by_record.get(made_for[name], ())]
    others = {one.record_order for _, base, one in pairs if one.record_order != base}
    texts = dict(store.rows(_TEXTS, [list(others)])) if others else {}
    found: dict[str, list[Suggestion]] = {}
    for name, base, one in pairs:
        text = None if one.record_order == base else texts.get(one.record_order)
        if text is None and one.record_order != base:
            continue  # the revision that it was made for has been deleted
        run = runs[one.run_id]
        found.setdefault(name, []).append(replace(one, record_id=name, text=text, model=run.model, made_at=run.made_at))
    return found


def _may_show(role: str, is_control: bool) -> bool:
    return role == "work" or (role == "control" and is_control)


def suggestion_runs(store: Store) -> list[SuggestionRun]:
    """Return all runs, oldest first."""
    names = _names(SuggestionRun)
    found = store.rows(select(names, "suggestion_runs", "ORDER BY made_at, rowid"))
    return [SuggestionRun(**dict(zip(names, row, strict=True))) for row in found]


def _names(kind: type[SuggestionRun]) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))


def _values(row: Suggestion) -> tuple[object, ...]:
    return tuple(getattr(row, name.removeprefix("span_")) for name in _OWN)
