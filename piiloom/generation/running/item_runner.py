"""The item runner, which takes plan items through their stages concurrently, and the state that earlier sessions left.

The outcome of each item is stored in plan order. ``run_items`` is a session on a run; its strategy is a ``WholeRun`` or
one stage (``single_stage``). If several processes work on a run, ``through`` makes them take the items through the stages.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from piiloom.corpus.store.database import Store
from piiloom.corpus.store.records import iter_records
from piiloom.corpus.store.runs import RejectRow, RunStatus, StageResultRow, load_rejects, load_stage_results, plan_indexes, set_run_status
from piiloom.execution.call_channel import CallPolicy
from piiloom.execution.committing import Batch
from piiloom.execution.ordering import OrderedRun, StopSignal
from piiloom.execution.watching import events
from piiloom.execution.watching.events import EventSink
from piiloom.foundation.noop import noop
from piiloom.generation.item import Item, item_from_json, item_to_json, plan_to_json
from piiloom.generation.plan.planning import horizons, planned_for
from piiloom.generation.running.progress import TRANSIENT_CODES, RunProgress, StoppedEarly, Watch, streak_of
from piiloom.generation.running.session import OpenedRun, Session
from piiloom.generation.running.topic_catalog import TopicCatalog
from piiloom.generation.stage import ItemRejected, Stage, StageContext
from piiloom.generation.stages import screen
from piiloom.generation.stages.pipeline import all_item_stages, item_stages, templates_of
from piiloom.generation.stages.screen import Screening


@dataclass(frozen=True, kw_only=True)
class ResumeState:
    """The plan items that were accepted, rejected, or are under way.

    ``under_way``: plan index to (last stage passed, the item as JSON). ``draws``: by plan index, how many rejects for a model's reply
    were lifted; the item is then tried again with new draws. ``key_draws``: the same for pairs and topics, by key.
    """

    accepted: frozenset[int]
    rejects: tuple[RejectRow, ...]
    under_way: dict[int, tuple[str, str]]
    draws: Counter[int] = field(default_factory=Counter)
    key_draws: Counter[str] = field(default_factory=Counter)

    @cached_property
    def decided(self) -> frozenset[int]:
        """The plan items that need no further work."""
        return self.accepted | {row.plan_index for row in self.rejects if row.plan_index is not None}

    @property
    def named_draws(self) -> dict[str, int]:
        """All retry counts by the id that calls use: the plan index as a string, or the key of a pair or topic."""
        return {str(index): count for index, count in self.draws.items()} | dict(self.key_draws)

    def passed(self, stage: str) -> dict[int, str]:
        """Return the items (as JSON) whose last passed stage is *stage*, by plan index."""
        return {index: payload for index, (done, payload) in sorted(self.under_way.items()) if done == stage}


def read_resume_state(store: Store, run_id: str) -> ResumeState:
    """Read from the store which items of a run are decided, and how far the others are."""
    rejects = tuple(row for row in load_rejects(store, run_id) if row.plan_index is not None)
    all_lifted = load_rejects(store, run_id, lifted=True)
    lifted = [row for row in all_lifted if row.plan_index is not None]
    earlier = ResumeState(accepted=frozenset(plan_indexes(store, run_id)), rejects=rejects, under_way={})
    earlier.draws.update(row.plan_index for row in lifted if row.plan_index is not None and row.reason_code not in TRANSIENT_CODES)
    earlier.key_draws.update(row.key for row in all_lifted if row.key is not None and row.reason_code not in TRANSIENT_CODES)
    # An item that screening rejected has passed all stages, so a retry starts from the beginning.
    afresh = {row.plan_index for row in lifted if row.stage == screen.NAME and row.plan_index is not None}
    for stage in all_item_stages():  # later stages overwrite earlier ones
        for index, payload in load_stage_results(store, run_id, stage.name, without=earlier.decided | afresh).items():
            earlier.under_way[index] = (stage.name, payload)
    return earlier


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How far an item got: ``done`` is the last stage it passed (None: none), ``rejection`` why it was rejected, if it was."""

    item: Item
    done: str | None = None
    rejection: ItemRejected | None = None


