"""Group commits: rows that arrive while one transaction runs are written together in the next one.

A single thread owns the store while a run lasts. Callers hand over rows and may wait until they are on disk. The next commit
starts as soon as the last one has ended; ``pace_s`` sets a minimum time between the starts of two commits.

``Journal`` finds the reply to a request that was made before, in any run of the store.
"""

from __future__ import annotations

import asyncio
import threading
import time
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, TypeVar

from piiloom.corpus.record import Record
from piiloom.corpus.store.call_events import (
    BatchRequestRow,
    BatchRow,
    CallEvent,
    KnownReply,
    answered_keys,
    find_replies,
    keys_out,
    save_batch_requests,
    save_batches,
    save_call_events,
    save_prompt_texts,
    short_key,
)
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.judgements import Judgement, save_judgements
from piiloom.corpus.store.records import add_records
from piiloom.corpus.store.runs import RejectRow, StageResultRow, save_plan_items, save_rejects, save_shared_results, save_stage_results
from piiloom.foundation.errors import RunError

R = TypeVar("R")


@dataclass(slots=True)
class Batch:
    """Rows that are written in one transaction.

    ``plan_items`` are (plan index, JSON); ``records`` (plan index, record); ``judgements`` (plan index, record id, judgement);
    ``prompts`` (SHA-256, text); ``shared`` (stage, key, JSON).
    """

    plan_items: list[tuple[int, str]] = field(default_factory=list)
    results: list[StageResultRow] = field(default_factory=list)
    rejects: list[RejectRow] = field(default_factory=list)
    records: list[tuple[int | None, Record]] = field(default_factory=list)
    judgements: list[tuple[int, str, Judgement]] = field(default_factory=list)
    calls: list[CallEvent] = field(default_factory=list)
    prompts: list[tuple[str, str]] = field(default_factory=list)
    shared: list[tuple[str, str, str]] = field(default_factory=list)
    batches: list[BatchRow] = field(default_factory=list)
    batch_requests: list[BatchRequestRow] = field(default_factory=list)

    def absorb(self, other: Batch) -> None:
        """Append the rows of *other*, keeping their order."""
        self.plan_items += other.plan_items
        self.results += other.results
        self.rejects += other.rejects
        self.records += other.records
        self.judgements += other.judgements
        self.calls += other.calls
        self.prompts += other.prompts
        self.shared += other.shared
        self.batches += other.batches
        self.batch_requests += other.batch_requests


def write_batch(store: Store, run_id: str, batch: Batch) -> None:
    """Write all of *batch* in one transaction."""
    with store.transaction():
        if batch.plan_items:
            save_plan_items(store, run_id, batch.plan_items)
        if batch.prompts:
            save_prompt_texts(store, batch.prompts)
        if batch.batches:
            save_batches(store, batch.batches)
        if batch.batch_requests:
            save_batch_requests(store, batch.batch_requests)
        if batch.calls:
            save_call_events(store, run_id, batch.calls)
        if batch.shared:
            save_shared_results(store, run_id, batch.shared)
        if batch.results:
            save_stage_results(store, run_id, batch.results)
        if batch.rejects:
            save_rejects(store, run_id, batch.rejects)
        if batch.records:
            add_records(store, run_id, batch.records)
            save_judgements(store, run_id, batch.judgements)


@dataclass(slots=True)
class _Waiters:
    """All tasks that wait for the same commit. They share one event, because waking a loop from another thread is expensive."""

    loop: asyncio.AbstractEventLoop
    done: asyncio.Event = field(default_factory=asyncio.Event)
    failure: BaseException | None = None

    def settle(self, failure: BaseException | None) -> None:
        """Wake all waiting tasks, with *failure* if the commit failed. Called in the committer's thread."""
        self.failure = failure
        with suppress(RuntimeError):  # the loop is closed, so no task waits any more
            self.loop.call_soon_threadsafe(self.done.set)


