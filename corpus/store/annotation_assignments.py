"""Who has which record: assignments and leases, and the queries that choose what somebody is given next.

A place of a record is taken by whoever finished it (his document is accepted or rejected), holds a lease that has not run
out, or was assigned it. That somebody finished is told by ``annotation_documents`` alone; nothing here repeats it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from piiloom.corpus.store.database import Store
from piiloom.corpus.store.statements import select

State = Literal["assigned", "leased", "released", "skipped"]
Why = Literal["resumed", "assigned", "new", "skipped"]
_COLUMNS = ("record_id", "annotator", "state", "leased_until", "changed_at")
_RANKS: tuple[Why, ...] = ("resumed", "assigned", "new", "skipped")

# Parameter: now. The union counts a person once.
_PLACES = """
    WITH places AS (
        SELECT record_id, annotator FROM annotation_assignments WHERE state = 'assigned' OR (state = 'leased' AND leased_until > ?)
        UNION
        SELECT record_id, annotator FROM annotation_documents WHERE verdict IN ('accepted', 'rejected'))
"""
# Parameters: now, person, person, person, besides. Records that somebody else has begun come before untouched ones: they are
# finished soonest, and whom one shares records with changes all the time.
_BEST = """{places}, others AS (SELECT record_id, count(*) AS taken FROM places WHERE annotator <> ? GROUP BY record_id)
    SELECT i.record_id, CASE WHEN mine.state = 'leased' THEN 0 WHEN mine.state = 'assigned' THEN 1
            WHEN mine.state = 'skipped' THEN 3 ELSE 2 END AS rank, mine.leased_until
    FROM annotation_items i
    LEFT JOIN others ON others.record_id = i.record_id
    LEFT JOIN annotation_assignments mine ON mine.record_id = i.record_id AND mine.annotator = ?
    LEFT JOIN annotation_documents own ON own.record_id = i.record_id AND own.annotator = ?
    WHERE (i.role = 'work' OR (i.role = 'control' AND mine.state IS NOT NULL)) AND i.status IN ('generated', 'annotated')
        AND coalesce(own.verdict, 'open') = 'open'
        AND (i.role = 'control' OR mine.state = 'assigned' OR coalesce(others.taken, 0) < i.wanted)
        AND NOT list_contains(?::VARCHAR[], i.record_id)
        AND EXISTS (SELECT 1 FROM records r WHERE r.record_order = i.record_order)
    ORDER BY rank, CASE WHEN rank = 0 THEN mine.changed_at END DESC, CASE WHEN rank = 3 THEN mine.changed_at END,
        coalesce(others.taken, 0) > 0 DESC, i.priority DESC, i.record_order
    LIMIT 1""".replace("{places}", _PLACES)
# A person gets no control record that comes from a record, or shares its source with one, that he has had.
_CONTROL = """
    WITH had AS (
        SELECT record_id FROM annotation_assignments WHERE annotator = ?
        UNION SELECT record_id FROM annotation_documents WHERE annotator = ?),
    sources AS (SELECT record_id FROM had UNION SELECT c.source_id FROM annotation_controls c JOIN had ON had.record_id = c.record_id)
    SELECT i.record_id FROM annotation_items i JOIN annotation_controls c ON c.record_id = i.record_id
    WHERE i.role = 'control' AND i.status IN ('generated', 'annotated') AND NOT list_contains(?::VARCHAR[], i.record_id)
        AND i.record_id NOT IN (SELECT record_id FROM had) AND c.source_id NOT IN (SELECT record_id FROM sources)
        AND EXISTS (SELECT 1 FROM records r WHERE r.record_order = i.record_order)
    ORDER BY md5(i.record_id || ?), i.record_id LIMIT 1"""
_PUT = """
    MERGE INTO annotation_assignments AS held
    USING (SELECT unnest(?::VARCHAR[]) AS record_id, unnest(?::VARCHAR[]) AS annotator, unnest(?::VARCHAR[]) AS state,
        unnest(?::VARCHAR[]) AS leased_until, unnest(?::VARCHAR[]) AS changed_at) AS given
    ON held.record_id = given.record_id AND held.annotator = given.annotator
    WHEN MATCHED THEN UPDATE SET state = given.state, leased_until = given.leased_until, changed_at = given.changed_at
    WHEN NOT MATCHED THEN INSERT BY NAME
