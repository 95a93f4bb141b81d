"""Worker pool on Ray: jobs are tasks of actors, on one machine or on a cluster.

Every node must see the input and the output's parent folder under the same paths. Workers read the input from the one, and unpacked
and gathered files from the other.

Ray is imported when a ``RayCrew`` is made, not before.
"""

from __future__ import annotations

import logging
import os
import signal
import threading
from collections.abc import Iterable, Iterator
from importlib import import_module
from typing import Any, Final

from piiloom.foundation.errors import PiiloomError, RunError, UsageError
from piiloom.foundation.extras import how_to_install
from piiloom.foundation.portable_errors import PortableError
from piiloom.surrogates.running_hand import Hand, place_of
from piiloom.surrogates.running_work import Job, Terms

_OBJECT_STORE: Final = 256 * 2**20
_WINDOW: Final = 4


class RayHand:
    """A Ray actor around a ``Hand``. It returns a ``PiiloomError`` as a ``PortableError``, which can be pickled."""

    def __init__(self, terms: Terms) -> None:
        self._hand = Hand(terms)

    def do(self, job: Job) -> object:
        """Do *job* and return its result, or a ``PortableError``."""
        try:
            return self._hand.do(job)
        except PiiloomError as error:
            return PortableError.of(error)


class RayCrew:
    """A pool of *workers* Ray actors; by default one per CPU of the cluster.

    A Ray connection that this process already has is used as it is. Otherwise Ray joins the cluster at *address*, or starts locally.
    Raises ``UsageError`` if Ray is not installed, and ``RunError`` if it cannot be started or joined.
    """

    def __init__(self, terms: Terms, workers: int | None = None, address: str | None = None) -> None:
        self._ray = _import_ray()
        self._ours = not self._ray.is_initialized()
        if self._ours:
            _join(self._ray, address)
        count = workers or max(1, int(self._ray.cluster_resources().get("CPU", 1)))
        make = self._ray.remote(num_cpus=1, max_restarts=0)(RayHand)
        shared = self._ray.put(terms)
        self._hands = [make.remote(shared) for _ in range(count)]

    def run(self, jobs: Iterable[Job]) -> Iterator[Any]:
        """See ``Crew``."""
        waiting: list[tuple[Any, Job]] = []
        source = iter(jobs)
        sent, more = 0, True
        while True:
            while more and len(waiting) < _WINDOW * len(self._hands):
                job = next(source, None)
                if job is None:
                    more = False
                    break
                waiting.append((self._hands[sent % len(self._hands)].do.remote(job), job))
                sent += 1
            if not waiting:
                return
            task, job = waiting.pop(0)
            yield self._result(task, job)

    def _result(self, task: Any, job: Job) -> Any:
        try:
            result = self._ray.get(task)
        except self._ray.exceptions.RayError as error:
            cause = type(getattr(error, "cause", None) or error).__name__
            raise RunError(f"a Ray worker failed ({cause})", where=place_of(job.chunk), remedy="See ray status") from None
        if isinstance(result, PortableError):
            raise result.rebuilt()
        return result

    def close(self) -> None:
        """See ``Crew``."""
        for hand in self._hands:
            self._ray.kill(hand)
        self._hands = []
        if self._ours:
            self._ray.shutdown()


def _import_ray() -> Any:
    # Send no usage statistics. Set before the import, which reads the variable.
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    try:
        return import_module("ray")
    except ImportError:
        raise UsageError("this needs Ray, which is not installed", where="--workers ray", remedy=how_to_install("ray")) from None


def _join(ray: Any, address: str | None) -> None:
    quiet: dict[str, Any] = {"log_to_driver": False, "configure_logging": False}
    ours = {"address": "local", "include_dashboard": False, "object_store_memory": _OBJECT_STORE}
    logging.getLogger("ray").setLevel(logging.ERROR)
    main = threading.current_thread() is threading.main_thread()
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        ray.init(**quiet, **(ours if address is None else {"address": address}))
    except (ConnectionError, RuntimeError, ValueError, OSError) as error:
        first = str(error).strip().partition("\n")[0]
        raise RunError(f"Ray cannot be started or joined ({first})", where=address, remedy="See ray status") from error
    finally:
        if main:  # Ray installs its own handlers, which end the process at once
            for number, handler in before.items():
                signal.signal(number, handler)
