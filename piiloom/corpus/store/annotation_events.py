"""The annotation event log, what follows from it (documents of annotators, decisions on records), and figures on it.

The log has everything that people do to records; it is append-only, totally ordered and never changed. Documents are stored so that readers
need not replay the log; they can be rebuilt from it at any time. A client (one browser tab) numbers the operations it sends.
``newest_sequences`` returns the last number received from each client, so that an operation that is sent twice is applied once.

A record is agreed, adjudicated, validated, rejected or reopened: one row per decision, in the order of the event log, and the last one is
in force. The tests rebuild these rows from the log.

Data for statistics is read in a few statements regardless of the number of records and people. Documents are read by the event number of
their newest edit, so that callers can read incrementally: only what has changed.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from piiloom.corpus.store.database import AMONG_RECORDS, Store, conditions, field_names, select

# The kind of an edit that ``actor`` made to another person's document; its entry names that person as "annotator".
FOR_ANOTHER = "edit_for"

_COLUMNS = ("event", "happened_at", "actor", "kind", "record_id", "client", "sequence", "guideline", "entry")


@dataclass(frozen=True, slots=True, kw_only=True)
class NewEvent:
    """An event to be added to the log. ``entry`` holds JSON values; ``guideline`` is the guideline version in force."""

    actor: str
    kind: str
    record_id: str | None = None
    client: str | None = None
    sequence: int | None = None
    guideline: int | None = None
    entry: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotationEvent(NewEvent):
    """An event in the log. ``event`` is its number and ``at`` its time (ISO 8601, UTC, milliseconds); neither ever decreases."""

    event: int
    at: str

    @property
    def owner(self) -> str:
        """The annotator whose document this is about: usually ``actor``."""
        return str(self.entry["annotator"]) if self.kind == FOR_ANOTHER else self.actor


def append_events(store: Store, rows: Sequence[NewEvent], at: str) -> list[AnnotationEvent]:
    """Append *rows* in order, all with the time *at*, and return them with their event numbers."""
    if not rows:
        return []
    numbers = store.integers("SELECT nextval('annotation_event') FROM range(?)", [len(rows)])
    values = [
        (number, at, row.actor, row.kind, row.record_id, row.client, row.sequence, row.guideline, json.dumps(dict(row.entry)))
        for number, row in zip(numbers, rows, strict=True)
    ]
    store.append("annotation_events", _COLUMNS, values)
    names = field_names(NewEvent)
    return [
        AnnotationEvent(event=number, at=at, **{name: getattr(row, name) for name in names})
        for number, row in zip(numbers, rows, strict=True)
    ]


def read_events(
    store: Store,
    *,
    record_ids: Collection[str] | None = None,
    actor: str | None = None,
    owner: str | None = None,
    kinds: Collection[str] | None = None,
    after: int = 0,
    numbers: Collection[int] | None = None,
) -> list[AnnotationEvent]:
    """Return the events that match all given conditions, oldest first; only those with a number greater than *after*.

    *actor*: who did it. *owner*: whose document it is about (``AnnotationEvent.owner``). *numbers*: event numbers.
    """
    condition, parameters = conditions(
        ("event > ?", after),
        (AMONG_RECORDS, record_ids),
        ("actor = ?", actor),
        (f"CASE WHEN kind = '{FOR_ANOTHER}' THEN entry->>'$.annotator' ELSE actor END = ?", owner),
        ("kind IN (SELECT unnest(?::VARCHAR[]))", kinds),
        ("event IN (SELECT unnest(?::BIGINT[]))", numbers),
    )
    sql = select((*field_names(NewEvent), "event", "happened_at"), f"FROM annotation_events {condition} ORDER BY event")
    return store.objects(AnnotationEvent, sql, parameters, decoded=["entry"])


def records_worked_on(store: Store, record_ids: Collection[str], besides: Collection[str]) -> set[str]:
    """Return those of *record_ids* that have any event of a kind not in *besides*."""
    return set(
        store.column(
            "SELECT DISTINCT record_id FROM annotation_events WHERE record_id IN (SELECT unnest(?::VARCHAR[])) "
            "AND kind NOT IN (SELECT unnest(?::VARCHAR[]))",
            [list(record_ids), list(besides)],
        )
    )


def newest_sequences(store: Store, clients: Collection[str]) -> dict[str, int]:
    """Return the highest sequence number received from each of *clients*; unknown clients are left out."""
    return dict(
        store.rows(
            "SELECT client, max(sequence) FROM annotation_events WHERE client IN (SELECT unnest(?::VARCHAR[])) GROUP BY client",
            [list(clients)],
        )
    )


def newest_time(store: Store) -> str:
    """Return the time of the newest event; an empty string if there is none."""
    return str(store.value("SELECT coalesce(max(happened_at), '') FROM annotation_events"))


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotationHead:
    """An annotator's document of a record without its content, as of the edit ``event`` (an event number).

    ``version`` counts the edits, ``verdict`` is "open", "accepted" or "rejected", ``guideline`` is the guideline version in force.
    """

    record_id: str
    annotator: str
    version: int
    verdict: str
    flagged: bool
    guideline: int | None
    changed_at: str
    event: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotationDocument(AnnotationHead):
    """A head plus the whole state: document, verdict, reason and flag, as JSON values."""

    state: Mapping[str, Any]


# One MERGE takes 2 ms for one row in a table of 20,000; DELETE and append took 3 ms.
_SAVE = """
    MERGE INTO annotation_documents AS held
    USING (SELECT unnest(?::VARCHAR[]) AS record_id, unnest(?::VARCHAR[]) AS annotator, unnest(?::BIGINT[]) AS version,
        unnest(?::VARCHAR[]) AS verdict, unnest(?::BOOLEAN[]) AS flagged, unnest(?::INTEGER[]) AS guideline,
        unnest(?::VARCHAR[]) AS changed_at, unnest(?::BIGINT[]) AS event, unnest(?::VARCHAR[]) AS state) AS given
    ON held.record_id = given.record_id AND held.annotator = given.annotator
    WHEN MATCHED THEN UPDATE SET version = given.version, verdict = given.verdict, flagged = given.flagged,
        guideline = given.guideline, changed_at = given.changed_at, event = given.event, state = given.state
    WHEN NOT MATCHED THEN INSERT BY NAME
