"""The only way to call a provider, and the loop that asks a model until its reply is usable.

Each paid reply is stored before it is used, and so is the verdict on it. Its key in the journal is made of everything that shapes the
reply. A resumed run, or a new run that differs only in a later stage, finds the replies to its requests there. No reply is paid for twice.
Replies of an unpaid provider can be recomputed, so only rejected ones are stored.

A rejected reply is asked for again, with its fault named in the prompt.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Protocol, TypeVar

from piiloom.corpus.store.call_events import CallEvent, EventKind, KnownReply, ReplyVerdict
from piiloom.execution.call_entries import REPLY_FAULTS, CallTotals, Request, reply_code, reply_entry
from piiloom.execution.committing import Batch, GroupCommitter, Journal
from piiloom.execution.watching.events import CallJudged, CallReplayed, EventSink
from piiloom.foundation.errors import ProviderError
from piiloom.foundation.lenient_json import only_thoughts
from piiloom.foundation.noop import noop
from piiloom.foundation.seeding import digest
from piiloom.prompts.library import PromptTemplate
from piiloom.providers.errors import ENDS_RUN, InvalidReply, InvalidRequest, RateLimited, ReplyRejected, Truncated
from piiloom.providers.protocol import Completion, JsonSchema, Message, PromptCall, Provider, SamplingSettings, TokenUsage
from piiloom.providers.replies import with_data


class Sender(Protocol):
    """Sends the calls that the journal has no reply to: ``live.LiveCalls``, or ``batches.batch_scheduler.BatchScheduler``."""

    async def complete(self, request: Request) -> Completion:
        """Return the answer to *request*; its reply is on disk by then."""
        ...

    async def drain(self) -> None:
        """Send nothing new and wait for the calls that are out (batches are left at their provider)."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A completion, with its journal key and the digest of its rendered prompt ("" for an unpaid provider)."""

    call: PromptCall
    completion: Completion
    key: str
    rendered_sha256: str
    # The reply came from the journal.
    replayed: bool = False


class Calls:
    """Completes calls and records them for a run. A paid provider needs a *sender* and should have a *journal*."""

    def __init__(
        self,
        provider: Provider,
        committer: GroupCommitter,
        run_id: str,
        *,
        seed: int = 0,
        totals: CallTotals | None = None,
        sender: Sender | None = None,
        journal: Journal | None = None,
        sink: EventSink = noop,
    ) -> None:
        self.provider = provider
        self.totals = totals or CallTotals()
        self.sink = sink
        self._committer, self._run_id, self._seed = committer, run_id, seed
        self._sender, self._journal = sender, journal

    async def complete(self, call: PromptCall) -> Answer:
        """Return the answer to *call*, from the journal or else from the provider.

        Raises ``ProviderError``, which is recorded before, and ``RuntimeError`` for a paid provider without a sender.
        """
        if not self.provider.paid:
            completion = await self.provider.complete(call)
            self.totals.answered += 1
            self.totals.answered_now += 1
            key = digest(self._run_id, call.stage, call.item_id, call.template, call.attempt)
            return Answer(call=call, completion=completion, key=key, rendered_sha256="")
        messages = call.render()
        call = replace(call, render=lambda: messages)
        key, rendered = self._key(call, messages)
        known = await self._journal.find(key) if self._journal is not None else None
        if known is not None:
            return Answer(call=call, completion=self._replayed(call, key, known), key=key, rendered_sha256=rendered, replayed=True)
        if self._sender is None:
            raise RuntimeError("a paid provider needs a sender, which keeps what it pays for")
        completion = await self._sender.complete(Request(call=call, key=key, messages=messages, rendered_sha256=rendered))
        return Answer(call=call, completion=completion, key=key, rendered_sha256=rendered)

    def judge(self, answer: Answer, fault: str | None, *, unmet: str | None = None) -> None:
        """Record the stage's verdict on a reply: *fault* as "code: message", or None if it was accepted.

        *unmet* is the "code: message" of a wish that an accepted reply does not meet. For an unpaid provider, the verdict is stored only
        if there is a fault (then with the reply) or an unmet wish.
        """
        verdict: ReplyVerdict = "accepted" if fault is None else "refused_by_validator"
        entry = {"verdict": verdict, "fault": fault} | ({"unmet": unmet} if unmet else {})
        events = [_event(answer.call, answer.key, "verdict", entry)]
        if not self.provider.paid and fault is not None:
            entry = reply_entry(self.provider, answer.rendered_sha256, answer.call, 1, answer.completion, None)
            events.insert(0, _event(answer.call, answer.key, "reply", entry))
        if self.provider.paid or fault is not None or unmet is not None:
            self._committer.put(Batch(calls=events))
        code = fault.partition(": ")[0] if fault else None
        self.sink(CallJudged(answer.call.stage, answer.call.item_id, answer.call.attempt, fault is None, code))

    async def drain(self) -> None:
        """Wait for the replies that are paid for and still to come; the next session finds them in the journal."""
        if self._sender is not None:
            await self._sender.drain()

    def _key(self, call: PromptCall, messages: Sequence[Message]) -> tuple[str, str]:
        rendered = digest([(message.role, message.content) for message in messages])
        provider = (self.provider.name, self.provider.endpoint, self.provider.model)
        # Seed, item and attempt make the key unique: the same prompt for another item should get a reply of its own.
        draw = (self._seed, call.item_id, call.attempt)
        # A reply that was cut at another limit is no answer to this call.
        limit = getattr(getattr(self.provider, "spec", None), "reply_tokens", None)
        settings = (*call.settings.identity, *([limit] if limit else []))
        return digest(provider, settings, rendered, call.variables, call.schema, draw), rendered

    def _replayed(self, call: PromptCall, key: str, known: KnownReply) -> Completion:
        """Rebuild the completion from the journal entry *known*, at no cost. Raises the ``ReplyRejected`` that it was, if it was one."""
        self.totals.replayed += 1
        if known.run_id != self._run_id:
            self._committer.put(Batch(calls=[_event(call, key, "used", {"from_run": known.run_id})]))
        self.sink(CallReplayed(call.stage, call.item_id, call.attempt))
        entry = known.entry
        usage = TokenUsage(input=entry["input"], cached=entry["cached"], output=entry["output"])
        plain = Completion(text=entry["reply"], data=None, model=entry["model"] or "", usage=usage, finish_reason=entry["finish_reason"])
        if entry["error"]:
            code, _, message = str(entry["error"]).partition(": ")
            raise _known(REPLY_FAULTS.get(code, ReplyRejected)(message or "the reply could not be used", completion=plain))
        try:
            return with_data(plain, call.schema, provider=self.provider.name)
        except InvalidReply as error:
            raise _known(error) from None


