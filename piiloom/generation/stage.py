"""The ``Stage`` protocol, the context that stages get, and the error by which a stage rejects an item."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from piiloom.corpus.store.runs import RejectRow
from piiloom.execution.calls import Calls, FailureLimit
from piiloom.foundation.errors import PiiloomError
from piiloom.generation.item import Item
from piiloom.generation.settings.configuration import RunConfig
from piiloom.generation.shared_work import SharedWork
from piiloom.prompts.library import PromptLibrary, open_library
from piiloom.taxonomy.entity_types import Taxonomy
from piiloom.taxonomy.locales import Locale, get_locale
from piiloom.taxonomy.own_types import OwnTypes
from piiloom.taxonomy.scenarios import Bank
from piiloom.taxonomy.story_bank import StoryBank


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


class Stage(Protocol):
    """One step of the pipeline, the same for every provider.

    ``run`` returns a new item or raises ``ItemRejected``.
    """

    @property
    def name(self) -> str:
        """The stage's name in commands, ledgers and errors."""
        ...

    @property
    def templates(self) -> tuple[str, ...]:
        """Names of the prompt templates it uses."""
        ...

    async def run(self, item: Item, ctx: StageContext) -> Item:
        """Take *item* one step further."""
        ...


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
