"""Worker processes that do jobs: one process and one pipe for each thread of a ``ThreadPoolExecutor``.

Worker processes are started by a fork server: a fresh interpreter without the threads, locks and open stores of this process (``fork``
in a process with a thread for the progress display may hang). It loads the modules that they need once for all workers.

The processes are our own, since ``ProcessPoolExecutor`` (Python 3.11) breaks promises of a run. All its workers share one pipe, whose
end it holds itself: if a worker dies while a result is on its way, it waits for ever; if another does, it does not tell which job that
had. If this process is killed, its workers live on. On Ctrl-C it waits for the jobs at work (``kill_workers`` comes with 3.14). With a
pipe for each process, the death of either side is the end of the stream for the other.
"""

from __future__ import annotations

import multiprocessing
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from multiprocessing.forkserver import ensure_running
from queue import SimpleQueue
from types import ModuleType
from typing import Any, Final, Generic, TypeVar

from piiloom.foundation.errors import RunError
from piiloom.foundation.interrupts import held_interrupts
from piiloom.foundation.job_window import submitted
from piiloom.foundation.portable_errors import outcome_of, result_of

_END_S: Final = 5.0
Job = TypeVar("Job")
Result = TypeVar("Result")


class WorkerProcesses(Generic[Job, Result]):
    """*count* processes, all started by the constructor. In each, ``make()`` gives the function that does a job; *make* must be picklable.

    *place_of* says in messages which part of the input a job is of. *factories* are what *make* is made of: the modules that define them
    are loaded before any worker is, and if one is defined in the main script, workers load that, too.
    """

    def __init__(
        self, make: Callable[[], Callable[[Job], Result]], count: int, *, place_of: Callable[[Job], str], factories: Sequence[object] = ()
    ) -> None:
        modules = [_module_of(one) for one in (make, *factories)]
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload([__name__, *(name for name in modules if name != "__main__")])
        self._place_of = place_of
        self._workers: list[_WorkerProcess] = []
        self._idle: SimpleQueue[_WorkerProcess] = SimpleQueue()
        self._threads = ThreadPoolExecutor(count, "workers")
        try:
            with _without_main_module(modules):
                _start_fork_server_ignoring_ctrl_c()
                for _ in range(count):
                    with held_interrupts():  # a worker that gets only half of its start data prints a traceback
                        self._workers.append(_WorkerProcess(context, make))
        except BaseException:
            self.close()
            raise
        for worker in self._workers:
            self._idle.put(worker)

    def map(self, jobs: Iterable[Job]) -> Iterator[tuple[Job, Result]]:
        """Do *jobs* and yield each with its result, in their order. A bounded number of jobs is taken ahead.

        An error of a job is raised when its result is due. Raises ``RunError`` when a worker dies.
        """
        for job, future in submitted(jobs, lambda job: self._threads.submit(self._do, job), workers=len(self._workers)):
            yield job, result_of(future.result())

    def _do(self, job: Job) -> object:
        worker = self._idle.get()  # there is one, as there are no more threads than workers
        try:
            return worker.do(job, self._place_of)
        finally:
            self._idle.put(worker)

    def close(self) -> None:
        """Stop all workers at once. May be called again."""
        for worker in self._workers:
            worker.kill()
        self._threads.shutdown(cancel_futures=True)  # those who waited for a worker have seen its end
        for worker in self._workers:
            worker.close()
        self._workers = []


class _WorkerProcess:
    """A worker process and the pipe to it, used by one thread at a time."""

    def __init__(self, context: Any, make: object) -> None:
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, make), daemon=True)
        self._process.start()
        theirs.close()

    def do(self, job: Job, place_of: Callable[[Job], str]) -> object:
        """Have *job* done and return the outcome (``outcome_of``). Raises ``RunError`` if the process dies."""
        try:
            self._pipe.send(job)
            return self._pipe.recv()
        except (EOFError, OSError):
            self._process.join(_END_S)
        code = self._process.exitcode
        how = f"signal {-code}" if code is not None and code < 0 else f"exit code {code}"
        remedy = "It may have run out of memory: use fewer workers, or look at the lines named here"
        raise RunError(f"a worker process ended unexpectedly ({how})", where=place_of(job), remedy=remedy)

    def kill(self) -> None:
        """End the process at once; nothing is lost, as workers only read."""
        self._process.kill()

    def close(self) -> None:
        """Release what the operating system holds for the ended process."""
        self._pipe.close()
        self._process.join()
        self._process.close()


def _serve(pipe: Connection, make: Callable[[], Callable[[Any], object]]) -> None:
    """Main loop of a worker process: receive jobs and send outcomes until the parent closes the pipe. Ctrl-C is the parent's to handle."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    do = make()
    with suppress(EOFError, ConnectionResetError, BrokenPipeError):
        while True:
            pipe.send(outcome_of(do, pipe.recv()))


def _start_fork_server_ignoring_ctrl_c() -> None:
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
def _without_main_module(needed: Sequence[str]) -> Iterator[None]:
    """Hide ``__main__`` while workers start, unless it is *needed*, so that they do not run this process's main script again.

    That script may be a user's without a ``__main__`` guard, or a Streamlit page.
    """
    main = sys.modules.get("__main__")
    if main is None or "__main__" in needed:
        yield
        return
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main
