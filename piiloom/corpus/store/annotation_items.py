"""The work list: one row per record to be annotated, with the data that lists are sorted and filtered by, and its pages.

``record_order`` identifies the revision that annotation starts from; it stays the same when later revisions are stored. In the list shown
to people, a record with the stored status "generated" is "annotated" once as many people as wanted have finished it.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from piiloom.corpus.record import Record
from piiloom.corpus.store.annotation_events import NewEvent
from piiloom.corpus.store.database import AMONG_RECORDS, Store, conditions, field_names
from piiloom.corpus.store.records import records_in
from piiloom.foundation.words import count_words

ItemRole = Literal["work", "practice", "qualifying", "control"]
ItemStatus = Literal["generated", "annotated", "agreed", "adjudicated", "validated", "rejected"]
# Records with this status are used by the app only: copies with planted errors, practice and test records.
CONTROL_STATUS = "control"
# The statuses of items that people still work on.
OPEN_STATUSES: tuple[ItemStatus, ...] = ("generated", "annotated")

# A record may be stored in several revisions, and (by two runs) several times in the same one: take the last row of the highest.
_NEWEST = """
    SELECT id, arg_max(record_order, (revision, record_order)) FROM records
    WHERE status <> 'control' AND ($run::VARCHAR IS NULL OR run_id = $run)
        AND (NOT $imported::BOOLEAN OR (run_id IS NULL AND status = 'imported'))
        AND ($ids::VARCHAR[] IS NULL OR id IN (SELECT unnest($ids::VARCHAR[])))
    GROUP BY id ORDER BY 2"""
_WITH_ORDERS = "WHERE records.record_order IN (SELECT unnest(?::BIGINT[]))"
_DECODED = ("reasons", "facts")


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotationItem:
    """A row of the work list. ``wanted`` is how many people are to annotate the record; ``facts`` holds JSON values (``item_facts``)."""

    record_id: str
    record_order: int
    role: ItemRole = "work"
    status: ItemStatus = "generated"
    wanted: int = 1
    priority: float = 0.0
    reasons: tuple[str, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)
    changed_at: str = ""


def add_items(store: Store, items: Sequence[AnnotationItem]) -> None:
    """Add *items*. The caller ensures that none of their records is in the list yet (``pooled_ids``)."""
    store.add("annotation_items", items, encoded=_DECODED, sort_keys=True)


def load_items(store: Store, record_ids: Collection[str] | None = None, roles: Collection[str] | None = None) -> list[AnnotationItem]:
    """Return the items, optionally only those of *record_ids* and of *roles*, sorted by ``record_order``."""
    condition, parameters = conditions((AMONG_RECORDS, record_ids), ("list_contains(?::VARCHAR[], role)", roles))
    clause = f"FROM annotation_items {condition} ORDER BY record_order, record_id"
    return store.objects(AnnotationItem, clause, parameters, decoded=_DECODED)


def find_item(store: Store, record_id: str) -> AnnotationItem | None:
    """Return the item of *record_id*, or None if it is not in the list."""
    return next(iter(store.objects(AnnotationItem, "FROM annotation_items WHERE record_id = ?", [record_id], decoded=_DECODED)), None)


def pooled_ids(store: Store, record_ids: Collection[str]) -> set[str]:
    """Return those of *record_ids* that are already in the list."""
    return set(store.column(f"SELECT record_id FROM annotation_items WHERE {AMONG_RECORDS}", [list(record_ids)]))  # noqa: S608 - constant


def begin_anew(store: Store, items: Sequence[AnnotationItem]) -> None:
    """Replace the rows of these records by *items*, so that annotation starts from the revisions in *items*.

    Use it only for records that nobody has worked on. The caller must add the event (``pooled``) in the same transaction.
    """
    store.change("DELETE FROM annotation_items WHERE record_id IN (SELECT unnest(?::VARCHAR[]))", [[item.record_id for item in items]])
    add_items(store, items)


def set_status(store: Store, record_ids: Collection[str], status: ItemStatus, at: str) -> None:
    """Change the status of *record_ids*. The caller must add the event for it in the same transaction."""
    store.change(
        "UPDATE annotation_items SET status = ?, changed_at = ? WHERE record_id IN (SELECT unnest(?::VARCHAR[]))",
        [status, at, list(record_ids)],
    )


def set_wanted(store: Store, record_ids: Collection[str], wanted: int, at: str) -> None:
    """Change how many people are to annotate each of *record_ids*."""
    store.change(
        "UPDATE annotation_items SET wanted = ?, changed_at = ? WHERE record_id IN (SELECT unnest(?::VARCHAR[]))",
        [wanted, at, list(record_ids)],
    )


def set_priorities(store: Store, rows: Sequence[tuple[str, float, Sequence[str]]], at: str) -> None:
    """Set priority and reasons of each record in *rows* (record id, priority, reasons)."""
    store.change(
        "UPDATE annotation_items SET priority = new.priority, reasons = new.reasons, changed_at = ? FROM "
        "(SELECT unnest(?::VARCHAR[]) AS record_id, unnest(?::DOUBLE[]) AS priority, unnest(?::VARCHAR[]) AS reasons) new "
        "WHERE annotation_items.record_id = new.record_id",
        [at, [row[0] for row in rows], [row[1] for row in rows], [json.dumps(list(row[2])) for row in rows]],
    )


def newest_records(
    store: Store, *, run_id: str | None = None, imported: bool = False, record_ids: Collection[str] | None = None
) -> Iterator[tuple[int, Record]]:
    """Iterate over (record_order, record): the newest revision of each record of a run, of all imports, or among *record_ids*.

    Conditions that are given must all hold. Control records are left out.
    """
    orders = _newest(store, run_id, imported, record_ids)
    return ((orders[record.id], record) for record in records_in(store, _WITH_ORDERS, [list(orders.values())]))


def newest_ids(store: Store, *, run_id: str | None = None, imported: bool = False) -> list[str]:
    """Return the ids of the records of a run or of all imports, as ``newest_records`` has them, without loading the records."""
    return list(_newest(store, run_id, imported, None))


def _newest(store: Store, run_id: str | None, imported: bool, record_ids: Collection[str] | None) -> dict[str, int]:
    ids = None if record_ids is None else list(record_ids)
    return dict(store.rows(_NEWEST, {"run": run_id, "imported": imported, "ids": ids}))


def wanted_counts(store: Store) -> dict[int, int]:
    """Count the unfinished records of the work list by how many people are to annotate each."""
    return dict(
        store.rows(
            "SELECT wanted, count(*) FROM annotation_items WHERE role = 'work' AND list_contains(?::VARCHAR[], status) "
            "GROUP BY 1 ORDER BY 1",
            [list(OPEN_STATUSES)],
        )
    )


def base_records(store: Store, record_ids: Collection[str]) -> dict[str, Record]:
    """Return by record id the revision that annotation starts from. Records not in the list, or deleted, are left out."""
    orders = store.integers(f"SELECT record_order FROM annotation_items WHERE {AMONG_RECORDS}", [list(record_ids)])  # noqa: S608
    return {record.id: record for record in records_in(store, _WITH_ORDERS, [list(orders)])}


def item_pair_counts(store: Store) -> dict[str, int]:
    """Count the records of the work list by pair of entity types ("age+health")."""
    return dict(
        store.rows(
            "SELECT facts->>'$.pair', count(*) FROM annotation_items WHERE role = 'work' AND facts->>'$.pair' IS NOT NULL GROUP BY 1"
        )
    )


def disagreement_counts(store: Store) -> dict[str, int]:
    """Count by record id the judgements that disagree with the plan; records without any are left out."""
    return dict(store.rows("SELECT record_id, count(*) FROM judgements WHERE NOT agrees GROUP BY record_id"))


def other_questions(store: Store, key: str, question: str | None) -> list[str]:
    """Return the ids of the records of the work list that share the group *key* but not *question*, in the order of the list."""
    return store.column(
        "SELECT i.record_id FROM annotation_items i JOIN records r ON r.record_order = i.record_order "
        "WHERE i.role = 'work' AND list_contains(CAST(r.group_keys AS JSON)->>'$[*]', ?) AND r.question IS DISTINCT FROM ? "
        "ORDER BY i.record_order",
        [key, question],
    )


def pair_of(record: Record) -> tuple[str, str] | None:
    """Return the planned pair of entity types, sorted. Without a plan: the types of high-relevance spans if exactly two, else None."""
    types = sorted(record.plan.pair if record.plan else {span.entity_type for span in record.spans if span.relevance == "high"})
    return (types[0], types[1]) if len(types) == 2 else None


def item_facts(record: Record) -> dict[str, Any]:
    """Return the facts that lists filter by and show: pair ("age+health"), types, locale, model, provider, stage, words, spans."""
    pair, made = pair_of(record), record.provenance
    return {
        "pair": "+".join(pair) if pair else None,
        "types": sorted({span.entity_type for span in record.spans}),
        "locale": record.locale,
        "model": made.model if made else None,
        "provider": made.provider if made else None,
        "stage": made.stage if made else None,
        "words": count_words(record.context),
        "spans": len(record.spans),
    }


def pooled(item: AnnotationItem, actor: str) -> NewEvent:
    """Return the event that adds *item* to the work list, or resets it there."""
    entry = {name: getattr(item, name) for name in ("record_order", "role", "wanted", "priority", "reasons", "facts")}
    return NewEvent(actor=actor, kind="pooled", record_id=item.record_id, entry=entry | {"reasons": list(item.reasons)})


Sort = Literal["priority", "changed", "record", "words", "spans", "done"]
OwnState = Literal["untouched", "open", "finished", "skipped"]

_LISTED = """
    WITH done AS (
        SELECT record_id, count(*) FILTER (verdict <> 'open') AS finished, list(annotator ORDER BY annotator) AS people,
            count(*) FILTER (flagged AND ($all OR annotator = $viewer)) AS flags
        FROM annotation_documents GROUP BY record_id),
    held AS (
        SELECT a.record_id, list(a.annotator ORDER BY a.annotator) AS people FROM annotation_assignments a
        LEFT JOIN annotation_documents d ON d.record_id = a.record_id AND d.annotator = a.annotator
        WHERE (a.state = 'assigned' OR (a.state = 'leased' AND a.leased_until > $now)) AND coalesce(d.verdict, 'open') = 'open'
        GROUP BY a.record_id),
    listed AS (
        SELECT i.record_id, i.record_order, i.role, i.wanted, i.priority, i.reasons, i.facts, i.changed_at,
            CASE WHEN i.status = 'generated' AND coalesce(done.finished, 0) >= i.wanted THEN 'annotated' ELSE i.status END AS status,
            coalesce(done.finished, 0) AS finished, coalesce(done.flags, 0) AS flags,
            coalesce(done.people, []) AS worked, coalesce(held.people, []) AS holding,
            CASE WHEN own.verdict <> 'open' THEN 'finished' WHEN mine.state = 'skipped' THEN 'skipped'
                WHEN own.verdict IS NOT NULL OR (mine.state = 'leased' AND mine.leased_until > $now) OR mine.state = 'assigned' THEN 'open'
                ELSE 'untouched' END AS own
        FROM annotation_items i
        LEFT JOIN done ON done.record_id = i.record_id
        LEFT JOIN held ON held.record_id = i.record_id
        LEFT JOIN annotation_assignments mine ON mine.record_id = i.record_id AND mine.annotator = $viewer
        LEFT JOIN annotation_documents own ON own.record_id = i.record_id AND own.annotator = $viewer
        WHERE list_contains($roles::VARCHAR[], i.role)
            AND ($pair::VARCHAR IS NULL OR i.facts->>'$.pair' = $pair)
            AND ($locale::VARCHAR IS NULL OR i.facts->>'$.locale' = $locale)
            AND ($model::VARCHAR IS NULL OR i.facts->>'$.model' = $model)
            AND ($type::VARCHAR IS NULL OR list_contains((i.facts->'$.types')::VARCHAR[], $type)))
    SELECT l.record_id, l.status, l.role, l.wanted, l.priority, l.reasons, l.facts, l.changed_at, l.finished, l.flags, l.worked,
        l.holding, l.own, l.record_order, count(*) OVER ()
    FROM listed l JOIN records r ON r.record_order = l.record_order
    WHERE ($statuses::VARCHAR[] IS NULL OR list_contains($statuses::VARCHAR[], l.status))
        AND ($own::VARCHAR IS NULL OR l.own = $own)
        AND ($flagged::BOOLEAN IS NULL OR (l.flags > 0) = $flagged)
        AND ($annotator::VARCHAR IS NULL OR list_contains(l.worked, $annotator) OR list_contains(l.holding, $annotator))
        AND ($text::VARCHAR IS NULL OR contains(lower(r.context), lower($text)) OR contains(lower(coalesce(r.question, '')), lower($text))
            OR contains(lower(r.id), lower($text)))
    ORDER BY {order} NULLS LAST, l.record_order LIMIT $limit OFFSET $offset"""
# Read for the rows of one page only: sorting with texts would take the room of all texts of the list.
_BEGINNINGS = """
    SELECT record_order, coalesce(question, '')[:300], context[:400] FROM records
    WHERE record_order IN (SELECT unnest($1::BIGINT[]))"""
_ORDERS: Mapping[Sort, str] = {
    "priority": "l.priority",
    "changed": "l.changed_at",
    "record": "l.record_order",
    "words": "(l.facts->>'$.words')::BIGINT",
    "spans": "(l.facts->>'$.spans')::BIGINT",
    "done": "l.finished",
}
_CHOICES = """
    SELECT name, list(DISTINCT value ORDER BY value) FROM (
        SELECT unnest(['pair', 'locale', 'model']) AS name, unnest(json_extract_string(facts, ['$.pair', '$.locale', '$.model'])) AS value
        FROM annotation_items WHERE role = 'work'
        UNION ALL SELECT 'type', unnest((facts->'$.types')::VARCHAR[]) FROM annotation_items WHERE role = 'work')
    WHERE value IS NOT NULL GROUP BY name"""
_PROGRESS = """
    WITH done AS (SELECT record_id, count(*) AS finished FROM annotation_documents WHERE verdict <> 'open' GROUP BY record_id)
    SELECT CASE WHEN i.status = 'generated' AND coalesce(done.finished, 0) >= i.wanted THEN 'annotated' ELSE i.status END, count(*)
    FROM annotation_items i LEFT JOIN done ON done.record_id = i.record_id WHERE i.role = 'work' GROUP BY 1"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListFilter:
    """Conditions for ``list_items``; None means no condition. ``own`` is the state for ``viewer``.

    ``now`` (a timestamp as in the event log) decides which leases have expired. ``all``: count everybody's flags, else only the
    viewer's. ``annotator`` has a document of the record or holds it. ``text`` is searched in any case in context, question and id.
    """

    viewer: str
    now: str
    all: bool
    roles: tuple[str, ...] = ("work",)
    statuses: tuple[str, ...] | None = None
    pair: str | None = None
    type: str | None = None
    locale: str | None = None
    model: str | None = None
    own: OwnState | None = None
    annotator: str | None = None
    flagged: bool | None = None
    text: str | None = None
    limit: int = 50
    offset: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedItem:
    """A row of the list. ``worked``: people with a document of the record. ``holding``: people with an unfinished assignment or lease.

    ``question`` and ``text`` are how question and context of the record begin, as annotation found them.
    """

    record_id: str
    status: str
    role: str
    wanted: int
    priority: float
    reasons: tuple[str, ...]
    facts: Mapping[str, Any]
    changed_at: str
    finished: int
    flags: int
    worked: tuple[str, ...]
    holding: tuple[str, ...]
    own: OwnState
    question: str
    text: str


