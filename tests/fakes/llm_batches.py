"""The batch endpoints of the fake LLM server: OpenAI's files and batches, Anthropic's message batches.

Like the makers' own: batches go through states as they are looked up, results come in another order, a request that the
API would refuse is an error in its own line, and a batch that expires or is cancelled keeps what was answered by then.
A test says what goes wrong::

    server.batches.plan = lambda nth: BatchPlan(polls=3, expires_after=2)      # the nth batch, from 0
    server.batches.fate = lambda request: "server_error" if request.user.endswith("7") else None
    server.batches.trouble = lambda operation, nth: "lost" if operation == "create" and nth == 0 else None
"""

from __future__ import annotations

import json
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from tests.fakes.llm_wire import BadCall, Request, as_text, error_body, read_request, reply_body

Fate = Literal["invalid", "server_error", "rate_limit", "missing", "refusal", "truncation", "bad_json_reply"]
Operation = Literal["upload", "create", "retrieve", "list", "cancel", "results"]
# "lost": it is done, but the connection ends without an answer; "hang": it is done, but the answer does not come.
Trouble = Literal["rate_limit", "server_error", "lost", "cut", "hang"]
# How a request ended within its batch.
Ending = Literal["ok", "invalid", "server_error", "rate_limit", "missing", "expired", "cancelled"]


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchPlan:
    """How one batch goes: over after so many look-ups, or expired after fewer; ``refused``: a code that it fails with."""

    polls: int = 2
    expires_after: int | None = None
    refused: str | None = None


@dataclass(slots=True, kw_only=True)
class Entry:
    """One request of a batch. ``body`` is what the line or entry holds; ``ending`` None: not done yet."""

    custom_id: str
    body: Any
    path: str
    ending: Ending | None = None
    reply: Mapping[str, Any] | None = None
    error: BadCall | None = None


@dataclass(slots=True, kw_only=True)
class FakeBatch:
    """One batch as the server keeps it."""

    id: str
    plan: BatchPlan
    entries: list[Entry]
    created: float
    state: str
    advance: Callable[[FakeBatches, FakeBatch], None]
    polls: int = 0
    order: list[Entry] = field(default_factory=list)
    more: dict[str, Any] = field(default_factory=dict)

    def count(self, *endings: Ending) -> int:
        return sum(entry.ending in endings for entry in self.entries)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What goes back: JSON, or bytes as they are."""

    body: Mapping[str, Any] | bytes
    status: int = 200


class FakeBatches:
    """All batches and files of the server. ``limits`` are those of both makers unless a test sets smaller ones."""

    def __init__(self, answer: Callable[[Request], Mapping[str, Any] | str]) -> None:
        self.plan: Callable[[int], BatchPlan] = lambda _: BatchPlan()
        self.fate: Callable[[Request], Fate | None] = lambda _: None
        self.trouble: Callable[[Operation, int], Trouble | None] = lambda *_: None
        self.bad_line: Callable[[Mapping[str, Any]], bool] = lambda _: False
        self.max_requests, self.max_bytes = 50_000, 200_000_000
        self.batches: dict[str, FakeBatch] = {}
        self.files: dict[str, bytes] = {}
        self.billed: list[tuple[str, Request]] = []
        self.asked: Counter[str] = Counter()
        self.received: list[int] = []  # bytes of the body of each request
        self.lock = threading.RLock()
        self.let_go = threading.Event()
        self._answer = answer

    @property
    def billed_prompts(self) -> Counter[str]:
        """How often each user prompt was answered, and so has to be paid."""
        with self.lock:
            return Counter(request.user for _, request in self.billed)

    def sizes(self) -> list[int]:
        """The number of requests of each batch, in the order they were made."""
        with self.lock:
            return [len(batch.entries) for batch in self.batches.values()]

    def next_trouble(self, operation: Operation) -> Trouble | None:
        with self.lock:
            nth = self.asked[operation]
            self.asked[operation] += 1
        return self.trouble(operation, nth)

    def look(self, batch: FakeBatch) -> None:
        """Let time pass for *batch* as a look-up does."""
        with self.lock:
            batch.advance(self, batch)

    def lose_results(self, batch: FakeBatch) -> None:
        """Delete what *batch* gave, as the makers do after a month."""
        with self.lock:
            batch.more["archived"] = True
            for kind in ("output", "error"):
                self.files.pop(batch.more.get(kind, ""), None)

    def next_plan(self) -> BatchPlan:
        return self.plan(len(self.batches))

    def add(
        self, batch_id: str, entries: list[Entry], state: str, advance: Callable[[FakeBatches, FakeBatch], None], **more: Any
    ) -> FakeBatch:
        """Keep a new batch; *advance* is what a look-up does to it."""
        batch = FakeBatch(id=batch_id, plan=self.next_plan(), entries=entries, created=time.time(), state=state, advance=advance, more=more)
        # Neither maker answers in the order of the requests.
        batch.order = random.Random(batch_id).sample(entries, len(entries))
        self.batches[batch_id] = batch
        return batch

    def work(self, batch: FakeBatch) -> bool:
        """Go on by one look-up's share of the requests; whether the batch is over now."""
        batch.polls += 1
        plan = batch.plan
        share = -(-len(batch.order) * batch.polls // max(1, plan.polls))
        for entry in batch.order[:share]:
            if entry.ending is None:
                self._finish(batch, entry)
        if plan.expires_after is not None and batch.polls >= plan.expires_after:
            self.end_rest(batch, "expired")
            return True
        return batch.polls >= plan.polls

    def end_rest(self, batch: FakeBatch, ending: Ending) -> None:
        """Give up what is not done."""
        for entry in batch.entries:
            entry.ending = entry.ending or ending

    def _finish(self, batch: FakeBatch, entry: Entry) -> None:
        try:
            request = read_request(entry.path, {"x-api-key": "batch"}, entry.body, -1, frozenset())
        except BadCall as bad:
            entry.ending, entry.error = "invalid", bad
            return
        fate = self.fate(request)
        if fate == "invalid":
            entry.ending, entry.error = "invalid", BadCall(400, "invalid_request_error", f"cannot read {request.user!r}")
        elif fate in ("server_error", "rate_limit", "missing"):
            entry.ending = fate
        else:
            data = "{}" if fate == "refusal" else as_text(self._answer(request))
            entry.ending, entry.reply = "ok", reply_body(request, data, fate or "ok")
            self.billed.append((batch.id, request))


def page(batches: Iterable[FakeBatch], after: str | None, limit: int) -> tuple[list[FakeBatch], bool]:
    """Newest first, from behind *after*; and whether there are more."""
    newest = list(batches)[::-1]
    start = next((place + 1 for place, batch in enumerate(newest) if batch.id == after), 0)
    return newest[start : start + limit], len(newest) > start + limit


def lines(rows: Iterable[Mapping[str, Any]]) -> bytes:
    """JSON lines, characters as they are (a line separator within a text must not be taken for the end of a line)."""
    return b"".join(json.dumps(row, ensure_ascii=False).encode() + b"\n" for row in rows)


def single(entry: Entry, api: str) -> tuple[int, Mapping[str, Any]]:
    """The status and body that a single call would have been answered with."""
    if entry.reply is not None:
        return 200, entry.reply
    if entry.error is not None:
        return entry.error.status, error_body(api, entry.error.kind, str(entry.error), code=entry.error.code)
    if entry.ending == "rate_limit":
        return 429, error_body(api, "rate_limit_error", "slow down", code="rate_limit_exceeded")
    return 500, error_body(api, "api_error", "something broke", code="server_error")
