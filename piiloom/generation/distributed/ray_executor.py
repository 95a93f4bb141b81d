"""Ray as the executor of a run: the coordinator and the workers are Ray actors.

Ray is imported only when the executor is opened. No secrets are passed to Ray: workers read provider keys from the environment of
their node (on one machine it is inherited from this process).
"""

from __future__ import annotations

import importlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from piiloom.execution.shared_limits import Coordinator
from piiloom.foundation.ray_cluster import join, leave
from piiloom.generation.distributed.partition_checks import check_ray
from piiloom.generation.distributed.worker import Assignment, Worker

# Size of Ray's object store in bytes, if we start Ray ourselves. Items and reports are small.
_OBJECT_STORE = 128 * 2**20
# Most calls that an actor works on at once: requests wait in the coordinator, items in a worker. The others have to get past them.
_CALLS_AT_ONCE = 1000
_CALLS_A_SLOT = 8


@asynccontextmanager
async def ray_executor(workers: int, address: str | None = None) -> AsyncIterator[RayExecutor]:
    """Open an executor of *workers* processes, on the cluster at *address* or on a local Ray started for it.

    If this process is connected to Ray already, that connection is used and left open. Raises ``UsageError`` if Ray is not installed,
    ``RunError`` if the cluster cannot be joined.
    """
    ray = check_ray(workers, address)
    ours = not ray.is_initialized()
    if ours:
        join(ray, address, object_store_bytes=_OBJECT_STORE, cpus=workers)
    try:
        yield RayExecutor(ray, workers)
    finally:
        if ours:
            leave(ray)


class RayExecutor:
    """Starts actors. Their methods are called as ``handle.method.remote(…)``, which can be awaited.

    ``errors`` are raised by such a call if the actor's process died, or if a method failed.
    """

    def __init__(self, ray: Any, workers: int) -> None:
        self._ray, self.workers = ray, workers
        self.errors: tuple[type[Exception], ...] = (ray.exceptions.RayError,)

    def start_coordinator(self, *, concurrency: int, **limits: float | None) -> Any:
        """Start the coordinator, on this node if possible."""
        strategies = importlib.import_module("ray.util.scheduling_strategies")
        here = strategies.NodeAffinitySchedulingStrategy(self._ray.get_runtime_context().get_node_id(), soft=True)
        at_once = _CALLS_AT_ONCE + _CALLS_A_SLOT * concurrency
        actor = self._ray.remote(num_cpus=0, max_concurrency=at_once, scheduling_strategy=here)(Coordinator)
        return actor.remote(concurrency=concurrency, **limits)

    def start_worker(self, assignment: Assignment, coordinator: Any) -> Any:
        """Start a worker on any node. Ray does not restart it: what a dead one has paid for must be merged first."""
        at_once = _CALLS_AT_ONCE + _CALLS_A_SLOT * assignment.config.concurrency
        actor = self._ray.remote(num_cpus=1, max_restarts=0, max_concurrency=at_once, scheduling_strategy="SPREAD")(Worker)
        return actor.remote(assignment, coordinator)

    def end_worker(self, worker: Any) -> None:
        """End the process of *worker*, if it still lives."""
        self._ray.kill(worker)
