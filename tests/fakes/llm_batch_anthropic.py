"""Anthropic's message batches as the fake server has them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from tests.fakes.llm_batches import Answer, Entry, FakeBatch, FakeBatches, lines, page, single
from tests.fakes.llm_wire import BadCall

_CUSTOM_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}\Z")


def answer(store: FakeBatches, method: str, steps: list[str], query: Mapping[str, str], data: bytes, root: str) -> Answer:
    if method == "POST" and not steps:
        return Answer(body=_view(_create(store, data), root))
    if not steps:
        for batch in store.batches.values():
            _advance(store, batch)
        found, more = page((b for b in store.batches.values() if "input" not in b.more), query.get("after_id"), int(query.get("limit", 20)))
        views = [_view(batch, root) for batch in found]
        ends = {"first_id": views[0]["id"], "last_id": views[-1]["id"]} if views else {"first_id": None, "last_id": None}
        return Answer(body={"data": views, "has_more": more, **ends})
    batch = store.batches.get(steps[0])
    if batch is None:
        raise BadCall(404, "not_found_error", f"Could not find batch {steps[0]}")
    if steps[1:] == ["results"]:
        if batch.state != "ended":
            raise BadCall(404, "not_found_error", "the results are not available yet")
        return Answer(body=lines(_line(entry) for entry in batch.order))
    if steps[1:] == ["cancel"]:
        if batch.state == "ended":
            raise BadCall(400, "invalid_request_error", "the batch has ended")
        batch.state = "canceling"
        batch.more["cancelled"] = True
    else:
        _advance(store, batch)
    return Answer(body=_view(batch, root))


def _advance(store: FakeBatches, batch: FakeBatch) -> None:
    """One look later; a listing counts as one at all batches, since time passes for them too."""
    if batch.state == "canceling":
        store.end_rest(batch, "cancelled")
        batch.state = "ended"
    elif batch.state == "in_progress" and store.work(batch):
        batch.state = "ended"


def _create(store: FakeBatches, data: bytes) -> FakeBatch:
    if len(data) > store.max_bytes:
        raise BadCall(413, "request_too_large", "Request exceeds the maximum size")
    requests = json.loads(data).get("requests") or []
    if not 1 <= len(requests) <= store.max_requests:
        raise BadCall(400, "invalid_request_error", "requests: the number of requests is not allowed")
    names = [row["custom_id"] for row in requests]
    if len(set(names)) < len(names) or not all(_CUSTOM_ID.match(name) for name in names):
        raise BadCall(400, "invalid_request_error", "requests: custom_id must be unique and match the pattern")
    entries = [Entry(custom_id=row["custom_id"], body=row["params"], path="/v1/messages") for row in requests]
    if store.next_plan().refused:
        raise BadCall(400, "invalid_request_error", "refused by the test")
    return store.add(f"msgbatch_{len(store.batches):04d}", entries, "in_progress", _advance)


def _line(entry: Entry) -> dict[str, Any]:
    if entry.ending in ("expired", "cancelled", "missing"):
        return {"custom_id": entry.custom_id, "result": {"type": "expired" if entry.ending == "expired" else "canceled"}}
    status, body = single(entry, "messages")
    if status == 200:
        return {"custom_id": entry.custom_id, "result": {"type": "succeeded", "message": body}}
    return {"custom_id": entry.custom_id, "result": {"type": "errored", "error": body}}


def _view(batch: FakeBatch, root: str) -> dict[str, Any]:
    ended = batch.state == "ended"
    tally = {
        "succeeded": batch.count("ok"),
        "errored": batch.count("invalid", "server_error", "rate_limit"),
        "canceled": batch.count("cancelled", "missing"),
        "expired": batch.count("expired"),
    }
    # The real API counts everything as being processed until the whole batch has ended.
    counts = {"processing": 0, **tally} if ended else {"processing": len(batch.entries), **dict.fromkeys(tally, 0)}
    return {
        "id": batch.id,
        "type": "message_batch",
        "processing_status": batch.state,
        "request_counts": counts,
        "created_at": _moment(batch.created),
        "expires_at": _moment(batch.created + 86_400),
        "ended_at": _moment(batch.created) if ended else None,
        "archived_at": _moment(batch.created) if "archived" in batch.more else None,
        "cancel_initiated_at": _moment(batch.created) if "cancelled" in batch.more else None,
        "results_url": f"{root}/v1/messages/batches/{batch.id}/results" if ended and "archived" not in batch.more else None,
    }


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat()