def list_items(store: Store, wanted: ListFilter, sort: Sort = "priority", *, descending: bool = True) -> tuple[list[ListedItem], int]:
    """Return one page of rows, and the total number of matching rows (0 if ``wanted.offset`` is past the last row)."""
    held = {name: getattr(wanted, name) for name in field_names(ListFilter)}
    values = {name: list(value) if isinstance(value, tuple) else value for name, value in held.items()}
    found = store.rows(_LISTED.replace("{order}", f"{_ORDERS[sort]} {'DESC' if descending else 'ASC'}"), values)
    begins = {order: (question, text) for order, question, text in store.rows(_BEGINNINGS, [[row[-2] for row in found]])}
    return [_line((*row[:-2], *begins[row[-2]])) for row in found], found[0][-1] if found else 0


def filter_choices(store: Store) -> dict[str, list[str]]:
    """Return the values to filter by under the keys "pair", "locale", "model" and "type", each list sorted."""
    none: dict[str, list[str]] = {"pair": [], "locale": [], "model": [], "type": []}
    return none | dict(store.rows(_CHOICES))


def shown_status_counts(store: Store) -> dict[str, int]:
    """Count the records of the work list by the status shown (see the module docstring). Statuses without records are left out."""
    return dict(store.rows(_PROGRESS))


def _line(row: Collection[Any]) -> ListedItem:
    values = dict(zip(field_names(ListedItem), row, strict=True))
    values["facts"], values["reasons"] = json.loads(values["facts"]), tuple(json.loads(values["reasons"]))
    values["worked"], values["holding"] = tuple(values["worked"]), tuple(values["holding"])
    return ListedItem(**values)
