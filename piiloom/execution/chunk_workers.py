"""Jobs over the chunks of an input: done here, by worker processes or by Ray workers, with the results in the order of the jobs.

Each worker has a thread of a ``ThreadPoolExecutor``. On Ray, workers are actors on one machine or on a cluster, of which every node must
see input and output under the same paths. Ray is imported when it is asked for, not before.

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
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager, suppress
from itertools import islice
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from multiprocessing.forkserver import ensure_running
from queue import SimpleQueue
from types import ModuleType
from typing import Any, Final, TypeVar

from piiloom.foundation.errors import RunError
from piiloom.foundation.interrupts import held_interrupts
from piiloom.foundation.portable_errors import outcome_of, result_of
from piiloom.foundation.ray_cluster import cause_of, import_ray, join, leave

_END_S: Final = 5.0
_WINDOW: Final = 4  # jobs per worker that are submitted and whose results are not yet taken; bounds the memory
_OBJECT_STORE: Final = 256 * 2**20
Job = TypeVar("Job")
Result = TypeVar("Result")
DoAll = Callable[[Iterable[Job]], Iterator[tuple[Job, Result]]]


@contextmanager
def chunk_workers(
    make: Callable[[], Callable[[Job], Result]],
    count: int | None,
    *,
    here: Callable[[Job], Result] | None = None,
    place_of: Callable[[Job], str],
    factories: Sequence[object] = (),
    ray: bool = False,
    ray_address: str | None = None,
) -> Iterator[DoAll[Job, Result]]:
    """Start *count* workers and give the function that has them do jobs. The end of the block stops them at once.

    That function yields each job with its result, in the order of the jobs; it takes a bounded number of jobs ahead. It raises the error
    of a job when its result is due, and ``RunError`` when a worker dies; *place_of* says which part of the input a job is of.

    ``make()`` gives the function that does a job; it is called in each worker and must be picklable. Without *ray*, one worker is this
    process, where *here* does the jobs if it is given. *factories* are what *make* consists of: the modules that define them are loaded
    before any worker is, and if one is defined in the main script, workers load that, too.

    With *ray*, *count* is None for one worker for each CPU of the cluster. A Ray connection that this process already has is used as it
    is. Otherwise Ray joins the cluster at *ray_address*, or starts locally. Raises ``UsageError`` if Ray is not installed, and
    ``RunError`` if it cannot be started or joined.
    """
    if count == 1 and not ray:
        do = here or make()
        yield lambda jobs: ((job, do(job)) for job in jobs)
        return
    with ExitStack() as stack:
        cluster = stack.enter_context(_cluster(ray_address)) if ray else None
        if count is None:
            count = max(1, int(cluster.cluster_resources().get("CPU", 1))) if cluster is not None else 1
        pool = stack.enter_context(closing(_WorkerPool(count, place_of)))
        if cluster is not None:
            actor, shared = cluster.remote(num_cpus=1, max_restarts=0)(_Actor), cluster.put(make)
            for _ in range(count):
                pool.add(_RayWorker(cluster, actor.remote(shared)))
        else:
            modules = [_module_of(one) for one in (make, *factories)]
            context = multiprocessing.get_context("forkserver")
            context.set_forkserver_preload([__name__, *(name for name in modules if name != "__main__")])
            with _without_main_module(modules):
                _start_fork_server_ignoring_ctrl_c()
                for _ in range(count):
                    with held_interrupts():  # a worker that gets only half of its start data prints a traceback
                        pool.add(_WorkerProcess(context, make))
        yield pool.do_all


class _WorkerPool:
    """Workers, each of which does one job at a time, and as many threads that wait for them."""

    def __init__(self, count: int, place_of: Callable[[Any], str]) -> None:
        self._place_of = place_of
        self._workers: list[_WorkerProcess | _RayWorker] = []
        self._idle: SimpleQueue[_WorkerProcess | _RayWorker] = SimpleQueue()
        self._threads = ThreadPoolExecutor(count, "workers")

    def add(self, worker: _WorkerProcess | _RayWorker) -> None:
        """Add a worker that was started."""
        self._workers.append(worker)
        self._idle.put(worker)

    def do_all(self, jobs: Iterable[Job]) -> Iterator[tuple[Job, Any]]:
        """Yield each of *jobs* with its result, see ``chunk_workers``."""
        submitted = ((job, self._threads.submit(self._do, job)) for job in jobs)
        pending = deque(islice(submitted, _WINDOW * len(self._workers)))
        while pending:
            job, future = pending.popleft()
            yield job, result_of(future.result())
            pending.extend(islice(submitted, 1))

    def _do(self, job: object) -> object:
        worker = self._idle.get()  # there is one, as there are no more threads than workers
        try:
            return worker.do(job, self._place_of)
        finally:
            self._idle.put(worker)

    def close(self) -> None:
        """Stop all workers at once."""
        for worker in self._workers:
            worker.kill()
        self._threads.shutdown(cancel_futures=True)  # those who waited for a worker have seen its end
        for worker in self._workers:
            worker.close()


class _WorkerProcess:
    """A worker process and the pipe to it, used by one thread at a time."""

    def __init__(self, context: Any, make: object) -> None:
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, make), daemon=True)
        self._process.start()
        theirs.close()

    def do(self, job: object, place_of: Callable[[Any], str]) -> object:
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


@contextmanager
def _cluster(address: str | None) -> Iterator[Any]:
    """Give the module of Ray, connected to a cluster."""
    ray = import_ray("--ray")
    if ray.is_initialized():
        yield ray
        return
    join(ray, address, object_store_bytes=_OBJECT_STORE)
    try:
        yield ray
    finally:
        leave(ray)


class _Actor:
    """What does jobs in a Ray actor, with errors in a form that can be pickled."""

    def __init__(self, make: Callable[[], Callable[[Any], object]]) -> None:
        self._do = make()

    def do(self, job: object) -> object:
        return outcome_of(self._do, job)


class _RayWorker:
    """A Ray actor, used by one thread at a time; see ``_WorkerProcess``."""

    def __init__(self, ray: Any, actor: Any) -> None:
        self._ray, self._actor = ray, actor

    def do(self, job: object, place_of: Callable[[Any], str]) -> object:
        try:
            outcome: object = self._ray.get(self._actor.do.remote(job))
        except self._ray.exceptions.RayError as error:
            raise RunError(f"a Ray worker failed ({cause_of(error)})", where=place_of(job), remedy="See ray status") from None
        return outcome

    def kill(self) -> None:
        self._ray.kill(self._actor)

    def close(self) -> None:
        """Release nothing: Ray does."""
