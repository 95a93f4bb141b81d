"""Data for the statistics of the annotation app, read in a few statements regardless of the number of records and people.

Documents are read by the event number of their newest edit, so that callers can read incrementally: only what has changed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from piiloom.corpus.store.database import Store

# Documents per query: DuckDB keeps a whole result in memory.
_CHUNK = 5_000
# Contexts are compared by hash: joining and sorting the texts themselves exceeded the store's memory limit.
# All three fields are extracted in one call per state: three calls took twice as long.
_CHANGED = """
    SELECT event, record_id, annotator, verdict, changed_at, held[1], hash(held[2]), hash(coalesce(held[3], '')) FROM (
        SELECT event, record_id, annotator, verdict, changed_at,
            json_extract_string(state, ['$.document.spans', '$.document.context', '$.document.question']) AS held
        FROM annotation_documents WHERE event BETWEEN ? AND ?)"""
_CONTEXTS = """
    SELECT record_id, annotator, state->>'$.document.context' FROM annotation_documents
    WHERE record_id IN (SELECT unnest(?::VARCHAR[]))"""
_BASES = """
    SELECT i.record_id, i.record_order, i.facts->>'$.pair', r.hash, r.question, r.characters, r.stage, r.provider, r.model, r.templates
    FROM annotation_items i
    JOIN (SELECT record_order, hash(context) AS hash, hash(coalesce(question, '')) AS question, length(context) AS characters,
        provenance->>'$.stage' AS stage, provenance->>'$.provider' AS provider, provenance->>'$.model' AS model,
        coalesce(provenance->>'$.templates[*][0]', []) AS templates FROM records
    ) r ON r.record_order = i.record_order
    WHERE i.role = 'work' AND i.record_id IN (SELECT unnest(?::VARCHAR[]))"""
_BASE_SPANS = """
    SELECT record_order, span_start, span_end, entity_type, relevance FROM spans
    WHERE record_order BETWEEN ? AND ? AND record_order IN (SELECT unnest(?::BIGINT[])) ORDER BY record_order, position"""
_BASE_TEXTS = """
    SELECT i.record_id, r.context FROM records r JOIN annotation_items i ON i.record_order = r.record_order
    WHERE i.record_id IN (SELECT unnest(?::VARCHAR[]))"""


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentRow:
    """An annotator's document of a record. ``spans`` is JSON text; context and question are given as hashes only."""

    event: int
    record_id: str
    annotator: str
    verdict: str
    changed_at: str
    spans: str
    context_hash: int
    question_hash: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BaseRow:
    """The revision that annotation of a record started from. ``templates`` are its prompt template names in stage order."""

    record_id: str
    record_order: int
    pair: str | None
    context_hash: int
    question_hash: int
    characters: int
    stage: str | None
    provider: str | None
    model: str | None
    templates: tuple[str, ...]


def changed_documents(store: Store, after: int) -> Iterator[DocumentRow]:
    """Iterate over all documents whose newest edit has an event number above *after*, including practice and control records."""
    events = store.integers("SELECT event FROM annotation_documents WHERE event > ? ORDER BY event", [after])
    for at in range(0, len(events), _CHUNK):
        chunk = events[at : at + _CHUNK]
        yield from store.objects(DocumentRow, _CHANGED, [chunk[0], chunk[-1]])


def edited_contexts(store: Store, record_ids: Collection[str]) -> tuple[dict[str, str], dict[tuple[str, str], str]]:
    """Return the contexts of *record_ids*: the original ones by record id, and the edited ones by (record id, annotator)."""
    ids = [list(record_ids)]
    finished = {(record_id, annotator): context for record_id, annotator, context in store.rows(_CONTEXTS, ids)}
    return dict(store.rows(_BASE_TEXTS, ids)), finished


def base_rows(store: Store, record_ids: Collection[str]) -> dict[str, BaseRow]:
    """Return by record id the revision that annotation started from, for those of *record_ids* with the role "work"."""
    return {row.record_id: row for row in store.objects(BaseRow, _BASES, [list(record_ids)])}


def base_spans(store: Store, orders: Collection[int]) -> dict[int, list[tuple[int, int, str, str | None]]]:
    """Return the spans of the records with these ``record_order`` numbers, by number, as (start, end, type, relevance)."""
    found: dict[int, list[tuple[int, int, str, str | None]]] = {}
    wanted = list(orders)
    if wanted:
        for order, *span in store.rows(_BASE_SPANS, [min(wanted), max(wanted), wanted]):
            found.setdefault(order, []).append(tuple(span))
    return found


def work_record_ids(store: Store) -> set[str]:
    """Return the ids of the records of the work list that have not been deleted from the store."""
    sql = "SELECT i.record_id FROM annotation_items i JOIN records r ON r.record_order = i.record_order WHERE i.role = 'work'"
    return set(store.column(sql))


def status_counts(store: Store) -> dict[str, int]:
    """Count the records of the work list by stored status."""
    return dict(store.rows("SELECT status, count(*) FROM annotation_items WHERE role = 'work' GROUP BY status"))


def work_left(store: Store) -> int:
    """Count the documents still to be finished: for each open record, the wanted number of people minus those who have finished."""
    sql = """
        SELECT coalesce(sum(greatest(i.wanted - coalesce(d.finished, 0), 0)), 0)::BIGINT FROM annotation_items i
        LEFT JOIN (SELECT record_id, count(*) AS finished FROM annotation_documents WHERE verdict <> 'open' GROUP BY record_id) d
        ON d.record_id = i.record_id
        WHERE i.role = 'work' AND i.status IN ('generated', 'annotated')"""
    return int(store.value(sql))


def finished_by_day(store: Store, roles: Collection[str] = ("work",)) -> list[tuple[str, str, str, int]]:
    """Return (day, annotator, verdict, number of documents) for finished documents of *roles*, by the UTC day of their last edit."""
    sql = """
        SELECT d.changed_at[:10] AS day, d.annotator, d.verdict, count(*) FROM annotation_documents d
        JOIN annotation_items i ON i.record_id = d.record_id
        WHERE list_contains(?::VARCHAR[], i.role) AND d.verdict <> 'open' GROUP BY ALL ORDER BY ALL"""
    return store.rows(sql, [list(roles)])


def work_by_day(store: Store, pause_s: float) -> list[tuple[str, str, int, float]]:
    """Return (UTC day, person, edits, seconds of work) from the event log. Gaps between edits longer than *pause_s* do not count."""
    sql = """
        SELECT day, actor, count(*), coalesce(sum(gap) FILTER (gap <= ?), 0)::DOUBLE FROM (
            SELECT happened_at[:10] AS day, actor, epoch(happened_at[:23]::TIMESTAMP)
                - lag(epoch(happened_at[:23]::TIMESTAMP)) OVER (PARTITION BY actor, happened_at[:10] ORDER BY event) AS gap
            FROM annotation_events WHERE kind = 'edit')
        GROUP BY ALL ORDER BY ALL"""
    return store.rows(sql, [pause_s])
