"""Calls as the journal keeps them, made up for tests of whatever reads it."""

from __future__ import annotations

from typing import Any

from piiloom.corpus.store.call_events import CallEvent, EventKind, save_call_events, save_prompt_texts
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.runs import RunRow, create_run

AT = "2026-11-21T21:00:00.000+00:00"
SYSTEM = ("ab" * 32, "Be exact. SYSTEM-TEXT")


def new_run(store: Store, run_id: str = "r1", samples: int = 2) -> RunRow:
    return create_run(
        store, provider="openai", model="m-1", seed=1, samples=samples, config={}, config_digest=run_id, run_id=run_id, status="finished"
    )


def event(kind: EventKind, key: str = "k1", item: str = "7", stage: str = "question", attempt: int = 0, **entry: Any) -> CallEvent:
    return CallEvent(key=key, kind=kind, stage=stage, item_id=item, attempt=attempt, entry=entry)


def sent(key: str = "k1", number: int = 1, *, worst_usd: float | None = 0.5, at: str = AT, **where: Any) -> CallEvent:
    """A request about to leave; with the first try comes the prompt."""
    prompt = {"system": SYSTEM[0], "user": f"USER-TEXT of {key}", "schema_name": "question"} if number == 1 else {}
    batch = {"batch": where.pop("batch")} if "batch" in where else {}
    made = event("sent", key, **where)
    return CallEvent(**_fields(made), entry={"try": number, "worst_usd": worst_usd, "at": at, **prompt, **batch})


def reply(key: str = "k1", number: int = 1, *, cost_usd: float | None = 0.25, error: str | None = None, **where: Any) -> CallEvent:
    made = event("reply", key, **where)
    entry = {
        "try": number,
        "provider": "openai",
        "endpoint": "https://api.test",
        "model": "m-1",
        "template": "question.v1",
        "rendered_sha256": "cd" * 32,
        "reply": f"REPLY-TEXT of {key}",
        "finish_reason": "stop",
        "error": error,
        "input": 100,
        "cached": 40,
        "cache_write": 0,
        "output": 10,
        "cost_usd": cost_usd,
        "latency_s": 1.25,
        "retries": number - 1,
        "batch": False,
    }
    return CallEvent(**_fields(made), entry=entry)


def failed(
    key: str = "k1", number: int = 1, code: str = "rate_limited", *, final: bool = False, charge_usd: float = 0.0, **where: Any
) -> CallEvent:
    made = event("failed", key, **where)
    charged = {"maybe_billed": charge_usd > 0, "charge_usd": charge_usd}
    return CallEvent(**_fields(made), entry={"try": number, "code": code, "message": "MESSAGE-TEXT", **charged, "final": final})


def verdict(key: str = "k1", fault: str | None = None, **where: Any) -> CallEvent:
    made = event("verdict", key, **where)
    return CallEvent(**_fields(made), entry={"verdict": "refused_by_validator" if fault else "accepted", "fault": fault})


def tell(store: Store, *events: CallEvent, run_id: str = "r1") -> None:
    """Keep *events* and the system prompt that they name."""
    save_call_events(store, run_id, events)
    save_prompt_texts(store, [SYSTEM])


def _fields(made: CallEvent) -> dict[str, Any]:
    return {"key": made.key, "kind": made.kind, "stage": made.stage, "item_id": made.item_id, "attempt": made.attempt}