def _known(error: ReplyRejected) -> ReplyRejected:
    error.replayed = True
    return error


def _event(call: PromptCall, key: str, kind: EventKind, entry: dict[str, Any]) -> CallEvent:
    return CallEvent(key=key, kind=kind, stage=call.stage, item_id=call.item_id, attempt=call.attempt, entry=entry)


R = TypeVar("R")
AGAIN: Final = "Give the same command again: what was paid for is kept, and is not asked again"  # the remedy where asking has stopped
# A single prompt may be refused for its content; three refused in a row mean that the model or the endpoint is wrong.
_REFUSED_PROMPTS: Final = 3
_FAILURES: Final = 20
# Added to the output limit of a call whose reply was cut while the model thought.
_MORE_TOKENS: Final = 8192


class Fault(Exception):
    """What is wrong with a reply; raised by validators. ``str()`` goes into the next prompt, ``code`` into the statistics."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class Wish(Fault):
    """A reply that is usable but not ideal. It is asked again once for each code; then *result* is accepted as it is."""

    def __init__(self, code: str, message: str, result: Any) -> None:
        super().__init__(code, message)
        self.result = result


@dataclass(frozen=True, slots=True, kw_only=True)
class Lost:
    """No usable reply was obtained: the last fault, the number of attempts, and the last reply's text.

    ``error`` is set if a call failed. ``known`` means that the last reply came from the journal.
    """

    code: str
    message: str
    attempts: int
    last_reply: str | None
    error: ProviderError | None = None
    known: bool = False


async def ask_model(  # noqa: C901 - one loop, whose exits belong together
    calls: Calls,
    make: Callable[[int, str | None], PromptCall],
    judge: Callable[[Any, int], Awaitable[R]],
    *,
    attempts: int,
    failure_limit: FailureLimit,
    hopeless: Collection[str] = (),
) -> tuple[R, int] | Lost:
    """Ask until *judge* raises no ``Fault``, at most *attempts* times. Return its result and the number of rejected replies, or ``Lost``.

    *make* builds the call from the attempt number (from 0) and the previous fault's text (None at first). *judge* gets the reply's
    data and the attempt number. After a reply that was rejected before it came to *judge*, with a code that is *hopeless*, nothing is
    asked again. If a ``Wish`` is unmet a second time, or the attempts run out, or the next call fails, its result is accepted and the
    journal records the unmet wish. Raises the ``ProviderError`` of a call if *failure_limit* decides that the run must end.
    """
    wished: dict[str, tuple[Answer, Wish]] = {}
    fault: Fault | None = None
    last_reply: str | None = None
    known = False
    for attempt in range(attempts):
        try:
            answer = await _with_room(calls, make(attempt, str(fault) if fault else None))
        except ReplyRejected as error:
            fault, last_reply, known = Fault(reply_code(error), str(error)), error.completion.text, error.replayed
            if fault.code in hopeless:
                break
            continue
        except ProviderError as error:
            if failure_limit.ends_with(error):
                raise
            if wished:
                return _first_usable(calls, wished), attempt - 1
            return Lost(code=_code(error), message=str(error), attempts=attempt + 1, last_reply=last_reply, error=error)
        last_reply, known = answer.completion.text, answer.replayed
        try:
            result = await judge(answer.completion.data, attempt)
        except Fault as found:
            if isinstance(found, Wish):
                if found.code in wished or attempt == attempts - 1:
                    return _taken(calls, answer, found), attempt
                wished[found.code] = answer, found
            fault = found
            calls.judge(answer, f"{found.code}: {found}")
            continue
        calls.judge(answer, None)
        return result, attempt
    if wished:
        return _first_usable(calls, wished), attempt
    assert fault is not None  # noqa: S101 - there is at least one attempt
    return Lost(code=fault.code, message=str(fault), attempts=attempt + 1, last_reply=last_reply, known=known)


async def _with_room(calls: Calls, call: PromptCall) -> Answer:
    """Complete *call*; a reply that was cut while the model thought is asked for once more, with a higher output limit."""
    try:
        return await calls.complete(call)
    except Truncated as error:
        wanted = call.settings.max_output_tokens
        spec = getattr(calls.provider, "spec", None)
        if (
            spec is None
            or not only_thoughts(error.completion.text)
            or spec.output_limit(wanted + _MORE_TOKENS) <= spec.output_limit(wanted)
        ):
            raise
    more = replace(call.settings, max_output_tokens=wanted + _MORE_TOKENS)
    return await calls.complete(replace(call, settings=more))


def _first_usable(calls: Calls, wished: Mapping[str, tuple[Answer, Wish]]) -> Any:
    answer, wish = next(iter(wished.values()))
    return _taken(calls, answer, wish)


def _taken(calls: Calls, answer: Answer, wish: Wish) -> Any:
    calls.judge(answer, None, unmet=f"{wish.code}: {wish}")
    return wish.result


class FailureLimit:
    """Decides after which failed calls the run should end, because every further request would fail as well."""

    def __init__(self, calls: Calls, concurrency: int) -> None:
        self._calls = calls
        self._most = max(_FAILURES, 2 * concurrency)
        self._failures = 0
        self._answered = 0

    def ends_with(self, error: ProviderError) -> bool:
        """Whether *error*, of a call that has just failed, should end the run.

        Counts failures since the last live answer; replies from the journal do not reset the count. The run ends at once for an
        ``ENDS_RUN`` error. Before the first answer, any failure ends it except ``InvalidRequest``, of which three in a row do.
        After that it takes ``max(20, 2 * concurrency)`` failures in a row.
        """
        answered = self._calls.totals.answered_now
        self._failures = self._failures + 1 if answered == self._answered else 1
        self._answered = answered
        if isinstance(error, ENDS_RUN):
            return True
        if not answered:
            return not isinstance(error, InvalidRequest) or self._failures >= _REFUSED_PROMPTS
        return self._failures >= self._most


def _code(error: ProviderError) -> str:
    if isinstance(error, InvalidRequest):
        return "invalid_request"
    return "rate_limited" if isinstance(error, RateLimited) else "provider_unavailable"


def prompt_call(
    template: PromptTemplate,
    variables: Mapping[str, Any],
    *,
    stage: str,
    schema_name: str,
    schema: JsonSchema | None,
    item_id: str,
    attempt: int,
    fault: str | None,
    settings: SamplingSettings,
    shown: tuple[Message, ...] = (),
) -> PromptCall:
    """Return the call for one *attempt* (from 0); *fault* tells the model what was wrong with its previous reply.

    *shown* goes between the instruction and the question: examples with their answers. *schema* is None for a plain text.

    The template is rendered when the messages are asked for: a reply that is known already needs none.
    """
    variables = {**variables, "fault": fault}

    def rendered() -> tuple[Message, ...]:
        prompt = template.render(variables)
        return (Message(role="system", content=prompt.system), *shown, Message(role="user", content=prompt.user))

    return PromptCall(
        stage=stage,
        template=template.id,
        variables=variables,
        render=rendered,
        schema_name=schema_name,
        schema=schema,
        item_id=item_id,
        attempt=attempt,
        settings=settings,
    )
