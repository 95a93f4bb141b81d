"""The journal of calls, an append-only table of events (sent, reply, failed, verdict, used); its export to JSON Lines; batches.

The table has few columns, one of them JSON, because every call is written three times and the time of a commit grows with the number
of columns. A call's ``key`` is a hash of everything that shapes its answer. One key may have several tries, and even several
replies if one was lost. Nothing is overwritten, except that ``deleting.purge_texts`` removes texts, so costs can always be summed up.

An event's ``item_id`` is the plan index of its item, optionally with a part after a slash (``12/0``: the first aside of item 12).
For stages that run once per pair or topic it is the key of the pair or topic; these keys never begin with a digit.

A batch is sent to a provider's batch API. It is saved before it is created at the provider, and again (replacing its row) whenever its
state changes. Its requests are saved once. The outcome of a request is in the journal, not with its batch. A request without a reply in
the journal is owed: it is still pending, or was sent again in a later batch.
"""

from __future__ import annotations

import hashlib
import json
import os
from array import array
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Literal, get_args

from piiloom.corpus.store.database import Store, conditions, field_names
from piiloom.corpus.store.runs import list_runs
from piiloom.foundation.errors import OutputError
from piiloom.foundation.version import __version__
from piiloom.foundation.whole_files import drafted

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
    known = set(store.column("SELECT sha256 FROM prompt_texts WHERE sha256 IN (SELECT unnest(?::VARCHAR[]))", [list(latest)]))
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
    return {
        key: KnownReply(run_id=run, entry=json.loads(entry))
        for key, run, entry in store.rows(
            "SELECT key, run_id, entry FROM call_events WHERE kind = 'reply' AND key IN (SELECT unnest(?::VARCHAR[])) "
            "AND json_extract_string(entry, '$.reply') IS NOT NULL ORDER BY rowid",
            [list(keys)],
        )
    }


_CHUNK = 2_000
# The plan index of an event: the part of item_id before the first slash, or NULL if that is no number.
_INDEX = "try_cast(split_part(item_id, '/', 1) AS BIGINT)"


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalEvent(CallEvent):
    """One stored event."""

    run_id: str


def events_of_item(store: Store, run_id: str, index: int) -> list[JournalEvent]:
    """Return all events of plan item *index* and its parts, in order."""
    return _events(store, f"WHERE run_id = ? AND {_INDEX} = ?", [run_id, index])


def events_of_key(store: Store, run_id: str, stage: str, item_id: str) -> list[JournalEvent]:
    """Return all events of *stage* for one pair or topic, in order."""
    return _events(store, "WHERE run_id = ? AND stage = ? AND item_id = ?", [run_id, stage, item_id])


def paid_events(store: Store, run_id: str, keys: Sequence[str]) -> list[JournalEvent]:
    """Return the events "sent", "reply" and "failed" of run *run_id* for *keys*, in order."""
    where = "WHERE run_id = ? AND kind IN ('sent', 'reply', 'failed') AND key IN (SELECT unnest(?::VARCHAR[]))"
    return _events(store, where, [run_id, list(keys)])


def iter_events(store: Store, run_id: str | None = None) -> Iterator[JournalEvent]:
    """Iterate over all events of a run (None: of all runs), in order. Memory: 8 bytes an event, plus a batch of events."""
    places = store.integers("SELECT rowid FROM call_events WHERE (?::VARCHAR IS NULL OR run_id = ?) ORDER BY rowid", [run_id, run_id])
    for at in range(0, len(places), _CHUNK):
        chunk = places[at : at + _CHUNK]
        yield from _events(
            store, "WHERE rowid BETWEEN ? AND ? AND (?::VARCHAR IS NULL OR run_id = ?)", [chunk[0], chunk[-1], run_id, run_id]
        )


def count_events(store: Store, run_id: str | None = None) -> dict[str, int]:
    """Count the events of a run (of all runs when None) by kind."""
    return dict(
        store.rows(
            "SELECT kind, count(*) FROM call_events WHERE (?::VARCHAR IS NULL OR run_id = ?) GROUP BY kind ORDER BY kind", [run_id, run_id]
        )
    )


