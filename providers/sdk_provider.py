"""What the providers on top of an SDK share: the time limit, error translation, cost, and reading the reply."""

from __future__ import annotations

import asyncio
import time
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass, replace
from typing import Generic, Literal, Protocol, TypeVar

from foundation.errors import ProviderError
from providers.errors import InvalidReply, Refused, Truncated
from providers.prices import ModelSpec
from providers.protocol import Completion, Message, PromptCall, TokenUsage
from providers.replies import BadReply, read_reply
from providers.sdk_errors import Translator

T = TypeVar("T")


class Closable(Protocol):
    """An SDK's client, as far as it is used here."""

    async def close(self) -> None:
        """Close the client's connections."""
        ...


ClientT = TypeVar("ClientT", bound=Closable)


@dataclass(frozen=True, slots=True, kw_only=True)
class SdkReply:
    """An answer as an API gave it, in common terms. ``cache_write`` counts input tokens written to the prompt cache.

    ``note`` says more about a refusal or a cut; it never holds words of the reply.
    """

    text: str
    model: str
    usage: TokenUsage
    finish_reason: str
    outcome: Literal["answered", "refused", "truncated"] = "answered"
    note: str = ""
    cache_write: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Ping:
    """What ``ping`` found. ``model_known`` is None where the server does not say which models it has."""

    endpoint: str
    model: str
    model_known: bool | None
    latency_s: float


class SdkProvider(ABC, Generic[ClientT]):
    """A provider that speaks through an SDK client. Subclasses build the request and read the response.

    ``timeout_s`` bounds each request as a whole. The client is this object's own and is closed with it.
    """

    paid = True

    def __init__(self, *, name: str, model: str, spec: ModelSpec, client: ClientT, translator: Translator, timeout_s: float) -> None:
        self.name = name
        self.model = model
        self.endpoint = translator.endpoint
        self._spec = spec
        self._client = client
        self._translator = translator
        self._timeout_s = timeout_s

    def __repr__(self) -> str:
        return f"{type(self).__name__}(model={self.model!r}, endpoint={self.endpoint!r})"

    async def complete(self, call: PromptCall) -> Completion:
        """Answer *call*, or raise one of ``providers.errors``."""
        messages = call.render()
        started = time.perf_counter()
        reply = await self._guarded(self._ask(call, messages), prompt=[message.content for message in messages])
        completion = Completion(
            text=reply.text,
            data=None,
            model=reply.model or self.model,
            usage=reply.usage,
            cost_usd=self._spec.cost_usd(reply.usage, cache_write=reply.cache_write),
            latency_s=time.perf_counter() - started,
            finish_reason=reply.finish_reason,
        )
        return self._judged(reply, completion, call)

    async def ping(self) -> Ping:
        """Reach the server without paying for tokens; raises what ``complete`` would raise."""
        started = time.perf_counter()
        known = await self._guarded(self._look_up_model())
        return Ping(endpoint=self.endpoint, model=self.model, model_known=known, latency_s=time.perf_counter() - started)

    async def aclose(self) -> None:
        """Close the SDK's client and its connections."""
        await self._client.close()

    @abstractmethod
    async def _ask(self, call: PromptCall, messages: Sequence[Message]) -> SdkReply:
        """Send one request and read its response."""

    @abstractmethod
    async def _look_up_model(self) -> bool | None:
        """Whether the server knows the model; None when it does not say."""

    @property
    @abstractmethod
    def _failure(self) -> type[Exception]:
        """The root of what the SDK raises when a request fails."""

    async def _guarded(self, work: Awaitable[T], *, prompt: Sequence[str] = ()) -> T:
        """Await *work* within the time limit; what the SDK raises comes out as a ``ProviderError``.

        The error is raised outside the ``except``: the SDK's own exception holds the request with its key and its text,
        and must not hang on as context.
        """
        failure: ProviderError
        try:
            async with asyncio.timeout(self._timeout_s):
                return await work
        except TimeoutError:
            failure = self._translator.unavailable(
                f"no answer came within {self._timeout_s:g} s", remedy="Raise the time-out or lower the concurrency"
            )
        except (self._failure, ValueError) as error:
            failure = self._translator.translate(error, model=self.model, prompt=prompt)
        raise failure

    def _judged(self, reply: SdkReply, completion: Completion, call: PromptCall) -> Completion:
        """*completion* with its data, or the ``ReplyRejected`` that says why it has none."""
        note = f" ({reply.note})" if reply.note else ""
        if reply.outcome == "refused":
            raise Refused(f"{self.name}: the model declined to answer{note}", completion=completion)
        if reply.outcome == "truncated":
            raise Truncated(f"{self.name}: the answer was cut{note}", completion=completion)
        try:
            return replace(completion, data=read_reply(reply.text, call.schema))
        except BadReply as fault:
            fault_text = str(fault)
        raise InvalidReply(f"{self.name}: {fault_text}", completion=completion)


def as_count(value: object) -> int:
    """*value* where it is a plausible token count, else 0 (servers leave usage out or send null)."""
    return value if isinstance(value, int) and value > 0 else 0