"""
_STANDING = """
    SELECT item.record_id, coalesce(held.event, 0) FROM annotation_items AS item
    JOIN records ON records.record_order = item.record_order
    LEFT JOIN annotation_documents AS held ON held.record_id = item.record_id AND held.annotator = ?
    WHERE item.record_id IN (SELECT unnest(?::VARCHAR[]))
"""


def save_documents(store: Store, rows: Sequence[AnnotationDocument]) -> None:
    """Insert or replace documents. *rows* must have at most one row per record and annotator."""
    if rows:
        store.change(_SAVE, [list(column) for column in zip(*(_values(row) for row in rows), strict=True)])


def load_documents(store: Store, *, record_ids: Collection[str] | None = None, annotator: str | None = None) -> list[AnnotationDocument]:
    """Return the documents that match all given conditions, sorted by record id and annotator."""
    condition, parameters = conditions((AMONG_RECORDS, record_ids), ("annotator = ?", annotator))
    clause = f"FROM annotation_documents {condition} ORDER BY record_id, annotator"
    return store.objects(AnnotationDocument, clause, parameters, decoded=["state"])


def list_heads(store: Store, *, record_ids: Collection[str] | None = None, annotator: str | None = None) -> list[AnnotationHead]:
    """Like ``load_documents``, but without the states. For lists and statistics."""
    condition, parameters = conditions((AMONG_RECORDS, record_ids), ("annotator = ?", annotator))
    return store.objects(AnnotationHead, f"FROM annotation_documents {condition} ORDER BY record_id, annotator", parameters)


def newest_edits(store: Store, record_ids: Collection[str], annotator: str) -> dict[str, int]:
    """Return by record id the event number of *annotator*'s newest edit, 0 if none. Records not in the work list are left out."""
    return dict(store.rows(_STANDING, [annotator, list(record_ids)]))


def records_finished_by_several(store: Store) -> list[str]:
    """Return the ids of records of the work list that two or more annotators have finished, sorted."""
    return store.column("""
        SELECT d.record_id FROM annotation_documents AS d JOIN annotation_items AS i ON i.record_id = d.record_id
        WHERE i.role = 'work' AND d.verdict <> 'open' GROUP BY d.record_id HAVING count(*) > 1 ORDER BY d.record_id""")


def _values(row: AnnotationDocument) -> tuple[object, ...]:
    return (*(getattr(row, name) for name in field_names(AnnotationHead)), json.dumps(dict(row.state)))