# Takes an item through the given stages: ``advance``, or what has another process do it.
Advance = Callable[[Outcome, StageContext, Sequence[Stage]], Awaitable[Outcome]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """Plan ``indexes`` to work on while ``still_wanted()`` more must pass; topics are needed for the first ``planned`` plan items."""

    planned: int
    indexes: Iterator[int]
    still_wanted: Callable[[], int]


async def run_items(
    opened: OpenedRun,
    strategy: WholeRun,
    *,
    stop: StopSignal | None = None,
    watch: Watch = noop,
    policy: CallPolicy | None = None,
    through: Advance | None = None,
) -> RunProgress:
    """Work on *opened* until *strategy* has what it wants, nothing is left to plan, or *stop* is requested; returns the final progress.

    *through* takes the items through their stages (None: ``advance``, in this process).

    The status of the run is stored. If it stops early (see ``StoppedEarly``), ``progress.stopped`` says why. Fatal errors (wrong key,
    unreachable endpoint, full disk) propagate; the run can be resumed afterwards.
    """
    stop, progress = stop or StopSignal(), strategy.progress
    try:
        async with opened.session(policy) as session:
            progress.totals = session.ctx.calls.totals
            session.ctx.draws = strategy.earlier.named_draws
            session.catalog.note = _noting(session, progress, watch)
            runner = ItemRunner(
                session,
                strategy.stages,
                strategy.earlier.under_way,
                progress,
                screening=strategy.screening,
                stop=stop,
                watch=watch,
                through=through or advance,
            )
            session.start_committing()
            try:
                await strategy.prepare(session.catalog, stop)
                await runner.work_on_rounds(strategy.rounds())
                progress.stopped = runner.stopped
            except StoppedEarly as stopped:
                progress.stopped = stopped
    except BaseException as error:
        set_run_status(opened.store, opened.run.id, strategy.failed(error))
        raise
    set_run_status(opened.store, opened.run.id, strategy.ended(stopped=stop.requested or progress.stopped is not None))
    return progress


def _noting(session: Session, progress: RunProgress, watch: Watch) -> Callable[[str], None]:
    """Return what reports to *watch* how far the asking for topics and subtopics is."""

    def note(what: str) -> None:
        progress.preparing = what
        if session.ctx.calls.provider.paid:  # the composer is done at once
            watch(progress)

    return note


class ItemRunner:
    """Takes plan items through *stages*, counts them in *progress*, and stops a paid run that only rejects (``stopped`` says why).

    *under_way*: by plan index, the last stage an item has passed (None: it is planned only) and the item as JSON; any other item is
    planned when its turn comes. *screening* makes a record of each item that passed *stages*, strictly in plan order. Call
    ``Session.start_committing`` before the first pass.
    """

    def __init__(
        self,
        session: Session,
        stages: Sequence[Stage],
        under_way: Mapping[int, tuple[str | None, str]],
        progress: RunProgress,
        *,
        screening: Screening | None = None,
        stop: StopSignal,
        watch: Watch,
        through: Advance,
    ) -> None:
        self._session, self._stages, self._under_way = session, stages, under_way
        self._progress, self._screening, self._stop, self._watch = progress, screening, stop, watch
        self._advance = through
        self._streak = streak_of(session.ctx, session.run.id, stop=stop.request)

    @property
    def stopped(self) -> StoppedEarly | None:
        """Why the runner has requested the stop, if it has."""
        return self._streak.stopped

    async def work_on_rounds(self, rounds: Iterator[Round]) -> None:
        """Work on *rounds*, asking for the topics of each before, until they end or a stop is requested."""
        while not self._stop.requested and (round_ := next(rounds, None)) is not None:
            if not await self._session.catalog.ensure(round_.planned, self._stop):
                return
            await self.work_on(round_.indexes, round_.still_wanted)

    async def work_on(self, indexes: Iterator[int], still_wanted: Callable[[], int]) -> None:
        """Take the items *indexes* through the stages, while ``still_wanted()`` more must pass."""
        await OrderedRun(
            source=indexes,
            work=self._through,
            consume=self._store,
            still_wanted=still_wanted,
            concurrency=self._session.items_at_once,
            stop=self._stop,
            gauge=self._session.channel.items,
        ).run()

    async def _through(self, index: int) -> tuple[int, Outcome | ItemRejected]:
        """Take item *index* from where it stands to the end of the stages, or to its rejection."""
        if index in self._under_way:
            done, payload = self._under_way[index]
            start = Outcome(item=item_from_json(payload), done=done)
        else:
            try:
                start = Outcome(item=self._session.planned(index))
            except ItemRejected as rejection:
                return index, rejection
        return index, await self._advance(start, self._session.ctx, stages_after(start.done, self._stages))

    def _store(self, result: tuple[int, Outcome | ItemRejected]) -> None:
        """Screen the next item in plan order, store it and count it."""
        index, outcome = result
        batch, rejection = _rows(index, outcome)
        if self._screening is not None and isinstance(outcome, Outcome) and rejection is None:
            rejection = _screened(outcome.item, self._screening, batch)
        if rejection is None:
            self._progress.accepted += 1
        else:
            row = rejection.row(plan_index=index)
            batch.rejects.append(row)
            self._progress.count_reject(row)
        _tell(self._session.ctx.calls.sink, index, batch, rejection)
        self._session.committer.put(batch)
        self._watch(self._progress)
        self._streak.tell(rejection, index)


def stages_after(done: str | None, stages: Sequence[Stage]) -> Sequence[Stage]:
    """Return those of *stages* that follow the stage called *done* (None: all of them)."""
    return stages if done is None else stages[[stage.name for stage in stages].index(done) + 1 :]


async def advance(outcome: Outcome, ctx: StageContext, stages: Sequence[Stage]) -> Outcome:
    """Take an item through *stages*; a rejection ends this and becomes part of the returned outcome."""
    item, done, sink = outcome.item, outcome.done, ctx.calls.sink
    name = str(item.plan.index)
    for stage in stages:
        sink(events.StageEntered(stage.name, name))
        try:
            item = await stage.run(item, ctx)
        except ItemRejected as rejection:
            return Outcome(item=item, done=done, rejection=rejection)
        done = stage.name
        sink(events.StagePassed(done, name))
    return Outcome(item=item, done=done)


def _screened(item: Item, screening: Screening, batch: Batch) -> ItemRejected | None:
    """Screen *item*: add its record and judgements to *batch* and return None, or return the rejection."""
    try:
        record = screening.accept(item)
    except ItemRejected as rejection:
        return rejection
    batch.records.append((item.plan.index, record))
    batch.judgements += [(item.plan.index, record.id, judgement) for judgement in (*item.judgements, *screening.flags(record))]
    return None


def _rows(index: int, outcome: Outcome | ItemRejected) -> tuple[Batch, ItemRejected | None]:
    """Return a batch with the plan and the last result of item *index*, and its rejection or None; its reject row is not in it."""
    if isinstance(outcome, ItemRejected):
        return Batch(), outcome
    batch = Batch(plan_items=[(index, plan_to_json(outcome.item.plan))])
    if outcome.done is not None:
        batch.results.append(StageResultRow(plan_index=index, stage=outcome.done, payload=item_to_json(outcome.item)))
    return batch, outcome.rejection


def _tell(sink: EventSink, index: int, batch: Batch, rejection: ItemRejected | None) -> None:
    """Send *sink* the event for item *index*: its record in *batch* was accepted, or *rejection* says why not."""
    if rejection is not None:
        sink(events.ItemRejected(rejection.stage, str(index), rejection.code))
    for _, record in batch.records:
        sink(events.StageEntered(screen.NAME, str(index)))
        sink(events.StagePassed(screen.NAME, str(index)))
        sink(events.RecordAccepted(str(index), record.id))


class WholeRun:
    """What a session works on: a whole run; each round after the first replaces the items rejected in the one before.

    It reads from the store what it needs, so it is made before the session is opened. ``earlier``: what earlier sessions left. ``stages``:
    what each item passes (None: all of the run). ``screening``: makes records of the items that passed them; None if they stay items.
    ``progress.accepted`` counts the items that got through.
    """

    def __init__(self, opened: OpenedRun, stages: Sequence[Stage] | None = None, *, screens: bool = True) -> None:
        self._config = config = opened.config
        self.earlier = read_resume_state(opened.store, opened.run.id)
        self.stages = item_stages(config.recipe, config.judges) if stages is None else stages
        self.screening = primed_screening(opened) if screens else None
        self.progress = RunProgress(run_id=opened.run.id, wanted=config.samples, accepted=len(self.earlier.accepted))
        for row in self.earlier.rejects:
            self.progress.count_reject(row)

    async def prepare(self, catalog: TopicCatalog, stop: StopSignal) -> None:
        """Do what comes before all items: nothing; raises ``RunError`` if another stage must run first."""

    def rounds(self) -> Iterator[Round]:
        """Yield the items that are not decided yet, until enough records are accepted or the plan is exhausted."""
        decided, missing = self.earlier.decided, self.progress.missing
        again = [index for index in sorted(self.earlier.draws) if index not in decided]
        if again and missing() <= 0:  # retried on request, although the run has enough records
            planned = max(planned_for(self._config.samples, self._config.margin), again[-1] + 1)
            yield Round(planned=planned, indexes=iter(again), still_wanted=lambda: len(again))
        for first, end in horizons(self._config, missing):
            open_ones = (index for index in range(first, end) if index not in decided)
            yield Round(planned=end, indexes=open_ones, still_wanted=missing)

    def ended(self, *, stopped: bool) -> RunStatus:
        """The run is finished with all its records, interrupted, or failed: nothing is left to try."""
        status: RunStatus = "finished" if self.progress.missing() <= 0 else "interrupted" if stopped else "failed"
        self.progress.status = status
        return status

    def failed(self, error: BaseException) -> RunStatus:
        """Any error interrupts the run."""
        del error
        return "interrupted"


def primed_screening(opened: OpenedRun) -> Screening:
    """Create the screening of a run and feed it the records accepted so far, so that it recognizes duplicates of them."""
    config = opened.config
    screening = Screening(config, opened.provider.model, templates_of(config), opened.bank)
    for record in iter_records(opened.store, run_id=opened.run.id, status="generated"):
        screening.prime(record)
    return screening
