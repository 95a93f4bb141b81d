"""Assigns (pair, topic, subtopic) triplets to plan items, and runs the stages topics and subtopics for what is missing."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from typing import Any

from piiloom.corpus.store.database import Store
from piiloom.corpus.store.runs import RejectRow, load_rejects, load_shared_results
from piiloom.execution.committing import Batch, GroupCommitter
from piiloom.execution.ordering import StopSignal
from piiloom.execution.watching import events
from piiloom.foundation.noop import noop
from piiloom.generation.plan.planning import pair_order, texts_planned, triplets_needed
from piiloom.generation.plan.supply import PairTriplets, list_triplets, topic_order
from piiloom.generation.running.progress import TRANSIENT_CODES, StoppedEarly, streak_of
from piiloom.generation.stage import ItemRejected, StageContext
from piiloom.generation.stages import subtopics, topics
from piiloom.generation.stages.subtopics import topic_key
from piiloom.generation.stages.topics import PhraseList, pair_key
from piiloom.taxonomy.entity_types import Pair


class TopicCatalog:
    """The run's topics by pair and subtopics by topic. Missing ones are asked for once and stored."""

    def __init__(
        self,
        ctx: StageContext,
        committer: GroupCommitter,
        store: Store,
        run_id: str,
        *,
        gauge: Callable[[int], None] = noop,
        at_once: int | None = None,
    ) -> None:
        """Read the stored topics, subtopics and rejects. Call this before the committer's thread owns the store.

        *gauge* is called with 1 when work on a pair or topic starts and with -1 when it ends. At most *at_once* of them are worked on at
        the same time (default: ``config.concurrency``).
        """
        self._gauge = gauge
        self._ctx, self._committer = ctx, committer
        self.pairs = pair_order(ctx.config)
        self._topics = {key: json.loads(text) for key, text in load_shared_results(store, run_id, topics.NAME).items()}
        self._subtopics = {key: json.loads(text) for key, text in load_shared_results(store, run_id, subtopics.NAME).items()}
        self._triplets: dict[Pair, PairTriplets] = {}
        # Reject rows of the pairs and topics that were given up, by key.
        self._lost = {row.key: row for row in load_rejects(store, run_id) if row.plan_index is None and row.key is not None}
        self._streaks = {stage: streak_of(ctx, run_id, what=what) for stage, what in ((topics.NAME, "pairs"), (subtopics.NAME, "topics"))}
        self._run_id = run_id
        self._gate = asyncio.Semaphore(at_once or ctx.config.concurrency)
        # Called with the progress of asking, such as "topics 12/78", and with "" at the end.
        self.note: Callable[[str], None] = noop

    @property
    def topics_known(self) -> int:
        """How many pairs have topics."""
        return sum(map(bool, self._topics.values()))

    @property
    def subtopics_known(self) -> int:
        """How many topics have subtopics."""
        return sum(map(bool, self._subtopics.values()))

    def given_up(self, stage: str) -> list[RejectRow]:
        """Return the reject rows of the pairs (stage topics) or topics (stage subtopics) for which *stage* found nothing."""
        asked = {pair_key(pair) for pair in self.pairs} if stage == topics.NAME else self._subtopics.keys()
        return [row for key, row in sorted(self._lost.items()) if row.stage == stage and key in asked]

    def has_topics(self, planned: int) -> bool:
        """Whether topics are known for every pair that *planned* items use."""
        return all(pair_key(pair) in self._topics for pair in self._used(planned))

    def is_ready(self, planned: int) -> bool:
        """Whether *planned* items can get their triplets without asking for more topics or subtopics."""
        return self.has_topics(planned) and not any(self._list(pair, planned).missing for pair in self._used(planned))

    async def ensure(self, planned: int, stop: StopSignal) -> bool:
        """Ask for the missing topics and subtopics of *planned* items. Returns False if *stop* was requested before all were known.

        Raises ``StoppedEarly`` if no item can be planned at all, instead of rejecting each of them.
        """
        return await self.ensure_topics(planned, stop) and await self.ensure_subtopics(planned, stop)

    async def ensure_topics(self, planned: int, stop: StopSignal) -> bool:
        """Ask for the missing topics of every pair that *planned* items use; returns and raises as ``ensure``."""
        pairs = [pair for pair in self._used(planned) if pair_key(pair) not in self._topics]
        if not await self._all("topics", [self._ask_topics(pair) for pair in pairs], stop):
            return False
        if not any(self._topics[pair_key(pair)] for pair in self._used(planned)):
            raise self._nothing_to_plan()
        return True

    async def ensure_subtopics(self, planned: int, stop: StopSignal) -> bool:
        """Ask for the missing subtopics that *planned* items need; their topics must be known. Returns and raises as ``ensure``."""
        while True:
            missing = [(pair, topic) for pair in self._used(planned) for topic in self._list(pair, planned).missing]
            if not missing and not any(self._triplets[pair].found for pair in self._used(planned)):
                raise self._nothing_to_plan()
            if not missing:
                return True
            if not await self._all("subtopics", [self._ask_subtopics(pair, topic) for pair, topic in missing], stop):
                return False

    def triplet(self, text: int) -> tuple[Pair, tuple[str, str]]:
        """Return the pair and (topic, subtopic) of text number *text* of the plan; raises ``ItemRejected`` if its pair has none."""
        pair = self.pairs[text % len(self.pairs)]
        found = self._triplets[pair].found
        if not found:
            raise self._why_none(pair)
        return pair, found[(text // len(self.pairs)) % len(found)]

    def texts_before(self, text: int) -> int:
        """Count the earlier texts of the plan that have the same pair and topic as text number *text*."""
        pair, (topic, _) = self.triplet(text)
        topics = [known for known, _ in self._triplets[pair].found]
        rounds, place = divmod(text // len(self.pairs), len(topics))
        return rounds * topics.count(topic) + topics[:place].count(topic)

    def _why_none(self, pair: Pair) -> ItemRejected:
        """Return the rejection that says why *pair* has no triplet: the reason its topics or subtopics were given up.

        An unavailable provider comes before other reasons, since that one is temporary.
        """
        keys = [pair_key(pair), *(topic_key(pair, topic) for topic in self._lists(pair)[0])]
        reasons = [self._lost[key] for key in keys if key in self._lost]
        reasons.sort(key=lambda row: row.reason_code not in TRANSIENT_CODES)
        if not reasons:
            return ItemRejected("no_triplet", f"pair {pair_key(pair)} has no topic with subtopics", stage=subtopics.NAME)
        first = reasons[0]
        return ItemRejected(first.reason_code, f"no {first.stage} for {first.key}: {first.detail}", stage=first.stage)

    def _nothing_to_plan(self) -> StoppedEarly:
        """Return the error for the case that no pair has a triplet, with the most frequent reason."""
        reasons = [self._why_none(pair) for pair in self.pairs if pair_key(pair) in self._topics]
        code = max((reason.code for reason in reasons), key=[reason.code for reason in reasons].count)
        first = next(place for place, reason in enumerate(reasons) if reason.code == code)
        stage, number = reasons[first].stage, len(reasons)
        return StoppedEarly(
            f"nothing can be planned: no {stage} for {'the one pair' if number == 1 else f'any of {number} pairs'} that was asked about "
            f"({stage}: {code}: {reasons[first].detail.rstrip('.')})",
            run_id=self._run_id,
            stage=stage,
            code=code,
            count=number,
            example=pair_key([pair for pair in self.pairs if pair_key(pair) in self._topics][first]),
            hopeless=True,
        )

    def _used(self, planned: int) -> list[Pair]:
        """List the pairs that *planned* items use. Items of one text share its pair, so there may be fewer pairs than items."""
        return self.pairs[: texts_planned(planned, self._ctx.config)]

    def _list(self, pair: Pair, planned: int) -> PairTriplets:
        wanted = triplets_needed(texts_planned(planned, self._ctx.config), len(self.pairs), self.pairs.index(pair))
        known = self._triplets.get(pair)
        if known is None or not (known.complete or (len(known.found) >= wanted and not known.missing)):
            known = list_triplets(*self._lists(pair), wanted)
            self._triplets[pair] = known
            self._keep_dropped(pair, known)
        return known

    def _lists(self, pair: Pair) -> tuple[list[str], dict[str, list[str]]]:
        ordered = topic_order(self._topics[pair_key(pair)], self._ctx.config.seed, pair)
        known = {topic: self._subtopics[topic_key(pair, topic)] for topic in ordered if topic_key(pair, topic) in self._subtopics}
        return ordered, known

    async def _ask_topics(self, pair: Pair) -> None:
        async with self._taken_up():
            self._topics[pair_key(pair)] = await self._kept(topics.run(pair, self._ctx), topics.NAME, pair_key(pair))

    async def _ask_subtopics(self, pair: Pair, topic: str) -> None:
        async with self._taken_up():
            key = topic_key(pair, topic)
            self._subtopics[key] = await self._kept(subtopics.run(pair, topic, self._ctx), subtopics.NAME, key)

    @asynccontextmanager
    async def _taken_up(self) -> AsyncIterator[None]:
        async with self._gate:
            self._gauge(1)
            try:
                yield
            finally:
                self._gauge(-1)

    async def _kept(self, asked: Coroutine[Any, Any, PhraseList], stage: str, key: str) -> list[str]:
        """Await *asked*, store its list under *key* and return it. Dropped entries are stored as rejects.

        If the stage rejects the whole, store that reject and return an empty list. Raises ``StoppedEarly`` if such rejects reach the limit.
        """
        sink = self._ctx.calls.sink
        sink(events.StageEntered(stage, key))
        try:
            listed = await asked
        except ItemRejected as error:
            sink(events.ItemRejected(stage, key, error.code))
            # If the provider was unavailable, the next session asks again. Otherwise the pair or topic is given up until it is lifted.
            self._lost[key] = error.row(key=key)
            shared = [] if error.code in TRANSIENT_CODES else [(stage, key, "[]")]
            self._committer.put(Batch(shared=shared, rejects=[error.row(key=key)]))
            self._streaks[stage].tell(error, key)
            stopped = self._streaks[stage].stopped
            if stopped is not None:
                raise stopped from error
            return []
        self._streaks[stage].tell(None, key)
        sink(events.StagePassed(stage, key))
        rejects = [_drop_row(stage, f"{key}#{place}", drop.code, drop.phrase) for place, drop in enumerate(listed.dropped, 1)]
        self._committer.put(Batch(shared=[(stage, key, json.dumps(listed.kept, ensure_ascii=False))], rejects=rejects))
        return list(listed.kept)

    async def _all(self, what: str, work: Sequence[Coroutine[Any, Any, None]], stop: StopSignal) -> bool:
        """Run all of *work* concurrently. The first error cancels the rest and is raised; *stop* cancels all, and the result is False."""
        tasks = [asyncio.ensure_future(coroutine) for coroutine in work]
        stop.on_request(lambda: [task.cancel() for task in tasks])
        try:
            for number, task in enumerate(asyncio.as_completed(tasks), 1):
                await task
                self.note(f"{what} {number}/{len(tasks)}")
        except asyncio.CancelledError:
            if not stop.requested:
                raise
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        self.note("")
        return not stop.requested

    def _keep_dropped(self, pair: Pair, listed: PairTriplets) -> None:
        rows = [_drop_row(subtopics.NAME, f"{topic_key(pair, d.topic)}/{d.subtopic}", d.code, "") for d in listed.dropped]
        if rows:
            self._committer.put(Batch(rejects=rows))


def _drop_row(stage: str, key: str, code: str, detail: str) -> RejectRow:
    return RejectRow(plan_index=None, key=key, stage=stage, reason_code=code, detail=detail, attempts=1)
