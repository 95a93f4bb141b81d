"""Group commits: what has gathered while one transaction ran goes into the next.

A single thread owns the store while a run lasts. Callers hand over rows and may wait for them to be on disk. The next
commit starts as soon as the last one ended; ``linger_s`` lets rows that can be recomputed gather longer.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field

from corpus.record import Record
from corpus.store.completions import CompletionRow, ReplyVerdict, save_completions, set_verdicts
from corpus.store.database import Store
from corpus.store.progress import RejectRow, StageResultRow, save_plan_items, save_rejects, save_shared_results, save_stage_results
from corpus.store.records import add_records


@dataclass(slots=True)
class Batch:
    """Rows that become visible together. ``verdicts`` are (key, verdict, fault), ``shared`` are (stage, key, JSON)."""

    plan_items: list[tuple[int, str]] = field(default_factory=list)
    results: list[StageResultRow] = field(default_factory=list)
    rejects: list[RejectRow] = field(default_factory=list)
    records: list[tuple[int | None, Record]] = field(default_factory=list)
    completions: list[CompletionRow] = field(default_factory=list)
    verdicts: list[tuple[str, ReplyVerdict, str | None]] = field(default_factory=list)
    shared: list[tuple[str, str, str]] = field(default_factory=list)

    def absorb(self, other: Batch) -> None:
        """Append the rows of *other*, keeping their order."""
        self.plan_items += other.plan_items
        self.results += other.results
        self.rejects += other.rejects
        self.records += other.records
        self.completions += other.completions
        self.verdicts += other.verdicts
        self.shared += other.shared


def write_batch(store: Store, run_id: str, batch: Batch) -> None:
    """Write all of *batch* in one transaction."""
    with store.transaction():
        if batch.plan_items:
            save_plan_items(store, run_id, batch.plan_items)
        if batch.completions:
            save_completions(store, batch.completions)
        if batch.verdicts:
            set_verdicts(store, run_id, batch.verdicts)
        if batch.shared:
            save_shared_results(store, run_id, batch.shared)
        if batch.results:
            save_stage_results(store, run_id, batch.results)
        if batch.rejects:
            save_rejects(store, run_id, batch.rejects)
        if batch.records:
            add_records(store, run_id, batch.records)


class GroupCommitter:
    """Writes batches from a thread of its own between ``start`` and ``close``, which waits for the last commit.

    After a failed commit every waiting and later caller gets that error: nothing is taken for written that is not.
    """

    def __init__(self, store: Store, run_id: str, *, linger_s: float = 0.0) -> None:
        self._store, self._run_id, self._linger_s = store, run_id, linger_s
        self._pending = Batch()
        self._waiting: list[Future[None]] = []
        self._changed = threading.Condition()
        self._closing = threading.Event()
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._work, name="piiloom-commits", daemon=True)

    def start(self) -> None:
        """Begin to write; from now on the store belongs to the committer's thread."""
        self._thread.start()

    def close(self) -> None:
        """Write what is left and give the store back. Raises what a commit failed with."""
        if not self._thread.ident:
            return
        with self._changed:
            self._closing.set()
            self._changed.notify()
        self._thread.join()
        if self._failure is not None:
            raise self._failure

    def put(self, batch: Batch) -> Future[None]:
        """Queue *batch*; the future resolves when it is on disk. Raises what an earlier commit failed with."""
        future: Future[None] = Future()
        with self._changed:
            if self._failure is not None:
                raise self._failure
            self._pending.absorb(batch)
            self._waiting.append(future)
            self._changed.notify()
        return future

    async def commit(self, batch: Batch) -> None:
        """Queue *batch* and wait until it is on disk."""
        await asyncio.wrap_future(self.put(batch))

    def _work(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._closing.is_set())
                if not self._waiting:
                    return
            if self._linger_s:
                self._closing.wait(self._linger_s)
            with self._changed:
                batch, self._pending = self._pending, Batch()
                waiting, self._waiting = self._waiting, []
            try:
                write_batch(self._store, self._run_id, batch)
            except BaseException as error:  # noqa: BLE001 - handed to every caller; the thread itself has nobody to raise to
                self._fail(error, waiting)
                return
            _settle(waiting, lambda future: future.set_result(None))

    def _fail(self, error: BaseException, waiting: list[Future[None]]) -> None:
        with self._changed:
            self._failure = error
            waiting += self._waiting
            self._waiting = []
        _settle(waiting, lambda future: future.set_exception(error))


def _settle(futures: list[Future[None]], how: Callable[[Future[None]], None]) -> None:
    for future in futures:
        if future.set_running_or_notify_cancel():
            how(future)
