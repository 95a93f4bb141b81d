"""What a run has spent, and what it may have spent without an answer."""

from __future__ import annotations

from dataclasses import dataclass

from corpus.store.database import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenSend:
    """A request that was about to be sent, or on its way, when its process ended. ``worst_usd`` None: price unknown."""

    key: str
    stage: str
    item_id: str
    attempt: int
    number: int
    worst_usd: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """Sums over the calls of a run. ``charged_usd`` is set aside for calls whose outcome nobody knows."""

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
    replayed: int = 0


def open_sends(store: Store, run_id: str) -> list[OpenSend]:
    """The tries of a run that have neither a reply nor a failure; those that travel in a batch are not among them."""
    sql = """
        SELECT s.key, s.stage, s.item_id, s.attempt, (s.entry->>'$.try')::BIGINT, (s.entry->>'$.worst_usd')::DOUBLE
        FROM call_events s WHERE s.run_id = ? AND s.kind = 'sent' AND (s.entry->>'$.batch') IS NULL
        AND NOT EXISTS (SELECT 1 FROM call_events e WHERE e.run_id = s.run_id AND e.key = s.key AND e.kind IN ('reply', 'failed')
            AND (e.entry->>'$.try') = (s.entry->>'$.try') AND e.rowid > s.rowid)
        ORDER BY s.rowid"""
    return [
        OpenSend(key=key, stage=stage, item_id=item, attempt=attempt, number=number, worst_usd=worst)
        for key, stage, item, attempt, number, worst in store.rows(sql, [run_id])
    ]


def spending(store: Store, run_id: str) -> Spending:
    """What the sittings of a run so far came to."""
    sql = """
        SELECT count(*) FILTER (kind = 'reply'), count(*) FILTER (kind = 'failed' AND (entry->>'$.final') = 'true'),
            count(*) FILTER (kind = 'failed' AND (entry->>'$.final') = 'false'),
            count(*) FILTER (kind = 'reply' AND (entry->>'$.cost_usd') IS NULL),
            coalesce(sum((entry->>'$.cost_usd')::DOUBLE) FILTER (kind = 'reply'), 0),
            coalesce(sum((entry->>'$.charge_usd')::DOUBLE) FILTER (kind = 'failed'), 0),
            count(*) FILTER (kind = 'failed' AND (entry->>'$.maybe_billed') = 'true'),
            coalesce(sum((entry->>'$.input')::BIGINT) FILTER (kind = 'reply'), 0),
            coalesce(sum((entry->>'$.cached')::BIGINT) FILTER (kind = 'reply'), 0),
            coalesce(sum((entry->>'$.output')::BIGINT) FILTER (kind = 'reply'), 0), count(*) FILTER (kind = 'used')
        FROM call_events WHERE run_id = ?"""
    answered, failed, retries, unpriced, cost, charged, maybe, given, cached, output, replayed = store.rows(sql, [run_id])[0]
    return Spending(
        answered=answered,
        failed=failed,
        retries=retries,
        unpriced=unpriced,
        cost_usd=cost,
        charged_usd=charged,
        maybe_paid=maybe,
        input_tokens=int(given),
        cached_tokens=int(cached),
        output_tokens=int(output),
        replayed=replayed,
    )
