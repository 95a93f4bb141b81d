"""The work list as shown to people: filtered, sorted and paged, with everybody's progress.

A record with the stored status "generated" is shown as "annotated" once as many people as wanted have finished it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal

from piiloom.corpus.store.database import Store

Sort = Literal["priority", "changed", "record", "words", "spans", "done"]
Own = Literal["untouched", "open", "finished", "skipped"]

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
    SELECT DISTINCT 'pair', facts->>'$.pair' FROM annotation_items WHERE role = 'work'
    UNION SELECT DISTINCT 'locale', facts->>'$.locale' FROM annotation_items WHERE role = 'work'
    UNION SELECT DISTINCT 'model', facts->>'$.model' FROM annotation_items WHERE role = 'work'
    UNION SELECT DISTINCT 'type', unnest((facts->'$.types')::VARCHAR[]) FROM annotation_items WHERE role = 'work'
    ORDER BY 1, 2"""
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
    own: Own | None = None
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
    own: Own
    question: str
    text: str


_PARAMETERS = tuple(field.name for field in fields(ListFilter))
_LINE = tuple(field.name for field in fields(ListedItem))


def _numbered(sql: str) -> str:
    """Replace named SQL parameters (``$name``) by numbered ones (``$1``), in the order of the fields of ``ListFilter``."""
    return re.sub(r"\$([a-z]+)", lambda found: f"${_PARAMETERS.index(found[1]) + 1}", sql)


# The SQL text for each sort order and direction.
_SQL = {
    (sort, down): _numbered(_LISTED).replace("{order}", f"{column} {'DESC' if down else 'ASC'}")
    for sort, column in _ORDERS.items()
    for down in (False, True)
}


def list_items(store: Store, wanted: ListFilter, sort: Sort = "priority", *, descending: bool = True) -> tuple[list[ListedItem], int]:
    """Return one page of rows, and the total number of matching rows (0 if ``wanted.offset`` is past the last row)."""
    values = [list(v) if isinstance(v, tuple) else v for v in (getattr(wanted, name) for name in _PARAMETERS)]
    found = store.rows(_SQL[sort, descending], values)
    begins = {order: (question, text) for order, question, text in store.rows(_BEGINNINGS, [[row[-2] for row in found]])}
    return [_line((*row[:-2], *begins[row[-2]])) for row in found], found[0][-1] if found else 0


def filter_choices(store: Store) -> dict[str, list[str]]:
    """Return the values to filter by under the keys "pair", "locale", "model" and "type", each list sorted."""
    choices: dict[str, list[str]] = {"pair": [], "locale": [], "model": [], "type": []}
    for name, value in store.rows(_CHOICES):
        if value is not None:
            choices[name].append(value)
    return choices


def status_counts(store: Store) -> dict[str, int]:
    """Count the records of the work list by the status shown (see the module docstring). Statuses without records are left out."""
    return dict(store.rows(_PROGRESS))


def _line(row: Collection[Any]) -> ListedItem:
    values = dict(zip(_LINE, row, strict=True))
    values["facts"], values["reasons"] = json.loads(values["facts"]), tuple(json.loads(values["reasons"]))
    values["worked"], values["holding"] = tuple(values["worked"]), tuple(values["holding"])
    return ListedItem(**values)
