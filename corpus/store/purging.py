"""Forgetting what was said: the texts of prompts and replies of chosen runs go, what they cost stays.

DuckDB leaves deleted bytes in free blocks of its file until they are written over; ``compacting`` makes a file without them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from piiloom.corpus.store.database import Store

_CHUNK = 2_000
# After this many pieces the replaced rows are let go of; DuckDB keeps them until then, about 2.5 MB a piece.
_PIECES = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Purged:
    """How many texts went: of prompts (with the system prompts that nothing needs any more), of replies, of rejects."""

    prompts: int = 0
    replies: int = 0
    rejects: int = 0


def last_heard(store: Store) -> dict[str, datetime | None]:
    """When each run that has calls last sent one; None where that was not written down (before schema version 3)."""
    sql = "SELECT run_id, max(entry->>'$.at') FROM call_events GROUP BY run_id"
    return {run: datetime.fromisoformat(at) if at else None for run, at in store.rows(sql)}


def purge_texts(store: Store, run_ids: Sequence[str]) -> Purged:
    """Replace the texts of all prompts and replies of *run_ids* by null. Records stay as they are.

    In pieces, each in a transaction of its own, since DuckDB keeps in memory what a transaction has replaced: what is cut
    short has purged a part, and goes on when it is called again.
    """
    prompts = replies = 0
    chosen = list(run_ids)
    places = store.integers(
        "SELECT rowid FROM call_events WHERE list_contains(?::VARCHAR[], run_id) AND kind IN ('sent', 'reply', 'failed', 'verdict') "
        "ORDER BY rowid",
        [chosen],
    )
    for piece, at in enumerate(range(0, len(places), _CHUNK), 1):
        sent, answered = _purge_chunk(store, places[at], places[min(at + _CHUNK, len(places)) - 1], chosen)
        prompts, replies = prompts + sent, replies + answered
        if piece % _PIECES == 0:
            store.change("CHECKPOINT")
    with store.transaction():
        rejects = _count(store, "rejects WHERE last_reply IS NOT NULL AND list_contains(?::VARCHAR[], run_id)", chosen)
        store.change("UPDATE rejects SET last_reply = NULL WHERE list_contains(?::VARCHAR[], run_id)", [chosen])
        prompts += drop_unused_prompts(store)
    return Purged(prompts=prompts, replies=replies, rejects=rejects)


def without_texts(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Give the *entry* of an event without the texts that it holds; codes, counts and costs stay."""
    kept = dict(entry)
    for name in ("user", "reply", "message"):
        if name in kept:
            kept[name] = None
    # "code: what was wrong", where the latter may quote the reply.
    for name in ("error", "fault", "unmet"):
        if isinstance(kept.get(name), str):
            kept[name] = kept[name].partition(": ")[0]
    return kept


def drop_unused_prompts(store: Store) -> int:
    """Delete the system prompts that no event with its text left refers to; gives how many."""
    needed = (
        "(SELECT entry->>'$.system' FROM call_events WHERE kind = 'sent' AND entry->>'$.user' IS NOT NULL "
        "AND entry->>'$.system' IS NOT NULL)"
    )
    unused = f"prompt_texts WHERE sha256 NOT IN {needed}"
    number = _count(store, unused)
    store.change(f"DELETE FROM {unused}")  # noqa: S608 - the constant above
    return number


def _purge_chunk(store: Store, first: int, last: int, run_ids: list[str]) -> tuple[int, int]:
    """Rewrite the events from *first* to *last* (row numbers); gives how many prompts and replies lost their text."""
    rows = store.rows(
        "SELECT rowid, kind, entry FROM call_events WHERE rowid BETWEEN ? AND ? AND list_contains(?::VARCHAR[], run_id)",
        [first, last, run_ids],
    )
    found = [(place, kind, json.loads(text)) for place, kind, text in rows]
    bare = [(place, without_texts(entry), entry) for place, _, entry in found]
    changed = [(place, json.dumps(new, ensure_ascii=False)) for place, new, entry in bare if new != entry]
    if changed:
        store.change(
            "UPDATE call_events SET entry = new.entry FROM (SELECT unnest(?::BIGINT[]) AS place, unnest(?::VARCHAR[]) AS entry) AS new "
            "WHERE call_events.rowid BETWEEN ? AND ? AND call_events.rowid = new.place",
            [[place for place, _ in changed], [entry for _, entry in changed], first, last],
        )
    sent = sum(kind == "sent" and entry.get("user") is not None for _, kind, entry in found)
    return sent, sum(kind == "reply" and entry.get("reply") is not None for _, kind, entry in found)


def _count(store: Store, what: str, *parameters: object) -> int:
    return int(store.rows(f"SELECT count(*) FROM {what}", parameters)[0][0])  # noqa: S608 - constants of this module
