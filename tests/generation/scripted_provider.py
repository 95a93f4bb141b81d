"""A provider that answers from a script, and a bench to run stages on it; items to run."""

from __future__ import annotations

import asyncio
import atexit
import json
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, TypeVar

import pytest

from piiloom.corpus.alignment import MarkedText, strip_marks
from piiloom.corpus.store.database import MEMORY, Store
from piiloom.corpus.store.runs import create_run
from piiloom.execution.call_channel import CallPolicy, open_channel
from piiloom.execution.committing import GroupCommitter
from piiloom.execution.retrying import RetryPolicy
from piiloom.generation.item import Aside, Item, ItemValue, PlanItem, WantedValue
from piiloom.generation.settings.configuration import RunConfig
from piiloom.generation.stage import ItemRejected, Stage, StageContext
from piiloom.providers.errors import InvalidReply
from piiloom.providers.protocol import Completion, PromptCall
from piiloom.providers.replies import BadReply, read_reply
from tests.ended_calls import CompletionRow, load_completions

R = TypeVar("R")
Answer = Callable[[PromptCall], Any]
NO_RETRY = RetryPolicy(attempts=1, limited_s=0.0)


class ScriptedProvider:
    """Answers with what *answer* gives for a call; an exception is raised instead. Keeps the calls and their prompts."""

    name = "scripted"
    model = "script-1"
    endpoint = "test"

    def __init__(self, answer: Answer, *, paid: bool = False) -> None:
        self.paid = paid
        self.calls: list[PromptCall] = []
        self._answer = answer

    async def complete(self, call: PromptCall) -> Completion:
        self.calls.append(call)
        call.render()  # a template that cannot be filled is a fault of the stage
        await asyncio.sleep(0)
        found = self._answer(call)
        if isinstance(found, Exception):
            raise found
        text = json.dumps(found, ensure_ascii=False)
        try:
            data = read_reply(text, call.schema)
        except BadReply as error:
            raise InvalidReply(str(error), completion=Completion(text=text, data=None, model=self.model)) from None
        return Completion(text=text, data=data, model=self.model)

    async def aclose(self) -> None:
        """Nothing is open."""


def in_turn(*replies: Any) -> Answer:
    """Answer with *replies* one after the other, whatever is asked; the last one again and again."""
    rest = list(replies)
    return lambda _: rest.pop(0) if len(rest) > 1 else rest[0]


def by_template(**scripts: Any) -> Answer:
    """Answer each template with its reply, or with its list of replies in turn."""
    answers = {name: in_turn(*script) if isinstance(script, list) else in_turn(script) for name, script in scripts.items()}
    return lambda call: answers[call.schema_name](call)


@dataclass(slots=True, kw_only=True)
class Bench:
    """A stage context over a scripted provider and a store in memory; ``replies`` is filled when the bench is left."""

    ctx: StageContext
    provider: ScriptedProvider
    committer: GroupCommitter
    store: Store
    run_id: str
    replies: dict[str, CompletionRow] = field(default_factory=dict)

    def do(self, work: Awaitable[R]) -> R:
        async def awaited() -> R:
            return await work

        return asyncio.run(awaited())

    @property
    def faults(self) -> list[str | None]:
        """What each call was told about the reply before."""
        return [call.variables["fault"] for call in self.provider.calls]

    def verdicts(self) -> list[str | None]:
        """What became of the stored replies, in the order of their attempts."""
        return [row.verdict for row in sorted(self.replies.values(), key=lambda row: (row.item_id, row.attempt))]


