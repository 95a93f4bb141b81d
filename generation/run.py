"""A whole run: plan, stages and screening until the wanted number of records is accepted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from corpus.record import Record
from corpus.store.database import Store
from corpus.store.progress import RejectRow, StageResultRow, load_rejects, load_stage_results
from corpus.store.records import iter_records, plan_indexes
from corpus.store.runs import RunRow, set_run_status
from execution.calls import CallTotals
from execution.committing import Batch
from execution.ordering import OrderedRun, StopSignal
from generation import screen
from generation.configuration import RunConfig
from generation.item import Item, item_from_json, item_to_json
from generation.pipeline import STAGES, TEMPLATES, Outcome, advance, stages_after
from generation.planning import make_plan_item
from generation.session import Session, open_session
from generation.stage import ItemRejected
from generation.triplet_book import planned_for
from providers.protocol import Provider
from screening.screen import default_screen

# A run gives up when this many times the wanted records have been planned: something is wrong then.
PLANNED_AT_MOST = 4


@dataclass(slots=True, kw_only=True)
class RunProgress:
    """Where a run stands. ``reasons`` counts rejects by ``stage: code``, of this and earlier sittings."""

    run_id: str
    wanted: int
    accepted: int = 0
    rejected: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    totals: CallTotals = field(default_factory=CallTotals)
    status: str = "running"

    def count_reject(self, row: RejectRow) -> None:
        """Count one rejected item."""
        self.rejected += 1
        self.reasons[f"{row.stage}: {row.reason_code}"] += 1


Watch = Callable[[RunProgress], None]


async def generate_records(
    store: Store, run: RunRow, config: RunConfig, provider: Provider, *, stop: StopSignal | None = None, watch: Watch | None = None
) -> RunProgress:
    """Generate until ``config.samples`` records are accepted, the plan is exhausted, or *stop* is requested.

    Gives the final progress, whose status is also the run's in the store: finished, interrupted or failed. Errors that
    end the run (wrong key, endpoint never reached, disk full) propagate and leave it resumable.
    """
    stop = stop or StopSignal()
    try:
        earlier = _Earlier.read(store, run.id)
        async with open_session(store, run, config, provider) as session:
            work = _Work(session, earlier, watch or (lambda _: None))
            await work.until_done(stop)
    except BaseException:
        set_run_status(store, run.id, "interrupted")
        raise
    progress = work.progress
    progress.status = "interrupted" if stop.requested else "finished" if progress.accepted >= progress.wanted else "failed"
    set_run_status(store, run.id, "finished" if progress.status == "finished" else "interrupted" if stop.requested else "failed")
    return progress


@dataclass(frozen=True, slots=True, kw_only=True)
class _Earlier:
    """What earlier sittings left: accepted records, rejected items, items that are part of the way."""

    accepted: frozenset[int]
    records: tuple[Record, ...]
    rejects: tuple[RejectRow, ...]
    under_way: dict[int, tuple[str, str]]

    @classmethod
    def read(cls, store: Store, run_id: str) -> _Earlier:
        rejects = tuple(row for row in load_rejects(store, run_id) if row.plan_index is not None)
        accepted = frozenset(plan_indexes(store, run_id))
        decided = accepted | {row.plan_index for row in rejects}
        under_way: dict[int, tuple[str, str]] = {}
        for stage in STAGES:
            for index, payload in load_stage_results(store, run_id, stage.name).items():
                if index not in decided:
                    under_way[index] = (stage.name, payload)
        return cls(accepted=accepted, records=tuple(iter_records(store, run_id=run_id)), rejects=rejects, under_way=under_way)


class _Work:
    """The state of one sitting."""

    def __init__(self, session: Session, earlier: _Earlier, watch: Watch) -> None:
        config, ctx = session.ctx.config, session.ctx
        self._session, self._earlier, self._watch = session, earlier, watch
        self._digest = config.digest()
        self._screening = screen.Screening(config, ctx.calls.provider.model, default_screen(), TEMPLATES, ctx.bank)
        self._decided = earlier.accepted | {row.plan_index for row in earlier.rejects}
        self.progress = RunProgress(
            run_id=session.run.id, wanted=config.samples, accepted=len(earlier.accepted), totals=ctx.calls.totals
        )
        for record in earlier.records:
            self._screening.prime(record)
        for row in earlier.rejects:
            self.progress.count_reject(row)

    async def until_done(self, stop: StopSignal) -> None:
        config, book = self._session.ctx.config, self._session.book
        planned_from, planned_to = 0, planned_for(config.samples, config.margin)
        limit = PLANNED_AT_MOST * planned_to
        while self._missing() > 0 and planned_from < limit and not stop.requested:
            await book.ensure_topics(planned_to)
            await book.ensure_subtopics(planned_to)
            run = OrderedRun(
                source=self._open_items(planned_from, planned_to),
                work=self._worked,
                consume=self._consumed,
                still_wanted=self._missing,
                concurrency=config.concurrency,
                stop=stop,
            )
            await run.run()
            planned_from, planned_to = planned_to, min(limit, planned_to + max(20, 2 * self._missing()))

    def _missing(self) -> int:
        return self.progress.wanted - self.progress.accepted

    def _open_items(self, first: int, end: int) -> Iterator[int]:
        return (index for index in range(first, end) if index not in self._decided)

    async def _worked(self, index: int) -> tuple[int, Outcome | ItemRejected]:
        ctx = self._session.ctx
        if index in self._earlier.under_way:
            done, payload = self._earlier.under_way[index]
            start = Outcome(item=item_from_json(payload), done=done)
        else:
            try:
                pair, triplet = self._session.book.triplet(index)
            except ItemRejected as rejection:
                return index, rejection
            plan = make_plan_item(index, pair, triplet, config=ctx.config, digest=self._digest, bank=ctx.bank)
            start = Outcome(item=Item(plan=plan))
        return index, await advance(start, ctx, stages_after(start.done))

    def _consumed(self, result: tuple[int, Outcome | ItemRejected]) -> None:
        index, outcome = result
        batch = Batch()
        if isinstance(outcome, ItemRejected):
            rejection: ItemRejected | None = outcome
        else:
            batch.plan_items.append((index, item_to_json(outcome.item.plan)))
            if outcome.done is not None:
                batch.results.append(StageResultRow(plan_index=index, stage=outcome.done, payload=item_to_json(outcome.item)))
            rejection = outcome.rejection or self._screened(outcome.item, batch)
        if rejection is not None:
            row = rejection.row(plan_index=index)
            batch.rejects.append(row)
            self.progress.count_reject(row)
        self._session.committer.put(batch)
        self._watch(self.progress)

    def _screened(self, item: Item, batch: Batch) -> ItemRejected | None:
        try:
            record = self._screening.accept(item)
        except ItemRejected as rejection:
            return rejection
        batch.records.append((item.plan.index, record))
        self.progress.accepted += 1
        return None
