"""Purge the texts of prompts and replies of chosen runs. Token counts and costs stay.

Purged bytes remain in free blocks of the DuckDB file until they are overwritten; ``compacting`` rewrites the file without them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from piiloom.corpus.store.database import Store

_CHUNK = 2_000
# Checkpoint after this many chunks. Until then DuckDB keeps the replaced rows, about 2.5 MB a chunk.
_PIECES = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Purged:
    """How many texts were purged. ``prompts`` includes deleted system prompts that no event refers to any more."""

    prompts: int = 0
    replies: int = 0
    rejects: int = 0


def last_heard(store: Store) -> dict[str, datetime | None]:
    """Return when each run with calls last sent one; None if that was not recorded (before schema version 3)."""
    sql = "SELECT run_id, max(entry->>'$.at') FROM call_events GROUP BY run_id"
    return {run: datetime.fromisoformat(at) if at else None for run, at in store.rows(sql)}


def purge_texts(store: Store, run_ids: Sequence[str]) -> Purged:
    """Replace the texts of all prompts and replies of *run_ids* by null. Records are unchanged.

    Works in chunks, each in its own transaction, since DuckDB keeps the rows that a transaction replaces in memory. If interrupted,
    part of the texts is purged; calling it again continues.
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
    """Return a copy of an event's *entry* without texts of prompts, replies and messages. Codes, counts and costs stay."""
    kept = dict(entry)
    for name in ("user", "reply", "message"):
        if name in kept:
            kept[name] = None
    # These are "code: explanation". Keep the code only, as the explanation may quote the reply.
    for name in ("error", "fault", "unmet"):
        if isinstance(kept.get(name), str):
            kept[name] = kept[name].partition(": ")[0]
    return kept


def drop_unused_prompts(store: Store) -> int:
    """Delete the system prompts that no unpurged "sent" event refers to. Return how many were deleted."""
    needed = (
        "(SELECT entry->>'$.system' FROM call_events WHERE kind = 'sent' AND entry->>'$.user' IS NOT NULL "
        "AND entry->>'$.system' IS NOT NULL)"
    )
    unused = f"prompt_texts WHERE sha256 NOT IN {needed}"
    number = _count(store, unused)
    store.change(f"DELETE FROM {unused}")  # noqa: S608 - the constant above
    return number


def _purge_chunk(store: Store, first: int, last: int, run_ids: list[str]) -> tuple[int, int]:
    """Purge the events with row ids *first* to *last*. Return how many prompts and how many replies lost their text."""
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
