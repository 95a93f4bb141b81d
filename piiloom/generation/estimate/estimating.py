"""Estimate the calls, tokens and cost of a run by stage, each as a range, before anything is sent.

A sample of the run's items is really planned (with the lengths and values that they will have), the real stages render the
real prompts, and a stand-in answers them. Assumptions about the rest (bytes per token, refused replies, length of replies)
stand here, too.

No tokenizer is used, and what a model will refuse or how long it thinks is not known beforehand. The figures are our own
estimates: wide enough to cover what we have seen, and narrow enough that low and high end of a run differ at most by a factor of three.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from math import sqrt
from typing import Any, TypeVar

from piiloom.corpus.alignment import MarkedText
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.runs import get_run, load_shared_results, plan_indexes
from piiloom.execution.call_entries import CallTotals
from piiloom.execution.calls import Answer, Calls
from piiloom.execution.money.budget import prompt_bytes, schema_bytes
from piiloom.foundation.errors import PiiloomError
from piiloom.foundation.noop import noop
from piiloom.generation.estimate.estimate_author import StandIn
from piiloom.generation.item import Item
from piiloom.generation.plan.planning import (
    make_case_item,
    make_plan_item,
    pair_order,
    planned_for,
    text_of,
    texts_planned,
    triplets_needed,
)
from piiloom.generation.running.item_runner import Outcome, advance
from piiloom.generation.running.opening import changed_config
from piiloom.generation.settings.configuration import RunConfig
from piiloom.generation.settings.digests import plan_digest
from piiloom.generation.stage import SharedWork, StageContext
from piiloom.generation.stages import spans, subtopics, topics
from piiloom.generation.stages.pipeline import JUDGING, item_stages
from piiloom.generation.stages.verdict import CLOSER_LOOK
from piiloom.prompts.library import open_library
from piiloom.providers.prices import ModelSpec, load_models, parse_prices
from piiloom.providers.protocol import PromptCall, TokenUsage


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """A range from ``low`` to ``high``; sums and products are taken end by end."""

    low: float = 0.0
    high: float = 0.0

    def __add__(self, other: Range) -> Range:
        return Range(low=self.low + other.low, high=self.high + other.high)

    def __mul__(self, other: Range) -> Range:
        return Range(low=self.low * other.low, high=self.high * other.high)


@dataclass(frozen=True, slots=True, kw_only=True)
class CallSize:
    """The size of one call in bytes of UTF-8; ``system`` is the part of ``prompt`` that all calls of the template share."""

    stage: str
    template: str
    prompt: int
    system: int
    schema: int
    reply: int


# Bytes per token (low: few tokens, so many bytes). English has 4 to 4.8 with OpenAI's tokenizers, 3.3 to 4 with Anthropic's; other
# languages and odd values have fewer.
_BYTES_A_TOKEN = {"openai": Range(low=4.8, high=3.5), "anthropic": Range(low=4.4, high=3.2)}
_BYTES_A_TOKEN_ELSEWHERE = Range(low=4.8, high=3.4)
# Tokens that an API adds to a prompt: role markers, and instructions about structured output.
_ADDED = {"openai": Range(low=5, high=30), "anthropic": Range(low=8, high=45)}
_ADDED_ELSEWHERE = Range(low=5, high=30)
# Length of a real reply relative to the stand-in's.
_REPLY_LENGTH = Range(low=0.8, high=1.25)
# How often a prompt is sent until its reply is accepted: up to 18% of replies are refused, cut off or lost (1 / 0.82 = 1.22).
TRIES = Range(low=1.0, high=1.22)
# Thinking tokens per call for models that cannot turn thinking off, at the effort that is requested.
THINKING = Range(low=90, high=205)
# Providers cache no prefix shorter than this many tokens (four times as many for some models), and do not guarantee hits. The low
# end of a cost assumes this share of cache hits, the high end none.
_SHORTEST_CACHED = 1024
_CACHE_HITS = 0.45


def items_worked_on(wanted: int) -> Range:
    """Return how many items must be worked on to have *wanted* accepted; in small runs the number of rejects varies more."""
    return Range(low=wanted, high=wanted * 1.06 + 0.15 * sqrt(wanted))


def input_tokens(size: CallSize, provider: str) -> Range:
    """Return the tokens of a prompt; the high end counts the schema, too."""
    bytes_a_token = _BYTES_A_TOKEN.get(provider, _BYTES_A_TOKEN_ELSEWHERE)
    lengths = Range(low=size.prompt / bytes_a_token.low, high=(size.prompt + size.schema) / bytes_a_token.high)
    return lengths + _ADDED.get(provider, _ADDED_ELSEWHERE)


def cached_tokens(size: CallSize, provider: str) -> Range:
    """Return the tokens of a prompt that are read from the provider's cache: none unless the shared part is long enough."""
    tokens = size.system / _BYTES_A_TOKEN.get(provider, _BYTES_A_TOKEN_ELSEWHERE).low
    return Range(low=0.0, high=tokens * _CACHE_HITS if tokens >= _SHORTEST_CACHED else 0.0)