def prompt_names(store: Store, run_id: str | None = None) -> list[str]:
    """List the SHA-256 of the system prompts that a run (any run when None) has sent."""
    return store.column(
        "SELECT DISTINCT entry->>'$.system' AS name FROM call_events WHERE kind = 'sent' AND (?::VARCHAR IS NULL OR run_id = ?) "
        "AND entry->>'$.system' IS NOT NULL ORDER BY name",
        [run_id, run_id],
    )


def load_prompts(store: Store, names: Sequence[str]) -> dict[str, str]:
    """The texts of the system prompts *names* (SHA-256) that the store still has."""
    return dict(
        store.rows(
            "SELECT sha256, text FROM prompt_texts WHERE text IS NOT NULL AND sha256 IN (SELECT unnest(?::VARCHAR[])) ORDER BY sha256",
            [list(names)],
        )
    )


def _events(store: Store, where: str, parameters: Sequence[object]) -> list[JournalEvent]:
    return store.objects(JournalEvent, f"FROM call_events {where} ORDER BY rowid", parameters, decoded=["entry"])


SCHEMA = 1
_PROMPTS = "prompt_texts"


def export_journal(store: Store, out: Path, run_id: str | None) -> Counter[str]:
    """Write the journal of a run (of all runs if None) to *out*; return the number of its rows by kind.

    Raises ``OutputError`` if it cannot be written, or is not on disk as the store has it; *out* is then as it was.
    """
    with drafted(out, "the journal", remedy="Name another file with --out") as file:
        written = _write(file, _rows(store, run_id))
        found = _read_back(Path(file.name), written, out)
        _compare(found, store, run_id, out)
    return found


def _rows(store: Store, run_id: str | None) -> Iterator[dict[str, Any]]:
    runs = [run_id] if run_id else [run.id for run in list_runs(store)]
    yield {"table": "journal", "schema": SCHEMA, "piiloom": __version__, "runs": runs}
    names = prompt_names(store, run_id)
    yield from ({"table": _PROMPTS, "sha256": name, "text": text} for name, text in load_prompts(store, names).items())
    yield from ({"table": "call_events", **{name: getattr(event, name) for name in _COLUMNS}} for event in iter_events(store, run_id))


def _write(file: BinaryIO, rows: Iterator[dict[str, Any]]) -> str:
    """Write *rows* to *file*; return its SHA-256."""
    sha256 = hashlib.sha256()
    for row in rows:
        line = json.dumps(row, ensure_ascii=False).encode() + b"\n"
        sha256.update(line)
        file.write(line)
    file.flush()
    os.fsync(file.fileno())
    return sha256.hexdigest()


def _read_back(draft: Path, written: str, out: Path) -> Counter[str]:
    """Read the file again and count its rows by kind. Raises ``OutputError`` if its hash is not *written*."""
    sha256, counts = hashlib.sha256(), Counter[str]()
    with draft.open("rb") as file:
        for number, line in enumerate(file):
            sha256.update(line)
            row = json.loads(line)
            if number:
                counts[row.get("kind", _PROMPTS)] += 1
    if sha256.hexdigest() != written:
        raise OutputError("the file on disk is not what was written", where=str(out), remedy="The disk may be failing: use another one")
    return counts


def _compare(found: Counter[str], store: Store, run_id: str | None, out: Path) -> None:
    wanted = Counter(count_events(store, run_id))
    wanted[_PROMPTS] = len(load_prompts(store, prompt_names(store, run_id)))
    if found != +wanted:
        raise OutputError(
            "the file does not hold all rows of the journal", where=str(out), remedy="Nothing was written; please report this"
        )


