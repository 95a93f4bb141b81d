"""What the providers on top of an SDK share: the time limit, error translation, cost, and reading the reply.

A call goes ``request_body`` → HTTP → ``read_body`` → ``completion_from``. A line of a batch takes the same three steps, with
the maker's batch API in place of the request, so that both give the same completion or the same error.

Requests are sent through the SDK's own ``post`` with plain JSON on both sides: connection, headers, authentication and
errors are the SDK's, but its typed copies of request and response, of which nothing here would be used, are not made. At
OpenAI's SDK these take 0.5 ms a call, more than all else that it does.
"""

from __future__ import annotations

import asyncio
import json
import time
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Literal, Protocol, TypeVar

from piiloom.foundation.errors import ProviderError
from piiloom.providers.errors import Refused, Truncated
from piiloom.providers.prices import ModelSpec
from piiloom.providers.protocol import Completion, Message, PromptCall, TokenUsage
from piiloom.providers.rate_headers import RateReport, read_rates
from piiloom.providers.replies import with_data
from piiloom.providers.sdk_errors import Translator

if TYPE_CHECKING:
    import httpx2

T = TypeVar("T")


class Sdk(Protocol):
    """An SDK's client, as far as it is used here."""

    async def post(self, path: str, *, cast_to: type[object], body: object) -> object:
        """Send *body* to *path* and return the JSON of the answer."""
        ...

    async def close(self) -> None:
        """Close the client's connections."""
        ...


SdkT = TypeVar("SdkT", bound=Sdk)


@dataclass(frozen=True, slots=True, kw_only=True)
class SdkReply:
    """An answer as an API gave it, in common terms. ``note`` says more about a refusal or a cut, never in words of the reply."""

    text: str
    model: str
    usage: TokenUsage
    finish_reason: str
    outcome: Literal["answered", "refused", "truncated"] = "answered"
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ping:
    """What ``ping`` found. ``model_known`` is None where the server does not say which models it has."""

    endpoint: str
    model: str
    model_known: bool | None
    latency_s: float


class SdkProvider(ABC, Generic[SdkT]):
    """A provider that speaks through an SDK client. Subclasses build the request and read the response.

    ``timeout_s`` bounds each request as a whole. The client is this object's own and is closed with it. ``on_rates`` hears
    of each response, those with an error status too, whose headers tell of rate limits.
    """

    paid = True
    path: str
    on_rates: Callable[[RateReport], None] | None = None

    def __init__(
        self,
        *,
        name: str,
        model: str,
        spec: ModelSpec,
        client: SdkT,
        http_client: httpx2.AsyncClient,
        translator: Translator,
        timeout_s: float,
    ) -> None:
        self.name = name
        self.model = model
        self.endpoint = translator.endpoint
        self.spec = spec
        self.client = client
        self.translator = translator
        self._timeout_s = timeout_s
        self._raw_path = self.path.encode()
        http_client.event_hooks["response"].append(self._hear)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(model={self.model!r}, endpoint={self.endpoint!r})"

    async def complete(self, call: PromptCall) -> Completion:
        """Answer *call*, or raise one of ``piiloom.providers.errors``."""
        messages = call.render()
        started = time.perf_counter()
        reply = await self.guarded(self._ask(call, messages), prompt=[message.content for message in messages])
        return self.completion_from(reply, call, latency_s=time.perf_counter() - started)

    @abstractmethod
    def request_body(self, call: PromptCall, messages: Sequence[Message]) -> dict[str, Any]:
        """The JSON to send for *call*, whose prompt is *messages*."""

    @abstractmethod
    def read_body(self, body: object) -> SdkReply:
        """The reply in *body*, the JSON of an answer; ``ProviderError`` where it is none of this API or came to nothing."""

    def completion_from(self, reply: SdkReply, call: PromptCall, *, latency_s: float, batch: bool = False) -> Completion:
        """The completion that *reply* is to *call*, at batch prices if *batch*; ``ReplyRejected`` where it cannot be used."""
        completion = Completion(
            text=reply.text,
            data=None,
            model=reply.model or self.model,
            usage=reply.usage,
            cost_usd=self.spec.cost_usd(reply.usage, batch=batch),
            latency_s=latency_s,
            finish_reason=reply.finish_reason,
        )
        note = f" ({reply.note})" if reply.note else ""
        if reply.outcome == "refused":
            raise Refused(f"{self.name}: the model declined to answer{note}", completion=completion)
        if reply.outcome == "truncated":
            raise Truncated(f"{self.name}: the answer was cut{note}", completion=completion)
        return with_data(completion, call.schema, provider=self.name)

    async def ping(self) -> Ping:
        """Reach the server without paying for tokens; raises what ``complete`` would raise."""
        started = time.perf_counter()
        known = await self.guarded(self._look_up_model())
        return Ping(endpoint=self.endpoint, model=self.model, model_known=known, latency_s=time.perf_counter() - started)

    async def aclose(self) -> None:
        """Close the SDK's client and its connections."""
        await self.client.close()

    async def guarded(self, work: Awaitable[T], *, prompt: Sequence[str] = (), timeout_s: float | None = None) -> T:
        """Await *work* within the time limit; what the SDK raises comes out as a ``ProviderError``.

        The error is raised outside the ``except``: the SDK's own exception holds the request with its key and its text,
        and must not hang on as context.
        """
        failure: ProviderError
        limit = self._timeout_s if timeout_s is None else timeout_s
        try:
            async with asyncio.timeout(limit):
                return await work
        except TimeoutError:
            failure = self.translator.timed_out(f"no answer came within {limit:g} s")
        except (self._failure, ValueError) as error:
            failure = self.translator.translate(error, model=self.model, prompt=prompt)
        raise failure

    async def _ask(self, call: PromptCall, messages: Sequence[Message]) -> SdkReply:
        """Send one request and read its response."""
        return await self._post(self.request_body(call, messages))

    async def _post(self, body: dict[str, Any]) -> SdkReply:
        answer = await self.client.post(self.path, cast_to=object, body=body)
        # The SDKs hand out as text what a server does not declare as JSON; not all servers do, though they send it.
        return self.read_body(json.loads(answer) if isinstance(answer, str) and answer.startswith("{") else answer)

    @abstractmethod
    async def _look_up_model(self) -> bool | None:
        """Whether the server knows the model; None when it does not say."""

    @property
    @abstractmethod
    def _failure(self) -> type[Exception]:
        """The root of what the SDK raises when a request fails."""

    async def _hear(self, response: httpx2.Response) -> None:
        """Tell ``on_rates`` what the headers of *response* say. Other paths (models, batches) have limits of their own."""
        if self.on_rates is None or not response.request.url.raw_path.partition(b"?")[0].endswith(self._raw_path):
            return
        rates = read_rates(response.headers.raw)
        if rates is not None:
            self.on_rates(rates)


def as_count(value: object) -> int:
    """*value* where it is a plausible token count, else 0 (servers leave usage out or send null)."""
    return value if type(value) is int and value > 0 else 0


def part(body: object, key: str) -> Any:
    """What *body* holds under *key*; None where it is no object or has no such key. Servers send null for whole objects."""
    return body.get(key) if isinstance(body, Mapping) else None


def parts(body: object, key: str) -> Sequence[Any]:
    """The list that *body* holds under *key*; empty where there is none."""
    found = part(body, key)
    return found if isinstance(found, list) else ()
