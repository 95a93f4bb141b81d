"""Run one stage alone on the pending items in the store. Running all stages in order gives the same records as a whole run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from piiloom.corpus.store.database import Store
from piiloom.corpus.store.runs import RunRow, set_run_status
from piiloom.execution.call_channel import CallPolicy
from piiloom.execution.ordering import OrderedRun, StopSignal
from piiloom.foundation.errors import RunError, UsageError
from piiloom.foundation.noop import noop
from piiloom.generation.item import item_from_json
from piiloom.generation.running.progress import RunProgress, Watch
from piiloom.generation.running.resume_state import ResumeState, read_resume_state
from piiloom.generation.running.run import PLANNED_AT_MOST, begun, make_ready, outcome_rows, primed_screening, screened, tell_decided
from piiloom.generation.running.session import Session, open_session
from piiloom.generation.running.stopping import StoppedEarly, streak_of
from piiloom.generation.running.topic_catalog import planned_for
from piiloom.generation.settings.configuration import RunConfig
from piiloom.generation.settings.digests import plan_digest
from piiloom.generation.stage import ItemRejected, Stage
from piiloom.generation.stages import screen, subtopics, topics
from piiloom.generation.stages.pipeline import Outcome, advance, all_stage_names, item_stages, stage_names
from piiloom.generation.stages.screen import Screening
from piiloom.providers.protocol import Provider


def check_stage(name: str) -> str:
    """Return *name* if it is a stage; raises ``UsageError`` listing the stages otherwise."""
    if name not in all_stage_names():
        raise UsageError(f"unknown stage {name!r}", remedy=f"The stages, in order: {', '.join(all_stage_names())}")
    return name


def check_stage_of(name: str, config: RunConfig, *, where: str | None = None) -> None:
    """Raise ``RunError`` if a run of *config* does not have the stage *name*; *where* is the run id for the message."""
    known = stage_names(config.recipe, config.judges)
    if name not in known:
        remedy = f"It has {', '.join(known)}; judges and a recipe are asked for when a run is started"
        raise RunError(f"the run has no stage {name}", where=where, remedy=remedy)


async def run_stage(
    name: str,
    store: Store,
    run: RunRow,
    config: RunConfig,
    provider: Provider,
    *,
    stop: StopSignal | None = None,
    watch: Watch = noop,
    policy: CallPolicy | None = None,
) -> RunProgress:
    """Run stage *name* on all items that wait for it and return the progress of this stage.

    Raises ``UsageError`` for an unknown stage, ``RunError`` if the run does not have the stage or an earlier one must run first.
    """
    check_stage(name)
    check_stage_of(name, config, where=run.id)
    stop = stop or StopSignal()
    earlier = read_resume_state(store, run.id)
    try:
        async with open_session(store, run, config, provider, policy=policy) as session:
            alone = _StageAlone(session, earlier, watch, stop)
            screening = primed_screening(store, run, config, provider, session.ctx.bank) if name == screen.NAME else None
            session.start_committing()
            try:
                await alone.work(name, screening)
                alone.progress.stopped = alone.streak.stopped
            except StoppedEarly as stopped:
                alone.progress.stopped = stopped
    except RunError:  # another stage must run first: keep the run's status
        set_run_status(store, run.id, "interrupted" if run.status == "running" else run.status)
        raise
    except BaseException:
        set_run_status(store, run.id, "interrupted")
        raise
    progress = alone.progress
    progress.status = "interrupted" if stop.requested or progress.stopped else "finished"
    accepted = len(earlier.accepted) + (progress.accepted if name == screen.NAME else 0)
    set_run_status(store, run.id, "finished" if accepted >= config.samples else "interrupted")
    return progress


class _StageAlone:
    """The state of one session of one stage.

    It lets exactly as many items pass as records are wanted. For each item it rejects, it takes the next item of the plan through
    the earlier stages and then through this one. So running the stages in order works on the same items as a whole run.
    """

    def __init__(self, session: Session, earlier: ResumeState, watch: Watch, stop: StopSignal) -> None:
        self._session, self._earlier, self._watch, self._stop = session, earlier, watch, stop
        self._config = session.ctx.config
        self._stages = item_stages(self._config.recipe, self._config.judges)
        self._planned = planned_for(self._config.samples, self._config.margin)
        self._screening: Screening | None = None
        # Items in progress at other stages, which may still become records.
        self._alive = 0
        self.streak = streak_of(session.ctx, session.run.id, stop=stop.request)
        self.progress = RunProgress(run_id=session.run.id, wanted=0, totals=session.ctx.calls.totals)
        make_ready(session, earlier, self.progress, watch)

    async def work(self, name: str, screening: Screening | None) -> None:
        """Find the items that wait for stage *name* and work on them."""
        book, self._screening = self._session.book, screening
        if name == topics.NAME:
            try:
                await book.ensure_topics(self._planned, self._stop)
            finally:
                self._count(name, book.topics_known)
            return
        if not book.has_topics(self._planned):
            raise RunError("topics are missing", where=self._session.run.id, remedy="Run the stage topics first")
        if name == subtopics.NAME:
            try:
                await book.ensure_subtopics(self._planned, self._stop)
            finally:
                self._count(name, book.subtopics_known)
            return
        if len(self._earlier.accepted) >= self._config.samples:
            return  # the run has all its records
        if name == self._stages[0].name and not book.is_ready(self._planned):
            raise RunError("subtopics are missing", where=self._session.run.id, remedy="Run the stage subtopics first")
        if name != self._stages[0].name:
            self._check_turn(name)
        names = [stage.name for stage in self._stages]
        place = names.index(name) if screening is None else len(names)
        await self._fill_up(self._stages[: place + 1], names[place - 1] if place else None)

    def _count(self, name: str, known: int) -> None:
        """Set the progress of a stage that runs once per pair or topic: *known* of them are done, the given-up ones are rejects."""
        for row in self._session.book.given_up(name):
            self.progress.count_reject(row)
        self.progress.accepted, self.progress.wanted = known, known + self.progress.rejected

    def _check_turn(self, name: str) -> None:
        """Raise ``RunError`` if no item has reached stage *name*, naming the stage that must run first."""
        names = [*(stage.name for stage in self._stages), name]
        reached = {names.index(done) for done, _ in self._earlier.under_way.values()}
        if self._earlier.decided if not reached else max(reached) >= names.index(name) - 1:
            return
        first = names[max(reached) + 1] if reached else names[0]
        raise RunError(f"no item has come as far as {name}", where=self._session.run.id, remedy=f"Run the stage {first} first")

    async def _fill_up(self, stages: Sequence[Stage], before: str | None) -> None:
        """Take items that have passed stage *before* through the last of *stages*, and new items through all of them, in plan order."""
        under_way, digest = self._earlier.under_way, plan_digest(self._config)
        waiting = self._earlier.passed(before) if before is not None else {}
        behind = self._first_behind(before) if self._screening is not None else None
        self._alive = len(under_way) - len(waiting)
        self.progress.wanted = max(0, self._missing())

        def start(index: int) -> Outcome:
            return Outcome(item=item_from_json(waiting[index]), done=before) if index in waiting else begun(self._session, index, digest)

        first, end = 0, self._planned
        limit = PLANNED_AT_MOST * end
        while self._missing() > 0 and first < limit and not self._stop.requested:
            if not await self._session.book.ensure(end, self._stop):
                return
            until = end if behind is None else min(end, behind)
            chosen = (i for i in range(first, until) if i not in self._earlier.decided and (i in waiting or i not in under_way))
            await self._go(start, stages, chosen)
            if until == behind and self._missing() > 0 and not self._stop.requested:
                where = f"{self._session.run.id}, plan item {behind}"
                raise RunError(f"it has come no further than {under_way[behind][0]}", where=where, remedy="Run the stages after that first")
            first, end = end, min(limit, end + max(20, 2 * self._missing()))

    def _first_behind(self, last: str | None) -> int | None:
        """Return the first plan item under way that has not passed stage *last*; screening goes in plan order and must stop there."""
        behind = [index for index, (done, _) in self._earlier.under_way.items() if done != last]
        return min(behind, default=None)

    def _missing(self) -> int:
        """Return how many more items must pass this stage. At screening only accepted records count, not items under way."""
        alive = 0 if self._screening is not None else self._alive
        return self._config.samples - len(self._earlier.accepted) - alive - self.progress.accepted

    async def _go(self, start: Callable[[int], Outcome], stages: Sequence[Stage], indexes: Iterator[int]) -> None:
        """Take the items *indexes*, each from the outcome that *start* returns for it, to the end of *stages*."""
        names = [stage.name for stage in stages]

        async def work(index: int) -> tuple[int, Outcome | ItemRejected]:
            try:
                outcome = start(index)
            except ItemRejected as rejection:
                return index, rejection
            done = names.index(outcome.done) + 1 if outcome.done is not None else 0
            return index, await advance(outcome, self._session.ctx, stages[done:])

        await OrderedRun(
            source=indexes,
            work=work,
            consume=self._consumed,
            still_wanted=self._missing,
            concurrency=self._session.items_at_once,
            stop=self._stop,
            gauge=self._session.channel.items,
        ).run()

    def _consumed(self, result: tuple[int, Outcome | ItemRejected]) -> None:
        index, outcome = result
        batch, rejection = outcome_rows(index, outcome)
        if self._screening is not None and rejection is None and isinstance(outcome, Outcome):
            rejection = screened(outcome.item, self._screening, batch)
        if rejection is None:
            self.progress.accepted += 1
        else:
            row = rejection.row(plan_index=index)
            batch.rejects.append(row)
            self.progress.count_reject(row)
        tell_decided(self._session.ctx.calls.sink, index, batch, rejection)
        self._session.committer.put(batch)
        self._watch(self.progress)
        self.streak.tell(rejection, index)
