"""What a run has spent so far, and its tries without a known outcome."""

from __future__ import annotations

from dataclasses import dataclass

from piiloom.corpus.store.database import Store

# Extract all fields in one call, so that an entry is parsed once: each parsing keeps memory until the end of the statement.
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
    calls = [call for (call,) in store.rows(cut_short, [run_id])]
    if not calls:
        return []
    sql = f"""
        WITH told AS (SELECT rowid AS place, key, kind, stage, item_id, attempt, {_TRY} AS said FROM call_events
            WHERE run_id = ? AND kind IN ('sent', 'reply', 'failed') AND hash(key) IN (SELECT unnest(?::UBIGINT[])))
        SELECT key, stage, item_id, attempt, said[1]::BIGINT, said[2]::DOUBLE FROM told AS s
        WHERE kind = 'sent' AND said[3] IS NULL AND NOT EXISTS (SELECT 1 FROM told AS e
            WHERE e.key = s.key AND e.kind <> 'sent' AND e.said[1] = s.said[1] AND e.place > s.place)
        ORDER BY place"""  # noqa: S608 - a constant of ours
    return [
        OpenSend(key=key, stage=stage, item_id=item, attempt=attempt, number=number, worst_usd=worst)
        for key, stage, item, attempt, number, worst in store.rows(sql, [run_id, calls])
    ]


def spending(store: Store, run_id: str) -> Spending:
    """Sum up all calls of a run so far, over all its sessions."""
    sql = """
        SELECT count(*) FILTER (kind = 'reply'), count(*) FILTER (kind = 'failed' AND said[1] = 'true'),
            count(*) FILTER (kind = 'failed' AND said[1] = 'false'), count(*) FILTER (kind = 'reply' AND said[2] IS NULL),
            coalesce(sum(said[2]::DOUBLE) FILTER (kind = 'reply'), 0), coalesce(sum(said[3]::DOUBLE), 0),
            count(*) FILTER (kind = 'failed' AND said[4] = 'true'), coalesce(sum(said[5]::BIGINT) FILTER (kind = 'reply'), 0),
            coalesce(sum(said[6]::BIGINT) FILTER (kind = 'reply'), 0), coalesce(sum(said[7]::BIGINT) FILTER (kind = 'reply'), 0)
        FROM (SELECT kind, CASE WHEN kind IN ('reply', 'failed') THEN json_extract_string(entry,
                ['$.final', '$.cost_usd', '$.charge_usd', '$.maybe_billed', '$.input', '$.cached', '$.output']) END AS said
            FROM call_events WHERE run_id = ?)"""
    answered, failed, retries, unpriced, cost, charged, maybe, given, cached, output = store.rows(sql, [run_id])[0]
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
    )
