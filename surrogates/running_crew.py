"""Worker pools: this process alone, or worker processes.

Workers are started by a fork server: a fresh interpreter without the threads, locks and open stores of this process (``fork`` in a
process with a thread for the progress display may hang). It loads the engine's modules once for all workers.
"""

from __future__ import annotations

import multiprocessing
import signal
import sys
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.forkserver import ensure_running
from multiprocessing.process import BaseProcess
from types import ModuleType
from typing import Any, Final

from piiloom.foundation.errors import PiiloomError, RunError
from piiloom.foundation.interrupts import held_interrupts
from piiloom.foundation.portable_errors import PortableError
from piiloom.surrogates.running_hand import Hand, place_of
from piiloom.surrogates.running_work import Job, Terms

# Jobs sent to one worker at a time: one that it does and one that waits, so it need not wait for the parent to write results.
_AT_A_WORKER: Final = 2
_WINDOW: Final = 4
_END_S: Final = 5.0


class OwnHands:
    """A worker pool without workers: this process does all jobs, one after another."""

    def __init__(self, hand: Hand) -> None:
        self._hand = hand

    def run(self, jobs: Iterable[Job]) -> Iterator[Any]:
        """See ``Crew``."""
        for job in jobs:
            yield self._hand.do(job)

    def close(self) -> None:
        """See ``Crew``."""


@dataclass(slots=True)
class _Worker:
    process: BaseProcess
    wire: Connection
    jobs: deque[tuple[int, Job]] = field(default_factory=deque)


class ProcessCrew:
    """A pool of *workers* processes, started by the constructor. ``run`` raises ``RunError`` when one of them dies."""

    def __init__(self, terms: Terms, workers: int) -> None:
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload([__name__, _module_of(terms.factory)])
        self._workers: list[_Worker] = []
        try:
            with _main_left_alone(terms.factory):
                _start_deaf_to_ctrl_c()
                for _ in range(workers):
                    with held_interrupts():  # a worker that gets only half of its start data prints a traceback
                        ours, theirs = context.Pipe()
                        process = context.Process(target=_serve, args=(theirs, terms), daemon=True)
                        process.start()
                        theirs.close()
                        self._workers.append(_Worker(process, ours))
        except BaseException:
            self.close()
            raise

    def run(self, jobs: Iterable[Job]) -> Iterator[Any]:
        """See ``Crew``."""
        waiting: dict[int, Any] = {}
        source = iter(jobs)
        sent, due, more = 0, 0, True
        while True:
            while more and sent - due < _WINDOW * len(self._workers) and (worker := self._free()) is not None:
                job = next(source, None)
                if job is None:
                    more = False
                    break
                self._send(worker, sent, job)
                sent += 1
            if due in waiting:
                yield _result(waiting.pop(due))
                due += 1
            elif not more and due == sent:
                return
            else:
                self._collect(waiting)

    def close(self) -> None:
        """See ``Crew``."""
        for worker in self._workers:
            worker.wire.close()
            worker.process.terminate()
        for worker in self._workers:
            worker.process.join(_END_S)
            if worker.process.is_alive():
                worker.process.kill()
                worker.process.join()
            worker.process.close()
        self._workers = []

    def _free(self) -> _Worker | None:
        worker = min(self._workers, key=lambda one: len(one.jobs))
        return worker if len(worker.jobs) < _AT_A_WORKER else None

    def _send(self, worker: _Worker, number: int, job: Job) -> None:
        worker.jobs.append((number, job))
        try:
            worker.wire.send((number, job))
        except OSError:
            raise self._died(worker) from None

    def _collect(self, waiting: dict[int, Any]) -> None:
        """Wait until at least one worker has a result, and add results to *waiting*. Raise ``RunError`` if a worker died."""
        by_wire = {worker.wire: worker for worker in self._workers if worker.jobs}
        for wire in wait(list(by_wire)):
            worker = by_wire[wire]  # type: ignore[index]  # only wires were given
            try:
                number, result = worker.wire.recv()
            except (EOFError, OSError):
                raise self._died(worker) from None
            worker.jobs.popleft()
            waiting[number] = result

    @staticmethod
    def _died(worker: _Worker) -> RunError:
        worker.process.join(_END_S)
        code = worker.process.exitcode
        how = f"signal {-code}" if code is not None and code < 0 else f"exit code {code}"
        remedy = "It may have run out of memory: use fewer workers, or look at the lines named here"
        return RunError(f"a worker process ended unexpectedly ({how})", where=place_of(worker.jobs[0][1].chunk), remedy=remedy)


def _start_deaf_to_ctrl_c() -> None:
    """Start the fork server with SIGINT blocked; else Ctrl-C while it loads prints a traceback. Its children inherit the mask."""
    resource_tracker.ensure_running()  # otherwise the fork server's start does this, and unblocks SIGINT
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        ensure_running()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _result(result: Any) -> Any:
    if isinstance(result, PortableError):
        raise result.rebuilt()
    if isinstance(result, OSError):
        raise result
    return result


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


def _serve(wire: Connection, terms: Terms) -> None:
    """Main loop of a worker process: receive jobs and send results until the parent closes the pipe. SIGINT is ignored."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    hand = Hand(terms)
    with suppress(EOFError, ConnectionResetError, BrokenPipeError):
        while True:
            number, job = wire.recv()
            result: object
            try:
                result = hand.do(job)
            except PiiloomError as error:
                result = PortableError.of(error)
            except OSError as error:
                result = OSError(error.errno, error.strerror, error.filename)
            wire.send((number, result))
