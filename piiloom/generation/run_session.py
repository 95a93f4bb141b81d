"""Run a session (one process working on a run, until it ends or is interrupted) from synchronous code; Ctrl-C stops it cleanly."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from piiloom.execution.call_channel import CallPolicy
from piiloom.execution.ordering import StopSignal, stopped_by_ctrl_c
from piiloom.foundation.event_loops import run_in_own_loop
from piiloom.foundation.noop import noop
from piiloom.generation.running.item_runner import WholeRun, run_items
from piiloom.generation.running.progress import RunProgress, Watch
from piiloom.generation.running.session import OpenedRun
from piiloom.generation.running.single_stage import SingleStage


@dataclass(frozen=True, slots=True, kw_only=True)
class RayOptions:
    """Ray settings: how many workers there are, the cluster's address (None: this machine), the folder its nodes share (None: none)."""

    workers: int
    address: str | None = None
    folder: Path | None = None


def run_to_end(
    opened: OpenedRun,
    *,
    stage: str | None = None,
    watch: Watch = noop,
    policy: CallPolicy | None = None,
    ray: RayOptions | None = None,
) -> RunProgress:
    """Work on the run *opened* to its end, or run only *stage*. The first Ctrl-C stops cleanly (status "interrupted"), the second at once.

    With *ray*, Ray workers process the items (needs the extra ``ray``).
    """
    stop = StopSignal()

    async def work() -> RunProgress:
        with stopped_by_ctrl_c(stop):
            if ray is not None:
                from piiloom.generation.distributed.partitioned import generate_partitioned  # noqa: PLC0415 - few runs want it, all would load it

                await opened.provider.aclose()  # each pass has its own
                return await generate_partitioned(
                    opened, workers=ray.workers, address=ray.address, folder=ray.folder, stop=stop, watch=watch, policy=policy
                )
            strategy = WholeRun(opened) if stage is None else SingleStage(stage, opened)
            return await run_items(opened, strategy, stop=stop, watch=watch, policy=policy)

    return run_in_own_loop(work, on_interrupt=stop.request)
