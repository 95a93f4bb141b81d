"""A channel to a scripted paid provider over a store, for tests of how calls are made and kept."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from piiloom.corpus.store.database import MEMORY, Store
from piiloom.corpus.store.runs import create_run
from piiloom.execution.call_channel import CallChannel, CallPolicy, open_channel
from piiloom.execution.committing import GroupCommitter
from piiloom.execution.retrying import RetryPolicy
from piiloom.providers.prices import ModelSpec
from piiloom.providers.protocol import Completion, Message, PromptCall, TokenUsage

R = TypeVar("R")
SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": False}
QUICK = RetryPolicy(attempts=4, base_s=0.001, cap_s=0.002, patience_s=1.0, limited_s=0.0)
# A dollar for a thousand input tokens, two for a thousand output tokens: sums that can be read.
SPEC = ModelSpec(input=1000.0, output=2000.0, overhead_tokens=0)
USAGE = TokenUsage(input=10, output=5)
COST = 10 * 0.001 + 5 * 0.002
Answer = Callable[[PromptCall], Any]


class PaidProvider:
    """Answers what *answer* gives (a coroutine is awaited, an exception raised, a completion given as it is), and keeps the calls."""

    name, model, endpoint, paid = "scripted", "script-1", "test", True
    on_rates = None

    def __init__(self, answer: Answer, spec: ModelSpec = SPEC) -> None:
        self.spec, self._answer = spec, answer
        self.calls: list[PromptCall] = []

    async def complete(self, call: PromptCall) -> Completion:
        self.calls.append(call)
        found = self._answer(call)
        if asyncio.iscoroutine(found):
            found = await found
        if isinstance(found, Exception):
            raise found
        return found if isinstance(found, Completion) else completion(found, self.spec)

    async def aclose(self) -> None:
        """Nothing is open."""


def completion(data: Any, spec: ModelSpec = SPEC) -> Completion:
    return Completion(text=json.dumps(data), data=data, model="script-1", usage=USAGE, cost_usd=spec.cost_usd(USAGE))


def a_call(number: int = 0, *, attempt: int = 0, prompt: str = "count", system: str = "Be exact.") -> PromptCall:
    messages = (Message(role="system", content=system), Message(role="user", content=f"{prompt} {number}"))
    return PromptCall(
        stage="counting",
        template="count.v1",
        variables={"number": number},
        render=lambda: messages,
        schema_name="count",
        schema=SCHEMA,
        item_id=str(number),
        attempt=attempt,
    )


def open_store(path: Path = MEMORY) -> Store:
    return Store.open(path)


def new_run(store: Store, name: str = "run") -> str:
    return create_run(store, provider="scripted", model=None, seed=1, samples=1, config={}, config_digest=name, run_id=name).id


def on_channel(
    store: Store, run_id: str, provider: PaidProvider, work: Callable[[CallChannel], Awaitable[R]], *, seed: int = 1, **policy: Any
) -> R:
    """Open the channel, do *work*, drain, and give the store back."""
    committer = GroupCommitter(store, run_id, pace_s=0.001)
    channel = open_channel(store, run_id, provider, committer, replace(CallPolicy(retry=QUICK), **policy), seed=seed)

    async def whole() -> R:
        try:
            return await work(channel)
        finally:
            await channel.calls.drain()

    committer.start()
    try:
        return asyncio.run(whole())
    finally:
        committer.close()


def events(store: Store, run_id: str = "run") -> list[tuple[str, dict[str, Any]]]:
    """Kind and entry of every event of a run, in order."""
    return [(k, json.loads(e)) for k, e in store.rows("SELECT kind, entry FROM call_events WHERE run_id = ? ORDER BY rowid", [run_id])]


def kinds(store: Store, run_id: str = "run") -> list[str]:
    return [kind for kind, _ in events(store, run_id)]