class GroupCommitter:
    """Writes batches in a thread of its own, from ``start`` to ``close``; ``close`` waits for the last commit.

    A commit starts when there is something to write and the last one has ended, but not sooner than ``pace_s`` seconds after the
    last one began: a commit costs about the same however many rows it has, so many small ones waste CPU time. After a failed
    commit, every waiting and later caller gets that error, so that no caller believes unwritten rows to be written.
    """

    def __init__(self, store: Store, run_id: str, *, pace_s: float = 0.0) -> None:
        self._store, self._run_id, self._pace_s = store, run_id, pace_s
        self._pending: Batch | None = None
        self._waiters: _Waiters | None = None
        self._reads: list[tuple[Callable[[Store], Any], Future[Any]]] = []
        self._changed = threading.Condition()
        self._closing = False
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._work, name="piiloom-commits", daemon=True)

    def start(self) -> None:
        """Start the thread; from now on only the committer may touch the store."""
        self._thread.start()

    def close(self) -> None:
        """Write the remaining rows, stop the thread and release the store. Raises the error of a failed commit."""
        if not self._thread.ident:
            return
        with self._changed:
            self._closing = True
            self._changed.notify()
        try:
            self._thread.join()
        except KeyboardInterrupt:
            self._thread.join()  # otherwise the store would be closed during the last commit
            raise
        if self._failure is not None:
            raise self._failure

    def put(self, batch: Batch) -> None:
        """Queue *batch* without waiting. Raises the error of an earlier failed commit."""
        with self._changed:
            self._add(batch)

    async def commit(self, batch: Batch) -> None:
        """Queue *batch* and wait until it is on disk. Raises the error of this or an earlier failed commit."""
        loop = asyncio.get_running_loop()
        with self._changed:
            self._add(batch)
            if self._waiters is None:
                self._waiters = _Waiters(loop)
            waiters = self._waiters
        await waiters.done.wait()
        if waiters.failure is not None:
            raise waiters.failure

    async def ask(self, read: Callable[[Store], R]) -> R:
        """Run *read* on the store in the committer's thread and return its result.

        Pending reads run before pending writes. Raises the error of *read*, or of an earlier failed commit.
        """
        future: Future[R] = Future()
        with self._changed:
            if self._failure is not None:
                raise self._failure
            self._reads.append((read, future))
            self._changed.notify()
        return await asyncio.wrap_future(future)

    def _add(self, batch: Batch) -> None:
        if self._failure is not None:
            raise self._failure
        if self._pending is None:
            self._pending = Batch()
            self._changed.notify()
        self._pending.absorb(batch)

    def _work(self) -> None:
        began = -self._pace_s
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._pending or self._reads or self._closing)
                reads, self._reads = self._reads, []
                early = began + self._pace_s - time.monotonic()
                if not reads and self._pending and early > 0 and not self._closing:
                    self._changed.wait(early)
                    continue
                batch, waiters = (None, None) if reads else (self._pending, self._waiters)
                if not reads:
                    self._pending = self._waiters = None
                    if batch is None:
                        return
            for read, future in reads:
                self._answer(read, future)
            if batch is not None:
                began = time.monotonic()
                if not self._written(batch, waiters):
                    return

    def _written(self, batch: Batch, waiters: _Waiters | None) -> bool:
        try:
            write_batch(self._store, self._run_id, batch)
        except BaseException as error:  # noqa: BLE001 - passed on to every caller, since nothing catches errors of this thread
            self._fail(error, waiters)
            return False
        if waiters is not None:
            waiters.settle(None)
        return True

    def _answer(self, read: Callable[[Store], Any], future: Future[Any]) -> None:
        if not future.set_running_or_notify_cancel():
            return
        try:
            future.set_result(read(self._store))
        except BaseException as error:  # noqa: BLE001 - passed on to the caller of ask
            future.set_exception(error)

    def _fail(self, error: BaseException, waiters: _Waiters | None) -> None:
        with self._changed:
            self._failure = error
            later, reads = self._waiters, self._reads
            self._waiters, self._reads = None, []
        for waiting in (waiters, later):
            if waiting is not None:
                waiting.settle(error)
        for _, future in reads:
            if future.set_running_or_notify_cancel():
                future.set_exception(error)


class Journal:
    """Finds replies by key. Holds 8 bytes per key in memory and reads replies when they are asked for.

    Keys answered after the journal was opened are not in it. That is enough, since no call is made twice in one session.
    """

    def __init__(self, store: Store, committer: GroupCommitter, run_id: str) -> None:
        """Load the keys that have a reply. Call it before the committer's thread owns the store."""
        self._known: array[int] = answered_keys(store)
        self._out = keys_out(store, but_not=run_id)
        self._committer = committer
        self._asked: dict[str, list[asyncio.Future[KnownReply | None]]] = {}
        self._reading: set[asyncio.Task[None]] = set()

    def __len__(self) -> int:
        return len(self._known)

    def may_have(self, key: str) -> bool:
        """Whether *key* had a reply when the journal was opened.

        Compares 60-bit prefixes and also counts replies whose text was purged, so ``find`` may return None although this is True.
        """
        short = short_key(key)
        place = bisect_left(self._known, short)
        return place < len(self._known) and self._known[place] == short

    async def find(self, key: str) -> KnownReply | None:
        """Return the newest reply to *key*, or None. Keys asked for in the same turn of the event loop are read in one query.

        Raises ``RunError`` if *key* has no reply but is in an open batch of another run, since it would be paid for twice.
        """
        reply = await self._stored(key) if self.may_have(key) else None
        if reply is None:
            self._check_not_out(key)
        return reply

    async def _stored(self, key: str) -> KnownReply | None:
        future: asyncio.Future[KnownReply | None] = asyncio.get_running_loop().create_future()
        if not self._asked:
            task = asyncio.ensure_future(self._read())
            self._reading.add(task)
            task.add_done_callback(self._reading.discard)
        self._asked.setdefault(key, []).append(future)
        return await future

    def _check_not_out(self, key: str) -> None:
        run = self._out.get(key)
        if run is not None:
            remedy = f"Collect that first: piiloom generate --resume {run}; or cancel it: piiloom batch cancel --run {run}"
            raise RunError("a batch of another run already holds a call of this run", where=run, remedy=remedy)

    async def _read(self) -> None:
        await asyncio.sleep(0)
        asked, self._asked = self._asked, {}
        keys: Sequence[str] = list(asked)
        try:
            found = await self._committer.ask(lambda store: find_replies(store, keys))
        except BaseException as error:  # noqa: BLE001 - passed on to all callers of find
            for future in _open(asked.values()):
                future.set_exception(error)
            return
        for key, futures in asked.items():
            for future in _open([futures]):
                future.set_result(found.get(key))


def _open(groups: Iterable[Sequence[asyncio.Future[KnownReply | None]]]) -> list[asyncio.Future[KnownReply | None]]:
    """Return the futures that are not done, that is, whose caller still waits."""
    return [future for group in groups for future in group if not future.done()]