DecisionOutcome = Literal["agreed", "adjudicated", "validated", "rejected", "reopened"]

_LAST = "SELECT record_id, arg_max(outcome, event) FROM adjudications GROUP BY record_id"
# Per record and annotator: the newest stale edit (made on an outdated version, so not applied) that is newer than the last decision.
_LATE = """
    SELECT e.record_id, e.actor, max(e.event) AS late FROM annotation_events e LEFT JOIN (
        SELECT record_id, max(event) AS event FROM adjudications WHERE outcome <> 'reopened' GROUP BY record_id
    ) decided ON decided.record_id = e.record_id
    WHERE e.kind = 'stale' AND e.event > coalesce(decided.event, 0) GROUP BY e.record_id, e.actor"""
# Spans are compared by start, end, type and relevance, not by id, which only tells who made them. All rejections count as equal.
_DISPUTED = """
    SELECT record_id, versions > 1, newest, late FROM (
        SELECT d.record_id, any_value(i.wanted) AS wanted, any_value(i.priority) AS priority, any_value(i.record_order) AS record_order,
            count(*) AS finished, max(d.event) AS newest, max(l.late) AS late, count(DISTINCT CASE WHEN d.verdict = 'accepted'
                THEN hash(d.state->>'$.document.context', coalesce(d.state->>'$.document.question', ''), from_json(
                    d.state->'$.document.spans', '[{"start":"BIGINT","end":"BIGINT","type":"VARCHAR","relevance":"VARCHAR"}]')::VARCHAR)
                ELSE hash(d.verdict) END) AS versions
        FROM annotation_documents d JOIN annotation_items i ON i.record_id = d.record_id
        LEFT JOIN ({late}) l ON l.record_id = d.record_id AND l.actor = d.annotator
        WHERE i.role = 'work' AND i.status = 'annotated' AND d.verdict <> 'open'
        GROUP BY d.record_id)
    WHERE finished >= wanted AND (versions > 1 OR late IS NOT NULL) ORDER BY priority DESC, record_order""".replace("{late}", _LATE)
