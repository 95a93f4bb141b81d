"""Costs of calls, summed by run, stage and model, and record counts for the cost per record.

A large store has millions of events. To stay within a store's default memory limit of 64 MB, the queries here group by hashes instead
of keys, use no joins and load no texts.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

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


_FIELDS = tuple(field.name for field in fields(ReplyCosts))


def reply_costs(store: Store, run_id: str | None = None) -> list[ReplyCosts]:
    """Sum up the replies of a run (None: of all runs) by run, stage, provider and model, in the order of their first reply."""
    sql = """
        SELECT run_id, stage, coalesce(entry->>'$.provider', ''), coalesce(entry->>'$.model', ''), count(*),
            count(*) FILTER (entry->>'$.batch' = 'true'), count(*) FILTER (entry->>'$.error' IS NOT NULL),
            count(*) FILTER (entry->>'$.cost_usd' IS NULL),
            coalesce(sum((entry->>'$.input')::BIGINT), 0)::BIGINT, coalesce(sum((entry->>'$.cached')::BIGINT), 0)::BIGINT,
            coalesce(sum((entry->>'$.cache_write')::BIGINT), 0)::BIGINT, coalesce(sum((entry->>'$.output')::BIGINT), 0)::BIGINT,
            coalesce(sum((entry->>'$.input')::BIGINT) FILTER (entry->>'$.cost_usd' IS NULL), 0)::BIGINT,
            coalesce(sum((entry->>'$.output')::BIGINT) FILTER (entry->>'$.cost_usd' IS NULL), 0)::BIGINT,
            coalesce(fsum((entry->>'$.cost_usd')::DOUBLE), 0), coalesce(fsum((entry->>'$.charge_usd')::DOUBLE), 0)
        FROM call_events WHERE kind = 'reply' AND (?::VARCHAR IS NULL OR run_id = ?) GROUP BY ALL ORDER BY min(rowid)"""
    return [ReplyCosts(**dict(zip(_FIELDS, row, strict=True))) for row in store.rows(sql, [run_id, run_id])]


def unanswered_calls(store: Store, run_id: str | None = None) -> list[Unanswered]:
    """Count the calls of a run (None: of all runs) without a usable reply of their own, by run and stage, in order of first event."""
    ended = """
        SELECT run_id, stage, min(rowid), count(*) FILTER (kind = 'failed' AND entry->>'$.code' <> 'not_sent'),
            count(*) FILTER (kind = 'failed' AND entry->>'$.maybe_billed' = 'true'),
            coalesce(fsum((entry->>'$.charge_usd')::DOUBLE) FILTER (kind = 'failed'), 0), count(*) FILTER (kind = 'used'),
            count(DISTINCT hash(key)) FILTER (kind = 'verdict' AND entry->>'$.verdict' = 'refused_by_validator')
        FROM call_events WHERE kind <> 'reply' AND (?::VARCHAR IS NULL OR run_id = ?) GROUP BY ALL ORDER BY min(rowid)"""
    # Each try has one event when it is sent and one when it ends, so a positive balance means that it has not ended.
    waiting = """
        SELECT run_id, stage, count(*) FILTER (NOT by_batch), coalesce(fsum(worst) FILTER (NOT by_batch), 0), count(*) FILTER (by_batch)
        FROM (SELECT run_id, stage, hash(key, entry->>'$.try') AS one, sum(CASE kind WHEN 'sent' THEN 1 ELSE -1 END) AS balance,
                max((entry->>'$.worst_usd')::DOUBLE) AS worst, bool_or(entry->>'$.batch' IS NOT NULL AND kind = 'sent') AS by_batch
            FROM call_events WHERE kind IN ('sent', 'reply', 'failed') AND (?::VARCHAR IS NULL OR run_id = ?)
            GROUP BY ALL HAVING balance > 0) GROUP BY ALL"""
    still = {(run, stage): rest for run, stage, *rest in store.rows(waiting, [run_id, run_id])}
    found = []
    for run, stage, _, failed, maybe_paid, charged, replayed, refused in store.rows(ended, [run_id, run_id]):
        open_calls, worst, in_batches = still.get((run, stage), (0, 0.0, 0))
        found.append(
            Unanswered(
                run_id=run,
                stage=stage,
                failed=failed,
                maybe_paid=maybe_paid,
                charged_usd=charged,
                refused=refused,
                replayed=replayed,
                open=open_calls,
                open_worst_usd=worst,
                in_batches=in_batches,
            )
        )
    return found


def records_by_run(store: Store) -> dict[str, int]:
    """Count the accepted records of each run that has any."""
    sql = "SELECT run_id, count(DISTINCT plan_index) FROM records WHERE run_id IS NOT NULL AND plan_index IS NOT NULL GROUP BY run_id"
    return dict(store.rows(sql))
