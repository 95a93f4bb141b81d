"""What the stages ask a model for, and what becomes of an item that cannot get it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from piiloom.execution.calls import Fault, Lost, Wish, ask_model
from piiloom.execution.prompt_calls import prompt_call
from piiloom.generation.stage import ItemRejected, StageContext
from piiloom.prompts.library import PromptLibrary
from piiloom.providers.protocol import PromptCall, SamplingSettings

__all__ = ["Fault", "PromptRequest", "Wish", "ask"]
R = TypeVar("R")


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptRequest:
    """A request to the model: its stage, template, variables, the JSON schema of the reply, and the id of the item it is made for."""

    stage: str
    template: str
    variables: Mapping[str, Any]
    schema: Mapping[str, Any]
    item_id: str

    def call(self, attempt: int, fault: str | None, prompts: PromptLibrary, settings: SamplingSettings) -> PromptCall:
        """Create the provider call of attempt number *attempt*; *fault* tells the model what was wrong with its previous reply."""
        return prompt_call(
            prompts.find(self.template),
            self.variables,
            stage=self.stage,
            schema_name=self.template,
            schema=self.schema,
            item_id=self.item_id,
            attempt=attempt,
            fault=fault,
            settings=settings,
        )


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
        return question.call(drawn + attempt, fault, ctx.prompts, settings)

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