_LATE_AMONG = "SELECT DISTINCT record_id FROM ({late}) WHERE record_id IN (SELECT unnest(?::VARCHAR[]))".replace("{late}", _LATE)
_READY = """
    SELECT i.record_id FROM annotation_items i JOIN annotation_documents d ON d.record_id = i.record_id
    WHERE i.role = 'work' AND i.status IN ('generated', 'annotated') AND d.verdict <> 'open'
    GROUP BY i.record_id, i.wanted, i.record_order HAVING count(*) >= i.wanted AND max(d.changed_at) <= ? ORDER BY i.record_order"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Adjudication:
    """One decision. ``document`` is the final document as JSON values, empty for rejections and reopenings."""

    record_id: str
    adjudicator: str
    outcome: DecisionOutcome
    document: Mapping[str, Any]
    made_at: str
    event: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRevision:
    """One revision of a record in the store, without its texts."""

    id: str
    record_order: int
    run_id: str | None
    plan_index: int | None
    revision: int
    status: str


@dataclass(frozen=True, slots=True)
class DisputedRecord:
    """A record that may need a decision. ``differ``: whether its finished versions differ.

    ``newest`` is the event number of the last edit among these versions. ``late`` is the event number of the newest stale edit by the
    same annotators: it was not applied, and merging it may or may not change anything. None: there is none.
    """

    record_id: str
    differ: bool
    newest: int
    late: int | None


def add_adjudications(store: Store, rows: Sequence[Adjudication]) -> None:
    """Add decisions. The caller must add their events in the same transaction."""
    store.add("adjudications", rows, encoded=["document"], sort_keys=True)


def load_adjudications(store: Store, record_ids: Collection[str] | None = None) -> list[Adjudication]:
    """Return the decisions on *record_ids* (None: on all records), oldest first."""
    condition, parameters = conditions((AMONG_RECORDS, record_ids))
    return store.objects(Adjudication, f"FROM adjudications {condition} ORDER BY event", parameters, decoded=["document"])


def last_decisions(store: Store) -> dict[str, DecisionOutcome]:
    """Return the last outcome of each record that has a decision, by record id."""
    return dict(store.rows(_LAST))


def unreleasable_records(store: Store) -> set[str]:
    """Return the ids that must not be released: rejected, reopened without a new decision, and copies made to test annotators."""
    copies = set(store.column("SELECT id FROM records WHERE status = 'control'"))
    return copies | {name for name, outcome in last_decisions(store).items() if outcome in {"rejected", "reopened"}}


def disputed_records(store: Store) -> list[DisputedRecord]:
    """Return records finished by as many people as wanted whose versions differ or have stale edits; highest priority first."""
    return [DisputedRecord(*row) for row in store.rows(_DISPUTED)]


def records_with_late_edits(store: Store, record_ids: Collection[str]) -> set[str]:
    """Return those of *record_ids* with a stale edit that is newer than their last decision."""
    return set(store.column(_LATE_AMONG, [list(record_ids)]))


def finished_records(store: Store, until: str) -> list[str]:
    """Return the open records that as many people as wanted have finished, all by *until* (a timestamp as in the event log)."""
    return store.column(_READY, [until])


def stored_revisions(store: Store, record_ids: Collection[str]) -> dict[str, list[StoredRevision]]:
    """Return all revisions of *record_ids* by record id, oldest first."""
    found: dict[str, list[StoredRevision]] = {}
    sql = "FROM records WHERE id IN (SELECT unnest(?::VARCHAR[])) ORDER BY record_order"
    for row in store.objects(StoredRevision, sql, [list(record_ids)]):
        found.setdefault(row.id, []).append(row)
    return found


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
    return set(
        store.column("SELECT i.record_id FROM annotation_items i JOIN records r ON r.record_order = i.record_order WHERE i.role = 'work'")
    )


def status_counts(store: Store) -> dict[str, int]:
    """Count the records of the work list by stored status."""
    return dict(store.rows("SELECT status, count(*) FROM annotation_items WHERE role = 'work' GROUP BY status"))


def work_left(store: Store) -> int:
    """Count the documents still to be finished: for each open record, the wanted number of people minus those who have finished."""
    return int(
        store.value("""
        SELECT coalesce(sum(greatest(i.wanted - coalesce(d.finished, 0), 0)), 0)::BIGINT FROM annotation_items i
        LEFT JOIN (SELECT record_id, count(*) AS finished FROM annotation_documents WHERE verdict <> 'open' GROUP BY record_id) d
        ON d.record_id = i.record_id
        WHERE i.role = 'work' AND i.status IN ('generated', 'annotated')""")
    )


# A longer gap between two edits (in seconds) is a break.
_PAUSE_S = 300.0


@dataclass(frozen=True, slots=True, kw_only=True)
class DayOfWork:
    """One person's work on one day.

    A document counts on the day (UTC) of its last edit. ``seconds`` is the working time without breaks.
    """

    day: str
    person: str
    accepted: int = 0
    rejected: int = 0
    edits: int = 0
    seconds: float = 0.0

    @property
    def finished(self) -> int:
        """Number of finished documents, accepted or rejected."""
        return self.accepted + self.rejected


def days_of_work(store: Store, roles: Collection[str] = ("work",)) -> tuple[DayOfWork, ...]:
    """Return the work of everybody by day and person: documents finished of records of *roles*, and all edits."""
    sql = """
        WITH edited AS (
            SELECT day, actor AS person, count(*) AS edits, sum(gap) FILTER (gap <= ?) AS seconds FROM (
                SELECT happened_at[:10] AS day, actor, epoch(happened_at[:23]::TIMESTAMP)
                    - lag(epoch(happened_at[:23]::TIMESTAMP)) OVER (PARTITION BY actor, happened_at[:10] ORDER BY event) AS gap
                FROM annotation_events WHERE kind = 'edit')
            GROUP BY ALL),
        finished AS (
            SELECT d.changed_at[:10] AS day, d.annotator AS person, count(*) FILTER (d.verdict = 'accepted') AS accepted,
                count(*) FILTER (d.verdict = 'rejected') AS rejected
            FROM annotation_documents d JOIN annotation_items i ON i.record_id = d.record_id
            WHERE list_contains(?::VARCHAR[], i.role) AND d.verdict <> 'open' GROUP BY ALL)
        SELECT day, person, coalesce(accepted, 0), coalesce(rejected, 0), coalesce(edits, 0), coalesce(seconds, 0)::DOUBLE
        FROM edited FULL JOIN finished USING (day, person) ORDER BY day, person"""
    return tuple(store.objects(DayOfWork, sql, [_PAUSE_S, list(roles)]))