BatchState = Literal["preparing", "submitted", "ended", "collected", "cancelled", "failed"]
BATCH_STATES: tuple[BatchState, ...] = get_args(BatchState)
# In these states a batch may have paid replies that are not in the journal yet.
OPEN_STATES: tuple[BatchState, ...] = ("preparing", "submitted", "ended")


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchRow:
    """One batch. ``remote_id`` is the provider's id, None until it has answered. ``detail`` says why a batch failed."""

    id: str
    run_id: str
    provider: str
    endpoint: str
    model: str
    remote_id: str | None
    state: BatchState
    requests: int
    created_at: str
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchRequestRow:
    """One request of a batch: its ``key`` in the journal, its item, and its maximum cost in USD (None: no known price)."""

    batch_id: str
    run_id: str
    custom_id: str
    key: str
    stage: str
    item_id: str
    attempt: int
    worst_usd: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class OwedRequest:
    """A request whose key has no reply in the journal yet. ``tries`` counts the batches it has been in so far."""

    row: BatchRequestRow
    tries: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenBatch:
    """A batch in one of ``OPEN_STATES``, with its requests that have no reply yet."""

    row: BatchRow
    owed: tuple[OwedRequest, ...]


def save_batches(store: Store, rows: Sequence[BatchRow]) -> None:
    """Save batches. A stored row with the same id is replaced; if *rows* has an id twice, the last one counts."""
    latest = {row.id: row for row in rows}
    if not latest:
        return
    with store.writing():
        store.change("DELETE FROM batches WHERE id IN (SELECT unnest(?::VARCHAR[]))", [list(latest)])
        store.add("batches", list(latest.values()))


def save_batch_requests(store: Store, rows: Sequence[BatchRequestRow]) -> None:
    """Save the requests of batches. The caller must save each only once."""
    store.add("batch_requests", rows)


def load_batches(store: Store, run_id: str | None = None, *, states: Sequence[BatchState] = BATCH_STATES) -> list[BatchRow]:
    """The batches of a run (None: of all runs) in one of *states*, oldest first."""
    condition, parameters = conditions(("list_contains(?::VARCHAR[], state)", states), ("run_id = ?", run_id))
    return store.objects(BatchRow, f"FROM batches {condition} ORDER BY created_at, id", parameters)


def load_open_batches(store: Store, run_id: str | None = None) -> list[OpenBatch]:
    """Return the batches of a run (None: of all) that may have paid replies not yet in the journal, oldest first."""
    return [OpenBatch(row=row, owed=_owed(store, row.id)) for row in load_batches(store, run_id, states=OPEN_STATES)]


def keys_out(store: Store, *, but_not: str) -> dict[str, str]:
    """Return the keys still waiting for a reply in open batches of runs other than *but_not*, each with the run that waits for it."""
    return dict(
        store.rows(
            """
        SELECT r.key, r.run_id FROM batch_requests r JOIN batches b ON b.id = r.batch_id
        WHERE list_contains(?::VARCHAR[], b.state) AND b.run_id <> ? AND NOT EXISTS (
            SELECT 1 FROM call_events e WHERE e.key = r.key AND e.run_id = r.run_id AND e.kind = 'reply')""",
            [list(OPEN_STATES), but_not],
        )
    )


def _owed(store: Store, batch_id: str) -> tuple[OwedRequest, ...]:
    # A run that was killed while collecting results has saved some replies in the journal already; leave those out.
    sql = """
        SELECT r.batch_id, r.run_id, r.custom_id, r.key, r.stage, r.item_id, r.attempt, r.worst_usd,
            (SELECT count(*) FROM batch_requests o WHERE o.key = r.key AND o.run_id = r.run_id) FROM batch_requests r
        WHERE r.batch_id = ? AND NOT EXISTS (
            SELECT 1 FROM call_events e WHERE e.key = r.key AND e.run_id = r.run_id AND e.kind = 'reply')
        ORDER BY r.rowid"""
    names = field_names(BatchRequestRow)
    found = store.rows(sql, [batch_id])
    return tuple(OwedRequest(row=BatchRequestRow(**dict(zip(names, values, strict=True))), tries=tries) for *values, tries in found)