def output_tokens(size: CallSize, provider: str, spec: ModelSpec) -> Range:
    """Return the tokens of a reply, with those of thinking if the model is known to think: those of a compatible server are not."""
    bytes_a_token = _BYTES_A_TOKEN.get(provider, _BYTES_A_TOKEN_ELSEWHERE)
    reply = Range(low=size.reply / bytes_a_token.low, high=size.reply / bytes_a_token.high) * _REPLY_LENGTH
    return reply + THINKING if spec.thinking_tokens and provider != "compatible" else reply


def call_cost(spec: ModelSpec, given: Range, cached: Range, answered: Range, *, batch: bool) -> Range | None:
    """Return the cost in USD, None if the model has no price. *given*: input tokens, *cached*: those from the cache, *answered*: output.

    The low end assumes the most cache hits, the high end none.
    """
    if not spec.priced:
        return None
    cheapest = TokenUsage(input=round(given.low), cached=round(cached.high), output=round(answered.low))
    dearest = TokenUsage(input=round(given.high), output=round(answered.high))
    return Range(low=spec.cost_usd(cheapest, batch=batch) or 0.0, high=spec.cost_usd(dearest, batch=batch) or 0.0)


def total(ranges: Iterable[Range]) -> Range:
    """Return the sum of *ranges*."""
    return sum(ranges, Range())


R = TypeVar("R")

