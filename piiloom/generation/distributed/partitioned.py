"""A run over several processes: the driver runs it as one process would, but has workers take the items through their stages.

The driver owns the store and does all run-wide work: topics and subtopics, the plan, screening in plan order. Items are dealt to the
workers by their plan index. Each worker keeps its calls in a store of its own, its partition, which is merged when the worker ends. The
records are those of a single process, byte for byte.
"""

from __future__ import annotations

from contextlib import aclosing
from dataclasses import replace
from pathlib import Path

from piiloom.corpus.store.costs import spending
from piiloom.corpus.store.runs import load_rejects, plan_indexes, set_run_status
from piiloom.execution.call_channel import CallPolicy, close_open_sends
from piiloom.execution.call_totals import CallTotals
from piiloom.execution.ordering import StopSignal
from piiloom.execution.shared_limits import SharedLimits
from piiloom.foundation.errors import RunError
from piiloom.foundation.noop import noop
from piiloom.generation.distributed.partition_checks import check_partitioned
from piiloom.generation.distributed.ray_executor import RayExecutor, ray_executor
from piiloom.generation.distributed.workers import WorkerLost, Workers
from piiloom.generation.running.crash_recovery import merge_leftover_partitions
from piiloom.generation.running.item_runner import run_items
from piiloom.generation.running.progress import RunProgress, Watch
from piiloom.generation.running.session import OpenedRun, call_policy
from piiloom.generation.running.whole_run import WholeRun

# With fewer wanted items per worker than this, another worker does not pay off.
LEAST_EACH = 4
# This many passes more, in which a worker died before another item was decided, end the run.
_MOST_IN_VAIN = 2


async def generate_partitioned(
    opened: OpenedRun,
    *,
    workers: int,
    address: str | None = None,
    folder: Path | None = None,
    stop: StopSignal | None = None,
    watch: Watch = noop,
    policy: CallPolicy | None = None,
) -> RunProgress:
    """Like ``run_items`` on a whole run, with *workers* Ray workers, on this machine or on the cluster at *address*.

    Partition stores are created next to the store, or in *folder*, which all nodes of the cluster must share. On a cluster without
    *folder* their bytes are sent to the workers and back. Raises ``UsageError`` for settings that cannot be partitioned and if Ray is
    not installed, ``RunError`` if the cluster cannot be joined.
    """
    returned = address is not None and folder is None
    check_partitioned(opened.config, returned=returned)
    async with ray_executor(workers, address) as executor:
        return await generate_on(executor, opened, folder=folder, returned=returned, stop=stop, watch=watch, policy=policy)


async def generate_on(
    executor: RayExecutor,
    opened: OpenedRun,
    *,
    folder: Path | None = None,
    returned: bool = False,
    stop: StopSignal | None = None,
    watch: Watch = noop,
    policy: CallPolicy | None = None,
) -> RunProgress:
    """Let the workers of *executor* process the run; *folder* and *returned* as for ``Workers``.

    The provider of *opened* is not used: each pass opens its own. Returns the final progress.

    When a worker dies, all partitions are merged and the run goes on with new workers. Raises ``RunError`` if workers die in vain.
    """
    store, run, config = opened.store, opened.run, opened.config
    policy = policy or call_policy(config)
    merge_leftover_partitions(store, run.id)
    close_open_sends(store, run.id)
    coordinator = executor.start_coordinator(
        concurrency=policy.concurrency,
        rpm=policy.rpm,
        tpm=policy.tpm,
        budget_usd=policy.budget_usd,
        spent_usd=CallTotals.after(spending(store, run.id)).spent_usd,
    )
    unstored, decided, in_vain = CallTotals(), -1, 0
    async with aclosing(SharedLimits(coordinator, "driver", concurrency=policy.concurrency, budget_usd=policy.budget_usd)) as limits:
        policy = replace(policy, limiter=limits, budget=limits)
        while True:
            accepted = len(plan_indexes(store, run.id))
            before, decided = decided, accepted + len(load_rejects(store, run.id))
            in_vain = in_vain + 1 if decided == before else 0
            workers = Workers(
                executor=executor,
                coordinator=coordinator,
                limits=limits,
                opened=opened,
                policy=policy,
                count=min(executor.workers, max(0, config.samples - accepted) // LEAST_EACH),
                folder=folder,
                returned=returned,
            )
            try:
                progress = await _pass(workers, stop, watch)
            except WorkerLost as lost:
                if in_vain == _MOST_IN_VAIN:
                    remedy = "Resume the run without --ray; what was paid for is kept"
                    raise RunError(f"workers failed repeatedly ({lost.cause})", where=run.id, remedy=remedy) from lost
                unstored.add(workers.unstored)
            else:
                progress.totals.add(unstored)
                return progress


async def _pass(workers: Workers, stop: StopSignal | None, watch: Watch) -> RunProgress:
    """Run the run of *workers* to its end, or until one of them is lost; their partitions are merged then."""
    opened = workers.opened
    try:
        async with workers:
            session_run = opened.reopened()
            return await run_items(
                session_run, WholeRun(session_run), stop=stop, watch=watch, policy=workers.policy, through=workers.advance
            )
    except BaseException:
        set_run_status(opened.store, opened.run.id, "interrupted")
        raise