"""
_HELD = """
    SELECT count(*), arg_min(a.record_id, a.changed_at) FROM annotation_assignments a JOIN annotation_items i USING (record_id)
    LEFT JOIN annotation_documents d ON d.record_id = a.record_id AND d.annotator = a.annotator
    WHERE a.annotator = ? AND a.state = 'leased' AND a.leased_until > ? AND coalesce(d.verdict, 'open') = 'open'
        AND i.status IN ('generated', 'annotated')"""
# Looks only at the one record: it is asked while the lock of the writer is held.
# One statement for all of it took twice the time: edits ask for little of large tables, and joins begin with all of them.
_ITEM = "SELECT role, status, wanted, record_order FROM annotation_items WHERE record_id = ?"
_STATES = "SELECT annotator, state, leased_until FROM annotation_assignments WHERE record_id = ?"
_VERDICTS = "SELECT annotator, verdict FROM annotation_documents WHERE record_id = ?"
_LOADS = """
    SELECT a.annotator, count(*) FROM annotation_assignments a
    LEFT JOIN annotation_documents d ON d.record_id = a.record_id AND d.annotator = a.annotator
    WHERE a.state = 'assigned' AND coalesce(d.verdict, 'open') = 'open' GROUP BY a.annotator"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """What a record is to one person; ``leased_until`` is a time of the log, None but for a lease."""

    record_id: str
    annotator: str
    state: State
    leased_until: str | None = None
    changed_at: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How one person stands to one record of the list. ``others`` have taken that many of the ``wanted`` places."""

    role: str
    status: str
    wanted: int
    state: State | None
    leased_until: str | None
    finished: bool
    others: int
    stored: bool


def put_assignments(store: Store, rows: Sequence[Assignment]) -> None:
    """Set what each record of *rows* is to its person; of several rows for one pair the last counts."""
    last = {(row.record_id, row.annotator): row for row in rows}
    if not last:
        return
    values = [(row.record_id, row.annotator, row.state, row.leased_until, row.changed_at) for row in last.values()]
    store.change(_PUT, [list(column) for column in zip(*values, strict=True)])


def load_assignments(store: Store, *, annotator: str | None = None, record_id: str | None = None) -> list[Assignment]:
    """All assignments, or those of a person, of a record, by record and person."""
    clause = "WHERE (?::VARCHAR IS NULL OR annotator = ?) AND (?::VARCHAR IS NULL OR record_id = ?) ORDER BY record_id, annotator"
    found = store.rows(select(_COLUMNS, "annotation_assignments", clause), [annotator, annotator, record_id, record_id])
    return [Assignment(**dict(zip(_COLUMNS, row, strict=True))) for row in found]


def best_offer(store: Store, person: str, now: str, besides: Collection[str] = ()) -> tuple[str, Why, str | None] | None:
    """The record that *person* should have next, why that one, and the end of his lease of it; None when nothing is left for him.

    First what he has begun (latest first), then what he was assigned, then the rest by priority, last what he skipped.
    """
    found = store.rows(_BEST, [now, person, person, person, list(besides)])
    return (found[0][0], _RANKS[found[0][1]], found[0][2]) if found else None


def best_control(store: Store, person: str, besides: Collection[str] = ()) -> str | None:
    """A control record that is new to *person*, in an order of his own."""
    found = store.rows(_CONTROL, [person, person, list(besides), person])
    return str(found[0][0]) if found else None


def held_open(store: Store, person: str, now: str) -> tuple[int, str | None]:
    """How many unfinished records *person* holds leases of, and the one that he has not touched for longest."""
    count, oldest = store.rows(_HELD, [person, now])[0]
    return count, oldest


def ever_had(store: Store, person: str) -> int:
    """How many records *person* was ever given; it only grows."""
    return int(store.rows("SELECT count(*) FROM annotation_assignments WHERE annotator = ?", [person])[0][0])


def standing(store: Store, person: str, record_id: str, now: str) -> Standing | None:
    """How *person* stands to *record_id*; None when that is not in the work list."""
    item = store.rows(_ITEM, [record_id])
    if not item:
        return None
    role, status, wanted, order = item[0]
    states = {annotator: (state, until) for annotator, state, until in store.rows(_STATES, [record_id])}
    verdicts = dict(store.rows(_VERDICTS, [record_id]))
    live = {name for name, (state, until) in states.items() if state == "assigned" or (state == "leased" and until > now)}
    taken = live | {name for name, verdict in verdicts.items() if verdict in {"accepted", "rejected"}}
    state, leased_until = states.get(person, (None, None))
    return Standing(
        role=role,
        status=status,
        wanted=wanted,
        state=state,
        leased_until=leased_until,
        finished=verdicts.get(person, "open") != "open",
        others=len(taken - {person}),
        stored=bool(store.rows("SELECT 1 FROM records WHERE record_order = ?", [order])),
    )


def assigned_loads(store: Store) -> dict[str, int]:
    """How many records each person was assigned and has not finished."""
    return dict(store.rows(_LOADS))
