"""The shape of stages, the context that stages get, and how they ask a model; the error by which a stage rejects an item."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from piiloom.corpus.store.runs import RejectRow
from piiloom.execution.calls import Calls, FailureLimit, Lost, ask_model, prompt_call
from piiloom.execution.calls import Fault as Fault  # noqa: PLC0414 - the stages have both from here
from piiloom.execution.calls import Wish as Wish  # noqa: PLC0414
from piiloom.foundation.errors import PiiloomError
from piiloom.generation.item import Item
from piiloom.generation.settings.configuration import RunConfig
from piiloom.prompts.library import PromptLibrary, open_library
from piiloom.providers.protocol import PromptCall
from piiloom.taxonomy.entity_types import Taxonomy
from piiloom.taxonomy.locales import Locale, get_locale
from piiloom.taxonomy.own_types import OwnTypes
from piiloom.taxonomy.scenarios import Bank
from piiloom.taxonomy.story_bank import StoryBank

R = TypeVar("R")


@dataclass(slots=True)
class _Shared:
    task: asyncio.Task[Any]
    asked: int = 0
    waiting: int = 0


class SharedWork:
    """Keeps running or finished tasks by key, until everyone who shares a task has asked for it."""

    def __init__(self) -> None:
        self._shared: dict[str, _Shared] = {}

    async def once(self, key: str, make: Callable[[], Coroutine[Any, Any, R]], *, among: int) -> R:
        """Run ``make()`` once for *among* callers with the same *key*; each gets its result or its exception.

        A cancelled caller only stops waiting; the work itself is cancelled when no caller is waiting any more.
        """
        shared = self._shared.get(key)
        if shared is None:
            shared = self._shared[key] = _Shared(asyncio.ensure_future(make()))
        shared.asked += 1
        if shared.asked >= among:
            self._shared.pop(key, None)
        shared.waiting += 1
        try:
            found: R = await asyncio.shield(shared.task)
            return found
        finally:
            shared.waiting -= 1
            if not shared.waiting and not shared.task.done():
                shared.task.cancel()
                self._shared.pop(key, None)


class ItemRejected(PiiloomError):
    """An item is rejected; it is stored as a reject row.

    *stage* and *code* say where and why, *attempts* how many replies were tried, *last_reply* is the last of them. *known*: that
    reply was paid for by an earlier process and replayed from the journal.
    """

    def __init__(
        self, code: str, detail: str, *, stage: str, attempts: int = 0, last_reply: str | None = None, known: bool = False
    ) -> None:
        super().__init__(f"{stage}: {code}: {detail}")
        self.known = known
        self.code, self.detail, self.stage, self.attempts, self.last_reply = code, detail, stage, attempts, last_reply

    @property
    def reason(self) -> tuple[str, str]:
        """(stage, code): the key by which rejects are counted."""
        return self.stage, self.code

    def row(self, *, plan_index: int | None = None, key: str | None = None) -> RejectRow:
        """Return the reject row to store, for a plan item (*plan_index*) or for a pair or topic (*key*)."""
        return RejectRow(
            plan_index=plan_index,
            key=key,
            stage=self.stage,
            reason_code=self.code,
            detail=self.detail,
            attempts=self.attempts,
            last_reply=self.last_reply,
        )


@dataclass(slots=True, kw_only=True)
class StageContext:
    """What stages work with. ``bank`` is set if the provider composes from a bank, ``stories`` if it tells stories.

    ``aside_types`` are the own types that a text may mention beside its story.
    """

    config: RunConfig
    calls: Calls
    bank: Bank | None = None
    stories: StoryBank | None = None
    aside_types: OwnTypes = ()
    prompts: PromptLibrary = field(default_factory=open_library)
    # Retry count of a plan item (by its index), pair or topic (by its key). It is part of a call's key, so that a retry gets new replies.
    draws: Mapping[str, int] = field(default_factory=dict)
    # Work done once for all items of a text.
    shared: SharedWork = field(default_factory=SharedWork)
    # Calls to a separate judge model; None if the model that writes also judges.
    judge: Calls | None = None
    taxonomy: Taxonomy = field(init=False)
    failure_limit: FailureLimit = field(init=False)
    judge_failure_limit: FailureLimit = field(init=False)

    def __post_init__(self) -> None:
        self.taxonomy = self.config.taxonomy()
        self.failure_limit = FailureLimit(self.calls, self.config.concurrency)
        self.judge_failure_limit = FailureLimit(self.judge, self.config.concurrency) if self.judge is not None else self.failure_limit

    @property
    def judging(self) -> Calls:
        """The calls that judge stages use: those to the separate judge if there is one."""
        return self.judge if self.judge is not None else self.calls

    def drawn(self, item_id: str) -> int:
        """Return how often the item, pair or topic *item_id* was tried before; "17/0" is a part of item 17."""
        first, _, _ = item_id.partition("/")
        return self.draws.get(first if first.isdecimal() else item_id, 0)

    @property
    def locale(self) -> Locale:
        """The locale of the run."""
        return get_locale(self.config.locale)

    def type_variables(self, names: tuple[str, ...]) -> list[dict[str, Any]]:
        """Describe entity types to a template."""
        return [{"name": name, "definition": self.taxonomy.get(name).described()} for name in names]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """One step of the pipeline, the same for every provider.

    ``name``: in commands, ledgers and errors. ``templates``: the names of the prompt templates it uses. ``run`` takes an item one step
    further: it returns a new one or raises ``ItemRejected``.
    """

    name: str
    templates: tuple[str, ...]
    run: Callable[[Item, StageContext], Coroutine[Any, Any, Item]]


def text_schema(key: str, *, nullable: bool = False) -> Mapping[str, Any]:
    """JSON schema of a reply that is one string under *key*."""
    # "anyOf" instead of a list of types, because the anthropic SDK's schema transformation fails on a list.
    value: Any = {"anyOf": [{"type": "string"}, {"type": "null"}]} if nullable else {"type": "string"}
    return {"type": "object", "properties": {key: value}, "required": [key], "additionalProperties": False}


def list_schema(key: str) -> Mapping[str, Any]:
    """JSON schema of a reply that is a list of strings under *key*."""
    return {
        "type": "object",
        "properties": {key: {"type": "array", "items": {"type": "string"}}},
        "required": [key],
        "additionalProperties": False,
    }


def objects_schema(key: str, properties: Mapping[str, Any], **before: Any) -> Mapping[str, Any]:
    """JSON schema of a reply that has, after the fields *before*, a list of objects with *properties* under *key*."""
    entry = {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}
    fields = {**before, key: {"type": "array", "items": entry}}
    return {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptRequest:
    """A request to the model: its stage, template, variables, the JSON schema of the reply, and the id of the item it is made for."""

    stage: str
    template: str
    variables: Mapping[str, Any]
    schema: Mapping[str, Any]
    item_id: str


async def ask(
    question: PromptRequest,
    ctx: StageContext,
    accept: Callable[[Any], R],
    *,
    last_resort: Callable[[Any], R] | None = None,
    judging: bool = False,
) -> tuple[R, int]:
    """Ask until ``accept(data)`` raises no ``Fault``; returns its result and the number of refused replies.

    *last_resort*, if given, replaces *accept* for the reply of the last attempt: it accepts what a later stage can repair. With
    *judging*, the run's judge is asked.

    Raises ``ItemRejected`` after ``max_attempts``, with the code of the last fault. Errors that would hit every item (wrong key,
    budget used up, an endpoint that never answered) propagate and end the run.
    """
    drawn = ctx.drawn(question.item_id) * ctx.config.max_attempts
    settings = ctx.config.sampling_of(question.stage)

    def call(attempt: int, fault: str | None) -> PromptCall:
        return prompt_call(
            ctx.prompts.find(question.template),
            question.variables,
            stage=question.stage,
            schema_name=question.template,
            schema=question.schema,
            item_id=question.item_id,
            attempt=drawn + attempt,
            fault=fault,
            settings=settings,
        )

    async def judged(data: Any, attempt: int) -> R:
        return (last_resort if last_resort and attempt == ctx.config.max_attempts - 1 else accept)(data)

    calls, failure_limit = (ctx.judging, ctx.judge_failure_limit) if judging else (ctx.calls, ctx.failure_limit)
    found = await ask_model(calls, call, judged, attempts=ctx.config.max_attempts, failure_limit=failure_limit)
    if isinstance(found, Lost):
        last_reply = None if found.error else found.last_reply
        raise ItemRejected(
            found.code, found.message, stage=question.stage, attempts=found.attempts, last_reply=last_reply, known=found.known
        ) from found.error
    return found
