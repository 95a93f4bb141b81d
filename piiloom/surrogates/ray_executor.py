"""Executor on Ray: jobs are done by a pool of actors (``ray.util.ActorPool``), on one machine or on a cluster.

Every node must see the input and the output's parent folder under the same paths. Workers read the input from the one, and unpacked
and assigned files from the other.

Ray is imported when a ``RayExecutor`` is made, not before.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from importlib import import_module
from typing import Final

from piiloom.foundation.errors import RunError
from piiloom.foundation.job_window import submitted
from piiloom.foundation.portable_errors import outcome_of, result_of
from piiloom.foundation.ray_cluster import cause_of, import_ray, join, leave
from piiloom.surrogates.jobs import ChunkResult, Job, WorkerSettings
from piiloom.surrogates.worker import Worker, place_of

_OBJECT_STORE: Final = 256 * 2**20


class RayWorker:
    """A Ray actor around a ``Worker``."""

    def __init__(self, settings: WorkerSettings) -> None:
        self._worker = Worker(settings)

    def do(self, job: Job) -> object:
        """Do *job* and return its result, or its error in a form that can be pickled."""
        return outcome_of(self._worker.do, job)


class RayExecutor:
    """*workers* Ray actors; by default one per CPU of the cluster.

    A Ray connection that this process already has is used as it is. Otherwise Ray joins the cluster at *address*, or starts locally.
    Raises ``UsageError`` if Ray is not installed, and ``RunError`` if it cannot be started or joined.
    """

    def __init__(self, settings: WorkerSettings, workers: int | None = None, address: str | None = None) -> None:
        self._ray = import_ray("--ray")
        self._ours = not self._ray.is_initialized()
        if self._ours:
            join(self._ray, address, object_store_bytes=_OBJECT_STORE)
        count = workers or max(1, int(self._ray.cluster_resources().get("CPU", 1)))
        make = self._ray.remote(num_cpus=1, max_restarts=0)(RayWorker)
        shared = self._ray.put(settings)
        self._actors = [make.remote(shared) for _ in range(count)]

    def map(self, jobs: Iterable[Job]) -> Iterator[tuple[Job, ChunkResult]]:
        """See ``jobs.Executor``."""
        pool = import_module("ray.util").ActorPool(self._actors)
        submit = partial(pool.submit, lambda actor, job: actor.do.remote(job))
        for job, _ in submitted(jobs, submit, workers=len(self._actors)):
            try:
                outcome = pool.get_next()
            except self._ray.exceptions.RayError as error:
                raise RunError(f"a Ray worker failed ({cause_of(error)})", where=place_of(job.chunk), remedy="See ray status") from None
            result: ChunkResult = result_of(outcome)
            yield job, result

    def close(self) -> None:
        """See ``jobs.Executor``."""
        for actor in self._actors:
            self._ray.kill(actor)
        self._actors = []
        if self._ours:
            leave(self._ray)
