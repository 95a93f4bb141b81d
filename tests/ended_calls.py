"""Calls as rows: each paid reply, and each call that came to nothing, with the last verdict on it.

For tests; what is written are the events of ``piiloom.corpus.store.call_events``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from piiloom.corpus.store.call_events import ReplyVerdict
from piiloom.corpus.store.database import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletionRow:
    """One call of a run. ``reply`` is None where none came; ``fault`` is what is held against it, by validator or server.

    ``cost_usd`` is None when the price is unknown. ``retries`` counts the tries before the last one.
    """

    key: str
    run_id: str
    stage: str
    item_id: str
    attempt: int
    provider: str | None
    endpoint: str | None
    model: str | None
    template: str | None
    rendered_sha256: str | None
    reply: str | None
    verdict: ReplyVerdict | None
    fault: str | None
    input_tokens: int
    cached_tokens: int
    output_tokens: int
    cost_usd: float | None
    retries: int


def load_completions(store: Store, run_id: str) -> list[CompletionRow]:
    """All calls of a run that ended, in order; where one key was paid for twice, both rows stay."""
    judged: dict[str, Mapping[str, Any]] = {}
    ended: list[tuple[str, str, str, int, str, Mapping[str, Any]]] = []
    sql = "SELECT key, kind, stage, item_id, attempt, entry FROM call_events WHERE run_id = ? AND kind <> 'sent' ORDER BY rowid"
    for key, kind, stage, item_id, attempt, text in store.rows(sql, [run_id]):
        entry = json.loads(text)
        if kind == "verdict":
            judged[key] = entry
        elif kind == "reply" or entry.get("final"):
            ended.append((key, stage, item_id, attempt, kind, entry))
    return [_row(run_id, *one, judged.get(one[0], {})) for one in ended]


def _row(
    run_id: str, key: str, stage: str, item_id: str, attempt: int, kind: str, entry: Mapping[str, Any], judged: Mapping[str, Any]
) -> CompletionRow:
    fault = entry.get("error") if kind == "reply" else entry.get("message")
    verdict: ReplyVerdict | None = "error" if fault else None
    if kind == "reply":
        verdict, fault = judged.get("verdict", verdict), judged.get("fault", fault)
    return CompletionRow(
        key=key,
        run_id=run_id,
        stage=stage,
        item_id=item_id,
        attempt=attempt,
        provider=entry.get("provider"),
        endpoint=entry.get("endpoint"),
        model=entry.get("model"),
        template=entry.get("template"),
        rendered_sha256=entry.get("rendered_sha256"),
        reply=entry.get("reply"),
        verdict=verdict,
        fault=fault,
        input_tokens=entry.get("input", 0),
        cached_tokens=entry.get("cached", 0),
        output_tokens=entry.get("output", 0),
        cost_usd=entry.get("cost_usd"),
        retries=entry.get("retries", entry.get("try", 1) - 1),
    )
