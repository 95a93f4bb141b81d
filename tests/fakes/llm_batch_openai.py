"""OpenAI's files and batches as the fake server has them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from email.parser import BytesParser
from email.policy import HTTP
from typing import Any, cast

from tests.fakes.llm_batches import Answer, Entry, FakeBatch, FakeBatches, lines, page, single
from tests.fakes.llm_wire import BadCall

_RESPONSES = "/v1/responses"


def files(store: FakeBatches, method: str, steps: list[str], headers: Mapping[str, str], data: bytes) -> Answer:
    if method == "POST":
        message = BytesParser(policy=HTTP).parsebytes(b"content-type: " + headers["content-type"].encode() + b"\r\n\r\n" + data)
        fields = {str(p.get_param("name", header="content-disposition")): p.get_payload(decode=True) for p in message.iter_parts()}
        content = cast("bytes", fields.get("file"))
        if fields.get("purpose") != b"batch" or content is None:
            raise BadCall(400, "invalid_request_error", "purpose: batch is what this server takes")
        if len(content) > store.max_bytes:
            raise BadCall(413, "invalid_request_error", "The file is too large")
        name = f"file-{len(store.files)}"
        store.files[name] = content
        return Answer(body={"id": name, "object": "file", "bytes": len(content), "created_at": 0, "filename": "b", "purpose": "batch"})
    if steps[0] not in store.files:
        raise BadCall(404, "invalid_request_error", f"No such File object: {steps[0]}")
    return Answer(body=store.files[steps[0]])


def answer(store: FakeBatches, method: str, steps: list[str], query: Mapping[str, str], data: bytes) -> Answer:
    if method == "POST" and not steps:
        return Answer(body=_view(_create(store, json.loads(data))))
    if not steps:
        found, more = page((b for b in store.batches.values() if "input" in b.more), query.get("after"), int(query.get("limit", 20)))
        views = [_view(batch) for batch in found]
        return Answer(body={"object": "list", "data": views, "has_more": more})
    batch = store.batches.get(steps[0])
    if batch is None:
        raise BadCall(404, "invalid_request_error", f"No batch found with id '{steps[0]}'.")
    if method == "POST":
        if batch.state not in {"validating", "in_progress", "finalizing"}:
            raise BadCall(409, "invalid_request_error", f"Cannot cancel a batch with status '{batch.state}'.")
        batch.state = "cancelling"
    else:
        _advance(store, batch)
    return Answer(body=_view(batch))


def _create(store: FakeBatches, body: Mapping[str, Any]) -> FakeBatch:
    if body.get("completion_window") != "24h" or body.get("endpoint") != _RESPONSES:
        raise BadCall(400, "invalid_request_error", "Invalid value for 'completion_window' or 'endpoint'.")
    if body.get("input_file_id") not in store.files:
        raise BadCall(400, "invalid_request_error", "No such File object", code="invalid_file")
    metadata = body.get("metadata") or {}
    if len(metadata) > 16 or any(len(name) > 64 or not isinstance(value, str) or len(value) > 512 for name, value in metadata.items()):
        raise BadCall(400, "invalid_request_error", "Invalid 'metadata'.")
    rows = [json.loads(line) for line in store.files[body["input_file_id"]].splitlines()]
    entries = [Entry(custom_id=row["custom_id"], body=row["body"], path=row["url"]) for row in rows]
    return store.add(f"batch_{len(store.batches):04d}", entries, "validating", _advance, input=body["input_file_id"], metadata=metadata)


def _advance(store: FakeBatches, batch: FakeBatch) -> None:
    """One look-up later: validated, under way, over."""
    if batch.state == "validating":
        errors = _faults(store, batch)
        batch.more["errors"] = errors
        batch.state = "failed" if errors else "in_progress"
    elif batch.state == "cancelling":
        store.end_rest(batch, "cancelled")
        _finish(store, batch, "cancelled")
    elif batch.state == "in_progress" and store.work(batch):
        _finish(store, batch, "expired" if batch.count("expired") else "completed")


def _faults(store: FakeBatches, batch: FakeBatch) -> list[dict[str, Any]]:
    if batch.plan.refused:
        return [{"code": batch.plan.refused, "message": "refused by the test", "line": None}]
    if len(batch.entries) > store.max_requests:
        return [{"code": "too_many_tasks", "message": "The batch has too many requests", "line": None}]
    found: list[dict[str, Any]] = []
    seen: set[str] = set()
    for number, entry in enumerate(batch.entries, 1):
        if entry.custom_id in seen:
            found.append({"code": "duplicate_custom_id", "message": "duplicate", "line": number})
        if entry.path != _RESPONSES:
            found.append({"code": "invalid_url", "message": "the URL does not match", "line": number})
        if entry.body.get("model") != batch.entries[0].body.get("model"):
            found.append({"code": "mismatched_model", "message": "one model a batch", "line": number})
        if store.bad_line(entry.body):
            found.append({"code": "invalid_json_line", "message": "refused by the test", "line": number})
        seen.add(entry.custom_id)
    return found


def _finish(store: FakeBatches, batch: FakeBatch, state: str) -> None:
    batch.state = state
    good = [_line(entry) for entry in batch.order if entry.ending == "ok"]
    bad = [_line(entry) for entry in batch.order if entry.ending not in ("ok", "missing")]
    for name, rows in (("output", good), ("error", bad)):
        if rows:
            batch.more[name] = f"file-{len(store.files)}"
            store.files[batch.more[name]] = lines(rows)


def _line(entry: Entry) -> dict[str, Any]:
    row: dict[str, Any] = {"id": f"batch_req_{entry.custom_id}", "custom_id": entry.custom_id, "response": None, "error": None}
    if entry.ending in ("expired", "cancelled"):
        message = "This request could not be executed before the batch ended."
        row["error"] = {"code": f"batch_{entry.ending}", "message": message}
        return row
    status, body = single(entry, "responses")
    row["response"] = {"status_code": status, "request_id": "req_1", "body": body}
    return row


def _view(batch: FakeBatch) -> dict[str, Any]:
    failed = batch.count("invalid", "server_error", "rate_limit")
    return {
        "id": batch.id,
        "object": "batch",
        "endpoint": _RESPONSES,
        "errors": {"object": "list", "data": batch.more["errors"]} if batch.more.get("errors") else None,
        "input_file_id": batch.more["input"],
        "completion_window": "24h",
        "status": batch.state,
        "output_file_id": batch.more.get("output"),
        "error_file_id": batch.more.get("error"),
        "created_at": int(batch.created),
        "request_counts": {"total": len(batch.entries), "completed": batch.count("ok"), "failed": failed},
        "metadata": batch.more["metadata"] or None,
    }