@contextmanager
def bench(
    answer: Answer, *, paid: bool = False, retry: RetryPolicy = NO_RETRY, store: Store | None = None, **settings: Any
) -> Iterator[Bench]:
    """A bench whose provider answers by *answer*; *settings* are those of the run. A *store* given brings its journal."""
    provider = ScriptedProvider(answer, paid=paid)
    config = RunConfig(**{"recipe": "staged", **settings})
    if store is None:
        store = Store.open(MEMORY) if paid else memory_store()
    run = create_run(store, provider="scripted", model=None, seed=config.seed, samples=1, config={}, config_digest="d")
    committer = GroupCommitter(store, run.id)
    channel = open_channel(store, run.id, provider, committer, CallPolicy(retry=retry), seed=config.seed)
    made = Bench(ctx=StageContext(config=config, calls=channel.calls), provider=provider, committer=committer, store=store, run_id=run.id)
    committer.start()
    try:
        yield made
    finally:
        committer.close()
        made.replies = {row.key: row for row in load_completions(store, run.id)}


@lru_cache(maxsize=1)
def memory_store() -> Store:
    """One store for all benches of a process (each has a run of its own): opening one takes longer than most tests."""
    store = Store.open(MEMORY)
    atexit.register(memory_store.cache_clear)
    atexit.register(store.close)
    return store


PLAN = PlanItem(
    index=4,
    seed=11,
    pair=("health", "occupation"),
    topic="shift work",
    subtopic="night rota",
    scenario=None,
    locale="en_US",
    register="forum post",
    cue_level="implied",
    voice="first person",
    surface_forms="verbatim",
    wanted=(
        WantedValue(id="v1", entity_type="health", relevance="high", subtypes=("condition",)),
        WantedValue(id="v2", entity_type="occupation", relevance="high", subtypes=("job_title",)),
        WantedValue(id="v3", entity_type="location", relevance="low", subtypes=("city",)),
    ),
    asides=(Aside(values=("v3",)),),
    lead="high",
    situation_words=(10, 30),
    peripheral_words=(8, 25),
    context_words=(12, 60),
    target_words=40,
    question_words=(4, 40),
    situation_sentences=2,
    peripheral_sentences=1,
)
VALUES = (
    ItemValue(id="v1", entity_type="health", subtype="condition", text="asthma", relevance="high"),
    ItemValue(id="v2", entity_type="occupation", subtype="job_title", text="tunnel miner", relevance="high"),
    ItemValue(id="v3", entity_type="location", subtype="city", text="Dayton", relevance="low"),
)
SITUATION = "As a [[v2|tunnel miner]] with [[v1|asthma]], I coughed through a whole week of drilling dust under the river."
ASIDE = "My cousins in [[v3|Dayton]] keep mailing me postcards of rattling green trams."
POST = f"{SITUATION} {ASIDE}"


def an_item(values: Sequence[ItemValue] = VALUES, **plan: Any) -> Item:
    """An item with values; *plan* replaces fields of its plan."""
    return Item(plan=replace(PLAN, **plan), values=tuple(values))


def a_told_item(**plan: Any) -> Item:
    """An item with values, situation and one aside."""
    return replace(an_item(**plan), situation=strip_marks(SITUATION), peripheral=(strip_marks(ASIDE),))


def with_passage(item: Item, marked: str) -> Item:
    """*item* with the passage that *marked* is."""
    return replace(item, passage=strip_marks(marked))


def surfaces(marked: MarkedText) -> list[tuple[str, str]]:
    """(value id, surface) of each mention in order."""
    return [(m.value_id, marked.text[m.start : m.end]) for m in marked.mentions]


def run_stage(stage: Stage, item: Item, answer: Answer, **settings: Any) -> tuple[Item, Bench]:
    """The item after *stage*, and the bench it ran on."""
    with bench(answer, **settings) as made:
        return made.do(stage.run(item, made.ctx)), made


def rejected(stage: Stage, item: Item, answer: Answer, **settings: Any) -> ItemRejected:
    """Why *stage* rejects *item*."""
    with bench(answer, **settings) as made, pytest.raises(ItemRejected) as caught:
        made.do(stage.run(item, made.ctx))
    assert caught.value.stage == stage.name
    return caught.value


def text(reply: str) -> dict[str, str]:
    """The reply of a text stage."""
    return {"text": reply}


def fault_codes(made: Bench) -> list[str]:
    """The codes of the faults found in the stored replies."""
    return [(row.fault or "").split(": ")[0] for row in made.replies.values()]
