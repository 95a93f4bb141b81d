"""Costs of calls: sums by run, stage and model, what a run has spent, and its tries without a known outcome.

A large store has millions of events. To stay within a store's default memory limit of 64 MB, the queries group by hashes instead of keys
(64 characters), use no joins and load no texts. Those over all events of a journal extract their JSON fields in one call: every further
call would parse the entries again and keep 2,000 parsed entries in memory.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from piiloom.corpus.store.database import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyCosts:
    """Totals of the replies of one model in one stage of a run. ``input_tokens`` includes tokens read from or written to a cache.

    ``unusable`` replies could not be parsed. ``unpriced`` replies have no known cost and are not in ``cost_usd``; ``charged_usd`` is
    set aside for those of them whose model has a price. ``batch_replies`` came from a batch.
    """

    run_id: str
    stage: str
    provider: str
    model: str
    replies: int
    batch_replies: int
    unusable: int
    unpriced: int
    input_tokens: int
    cached_tokens: int
    cache_write_tokens: int
    output_tokens: int
    unpriced_input_tokens: int
    unpriced_output_tokens: int
    cost_usd: float
    charged_usd: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Unanswered:
    """Totals of calls in one stage of a run without a usable reply of their own.

    ``failed`` tries ended without a reply; ``maybe_paid`` of them may have been billed, and ``charged_usd`` is set aside for them.
    ``refused``: calls with a reply that a validator refused. ``open`` tries have no recorded outcome because their process was killed
    (``open_worst_usd`` at most). ``in_batches`` tries wait for their batch. ``replayed`` replies were paid for by another run.
    """

    run_id: str
    stage: str
    failed: int = 0
    maybe_paid: int = 0
    charged_usd: float = 0.0
    refused: int = 0
    replayed: int = 0
    open: int = 0
    open_worst_usd: float = 0.0
    in_batches: int = 0


_STILL_OPEN = ("open", "open_worst_usd", "in_batches")


def reply_costs(store: Store, run_id: str | None = None) -> list[ReplyCosts]:
    """Sum up the replies of a run (None: of all runs) by run, stage, provider and model, in the order of their first reply."""
    return store.objects(
        ReplyCosts,
        """
        SELECT run_id, stage, coalesce(entry->>'$.provider', ''), coalesce(entry->>'$.model', ''), count(*),
            count(*) FILTER (entry->>'$.batch' = 'true'), count(*) FILTER (entry->>'$.error' IS NOT NULL),
            count(*) FILTER (entry->>'$.cost_usd' IS NULL),
            coalesce(sum((entry->>'$.input')::BIGINT), 0)::BIGINT, coalesce(sum((entry->>'$.cached')::BIGINT), 0)::BIGINT,
            coalesce(sum((entry->>'$.cache_write')::BIGINT), 0)::BIGINT, coalesce(sum((entry->>'$.output')::BIGINT), 0)::BIGINT,
            coalesce(sum((entry->>'$.input')::BIGINT) FILTER (entry->>'$.cost_usd' IS NULL), 0)::BIGINT,
            coalesce(sum((entry->>'$.output')::BIGINT) FILTER (entry->>'$.cost_usd' IS NULL), 0)::BIGINT,
            coalesce(fsum((entry->>'$.cost_usd')::DOUBLE), 0), coalesce(fsum((entry->>'$.charge_usd')::DOUBLE), 0)
        FROM call_events WHERE kind = 'reply' AND (?::VARCHAR IS NULL OR run_id = ?) GROUP BY ALL ORDER BY min(rowid)""",
        [run_id, run_id],
    )


def unanswered_calls(store: Store, run_id: str | None = None) -> list[Unanswered]:
    """Count the calls of a run (None: of all runs) without a usable reply of their own, by run and stage, in order of first event."""
    ended = """
        SELECT run_id, stage, count(*) FILTER (kind = 'failed' AND entry->>'$.code' <> 'not_sent'),
            count(*) FILTER (kind = 'failed' AND entry->>'$.maybe_billed' = 'true'),
            coalesce(fsum((entry->>'$.charge_usd')::DOUBLE) FILTER (kind = 'failed'), 0),
            count(DISTINCT hash(key)) FILTER (kind = 'verdict' AND entry->>'$.verdict' = 'refused_by_validator'),
            count(*) FILTER (kind = 'used'), 0, 0.0::DOUBLE, 0
        FROM call_events WHERE kind <> 'reply' AND (?::VARCHAR IS NULL OR run_id = ?) GROUP BY ALL ORDER BY min(rowid)"""
    # Each try has one event when it is sent and one when it ends, so a positive balance means that it has not ended.
    waiting = """
        SELECT run_id, stage, count(*) FILTER (NOT by_batch), coalesce(fsum(worst) FILTER (NOT by_batch), 0), count(*) FILTER (by_batch)
        FROM (SELECT run_id, stage, hash(key, entry->>'$.try') AS one, sum(CASE kind WHEN 'sent' THEN 1 ELSE -1 END) AS balance,
                max((entry->>'$.worst_usd')::DOUBLE) AS worst, bool_or(entry->>'$.batch' IS NOT NULL AND kind = 'sent') AS by_batch
            FROM call_events WHERE kind IN ('sent', 'reply', 'failed') AND (?::VARCHAR IS NULL OR run_id = ?)
            GROUP BY ALL HAVING balance > 0) GROUP BY ALL"""
    still = {(run, stage): dict(zip(_STILL_OPEN, rest, strict=True)) for run, stage, *rest in store.rows(waiting, [run_id, run_id])}
    return [replace(row, **still.get((row.run_id, row.stage), {})) for row in store.objects(Unanswered, ended, [run_id, run_id])]


def records_by_run(store: Store) -> dict[str, int]:
    """Count the accepted records of each run that has any."""
    return dict(
        store.rows(
            "SELECT run_id, count(DISTINCT plan_index) FROM records WHERE run_id IS NOT NULL AND plan_index IS NOT NULL GROUP BY run_id"
        )
    )


_TRY = "json_extract_string(entry, ['$.try', '$.worst_usd', '$.batch'])"


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenSend:
    """A try that was being sent when its process ended. ``number``: of the try; ``worst_usd``: its maximum cost (None: unknown)."""

    key: str
    stage: str
    item_id: str
    attempt: int
    number: int
    worst_usd: float | None


@dataclass(slots=True, kw_only=True)
class Spending:
    """Totals of the calls of a run; costs in USD.

    ``answered`` replies, ``failed`` calls (finally), ``retries``: failed tries that were not final. ``maybe_paid`` tries failed but may
    have been billed; ``charged_usd`` is set aside for them, and for replies without usage data. ``unpriced`` replies have no known cost.
    """

    answered: int = 0
    failed: int = 0
    retries: int = 0
    unpriced: int = 0
    cost_usd: float = 0.0
    charged_usd: float = 0.0
    maybe_paid: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0


def open_sends(store: Store, run_id: str) -> list[OpenSend]:
    """Return the tries of a run that have neither a reply nor a failure, in order. Tries sent in a batch are left out."""
    # First find candidates by key hash, which takes little memory; few tries are open. A try with more "sent" than end events is open.
    cut_short = f"""
        SELECT call FROM (SELECT hash(key) AS call, kind, {_TRY} AS said FROM call_events
            WHERE run_id = ? AND kind IN ('sent', 'reply', 'failed'))
        GROUP BY call, said[1] HAVING 2 * count(*) FILTER (kind = 'sent') > count(*)"""  # noqa: S608 - a constant of ours
    calls = store.column(cut_short, [run_id])
    if not calls:
        return []
    sql = f"""
        WITH told AS (SELECT rowid AS place, key, kind, stage, item_id, attempt, {_TRY} AS said FROM call_events
            WHERE run_id = ? AND kind IN ('sent', 'reply', 'failed') AND hash(key) IN (SELECT unnest(?::UBIGINT[])))
        SELECT key, stage, item_id, attempt, said[1]::BIGINT, said[2]::DOUBLE FROM told AS s
        WHERE kind = 'sent' AND said[3] IS NULL AND NOT EXISTS (SELECT 1 FROM told AS e
            WHERE e.key = s.key AND e.kind <> 'sent' AND e.said[1] = s.said[1] AND e.place > s.place)
        ORDER BY place"""  # noqa: S608 - a constant of ours
    return store.objects(OpenSend, sql, [run_id, calls])


def spending(store: Store, run_id: str) -> Spending:
    """Sum up all calls of a run so far, over all its sessions."""
    return store.objects(
        Spending,
        """
        SELECT count(*) FILTER (kind = 'reply'), count(*) FILTER (kind = 'failed' AND said[1] = 'true'),
            count(*) FILTER (kind = 'failed' AND said[1] = 'false'), count(*) FILTER (kind = 'reply' AND said[2] IS NULL),
            coalesce(sum(said[2]::DOUBLE) FILTER (kind = 'reply'), 0), coalesce(sum(said[3]::DOUBLE), 0),
            count(*) FILTER (kind = 'failed' AND said[4] = 'true'), coalesce(sum(said[5]::BIGINT) FILTER (kind = 'reply'), 0)::BIGINT,
            coalesce(sum(said[6]::BIGINT) FILTER (kind = 'reply'), 0)::BIGINT,
            coalesce(sum(said[7]::BIGINT) FILTER (kind = 'reply'), 0)::BIGINT
        FROM (SELECT kind, CASE WHEN kind IN ('reply', 'failed') THEN json_extract_string(entry,
                ['$.final', '$.cost_usd', '$.charge_usd', '$.maybe_billed', '$.input', '$.cached', '$.output']) END AS said
            FROM call_events WHERE run_id = ?)""",
        [run_id],
    )[0]


# The memory limit to open a store with for summing up a journal of a million calls. A run itself needs less.
MEMORY_FOR_SUMS = "256MB"
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


@dataclass(frozen=True, slots=True)
class ItemCalls:
    """The calls of one plan item: tries sent, replies received, and cost in USD. ``unpriced`` replies have no known cost.

    ``cost_usd`` includes amounts set aside for tries and replies whose real cost is not known.
    """

    tries: int = 0
    replies: int = 0
    cost_usd: float = 0.0
    unpriced: int = 0


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
    return {
        item: ItemCalls(*sums)
        for item, *sums in store.rows(f"SELECT {_INDEX} AS item, {_TAKEN} {_FROM_RUN} AND item IS NOT NULL GROUP BY item", [run_id])
    }


def calls_by_key(store: Store, run_id: str, stage: str, item_id: str) -> ItemCalls:
    """Sum up the calls of *stage* for one pair or topic."""
    return ItemCalls(*store.rows(f"SELECT {_TAKEN} {_FROM_RUN} AND stage = ? AND item_id = ?", [run_id, stage, item_id])[0])


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
