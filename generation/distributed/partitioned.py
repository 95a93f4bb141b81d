"""A run over several processes: plan items are split into partitions, processed by workers, merged, and screened in plan order.

The driver owns the store and does all run-wide work: topics and subtopics, the plan, screening. Each round hands out only as
many items as are still wanted, so nothing is paid for that a single process would not have paid for. A further round replaces
the items that screening rejects; a session in this process produces the last few records and ends the run. The records are
the same as those of a single process, byte for byte.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import takewhile
from pathlib import Path

from piiloom.corpus.store.partitions import load_finished
from piiloom.corpus.store.progress import load_rejects
from piiloom.corpus.store.runs import set_run_status
from piiloom.corpus.store.spending import spending
from piiloom.execution.call_channel import CallPolicy, close_open_sends
from piiloom.execution.call_totals import CallTotals
from piiloom.execution.committing import Batch, write_batch
from piiloom.execution.desk.client import DeskClient
from piiloom.execution.desk.remote_limits import RemoteBudget, RemoteLimiter
from piiloom.execution.desk.words import DeskSettings
from piiloom.execution.ordering import StopSignal
from piiloom.foundation.errors import RunError
from piiloom.foundation.noop import noop
from piiloom.generation.distributed.crew import Crew
from piiloom.generation.distributed.partition_checks import check_partitioned
from piiloom.generation.distributed.partition_round import PartitionRound, add_totals
from piiloom.generation.distributed.partition_work import Start
from piiloom.generation.distributed.ray_crew import ray_crew
from piiloom.generation.item import item_from_json, item_to_json
from piiloom.generation.plan.horizons import horizons
from piiloom.generation.running.crash_recovery import merge_leftover_partitions
from piiloom.generation.running.item_runner import run_items, screened
from piiloom.generation.running.progress import RunProgress, Watch
from piiloom.generation.running.resume_state import ResumeState, read_resume_state
from piiloom.generation.running.session import OpenedRun, call_policy
from piiloom.generation.running.stopping import RejectStreak, StoppedEarly, streak_of
from piiloom.generation.running.whole_run import WholeRun, primed_screening
from piiloom.generation.settings.configuration import RunConfig
from piiloom.generation.stage import ItemRejected
from piiloom.generation.stages.pipeline import item_stages
from piiloom.generation.stages.screen import Screening

# With fewer wanted items per partition than this, another round does not pay off.
LEAST_EACH = 4
# Number of items that are screened and committed together.
_SCREENED_AT_ONCE = 200


async def generate_partitioned(
    opened: OpenedRun,
    *,
    partitions: int,
    address: str | None = None,
    folder: Path | None = None,
    stop: StopSignal | None = None,
    watch: Watch = noop,
    policy: CallPolicy | None = None,
) -> RunProgress:
    """Like ``run_items`` on a whole run, with *partitions* Ray tasks at once, on this machine or on the cluster at *address*.

    Partition stores are created next to the store, or in *folder*, which all nodes of the cluster must share. On a cluster without
    *folder* their bytes are sent along with the tasks. Raises ``UsageError`` for settings that cannot be partitioned and if Ray is not
    installed, ``RunError`` if the cluster cannot be joined.
    """
    returned = address is not None and folder is None
    check_partitioned(opened.config, returned=returned)
    async with ray_crew(partitions, address) as crew:
        return await generate_by_crew(opened, crew, folder=folder, returned=returned, stop=stop, watch=watch, policy=policy)


async def generate_by_crew(
    opened: OpenedRun,
    crew: Crew,
    *,
    folder: Path | None = None,
    returned: bool = False,
    stop: StopSignal | None = None,
    watch: Watch = noop,
    policy: CallPolicy | None = None,
) -> RunProgress:
    """Let the workers of *crew* process the run until the wanted number of records is accepted, or *stop* is requested.

    *folder* and *returned* say how partition stores reach the workers: see ``PartitionRound``. The provider of *opened* is not used: each
    session opens its own. Returns the final progress.
    """
    store, run, config = opened.store, opened.run, opened.config
    stop, policy = stop or StopSignal(), policy or call_policy(config)
    merge_leftover_partitions(store, run.id)
    close_open_sends(store, run.id)
    before = CallTotals.after(spending(store, run.id))
    link = await crew.open_desk(
        DeskSettings(
            concurrency=policy.concurrency,
            rpm=policy.rpm,
            tpm=policy.tpm,
            budget_usd=policy.budget_usd,
            spent_usd=before.spent_usd,
        )
    )
    async with DeskClient(link, "driver", concurrency=policy.concurrency) as client:
        policy = replace(policy, limiter=RemoteLimiter(client), budget=RemoteBudget(client, policy.budget_usd))
        progress = RunProgress(run_id=run.id, wanted=config.samples, totals=before)
        round_ = PartitionRound(
            store=store,
            run=run,
            config=config,
            crew=crew,
            link=link,
            policy=policy,
            progress=progress,
            watch=watch,
            stop=stop,
            folder=folder,
            returned=returned,
        )
        stopped: StoppedEarly | None = None
        driver = _Driver(opened, policy, round_, stop)
        try:
            await driver.rounds(crew.partitions * LEAST_EACH)
        except StoppedEarly as error:
            stopped = error
            stop.request()
        except BaseException:
            set_run_status(store, run.id, "interrupted")
            raise
        ended = await run_items(opened.reopened(), WholeRun(opened), stop=stop, watch=watch, policy=policy)
        ended.stopped = ended.stopped or stopped or driver.stopped
    # For a paid provider, the other totals were read from the store already.
    done = round_.totals
    add_totals(ended.totals, CallTotals(answered_now=done.answered_now, replayed=done.replayed) if opened.provider.paid else done)
    return ended


class _Driver:
    """The driver: plans the rounds and screens their results."""

    def __init__(self, opened: OpenedRun, policy: CallPolicy, round_: PartitionRound, stop: StopSignal) -> None:
        self._opened, self._store, self._run, self._config = opened, opened.store, opened.run, opened.config
        self._policy, self._round, self._stop = policy, round_, stop
        self._last = item_stages(self._config.recipe, self._config.judges)[-1].name
        self._screening: Screening | None = None
        self._streak: RejectStreak | None = None

    @property
    def stopped(self) -> StoppedEarly | None:
        """Why the driver stopped the run, if it did."""
        return self._streak.stopped if self._streak is not None else None

    async def rounds(self, least: int) -> None:
        """Run rounds until fewer than *least* records are missing, nothing is left to plan, or a stop is requested."""
        while not self._stop.requested:
            earlier = read_resume_state(self._store, self._run.id)
            wanted = self._config.samples - len(earlier.accepted)
            end = _horizon(self._config, earlier, wanted)
            # No more items than are wanted: a single process would not have started more, either.
            window = [index for index in range(end) if index not in earlier.decided][: max(wanted, 0)]
            if wanted < least or not window or not await self._worked(window, end, earlier):
                return
            self._screen(window)

    async def _worked(self, window: list[int], end: int, earlier: ResumeState) -> bool:
        """Have workers take the items in *window* through all stages but screening.

        Returns False if a stop was requested during planning. Raises ``RunError`` if every partition was lost.
        """
        starts = await self._starts(window, end, earlier)
        if starts is None:
            return False
        waiting = [start for start in starts if start.done != self._last]
        kept = await self._round.work(waiting, earlier.named_draws)
        if waiting and not kept and not self._stop.requested:
            raise RunError(
                f"no partition came to an end ({self._round.lost or 'none said why'})",
                where=self._run.id,
                remedy="Resume the run without --ray; what was paid for is kept",
            )
        return True

    async def _starts(self, window: list[int], end: int, earlier: ResumeState) -> list[Start] | None:
        """Ask for the topics and subtopics of *end* items and return where each item of *window* stands; None after a stop request.

        Items without a triplet are rejected and left out.
        """
        starts = []
        async with self._opened.reopened().session(self._policy) as session:
            if self._screening is None:
                self._screening = primed_screening(self._opened)
            self._streak = self._streak or streak_of(session.ctx, self._run.id, stop=self._stop.request)
            session.ctx.draws = earlier.named_draws
            session.catalog.note = self._round.preparing
            session.start_committing()
            if not await session.catalog.ensure(end, self._stop):
                return None
            for index in window:
                if index in earlier.under_way:
                    done, payload = earlier.under_way[index]
                    starts.append(Start(index=index, done=done, payload=payload))
                    continue
                try:
                    planned = item_to_json(session.planned(index))
                    starts.append(Start(index=index, done=None, payload=planned))
                except ItemRejected as rejection:
                    session.committer.put(Batch(rejects=[rejection.row(plan_index=index)]))
        self._round.planned_with(session.ctx.calls.totals)
        return starts

    def _screen(self, window: list[int]) -> None:
        """Screen the items of *window* strictly in plan order, up to the first one that has not passed all stages."""
        assert self._screening is not None  # noqa: S101 - made with the first round
        all_of_it, rejected = window, {row.plan_index for row in load_rejects(self._store, self._run.id)}
        window = [index for index in window if index not in rejected]
        for first in range(0, len(window), _SCREENED_AT_ONCE):
            piece, batch = window[first : first + _SCREENED_AT_ONCE], Batch()
            finished = load_finished(self._store, self._run.id, self._last, piece)
            for index in takewhile(finished.__contains__, piece):
                rejection = screened(item_from_json(finished[index]), self._screening, batch)
                if rejection is not None:
                    batch.rejects.append(rejection.row(plan_index=index))
                self._round.screened(accepted=rejection is None)
            write_batch(self._store, self._run.id, batch)
            if len(finished) < len(piece):
                break
        self._note_ends(all_of_it)

    def _note_ends(self, window: list[int]) -> None:
        """Feed the decided items of *window* to the reject counter, in plan order."""
        assert self._streak is not None  # noqa: S101 - made with the first round
        earlier = read_resume_state(self._store, self._run.id)
        reasons = {row.plan_index: (row.stage, row.reason_code) for row in earlier.rejects}
        for index in window:
            if index in earlier.decided:
                self._streak.note(reasons.get(index), index)


def _horizon(config: RunConfig, earlier: ResumeState, wanted: int) -> int:
    """Return how many plan items to consider, growing in the same steps as the rounds of a run in one process."""
    end = 0
    for _, end in horizons(config, lambda: wanted):
        if any(index not in earlier.decided for index in range(end)):
            break
    return end
