"""Sessions in batch mode: items of two stages, real SDKs, the loopback server, a store on disk."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from piiloom.corpus.store.call_events import BatchRow, load_batches, load_open_batches
from piiloom.corpus.store.costs import spending
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.runs import create_run, list_runs
from piiloom.execution.batches.batch_scheduler import BatchScheduler
from piiloom.execution.batches.ledger import BatchPolicy
from piiloom.execution.call_entries import CallTotals
from piiloom.execution.calls import Calls
from piiloom.execution.committing import GroupCommitter, Journal
from piiloom.execution.money.budget import Budget
from piiloom.providers.batch_api import BatchLimits
from piiloom.providers.factory import make_batch_api, make_provider
from piiloom.providers.protocol import Message, PromptCall
from tests.fakes.llm_server import LLMServer
from tests.providers.provider_calls import MODELS

RUN = "run"
SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": False}
# Waits that a test does not notice; the shape of the policy is that of the real one.
QUICK = BatchPolicy(settle_s=0.01, patience_s=0.05, first_poll_s=0.005, longest_poll_s=0.02, sends=3)


class Server(Protocol):
    """Where a session finds its provider."""

    @property
    def anthropic_url(self) -> str: ...

    @property
    def openai_url(self) -> str: ...


def a_call(number: int, stage: str = "first", attempt: int = 0) -> PromptCall:
    messages = (Message(role="system", content="Count."), Message(role="user", content=f"{stage} {number}"))
    return PromptCall(
        stage=stage,
        template=f"{stage}.v1",
        variables={"number": number},
        render=lambda: messages,
        schema_name="count",
        schema=SCHEMA,
        item_id=str(number),
        attempt=attempt,
    )


def counting() -> LLMServer:
    """A server that answers each prompt with its number."""
    return LLMServer(lambda request: {"n": int(request.user.split()[-1])})


@dataclass
class BatchSession:
    """What a test has in its hands while a session lasts."""

    calls: Calls
    batches: BatchScheduler
    totals: CallTotals
    budget: Budget
    open_items: int = 0

    async def item(self, number: int, stages: Sequence[str] = ("first", "second")) -> list[int]:
        """One item through *stages*; gives what was answered."""
        self.open_items += 1
        try:
            return [(await self.calls.complete(a_call(number, stage))).completion.data["n"] for stage in stages]
        finally:
            self.open_items -= 1

    async def items(self, numbers: Sequence[int], stages: Sequence[str] = ("first", "second")) -> list[Any]:
        return await asyncio.gather(*(self.item(n, stages) for n in numbers), return_exceptions=True)


async def until(condition: Callable[[], bool]) -> None:
    """Wait for something that nobody tells."""
    while not condition():  # noqa: ASYNC110 - what is waited for is the state of other threads and of the code under test
        await asyncio.sleep(0.001)


def is_out(found: BatchSession) -> bool:
    """Whether a batch of the session is at its provider."""
    return any(status.row.state == "submitted" for status in found.batches.out)


Work = Callable[[BatchSession], Awaitable[Any]]


def sit(
    path: Path,
    server: Server,
    name: str,
    work: Work,
    *,
    policy: BatchPolicy = QUICK,
    limits: BatchLimits | None = None,
    budget_usd: float | None = None,
) -> Any:
    """One session on the run of the store at *path*, opened and closed as a process would."""

    async def whole() -> Any:
        async with session(path, server, name, policy=policy, limits=limits, budget_usd=budget_usd) as found:
            return await work(found)

    return asyncio.run(whole())


@asynccontextmanager
async def session(
    path: Path,
    server: Server,
    name: str,
    *,
    policy: BatchPolicy = QUICK,
    limits: BatchLimits | None = None,
    budget_usd: float | None = None,
) -> AsyncIterator[BatchSession]:
    with Store.open(path) as store:
        if not list_runs(store):
            create_run(store, provider=name, model=None, seed=1, samples=1, config={}, config_digest=RUN, run_id=RUN)
        url = server.anthropic_url if name == "anthropic" else server.openai_url
        provider = make_provider(name, model=MODELS[name], base_url=url)
        committer = GroupCommitter(store, RUN)
        totals = CallTotals.after(spending(store, RUN))
        budget = Budget(budget_usd, spent_usd=totals.spent_usd)
        journal, left = Journal(store, committer, RUN), load_open_batches(store, RUN)
        batches = BatchScheduler(
            provider,
            make_batch_api(provider, limits),
            committer,
            totals,
            run_id=RUN,
            budget=budget,
            open_items=lambda: found.open_items,
            policy=policy,
        )
        found = BatchSession(Calls(provider, committer, RUN, totals=totals, sender=batches, journal=journal), batches, totals, budget)
        committer.start()
        try:
            batches.adopt(left)
            yield found
        finally:
            await found.calls.drain()
            committer.close()
            await provider.aclose()


def batches(path: Path) -> list[BatchRow]:
    with Store.open(path) as store:
        return load_batches(store, RUN)


def replies(path: Path) -> list[str]:
    """The keys of all replies in the journal, each as often as it was paid for."""
    with Store.open(path) as store:
        return [key for (key,) in store.rows("SELECT key FROM call_events WHERE kind = 'reply'")]


def entries(path: Path, kind: str) -> list[dict[str, Any]]:
    """The entries of all events of a kind, in order."""
    with Store.open(path) as store:
        return [json.loads(text) for (text,) in store.rows("SELECT entry FROM call_events WHERE kind = ? ORDER BY rowid", [kind])]


def spent(path: Path) -> float:
    with Store.open(path) as store:
        return spending(store, RUN).cost_usd


def impatient(**changes: Any) -> BatchPolicy:
    return replace(QUICK, **changes)


def main() -> None:
    """One session as a process of its own, to be killed: STORE ROOT-URL PROVIDER ITEMS STAGE…"""
    path, root, name, number, *stages = sys.argv[1:]
    found = sit(Path(path), RemoteServer(root), name, lambda session: session.items(range(int(number)), stages))
    sys.exit(0 if found == [[n] * len(stages) for n in range(int(number))] else 1)


@dataclass(frozen=True)
class RemoteServer:
    """The server of another process, as far as a session needs it."""

    anthropic_url: str

    @property
    def openai_url(self) -> str:
        return f"{self.anthropic_url}/v1"


if __name__ == "__main__":
    main()
