"""One stage alone over what is pending in the store; all of them in order give what a whole run gives."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable

from piiloom.corpus.store.database import Store
from piiloom.corpus.store.runs import RunRow, set_run_status
from piiloom.execution.committing import Batch
from piiloom.execution.line import Conduct
from piiloom.execution.ordering import OrderedRun, StopSignal
from piiloom.foundation.errors import RunError, UsageError
from piiloom.generation import screen, subtopics, topics
from piiloom.generation.configuration import RunConfig
from piiloom.generation.earlier import EarlierWork, read_earlier
from piiloom.generation.item import item_from_json
from piiloom.generation.pipeline import Outcome, advance, item_stages, stage_names
from piiloom.generation.progress import RunProgress, Watch, unwatched
from piiloom.generation.run import begun, make_ready, outcome_rows, primed_screening, screened, tell_decided
from piiloom.generation.screen import Screening
from piiloom.generation.session import Session, open_session
from piiloom.generation.stage import ItemRejected, Stage
from piiloom.generation.triplet_book import planned_for
from piiloom.providers.protocol import Provider


def check_stage(name: str) -> str:
    """Give *name* back when it is a stage; raises ``UsageError`` listing the stages."""
    if name not in stage_names():
        raise UsageError(f"unknown stage {name!r}", remedy=f"The stages, in order: {', '.join(stage_names())}")
    return name


async def run_stage(
    name: str,
    store: Store,
    run: RunRow,
    config: RunConfig,
    provider: Provider,
    *,
    stop: StopSignal | None = None,
    watch: Watch = unwatched,
    conduct: Conduct | None = None,
) -> RunProgress:
    """Run stage *name* over all that waits for it; raises ``RunError`` when an earlier stage has to run first."""
    check_stage(name)
    if name not in stage_names(config.judges):
        raise RunError(f"the run has no {name}", where=run.id, remedy="Ask for judges when a run is started (judges: [relevance, leak])")
    stop = stop or StopSignal()
    earlier = read_earlier(store, run.id)
    try:
        async with open_session(store, run, config, provider, conduct=conduct) as session:
            alone = _StageAlone(session, earlier, watch, stop)
            screening = primed_screening(store, run, config, provider, session.ctx.bank) if name == screen.NAME else None
            session.start_committing()
            await alone.work(name, screening)
    except BaseException:
        set_run_status(store, run.id, "interrupted")
        raise
    progress = alone.progress
    progress.status = "interrupted" if stop.requested else "finished"
    accepted = len(earlier.accepted) + (progress.accepted if name == screen.NAME else 0)
    set_run_status(store, run.id, "finished" if accepted >= config.samples else "interrupted")
    return progress


class _StageAlone:
    """One sitting of one stage."""

    def __init__(self, session: Session, earlier: EarlierWork, watch: Watch, stop: StopSignal) -> None:
        self._session, self._earlier, self._watch, self._stop = session, earlier, watch, stop
        self._config = session.ctx.config
        self._stages = item_stages(self._config.judges)
        # As many more as were rejected: running the stages again fills a set up.
        self._planned = planned_for(self._config.samples, self._config.margin) + len(earlier.rejects)
        self.progress = RunProgress(run_id=session.run.id, wanted=0, totals=session.ctx.calls.totals)
        make_ready(session, earlier, self.progress, watch)

    async def work(self, name: str, screening: Screening | None) -> None:
        """Find the items that wait for stage *name* and work on them."""
        book = self._session.book
        if name == topics.NAME:
            await book.ensure_topics(self._planned, self._stop)
            self.progress.accepted = self.progress.wanted = book.topics_known
            return
        if not book.has_topics(self._planned):
            raise RunError("topics are missing", where=self._session.run.id, remedy="Run the stage topics first")
        if name == subtopics.NAME:
            await book.ensure_subtopics(self._planned, self._stop)
            self.progress.accepted = self.progress.wanted = book.subtopics_known
            return
        if len(self._earlier.accepted) >= self._config.samples:
            return  # the run is complete: whatever else could be planned is not wanted
        if name == self._stages[0].name:
            await self._pass_new(self._stages[0])
            return
        self._check_turn(name)
        if screening is not None:
            self._screen(screening)
        else:
            position = next(place for place, stage in enumerate(self._stages) if stage.name == name)
            await self._pass_on(self._stages[position], self._stages[position - 1].name)

    def _check_turn(self, name: str) -> None:
        """Raise ``RunError`` when no item has come as far as stage *name*, naming the stage that items wait for."""
        names = [*(stage.name for stage in self._stages), name]
        reached = {names.index(done) for done, _ in self._earlier.under_way.values()}
        if self._earlier.decided if not reached else max(reached) >= names.index(name) - 1:
            return
        first = names[max(reached) + 1] if reached else names[0]
        raise RunError(f"no item has come as far as {name}", where=self._session.run.id, remedy=f"Run the stage {first} first")

    async def _pass_new(self, stage: Stage) -> None:
        """Plan new items and take them through the first item stage."""
        if not self._session.book.is_ready(self._planned):
            raise RunError("subtopics are missing", where=self._session.run.id, remedy="Run the stage subtopics first")
        known = self._earlier.decided | set(self._earlier.under_way)
        digest = self._config.plan_digest()

        async def begin(index: int) -> tuple[int, Outcome | ItemRejected]:
            try:
                start = begun(self._session, index, digest)
            except ItemRejected as rejection:
                return index, rejection
            return index, await advance(start, self._session.ctx, (stage,))

        await self._go(begin, [index for index in range(self._planned) if index not in known])

    async def _pass_on(self, stage: Stage, before: str) -> None:
        """Take the items that have passed *before* through *stage*."""
        waiting = self._earlier.passed(before)

        async def on(index: int) -> tuple[int, Outcome | ItemRejected]:
            return index, await advance(Outcome(item=item_from_json(waiting[index]), done=before), self._session.ctx, (stage,))

        await self._go(on, waiting)

    async def _go(self, work: Callable[[int], Awaitable[tuple[int, Outcome | ItemRejected]]], indexes: Iterable[int]) -> None:
        pending = list(indexes)
        self.progress.wanted = len(pending)
        await OrderedRun(
            source=iter(pending),
            work=work,
            consume=self._consumed,
            still_wanted=lambda: len(pending),
            concurrency=self._session.items_at_once,
            stop=self._stop,
            gauge=self._session.line.items,
        ).run()

    def _consumed(self, result: tuple[int, Outcome | ItemRejected]) -> None:
        index, outcome = result
        batch, rejection = outcome_rows(index, outcome)
        self._keep(index, batch, rejection)

    def _screen(self, screening: Screening) -> None:
        """Screen strictly in plan order: stop at the first item that another stage still has to finish."""
        last = self._stages[-1].name
        wanted = self._config.samples - len(self._earlier.accepted)
        self.progress.wanted = max(0, wanted)
        for index, (done, payload) in sorted(self._earlier.under_way.items()):
            if self.progress.accepted >= wanted or self._stop.requested:
                return
            if done != last:
                where = f"{self._session.run.id}, plan item {index}"
                raise RunError(f"it has come no further than {done}", where=where, remedy="Run the stages after that first")
            batch = Batch()
            self._keep(index, batch, screened(item_from_json(payload), screening, batch))

    def _keep(self, index: int, batch: Batch, rejection: ItemRejected | None) -> None:
        if rejection is None:
            self.progress.accepted += 1
        else:
            row = rejection.row(plan_index=index)
            batch.rejects.append(row)
            self.progress.count_reject(row)
        tell_decided(self._session.ctx.calls.sink, index, batch, rejection)
        self._session.committer.put(batch)
        self._watch(self.progress)
