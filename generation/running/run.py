"""A whole run: plan, stages and screening until the wanted number of records is accepted."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence

from piiloom.corpus.store.database import Store
from piiloom.corpus.store.progress import StageResultRow
from piiloom.corpus.store.records import iter_records
from piiloom.corpus.store.runs import RunRow, RunStatus, set_run_status
from piiloom.execution.call_channel import CallPolicy
from piiloom.execution.committing import Batch
from piiloom.execution.ordering import OrderedRun, StopSignal
from piiloom.execution.watching import events
from piiloom.execution.watching.events import EventSink
from piiloom.foundation.noop import noop
from piiloom.generation.item import Item, item_from_json, item_to_json, plan_to_json
from piiloom.generation.plan.planning import make_case_item, make_plan_item, make_told_item, text_of
from piiloom.generation.running.progress import RunProgress, Watch
from piiloom.generation.running.resume_state import ResumeState, read_resume_state
from piiloom.generation.running.session import Session, open_session
from piiloom.generation.running.stopping import StoppedEarly, streak_of
from piiloom.generation.running.topic_catalog import planned_for
from piiloom.generation.settings.configuration import RunConfig
from piiloom.generation.settings.digests import plan_digest
from piiloom.generation.stage import ItemRejected, Stage, StageContext
from piiloom.generation.stages import screen
from piiloom.generation.stages.pipeline import Outcome, advance, stages_after, templates_of
from piiloom.generation.stages.screen import Screening
from piiloom.providers.protocol import Provider
from piiloom.taxonomy.scenarios import Bank

# A run gives up after planning this many times the initial number of items; by then something is wrong.
PLANNED_AT_MOST = 4

# Takes an item through the given stages: ``pipeline.advance``, or what has another process do it.
Advance = Callable[[Outcome, StageContext, Sequence[Stage]], Awaitable[Outcome]]


async def generate_records(
    store: Store,
    run: RunRow,
    config: RunConfig,
    provider: Provider,
    *,
    stop: StopSignal | None = None,
    watch: Watch = noop,
    policy: CallPolicy | None = None,
    through: Advance = advance,
) -> RunProgress:
    """Generate until ``config.samples`` records are accepted, the plan is exhausted, or *stop* is requested.

    Returns the final progress; its status is also stored as the run's. If the run stops early (see ``stopping``), the status is
    "interrupted" and ``progress.stopped`` says why. Fatal errors (wrong key, unreachable endpoint, full disk) propagate; the run can
    be resumed afterwards. *through* takes the items through their stages.
    """
    stop = stop or StopSignal()
    earlier = read_resume_state(store, run.id)
    try:
        async with open_session(store, run, config, provider, policy=policy) as session:
            screening = primed_screening(store, run, config, provider, session.ctx.bank)
            work = _Sitting(session, earlier, screening, watch, stop, through)
            session.start_committing()
            try:
                await work.until_done(stop)
                work.progress.stopped = work.streak.stopped
            except StoppedEarly as stopped:
                work.progress.stopped = stopped
    except BaseException:
        set_run_status(store, run.id, "interrupted")
        raise
    progress = work.progress
    complete = progress.accepted >= progress.wanted
    status: RunStatus = "finished" if complete else "interrupted" if stop.requested or progress.stopped else "failed"
    progress.status = status
    set_run_status(store, run.id, status)
    return progress


def primed_screening(store: Store, run: RunRow, config: RunConfig, provider: Provider, bank: Bank | None) -> Screening:
    """Create the screening of a run and feed it the records accepted so far, so that it recognizes duplicates of them."""
    screening = Screening(config, provider.model, templates_of(config.recipe, config.judges), bank)
    for record in iter_records(store, run_id=run.id, status="generated"):
        screening.prime(record)
    return screening


class _Sitting:
    """The state of one session on a whole run: continues from the stored work until the wanted number of records is accepted."""

    def __init__(
        self, session: Session, earlier: ResumeState, screening: Screening, watch: Watch, stop: StopSignal, through: Advance
    ) -> None:
        self._session, self._earlier, self._screening, self._watch = session, earlier, screening, watch
        self._through = through
        self._config = session.ctx.config
        self._digest = plan_digest(self._config)
        self.streak = streak_of(session.ctx, session.run.id, stop=stop.request)
        self.progress = RunProgress(
            run_id=session.run.id, wanted=self._config.samples, accepted=len(earlier.accepted), totals=session.ctx.calls.totals
        )
        for row in earlier.rejects:
            self.progress.count_reject(row)
        make_ready(session, earlier, self.progress, watch)

    async def until_done(self, stop: StopSignal) -> None:
        """Plan and process items in rounds; each later round replaces the items rejected in the round before."""
        book = self._session.book
        first, end = 0, planned_for(self._config.samples, self._config.margin)
        limit = PLANNED_AT_MOST * end
        again = [index for index in sorted(self._earlier.draws) if index not in self._earlier.decided]
        if again and self._missing() <= 0 and await book.ensure(end, stop):
            await self._work_on(iter(again), lambda: len(again), stop)  # retried on request, although the run has enough records
        while self._missing() > 0 and first < limit and not stop.requested:
            if not await book.ensure(end, stop):
                return
            await self._work_on(self._open_items(first, end), self._missing, stop)
            first, end = end, min(limit, end + max(20, 2 * self._missing()))

    async def _work_on(self, indexes: Iterator[int], still_wanted: Callable[[], int], stop: StopSignal) -> None:
        await OrderedRun(
            source=indexes,
            work=self._worked,
            consume=self._consumed,
            still_wanted=still_wanted,
            concurrency=self._session.items_at_once,
            stop=stop,
            gauge=self._session.channel.items,
        ).run()

    def _missing(self) -> int:
        return self.progress.wanted - self.progress.accepted

    def _open_items(self, first: int, end: int) -> Iterator[int]:
        return (index for index in range(first, end) if index not in self._earlier.decided)

    async def _worked(self, index: int) -> tuple[int, Outcome | ItemRejected]:
        ctx = self._session.ctx
        if index in self._earlier.under_way:
            done, payload = self._earlier.under_way[index]
            start = Outcome(item=item_from_json(payload), done=done)
        else:
            try:
                start = begun(self._session, index, self._digest)
            except ItemRejected as rejection:
                return index, rejection
        return index, await self._through(start, ctx, stages_after(start.done, ctx.config.recipe, ctx.config.judges))

    def _consumed(self, result: tuple[int, Outcome | ItemRejected]) -> None:
        index, outcome = result
        batch, rejection = outcome_rows(index, outcome)
        if rejection is None and isinstance(outcome, Outcome):
            rejection = screened(outcome.item, self._screening, batch)
            self.progress.accepted += rejection is None
        if rejection is not None:
            row = rejection.row(plan_index=index)
            batch.rejects.append(row)
            self.progress.count_reject(row)
        tell_decided(self._session.ctx.calls.sink, index, batch, rejection)
        self._session.committer.put(batch)
        self._watch(self.progress)
        self.streak.tell(rejection, index)


def make_ready(session: Session, earlier: ResumeState, progress: RunProgress, watch: Watch) -> None:
    """Prepare *session*: set the retry counts of lifted items, and report to *watch* while topics and subtopics are asked for."""
    session.ctx.draws = earlier.named_draws

    def preparing(what: str) -> None:
        progress.preparing = what
        if session.ctx.calls.provider.paid:  # the composer is done at once
            watch(progress)

    session.book.note = preparing


def begun(session: Session, index: int, digest: str) -> Outcome:
    """Plan item *index*, with *digest* the plan digest of the run; raises ``ItemRejected`` if its pair has no triplet."""
    ctx, book = session.ctx, session.book
    text = text_of(index, ctx.config)
    pair, triplet = book.triplet(text)
    if ctx.config.recipe == "case":
        return Outcome(item=Item(plan=make_case_item(index, pair, triplet, config=ctx.config, digest=digest)))
    if ctx.stories is None:
        return Outcome(item=Item(plan=make_plan_item(index, pair, triplet, config=ctx.config, digest=digest, bank=ctx.bank)))
    told = make_told_item(index, pair, triplet, book.texts_before(text), config=ctx.config, digest=digest, stories=ctx.stories)
    return Outcome(item=Item(plan=told))


def outcome_rows(index: int, outcome: Outcome | ItemRejected) -> tuple[Batch, ItemRejected | None]:
    """Return a batch that stores *outcome*, and its rejection or None; the caller adds the reject row."""
    if isinstance(outcome, ItemRejected):
        return Batch(), outcome
    batch = Batch(plan_items=[(index, plan_to_json(outcome.item.plan))])
    if outcome.done is not None:
        batch.results.append(StageResultRow(plan_index=index, stage=outcome.done, payload=item_to_json(outcome.item)))
    return batch, outcome.rejection


def tell_decided(sink: EventSink, index: int, batch: Batch, rejection: ItemRejected | None) -> None:
    """Send *sink* the event for item *index*: its record in *batch* was accepted, or *rejection* says why not."""
    if sink is noop:
        return
    if rejection is not None:
        sink(events.ItemRejected(rejection.stage, str(index), rejection.code))
    for _, record in batch.records:
        sink(events.StageEntered(screen.NAME, str(index)))
        sink(events.StagePassed(screen.NAME, str(index)))
        sink(events.RecordAccepted(str(index), record.id))


def screened(item: Item, screening: Screening, batch: Batch) -> ItemRejected | None:
    """Screen *item*: add its record and judgements to *batch* and return None, or return the rejection."""
    try:
        record = screening.accept(item)
    except ItemRejected as rejection:
        return rejection
    batch.records.append((item.plan.index, record))
    batch.judgements += [(item.plan.index, record.id, judgement) for judgement in item.judgements]
    return None
