"""Ray as the crew: partitions are tasks, the desk is an actor. Ray is imported when a crew is opened, and never before.

Nothing secret is handed to Ray: the keys of providers are in the environment of each node (on one machine: inherited from
this process), where its tasks look for them as any piiloom does.
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

# Bytes that Ray sets aside for what tasks hand over, on a Ray of our own: assignments and reports are small.
_OBJECT_STORE = 128 * 2**20
# So many posts and polls can be at the desk at once.
_AT_THE_DESK = 4096


@asynccontextmanager
async def ray_crew(partitions: int, address: str | None = None) -> AsyncIterator[RayCrew]:
    """Have Ray work with *partitions* tasks at once, on the cluster at *address* or on a Ray of our own on this machine.

    A Ray that this process is connected to already is used as it is. Raises ``UsageError`` where Ray is not installed, and
    ``RunError`` when the cluster cannot be joined.
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
    """A ``crew.Crew``."""

    def __init__(self, ray: Any, partitions: int) -> None:
        self._ray, self.partitions = ray, partitions
        # A task that died is not run again by Ray: what it paid for is merged first.
        self._task = ray.remote(num_cpus=1, max_retries=0, scheduling_strategy="SPREAD")(run_assignment)

    async def open_desk(self, settings: DeskSettings) -> DeskLink:
        """Start the desk, an actor on this node."""
        strategies = importlib.import_module("ray.util.scheduling_strategies")
        here = strategies.NodeAffinitySchedulingStrategy(self._ray.get_runtime_context().get_node_id(), soft=True)
        actor = self._ray.remote(num_cpus=0, max_concurrency=_AT_THE_DESK, scheduling_strategy=here)(Desk)
        return RayLink(actor.remote(settings))

    async def work(self, assignment: Assignment, link: DeskLink) -> PartitionReport:
        """Run *assignment* as a task; raises ``PartitionLost`` when its process dies."""
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
    """The way to a desk that is an actor; it may be handed to tasks."""

    def __init__(self, actor: Any) -> None:
        self._actor = actor

    async def post(self, client: str, asks: Sequence[Ask]) -> Word:
        """Say *asks*; gives what can be answered at once."""
        word: Word = await self._actor.post.remote(client, asks)
        return word

    async def poll(self, client: str) -> Word:
        """Wait a moment for answers."""
        word: Word = await self._actor.poll.remote(client)
        return word

    async def leave(self, client: str) -> float:
        """*client* is no more."""
        spent: float = await self._actor.leave.remote(client)
        return spent

    async def stop(self) -> None:
        """Ask all clients to end."""
        await self._actor.stop.remote()

    async def look(self) -> DeskView:
        """How things stand."""
        view: DeskView = await self._actor.look.remote()
        return view


def _join(ray: Any, partitions: int, address: str | None) -> None:
    quiet: dict[str, Any] = {"log_to_driver": False, "configure_logging": False}
    # With "local", neither RAY_ADDRESS nor a Ray that happens to run here draws the run to a place nobody named.
    ours = {"address": "local", "num_cpus": partitions, "include_dashboard": False, "object_store_memory": _OBJECT_STORE}
    # It has much to say on standard error, and none of it is about the run.
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
    """Keep our handlers of SIGINT and SIGTERM: Ray puts its own in their place, which end the process at once."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
