"""Executor of worker processes, on ``concurrent.futures``.

Worker processes are started by a fork server: a fresh interpreter without the threads, locks and open stores of this process (``fork``
in a process with a thread for the progress display may hang). It loads the engine's modules once for all workers.

``ProcessPoolExecutor`` alone breaks three promises of a run, which is why some code here is our own. It cannot stop a worker in the
middle of a job (``kill_workers`` comes with Python 3.14), so Ctrl-C would wait for it. Its workers live on when this process is killed,
as each of them holds the other end of the pipe that it reads. And it does not tell which job a worker died of.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import resource_tracker
from multiprocessing.connection import wait
from multiprocessing.context import ForkServerContext
from multiprocessing.forkserver import ensure_running
from multiprocessing.process import BaseProcess
from types import ModuleType
from typing import Any

from piiloom.foundation.errors import RunError
from piiloom.foundation.interrupts import held_interrupts
from piiloom.surrogates.jobs import WINDOW, ChunkResult, Job, WorkerSettings
from piiloom.surrogates.worker import Worker, outcome_of, place_of, result_of


class ProcessExecutor:
    """*workers* processes, all started by the constructor."""

    def __init__(self, settings: WorkerSettings, workers: int) -> None:
        context = _RecordingContext()
        context.set_forkserver_preload([__name__, _module_of(settings.factory)])
        self._processes = context.started
        self._marks = context.RawArray("q", WINDOW * workers)  # process id of the worker that began a job, by the job's number
        begin = (settings, self._marks, context.Barrier(workers))
        self._pool = ProcessPoolExecutor(workers, context, _begin, begin)
        try:
            with _main_left_alone(settings.factory):
                _start_fork_server_deaf_to_ctrl_c()
                for _ in range(workers):  # a pool starts a process per job as long as none is idle, so each of these starts one
                    with held_interrupts():  # a worker that gets only half of its start data prints a traceback
                        self._pool.submit(_meet)
        except BaseException:
            self.close()
            raise

    def map(self, jobs: Iterable[Job]) -> Iterator[tuple[Job, ChunkResult]]:
        """See ``jobs.Executor``."""
        pending: deque[tuple[int, Job, Future[object]]] = deque()
        source = enumerate(jobs)
        while True:
            while len(pending) < len(self._marks) and (numbered := next(source, None)) is not None:
                number, job = numbered
                self._marks[number % len(self._marks)] = 0
                try:
                    pending.append((number, job, self._pool.submit(_do, number, job)))
                except BrokenProcessPool:
                    raise self._died(pending) from None
            if not pending:
                return
            _, job, future = pending[0]
            try:
                outcome = future.result()
            except BrokenProcessPool:
                raise self._died(pending) from None
            pending.popleft()
            yield job, result_of(outcome)

    def close(self) -> None:
        """See ``jobs.Executor``."""
        for process in self._processes:
            process.kill()  # nothing is lost: workers only read
        self._pool.shutdown()

    def _died(self, pending: Iterable[tuple[int, Job, Future[object]]]) -> RunError:
        self._pool.shutdown()  # now all have ended: the pool terminates the others
        ended = [one for one in self._processes if one.exitcode not in {0, None, -signal.SIGTERM}] or self._processes
        dead = ended[0]
        lost = [(number, job) for number, job, future in pending if not future.done() or future.exception() is not None]
        at_work = [job for number, job in lost if self._marks[number % len(self._marks)] == dead.pid]
        code = dead.exitcode
        how = f"signal {-code}" if code is not None and code < 0 else f"exit code {code}"
        job = at_work[-1] if at_work else lost[0][1] if lost else None
        remedy = "It may have run out of memory: use fewer workers, or look at the lines named here"
        return RunError(f"a worker process ended unexpectedly ({how})", where=place_of(job.chunk) if job else None, remedy=remedy)


class _RecordingContext(ForkServerContext):
    """A context that keeps the processes which it starts, so that they can be killed and their exit codes be read."""

    def __init__(self) -> None:
        super().__init__()
        self.started: list[BaseProcess] = []

    def Process(self, *args: Any, **options: Any) -> BaseProcess:  # type: ignore[override]  # noqa: N802 - a class there
        process = ForkServerContext.Process(*args, **options)
        self.started.append(process)
        return process


# The state of a worker process, set by ``_begin``.
_worker: Worker
_marks: Any
_all_started: Any


def _begin(settings: WorkerSettings, marks: Any, all_started: Any) -> None:
    """Set up a worker process. It ignores Ctrl-C, which is the parent's to handle, and ends with the parent."""
    global _worker, _marks, _all_started
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # even if the parent ignores it: the pool ends its processes by it
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _worker, _marks, _all_started = Worker(settings), marks, all_started


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


def _meet() -> None:
    _all_started.wait()


def _do(number: int, job: Job) -> object:
    _marks[number % len(_marks)] = os.getpid()
    return outcome_of(_worker, job)


def _start_fork_server_deaf_to_ctrl_c() -> None:
    """Start the fork server with SIGINT blocked; else Ctrl-C while it loads prints a traceback. Its children inherit the mask."""
    resource_tracker.ensure_running()  # otherwise the fork server's start does this, and unblocks SIGINT
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        ensure_running()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _module_of(factory: object) -> str:
    return getattr(getattr(factory, "func", factory), "__module__", None) or __name__


@contextmanager
def _main_left_alone(factory: object) -> Iterator[None]:
    """Hide ``__main__`` while workers start, so that they do not run this process's main script again.

    That script may be a user's without a ``__main__`` guard, or a Streamlit page. Workers need it only if *factory* is defined in it.
    """
    main = sys.modules.get("__main__")
    if main is None or _module_of(factory) == "__main__":
        yield
        return
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main
