"""Ask, validate, ask again with the fault named: the loop that every stage which needs a model goes through."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from execution.call_entries import reply_code
from foundation.errors import ProviderError
from generation.stage import ItemRejected, StageContext
from prompts.library import PromptLibrary
from providers.errors import AuthFailed, BudgetExceeded, InvalidRequest, RateLimited, ReplyRejected
from providers.protocol import Message, PromptCall

R = TypeVar("R")


class Fault(Exception):
    """What is wrong with a reply (no error of the program): ``str()`` is told to the model, ``code`` is counted."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """One thing to ask for: which stage and template, with what, for whom, and the JSON schema of the reply."""

    stage: str
    template: str
    variables: Mapping[str, Any]
    schema: Mapping[str, Any]
    item_id: str

    def call(self, attempt: int, fault: str | None, prompts: PromptLibrary) -> PromptCall:
        """Make the provider call of one attempt, with the templates of *prompts*."""
        template = prompts.find(self.template)
        variables = {**self.variables, "fault": fault}

        def rendered() -> tuple[Message, ...]:
            prompt = template.render(variables)
            return (Message(role="system", content=prompt.system), Message(role="user", content=prompt.user))

        return PromptCall(
            stage=self.stage,
            template=template.id,
            variables=variables,
            render=rendered,
            schema_name=self.template,
            schema=self.schema,
            item_id=self.item_id,
            attempt=attempt,
        )


async def ask(
    question: Ask, ctx: StageContext, accept: Callable[[Any], R], *, last_resort: Callable[[Any], R] | None = None
) -> tuple[R, int]:
    """Ask until ``accept(data)`` raises no ``Fault``; gives its result and the number of refused replies.

    *last_resort*, where given, judges the reply of the last attempt instead (a later stage can repair what it lets pass).
    Raises ``ItemRejected`` after ``max_attempts``, with the code of the last fault; errors that no other item could
    escape (wrong key, no money, an endpoint that never answered) propagate and end the run.
    """
    fault: Fault | None = None
    last_reply: str | None = None
    drawn = ctx.draws.get(question.item_id, 0) * ctx.config.max_attempts
    for attempt in range(ctx.config.max_attempts):
        call = question.call(drawn + attempt, str(fault) if fault else None, ctx.prompts)
        try:
            answer = await ctx.calls.complete(call)
        except ReplyRejected as error:
            fault, last_reply = Fault(reply_code(error), str(error)), error.completion.text
            continue
        except ProviderError as error:
            if _ends_the_run(error, ctx):
                raise
            raise ItemRejected(_code(error), str(error), stage=question.stage, attempts=attempt + 1) from error
        last_reply = answer.completion.text
        judge = last_resort if last_resort and attempt == ctx.config.max_attempts - 1 else accept
        try:
            result = judge(answer.completion.data)
        except Fault as found:
            fault = found
            ctx.calls.judge(answer, f"{found.code}: {found}")
            continue
        ctx.calls.judge(answer, None)
        return result, attempt
    assert fault is not None  # noqa: S101 - max_attempts is at least 1
    raise ItemRejected(fault.code, str(fault), stage=question.stage, attempts=ctx.config.max_attempts, last_reply=last_reply)


def _ends_the_run(error: ProviderError, ctx: StageContext) -> bool:
    """Whether no other item could fare better: then going on would only turn the whole plan into rejects."""
    ctx.note_failure()
    if isinstance(error, AuthFailed | BudgetExceeded):
        return True
    if not ctx.calls.totals.answered_now:
        # One prompt may be refused as such; three different ones mean that the model or the endpoint is wrong.
        return not isinstance(error, InvalidRequest) or ctx.failures_in_a_row >= 3
    return ctx.failures_in_a_row >= max(20, 2 * ctx.config.concurrency)


def _code(error: ProviderError) -> str:
    if isinstance(error, InvalidRequest):
        return "invalid_request"
    return "rate_limited" if isinstance(error, RateLimited) else "provider_unavailable"
