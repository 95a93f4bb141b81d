"""A pool of workers on Ray: partitions run as Ray tasks, the desk (shared rate limiter and budget) is a Ray actor.

Ray is imported only when the pool is opened. No secrets are passed to Ray: tasks read provider keys from the environment of
their node (on one machine it is inherited from this process).
"""

from __future__ import annotations

import asyncio
import importlib
import logging
import signal
import threading
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import Any

from piiloom.execution.desk.server import Desk
from piiloom.execution.desk.words import Ask, DeskLink, DeskSettings, DeskView, Word
from piiloom.foundation.errors import RunError
from piiloom.generation.distributed.crew import PartitionLost
from piiloom.generation.distributed.partition_checks import check_ray
from piiloom.generation.distributed.partition_work import Assignment, PartitionReport, run_assignment

# Size of Ray's object store in bytes, if we start Ray ourselves. Assignments and reports are small.
_OBJECT_STORE = 128 * 2**20
# Most concurrent method calls on the desk actor.
_AT_THE_DESK = 4096


@asynccontextmanager
async def ray_crew(partitions: int, address: str | None = None) -> AsyncIterator[RayCrew]:
    """Open a pool of *partitions* concurrent Ray tasks, on the cluster at *address* or on a local Ray started for it.

    If this process is connected to Ray already, that connection is used and left open. Raises ``UsageError`` if Ray is not installed,
    ``RunError`` if the cluster cannot be joined.
    """
    ray = check_ray(partitions, address)
    ours = not ray.is_initialized()
    if ours:
        with _own_signals():
            _join(ray, partitions, address)
    try:
        yield RayCrew(ray, partitions)
    finally:
        if ours:
            with _own_signals():
                ray.shutdown()


class RayCrew:
    """A pool of Ray tasks; implements ``crew.Crew``."""

    def __init__(self, ray: Any, partitions: int) -> None:
        self._ray, self.partitions = ray, partitions
        # No retries by Ray: what a dead task has paid for must be merged first.
        self._task = ray.remote(num_cpus=1, max_retries=0, scheduling_strategy="SPREAD")(run_assignment)

    async def open_desk(self, settings: DeskSettings) -> DeskLink:
        """Start the desk as an actor, on this node if possible."""
        strategies = importlib.import_module("ray.util.scheduling_strategies")
        here = strategies.NodeAffinitySchedulingStrategy(self._ray.get_runtime_context().get_node_id(), soft=True)
        actor = self._ray.remote(num_cpus=0, max_concurrency=_AT_THE_DESK, scheduling_strategy=here)(Desk)
        return RayLink(actor.remote(settings))

    async def work(self, assignment: Assignment, link: DeskLink) -> PartitionReport:
        """Run *assignment* as a Ray task and return its report; raises ``PartitionLost`` on any Ray error, such as a dead process."""
        task = self._task.remote(assignment, link)
        try:
            report: PartitionReport = await task
        except asyncio.CancelledError:
            self._ray.cancel(task, force=True)
            raise
        except self._ray.exceptions.RayError as error:
            cause = getattr(error, "cause", None) or error
            raise PartitionLost(type(cause).__name__) from error
        return report


class RayLink:
    """A ``DeskLink`` to a desk that runs as a Ray actor; it can be passed to tasks."""

    def __init__(self, actor: Any) -> None:
        self._actor = actor

    async def post(self, client: str, asks: Sequence[Ask]) -> Word:
        """Send *asks*; returns the answers that are available at once."""
        word: Word = await self._actor.post.remote(client, asks)
        return word

    async def poll(self, client: str) -> Word:
        """Wait a moment for answers."""
        word: Word = await self._actor.poll.remote(client)
        return word

    async def leave(self, client: str) -> float:
        """Tell the desk that *client* has ended; returns the USD it spent in all."""
        spent: float = await self._actor.leave.remote(client)
        return spent

    async def stop(self) -> None:
        """Ask all clients to end."""
        await self._actor.stop.remote()

    async def look(self) -> DeskView:
        """Return the state of the desk."""
        view: DeskView = await self._actor.look.remote()
        return view


def _join(ray: Any, partitions: int, address: str | None) -> None:
    quiet: dict[str, Any] = {"log_to_driver": False, "configure_logging": False}
    # "local" starts a new Ray even if RAY_ADDRESS is set or another Ray runs on this machine.
    ours = {"address": "local", "num_cpus": partitions, "include_dashboard": False, "object_store_memory": _OBJECT_STORE}
    # Ray's own messages on standard error say nothing about the run.
    logging.getLogger("ray").setLevel(logging.ERROR)
    try:
        ray.init(**quiet, **(ours if address is None else {"address": address}))
    except (ConnectionError, RuntimeError, ValueError, OSError) as error:
        first = str(error).strip().partition("\n")[0]
        raise RunError(
            f"Ray cannot be {'started' if address is None else 'joined'} ({first})",
            where=address,
            remedy="See ray status; every node needs the same Ray and Python (docs/cluster.md)",
        ) from error


@contextmanager
def _own_signals() -> Iterator[None]:
    """Restore our handlers of SIGINT and SIGTERM afterwards, since Ray replaces them by ones that end the process at once."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
