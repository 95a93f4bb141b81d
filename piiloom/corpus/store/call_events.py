"""The journal of calls: an append-only table of events (sent, reply, failed, verdict, used).

The table has few columns, one of them JSON, because every call is written three times and the time of a commit grows with the number
of columns. A call's ``key`` is a hash of everything that shapes its answer. One key may have several tries, and even several
replies if one was lost. Nothing is overwritten, except that ``purging`` removes texts, so costs can always be summed up.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from piiloom.corpus.store.database import Store

EventKind = Literal["sent", "reply", "failed", "verdict", "used"]
ReplyVerdict = Literal["accepted", "refused_by_validator", "error"]
_COLUMNS = ("key", "run_id", "kind", "stage", "item_id", "attempt", "entry")
# Hex digits of a short key: 60 bits. Among a million keys a collision has a probability of about one in two million.
_SHORT = 15


@dataclass(frozen=True, slots=True, kw_only=True)
class CallEvent:
    """One event. ``entry`` holds JSON values.

    ========  =====================================================================================================
    sent      try, worst_usd, at; with the first try also system (SHA-256), user, schema_name; batch: its id
    reply     try, provider, endpoint, model, template, rendered_sha256, reply, finish_reason, error, input, cached,
              cache_write, output (tokens), cost_usd, charge_usd (set aside where the server did not say what it
              used), latency_s, retries, batch
    failed    try, code, message, maybe_billed, charge_usd (what is set aside for it), final (no more tries follow)
    verdict   verdict, fault; unmet: soft requirements that the reply did not meet
    used      from_run: the run that paid for the reply
    ========  =====================================================================================================
    """

    key: str
    kind: EventKind
    stage: str
    item_id: str
    attempt: int
    entry: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownReply:
    """A reply in the journal: the run that paid for it, and the event's entry (see ``CallEvent``)."""

    run_id: str
    entry: Mapping[str, Any]


def save_call_events(store: Store, run_id: str, events: Sequence[CallEvent]) -> None:
    """Append *events* of a run, in order."""
    rows = [(e.key, run_id, e.kind, e.stage, e.item_id, e.attempt, json.dumps(e.entry, ensure_ascii=False)) for e in events]
    store.append("call_events", _COLUMNS, rows)


def save_prompt_texts(store: Store, texts: Sequence[tuple[str, str]]) -> None:
    """Save (SHA-256, text) of prompts that many calls share. Those already stored are left unchanged."""
    latest = dict(texts)
    known = {sha for (sha,) in store.rows("SELECT sha256 FROM prompt_texts WHERE sha256 IN (SELECT unnest(?::VARCHAR[]))", [list(latest)])}
    store.append("prompt_texts", ("sha256", "text"), [(sha, text) for sha, text in latest.items() if sha not in known])


def short_key(key: str) -> int:
    """The 60-bit form of *key* that ``answered_keys`` lists."""
    return int(key[:_SHORT], 16)


def answered_keys(store: Store) -> array[int]:
    """Short forms of all keys that have a reply, whichever run paid for it: 8 bytes each, sorted."""
    short = f"TRY_CAST('0x' || key[1:{_SHORT}] AS BIGINT)"
    sql = f"SELECT DISTINCT {short} AS short FROM call_events WHERE kind = 'reply' AND short NOT NULL ORDER BY short"  # noqa: S608
    return store.integers(sql)


def find_replies(store: Store, keys: Sequence[str]) -> dict[str, KnownReply]:
    """The newest reply of each of *keys* that has one; purged replies are not found."""
    sql = (
        "SELECT key, run_id, entry FROM call_events WHERE kind = 'reply' AND key IN (SELECT unnest(?::VARCHAR[])) "
        "AND json_extract_string(entry, '$.reply') IS NOT NULL ORDER BY rowid"
    )
    return {key: KnownReply(run_id=run, entry=json.loads(entry)) for key, run, entry in store.rows(sql, [list(keys)])}
