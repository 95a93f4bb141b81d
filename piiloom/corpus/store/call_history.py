"""Read the journal of calls: sums by run and stage, the calls of each plan item, and all events in order.

An event's ``item_id`` is the plan index of its item, optionally with a part after a slash (``12/0``: the first aside of item 12).
For stages that run once per pair or topic it is the key of the pair or topic; these keys never begin with a digit.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from piiloom.corpus.store.database import Store
from piiloom.corpus.store.records import select

# The memory limit to open a store with for summing up a journal of a million calls. A run itself needs less.
MEMORY_FOR_SUMS = "256MB"
_CHUNK = 2_000
_EVENT_COLUMNS = ("key", "run_id", "kind", "stage", "item_id", "attempt", "entry")
# The plan index of an event: the part of item_id before the first slash, or NULL if that is no number.
_INDEX = "try_cast(split_part(item_id, '/', 1) AS BIGINT)"


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalLine:
    """Totals of the calls of one stage of a run.

    ``calls``: distinct requests. ``tries``: how often a request was sent. ``failed``: calls that failed finally; ``retried``: tries
    that failed and were followed by another. ``unusable``: replies that were paid for but could not be parsed. ``refused``: calls
    with a reply that a validator refused. ``purged``: replies whose text was deleted. ``reused``: replies paid for by another run.

    ``maybe_paid``: tries that failed but may have been billed, counted at their full price. ``open``: tries without a recorded
    outcome, which may have been billed, too (``open_worst_usd`` at most). ``in_batches``: tries that wait for their batch.
    ``charged_usd``: set aside for ``maybe_paid`` tries and for replies without usage data. ``unpriced``: replies of unknown cost.
    """

    run_id: str
    stage: str
    calls: int
    tries: int
    replies: int
    unusable: int
    refused: int
    failed: int
    retried: int
    maybe_paid: int
    reused: int
    purged: int
    input_tokens: int
    cached_tokens: int
    output_tokens: int
    cost_usd: float
    charged_usd: float
    unpriced: int
    open: int
    in_batches: int
    open_worst_usd: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemCalls:
    """The calls of one plan item: tries sent, replies received, and cost in USD. ``unpriced`` replies have no known cost.

    ``cost_usd`` includes amounts set aside for tries and replies whose real cost is not known.
    """

    tries: int = 0
    replies: int = 0
    cost_usd: float = 0.0
    unpriced: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalEvent:
    """One stored event; ``entry`` as ``piiloom.corpus.store.call_events`` describes it."""

    key: str
    run_id: str
    kind: str
    stage: str
    item_id: str
    attempt: int
    entry: Mapping[str, Any]


def journal_lines(store: Store, run_id: str | None = None, stage: str | None = None) -> list[JournalLine]:
    """Sum up the calls by run and stage, oldest run first. *run_id* and *stage* restrict this to one run or stage."""
    where = [run_id, run_id, stage, stage]
    distinct = {(run, name): counts for run, name, *counts in store.rows(_DISTINCT, where)}
    unanswered = {(run, name): counts for run, name, *counts in store.rows(_UNANSWERED, where)}
    found = []
    for run, name, *sums in store.rows(_SUMS, where):
        values = (run, name, *distinct[run, name], *sums, *unanswered.get((run, name), (0, 0, 0.0)))
        found.append(JournalLine(**dict(zip(_LINE_FIELDS, values, strict=True))))
    return found


# Three queries. To save memory none of them keeps keys (64 characters) or entries (thousands of characters). Each extracts all JSON
# fields it needs in one call: every further call would parse the entry again and hold memory for 2,000 parsed entries.
_WHERE = "WHERE (?::VARCHAR IS NULL OR run_id = ?) AND (?::VARCHAR IS NULL OR stage = ?)"
_DISTINCT = f"""
    SELECT run_id, stage, count(*) FILTER (asked), count(*) FILTER (refused) FROM (
        SELECT run_id, stage, hash(key) AS call, bool_or(kind IN ('sent', 'reply', 'failed')) AS asked,
            bool_or(kind = 'verdict' AND contains(entry, '"refused_by_validator"')) AS refused
        FROM call_events {_WHERE} GROUP BY ALL)
    GROUP BY run_id, stage"""  # noqa: S608 - the constant above
# A try with more "sent" than end events was interrupted. Tries from before schema version 3 have end events but no "sent".
_UNANSWERED = f"""
    SELECT run_id, stage, coalesce(sum(missing) FILTER (NOT in_batch), 0)::BIGINT, coalesce(sum(missing) FILTER (in_batch), 0)::BIGINT,
        coalesce(sum(missing * worst) FILTER (NOT in_batch), 0)::DOUBLE
    FROM (
        SELECT run_id, stage, call, said[1] AS number, 2 * count(*) FILTER (kind = 'sent') - count(*) AS missing,
            max(said[2]::DOUBLE) AS worst, bool_or(kind = 'sent' AND said[3] IS NOT NULL) AS in_batch
        FROM (SELECT run_id, stage, kind, hash(key) AS call, json_extract_string(entry, ['$.try', '$.worst_usd', '$.batch']) AS said
            FROM call_events {_WHERE} AND kind IN ('sent', 'reply', 'failed'))
        GROUP BY ALL)
    WHERE missing > 0 GROUP BY run_id, stage"""  # noqa: S608
_SUMS = f"""
    SELECT run_id, stage,
        count(*) FILTER (kind = 'sent') - count(*) FILTER (kind = 'failed' AND said[2] = 'not_sent'),
        count(*) FILTER (kind = 'reply'),
        count(*) FILTER (kind = 'reply' AND said[1] IS NOT NULL),
        count(*) FILTER (kind = 'failed' AND said[3] = 'true'),
        count(*) FILTER (kind = 'failed' AND said[3] = 'false' AND said[2] NOT IN ('not_sent', 'interrupted')),
        count(*) FILTER (kind = 'failed' AND said[4] = 'true'),
        count(*) FILTER (kind = 'used'),
        count(*) FILTER (kind = 'reply' AND said[5] IS NULL),
        coalesce(sum(said[6]::BIGINT) FILTER (kind = 'reply'), 0)::BIGINT,
        coalesce(sum(said[7]::BIGINT) FILTER (kind = 'reply'), 0)::BIGINT,
        coalesce(sum(said[8]::BIGINT) FILTER (kind = 'reply'), 0)::BIGINT,
        coalesce(sum(said[9]::DOUBLE) FILTER (kind = 'reply'), 0),
        coalesce(sum(said[10]::DOUBLE), 0),
        count(*) FILTER (kind = 'reply' AND said[9] IS NULL)
    FROM (SELECT rowid AS place, run_id, stage, kind, CASE WHEN kind IN ('reply', 'failed') THEN json_extract_string(entry, ['$.error',
            '$.code', '$.final', '$.maybe_billed', '$.reply', '$.input', '$.cached', '$.output', '$.cost_usd', '$.charge_usd']) END AS said
        FROM call_events {_WHERE})
    GROUP BY run_id, stage ORDER BY (SELECT created_order FROM runs WHERE id = run_id), run_id, min(place)"""  # noqa: S608
_LINE_FIELDS = (
    "run_id",
    "stage",
    "calls",
    "refused",
    "tries",
    "replies",
    "unusable",
    "failed",
    "retried",
    "maybe_paid",
    "reused",
    "purged",
    "input_tokens",
    "cached_tokens",
    "output_tokens",
    "cost_usd",
    "charged_usd",
    "unpriced",
    "open",
    "in_batches",
    "open_worst_usd",
)


def calls_by_item(store: Store, run_id: str) -> dict[int, ItemCalls]:
    """Sum up the calls of a run by plan index."""
    sql = f"SELECT {_INDEX} AS item, {_TAKEN} {_FROM_RUN} AND item IS NOT NULL GROUP BY item"
    return {item: _item_calls(sums) for item, *sums in store.rows(sql, [run_id])}


def calls_by_key(store: Store, run_id: str, stage: str, item_id: str) -> ItemCalls:
    """Sum up the calls of *stage* for one pair or topic."""
    sql = f"SELECT {_TAKEN} {_FROM_RUN} AND stage = ? AND item_id = ?"
    return _item_calls(store.rows(sql, [run_id, stage, item_id])[0])


_FROM_RUN = """
    FROM (SELECT kind, stage, item_id, CASE WHEN kind IN ('reply', 'failed') THEN
            json_extract_string(entry, ['$.cost_usd', '$.charge_usd', '$.code']) END AS said
        FROM call_events WHERE run_id = ?) WHERE true"""
# Replies from before schema version 3, and the composer's, have no "sent" event.
_TAKEN = """
    greatest(count(*) FILTER (kind = 'sent'), count(*) FILTER (kind IN ('reply', 'failed')))
        - count(*) FILTER (kind = 'failed' AND said[3] = 'not_sent'),
    count(*) FILTER (kind = 'reply'),
    coalesce(sum(said[1]::DOUBLE) FILTER (kind = 'reply'), 0) + coalesce(sum(said[2]::DOUBLE), 0),
    count(*) FILTER (kind = 'reply' AND said[1] IS NULL)"""


def _item_calls(sums: Sequence[Any]) -> ItemCalls:
    tries, replies, cost, unpriced = sums
    return ItemCalls(tries=tries, replies=replies, cost_usd=cost, unpriced=unpriced)


def events_of_item(store: Store, run_id: str, index: int) -> list[JournalEvent]:
    """Return all events of plan item *index* and its parts, in order."""
    where = f"WHERE run_id = ? AND {_INDEX} = ? ORDER BY rowid"
    return _events(store.rows(select(_EVENT_COLUMNS, "call_events", where), [run_id, index]))


def events_of_key(store: Store, run_id: str, stage: str, item_id: str) -> list[JournalEvent]:
    """Return all events of *stage* for one pair or topic, in order."""
    where = "WHERE run_id = ? AND stage = ? AND item_id = ? ORDER BY rowid"
    return _events(store.rows(select(_EVENT_COLUMNS, "call_events", where), [run_id, stage, item_id]))


def paid_events(store: Store, run_id: str, keys: Sequence[str]) -> list[JournalEvent]:
    """Return the events "sent", "reply" and "failed" of run *run_id* for *keys*, in order."""
    where = "WHERE run_id = ? AND kind IN ('sent', 'reply', 'failed') AND key IN (SELECT unnest(?::VARCHAR[])) ORDER BY rowid"
    return _events(store.rows(select(_EVENT_COLUMNS, "call_events", where), [run_id, list(keys)]))


def iter_events(store: Store, run_id: str | None = None) -> Iterator[JournalEvent]:
    """Iterate over all events of a run (None: of all runs), in order. Memory: 8 bytes an event, plus a batch of events."""
    places = store.integers("SELECT rowid FROM call_events WHERE (?::VARCHAR IS NULL OR run_id = ?) ORDER BY rowid", [run_id, run_id])
    for at in range(0, len(places), _CHUNK):
        chunk = places[at : at + _CHUNK]
        where = "WHERE rowid BETWEEN ? AND ? AND (?::VARCHAR IS NULL OR run_id = ?) ORDER BY rowid"
        yield from _events(store.rows(select(_EVENT_COLUMNS, "call_events", where), [chunk[0], chunk[-1], run_id, run_id]))


def count_events(store: Store, run_id: str | None = None) -> dict[str, int]:
    """Count the events of a run (of all runs when None) by kind."""
    sql = "SELECT kind, count(*) FROM call_events WHERE (?::VARCHAR IS NULL OR run_id = ?) GROUP BY kind ORDER BY kind"
    return dict(store.rows(sql, [run_id, run_id]))


def prompt_names(store: Store, run_id: str | None = None) -> list[str]:
    """List the SHA-256 of the system prompts that a run (any run when None) has sent."""
    sql = (
        "SELECT DISTINCT entry->>'$.system' AS name FROM call_events WHERE kind = 'sent' AND (?::VARCHAR IS NULL OR run_id = ?) "
        "AND entry->>'$.system' IS NOT NULL ORDER BY name"
    )
    return [name for (name,) in store.rows(sql, [run_id, run_id])]


def load_prompts(store: Store, names: Sequence[str]) -> dict[str, str]:
    """The texts of the system prompts *names* (SHA-256) that the store still has."""
    sql = "SELECT sha256, text FROM prompt_texts WHERE text IS NOT NULL AND sha256 IN (SELECT unnest(?::VARCHAR[])) ORDER BY sha256"
    return dict(store.rows(sql, [list(names)]))


def _events(rows: Sequence[tuple[Any, ...]]) -> list[JournalEvent]:
    return [
        JournalEvent(key=key, run_id=run, kind=kind, stage=stage, item_id=item, attempt=attempt, entry=json.loads(entry))
        for key, run, kind, stage, item, attempt, entry in rows
    ]