# Number of items and of pairs in the sample, spread evenly over the run.
SAMPLE = 120
_SAMPLED_PAIRS = 12
# Share of items for which the stage ``spans`` has to ask where a value is; never, if the model keeps all marks.
_ASKED_BACK = Range(low=0.0, high=0.05)
# Recipe "case": share of the records for which these prompts are sent, of which the stand-in sends each: its drafts of questions all name
# a value, and its judge contradicts nearly every ledger.
_SENT = {"case_question": Range(low=0.2, high=1.0), CLOSER_LOOK: Range(low=0.0, high=1.0)}
# Recipe "case": how many items are worked on per accepted one (docs/case.md).
_WORKED_ON = Range(low=1.0, high=2.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class StageEstimate:
    """The estimate of one stage. ``cost_usd`` is None if the model has no price; ``cached_tokens`` are part of ``input_tokens``."""

    stage: str
    calls: Range
    input_tokens: Range
    cached_tokens: Range
    output_tokens: Range
    cost_usd: Range | None

    def to_json(self) -> dict[str, Any]:
        """Return the figures as JSON values: each range as [low, high], costs in USD or null."""
        figures = asdict(self)
        del figures["stage"]
        whole = {name: [round(held["low"]), round(held["high"])] for name, held in figures.items() if name != "cost_usd"}
        call_cost = self.cost_usd
        return whole | {"cost_usd": None if call_cost is None else [round(call_cost.low, 6), round(call_cost.high, 6)]}


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEstimate:
    """The estimate of a run.

    ``free``: the provider is the composer, which makes no paid calls. ``thinks``: the model thinks, and thinking tokens are a guess.
    """

    provider: str
    model: str
    records: int
    batch: bool
    thinks: bool
    free: bool
    stages: tuple[StageEstimate, ...]

    @property
    def total(self) -> StageEstimate:
        """All stages together."""
        costs = [stage.cost_usd for stage in self.stages if stage.cost_usd is not None]
        return StageEstimate(
            stage="total",
            calls=total(stage.calls for stage in self.stages),
            input_tokens=total(stage.input_tokens for stage in self.stages),
            cached_tokens=total(stage.cached_tokens for stage in self.stages),
            output_tokens=total(stage.output_tokens for stage in self.stages),
            cost_usd=total(costs) if len(costs) == len(self.stages) else None,
        )

    def to_json(self) -> dict[str, Any]:
        """Return the estimate as JSON values."""
        return {
            "provider": self.provider,
            "model": self.model,
            "records": self.records,
            "batch": self.batch,
            "thinking_guessed": self.thinks,
            **self.total.to_json(),
            "stages": [{"stage": stage.stage, **stage.to_json()} for stage in self.stages],
        }


def spec_of(config: RunConfig) -> ModelSpec:
    """Return what is known of the model that *config* names; no key is needed."""
    book = load_models()
    model = config.model or book.defaults.get(config.provider, "")
    return book.resolve(config.provider, model, parse_prices(config.price) if config.price else None)


def judge_spec_of(config: RunConfig) -> ModelSpec | None:
    """Return what is known of the model of the separate judge; None if the model that writes also judges."""
    judge = config.of_judge()
    return None if judge is None else spec_of(judge)


def estimate_rest(store: Store, run_id: str, changes: Mapping[str, Any]) -> tuple[RunEstimate, RunConfig]:
    """Estimate the rest of run *run_id*, continued under *changes*; also return the configuration of that."""
    run = get_run(store, run_id)
    known = {stage: len(load_shared_results(store, run.id, stage)) for stage in (topics.NAME, subtopics.NAME)}
    settled = changed_config(run, changes)
    estimate = estimate_run(
        settled,
        spec_of(settled),
        judge_spec=judge_spec_of(settled),
        batch=settled.batch,
        accepted=len(plan_indexes(store, run.id)),
        topics_known=known[topics.NAME],
        subtopics_known=known[subtopics.NAME],
    )
    return estimate, settled


def estimate_run(
    config: RunConfig,
    spec: ModelSpec,
    *,
    judge_spec: ModelSpec | None = None,
    batch: bool = False,
    accepted: int = 0,
    topics_known: int = 0,
    subtopics_known: int = 0,
) -> RunEstimate:
    """Estimate a run of *config*; *spec* describes the model, *judge_spec* the separate judge, if there is one.

    Nothing is sent, and no key is needed.

    For a resumed run: *accepted* records exist already, and topics are known for *topics_known* pairs and subtopics for
    *subtopics_known* topics. Replies already paid for unfinished items are not subtracted.
    """
    records = max(0, config.samples - accepted)
    model = config.model or load_models().defaults.get(config.provider, "")
    known = RunEstimate(
        provider=config.provider,
        model=model,
        records=records,
        batch=batch,
        thinks=any(one.thinking_tokens > 0 for one in (spec, judge_spec) if one is not None),
        free=config.provider == "composer",
        stages=(),
    )
    if known.free or not records:
        return known
    # The model's name is part of the plan digest, so fill it in to get the plan that the run will have.
    rehearsal = _Rehearsal(config.model_copy(update={"model": model}))
    rehearsal.list_topics(planned_for(config.samples, config.margin), topics_known, subtopics_known)
    rehearsal.write_items(accepted, records)
    judge = config.of_judge()

    def summed(name: str, calls: Sequence[tuple[CallSize, Range]]) -> StageEstimate:
        if judge is not None and judge_spec is not None and name in JUDGING:
            return _summed(name, calls, replace(known, provider=judge.provider), judge_spec)
        return _summed(name, calls, known, spec)

    return replace(known, stages=tuple(summed(name, calls) for name, calls in rehearsal.calls.items()))


class _MeasuredCalls(Calls):
    """Calls that the stand-in answers; records the sizes of each prompt and reply."""

    def __init__(self, author: StandIn) -> None:  # no ``super().__init__()``: nothing is journaled
        self.provider, self.totals, self.sink = author, CallTotals(), noop
        self.share = 1.0  # the part of a call to count for the current item
        self.sizes: list[tuple[CallSize, float]] = []

    async def complete(self, call: PromptCall) -> Answer:
        """Answer *call*."""
        completion = await self.provider.complete(call)
        messages = call.render()
        system = [message for message in messages if message.role == "system"]
        size = CallSize(
            stage=call.stage,
            template=call.schema_name,
            prompt=prompt_bytes(messages),
            system=prompt_bytes(system),
            schema=schema_bytes(call.schema_name, call.schema),
            reply=len(completion.text.encode()),
        )
        self.sizes.append((size, self.share))
        return Answer(call=call, completion=completion, key="", rendered_sha256="")

    def judge(self, answer: Answer, fault: str | None, *, unmet: str | None = None) -> None:
        """Ignore the verdict on a reply."""

    def taken(self) -> list[tuple[CallSize, float]]:
        """Return the (size, share) of the calls since the last ``taken``."""
        sizes, self.sizes = self.sizes, []
        return sizes


class _WorkAlone(SharedWork):
    """``SharedWork`` for single items: each item does the work of its whole text, and counts 1 / *among* of the calls."""

    def __init__(self, calls: _MeasuredCalls) -> None:
        super().__init__()
        self._calls = calls

    async def once(self, key: str, make: Callable[[], Coroutine[Any, Any, R]], *, among: int) -> R:
        """Run ``make()`` and count 1 / *among* of its calls."""
        del key
        self._calls.share = 1 / among
        try:
            return await make()
        finally:
            self._calls.share = 1.0


class _Rehearsal:
    """Runs the stages on a sample of a run. ``calls``: by stage, (size, how many calls it represents)."""

    def __init__(self, config: RunConfig) -> None:
        self._config = config
        self._digest = plan_digest(config)
        self._pairs = pair_order(config)
        self._calls = _MeasuredCalls(StandIn(config))
        self._ctx = StageContext(config=config, calls=self._calls, prompts=open_library(config.prompts), shared=_WorkAlone(self._calls))
        self.stages = item_stages(config.recipe, config.judges)
        self.calls: Mapping[str, list[tuple[CallSize, Range]]] = defaultdict(list)

    def list_topics(self, planned: int, topics_known: int, subtopics_known: int) -> None:
        """Sample the calls for topics and subtopics that *planned* items need, less those that are known."""
        texts = texts_planned(planned, self._config)
        pairs = _spread(self._pairs[:texts], _SAMPLED_PAIRS)
        listed, split = max(0, min(texts, len(self._pairs)) - topics_known), max(0, self._topics_touched(texts) - subtopics_known)
        for pair in pairs:
            _finished(topics.run(pair, self._ctx))
            self._note(self._calls.taken(), _exactly(listed / len(pairs)))
            _finished(subtopics.run(pair, "mortgage payments", self._ctx))
            self._note(self._calls.taken(), _exactly(split / len(pairs)))

    def write_items(self, first: int, number: int) -> None:
        """Sample the *number* items from plan index *first* on, and take the sample through all stages."""
        indexes = _spread(range(first, first + number), SAMPLE)
        weight = items_worked_on(number) * _exactly(1 / len(indexes))
        if self._config.recipe == "case":
            weight = weight * _WORKED_ON
        for index in indexes:
            item = self._written(index)
            self._note(self._calls.taken(), weight)
            if item is not None and item.passage is not None and item.values:
                self._ask_back(item, item.passage)
                self._note(self._calls.taken()[:1], weight * _ASKED_BACK)

    def _written(self, index: int) -> Item | None:
        text = text_of(index, self._config)
        pair, triplet = self._pairs[text % len(self._pairs)], ("household money", "tenancy deposit")
        if self._config.recipe == "case":
            plan = make_case_item(index, pair, triplet, config=self._config, digest=self._digest)
        else:
            plan = make_plan_item(index, pair, triplet, config=self._config, digest=self._digest, bank=None)
        outcome = _finished(advance(Outcome(item=Item(plan=plan)), self._ctx, self.stages))
        return None if outcome.rejection else outcome.item

    def _ask_back(self, item: Item, passage: MarkedText) -> None:
        """Record the call of the stage ``spans`` that asks where a value is, by removing the first value from the text."""
        lost = replace(item, passage=MarkedText(text=passage.text.replace(item.values[0].text, "it")))
        try:
            _finished(spans.STAGE.run(lost, self._ctx))
        except PiiloomError:
            return  # as expected: the stand-in does not find the value

    def _topics_touched(self, planned: int) -> int:
        """Return how many topics need subtopics for *planned* texts; a pair's triplets go round its topics (see ``triplets``)."""
        needed = (triplets_needed(planned, len(self._pairs), position) for position in range(len(self._pairs)))
        return sum(min(number, self._config.topics_per_pair) for number in needed)

    def _note(self, sizes: Iterable[tuple[CallSize, float]], weight: Range) -> None:
        if weight.high:
            for size, share in sizes:
                times = weight * _exactly(share) * _SENT.get(size.template, _exactly(1.0))
                self.calls[size.stage].append((size, times))


def _summed(name: str, calls: Sequence[tuple[CallSize, Range]], run: RunEstimate, spec: ModelSpec) -> StageEstimate:
    sent = [(size, weight * TRIES) for size, weight in calls]
    given = total(input_tokens(size, run.provider) * times for size, times in sent)
    cached = total(cached_tokens(size, run.provider) * times for size, times in sent)
    answered = total(output_tokens(size, run.provider, spec) * times for size, times in sent)
    return StageEstimate(
        stage=name,
        calls=total(times for _, times in sent),
        input_tokens=given,
        cached_tokens=cached,
        output_tokens=answered,
        cost_usd=call_cost(spec, given, cached, answered, batch=run.batch),
    )


def _spread(things: Sequence[R], most: int) -> list[R]:
    """Return at most *most* of *things*, evenly spaced."""
    number = min(most, len(things))
    return [things[place * len(things) // number] for place in range(number)]


def _exactly(number: float) -> Range:
    return Range(low=number, high=number)


def _finished(work: Coroutine[Any, Any, R]) -> R:
    """Run *work*, which never awaits anything, to its end; works inside a running event loop, too. Raises ``RuntimeError`` if it waits."""
    try:
        work.send(None)
    except StopIteration as end:
        result: R = end.value
        return result
    work.close()
    raise RuntimeError("an estimate must not wait for anything")
