"""Base class of the providers that use an SDK: time limit, error translation, cost, and reading the reply.

A call goes ``request_body`` → HTTP → ``read_body`` → ``completion_from``. A line of a batch takes the same steps, with the
vendor's batch API in place of the HTTP request, so that both give the same completion or the same error.

Requests are sent through the SDK's low-level ``post`` with plain JSON in both directions. The SDK does connections, headers,
authentication and errors, but does not build its typed request and response models, which are not needed here and take
0.5 ms a call in OpenAI's SDK, more than everything else it does.
"""

from __future__ import annotations

import asyncio
import json
import time
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

from piiloom.foundation.errors import ProviderError
from piiloom.foundation.lenient_json import only_thoughts
from piiloom.providers.addresses import query_of, without_query
from piiloom.providers.errors import Refused, Truncated
from piiloom.providers.prices import ModelSpec
from piiloom.providers.protocol import Completion, Message, PromptCall, TokenUsage
from piiloom.providers.rate_headers import RateReport, read_rates
from piiloom.providers.replies import with_data
from piiloom.providers.sdk_errors import Translator

if TYPE_CHECKING:
    import anthropic
    import httpx2
    import openai

T = TypeVar("T")
# The time limit of a request where none is given, in seconds: without its output, and at this many tokens a second. Models on a
# processor write ten and more.
_BASE_S, _TOKENS_A_SECOND, _LONGEST_S = 60.0, 20.0, 3600.0


SdkT = TypeVar("SdkT", bound="openai.AsyncOpenAI | anthropic.AsyncAnthropic")


@dataclass(frozen=True, slots=True, kw_only=True)
class SdkReply:
    """A reply in a form common to all APIs. ``note`` explains a refusal or truncation and never quotes the reply."""

    text: str
    model: str
    usage: TokenUsage
    finish_reason: str
    outcome: Literal["answered", "refused", "truncated"] = "answered"
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ping:
    """Result of ``SdkProvider.ping``. ``model_known`` is None if the server does not list its models."""

    endpoint: str
    model: str
    model_known: bool | None
    latency_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SdkOptions:
    """What all providers are made from.

    ``timeout_s`` bounds each request as a whole; None: ``_BASE_S`` and the time that a slow server takes for the reply. ``http_client``
    None: one for any number of calls in flight. ``response_format`` is a key of ``compatible_api.CHOICES`` and used for compatible
    servers only.
    """

    model: str
    api_key: str | None
    base_url: str
    spec: ModelSpec
    translator: Translator
    timeout_s: float | None
    http_client: httpx2.AsyncClient | None = None
    response_format: str = "auto"


class SdkProvider(ABC, Generic[SdkT]):
    """A provider that uses an SDK client. Subclasses make the client, build the request and read the response.

    The provider owns the client and closes it. ``on_rates`` is called for each response with rate-limit headers, also for one with
    an error status.
    """

    paid = True
    name: str
    path: str
    failure: type[Exception]  # base class of the exceptions that the SDK raises
    http_class: Callable[..., httpx2.AsyncClient]  # the SDK's own HTTP client
    sdk: Callable[..., SdkT]
    on_rates: Callable[[RateReport], None] | None = None

    def __init__(self, options: SdkOptions) -> None:
        from piiloom.providers.connections import time_limits, wide_client  # noqa: PLC0415 - imports the HTTP library, as the SDKs do

        http = options.http_client or wide_client(self.http_class)
        self.client = self._connect(
            api_key=options.api_key,
            base_url=without_query(options.base_url),
            default_query=query_of(options.base_url),
            timeout=time_limits(options.timeout_s or _LONGEST_S),
            max_retries=0,
            http_client=http,
        )
        self.model = options.model
        self.endpoint = options.translator.endpoint
        self.spec = options.spec
        self.translator = options.translator
        self._timeout_s = options.timeout_s
        self._raw_path = self.path.encode()
        http.event_hooks["response"].append(self._hear)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(model={self.model!r}, endpoint={self.endpoint!r})"

    async def complete(self, call: PromptCall) -> Completion:
        """Answer *call*, or raise one of ``piiloom.providers.errors``."""
        messages = call.render()
        started = time.perf_counter()
        timeout_s = self._timeout_s or _BASE_S + self.spec.output_limit(call.settings.max_output_tokens) / _TOKENS_A_SECOND
        prompt = [message.content for message in messages]
        reply = await self.guarded(self._ask(call, messages), prompt=prompt, timeout_s=min(timeout_s, _LONGEST_S))
        return self.completion_from(reply, call, latency_s=time.perf_counter() - started)

    @abstractmethod
    def request_body(self, call: PromptCall, messages: Sequence[Message]) -> dict[str, Any]:
        """Return the JSON to send for *call*, whose prompt is *messages*."""

    @abstractmethod
    def read_body(self, body: object) -> SdkReply:
        """Return the reply in *body*, the JSON of a response.

        Raises a ``ProviderError`` if it is no response of this API or if the response failed.
        """

    def completion_from(self, reply: SdkReply, call: PromptCall, *, latency_s: float, batch: bool = False) -> Completion:
        """Turn *reply* into the completion of *call*, at batch prices if *batch*.

        Raises ``Refused``, ``Truncated`` or ``InvalidReply`` (all ``ReplyRejected``) if the reply cannot be used.
        """
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
            where = " while the model thought" if only_thoughts(reply.text) else ""
            raise Truncated(f"{self.name}: the answer was cut{where}{note}; --max-output-tokens sets its limit", completion=completion)
        return with_data(completion, call.schema, provider=self.name)

    async def ping(self) -> Ping:
        """Contact the server with a request that costs no tokens; raises the same errors as ``complete``."""
        started = time.perf_counter()
        known = await self.guarded(self._look_up_model())
        return Ping(endpoint=self.endpoint, model=self.model, model_known=known, latency_s=time.perf_counter() - started)

    async def aclose(self) -> None:
        """Close the SDK's client and its connections."""
        await self.client.close()

    async def guarded(self, work: Awaitable[T], *, prompt: Sequence[str] = (), timeout_s: float | None = None) -> T:
        """Await *work* within the time limit and translate the SDK's exceptions to ``ProviderError``.

        *prompt* are texts that the message must not quote; *timeout_s* overrides the usual limit. The error is raised outside
        the ``except`` block so that the SDK's exception, which holds the request with the key, is not kept as its context.
        """
        failure: ProviderError
        limit = timeout_s or self._timeout_s or _BASE_S
        try:
            async with asyncio.timeout(limit):
                return await work
        except TimeoutError:
            failure = self.translator.timed_out(f"no answer came within {limit:g} s")
        except (self.failure, ValueError) as error:
            failure = self.translator.translate(error, model=self.model, prompt=prompt)
        raise failure

    async def _ask(self, call: PromptCall, messages: Sequence[Message]) -> SdkReply:
        """Send one request and read its response."""
        return await self._post(self.request_body(call, messages))

    async def _post(self, body: dict[str, Any]) -> SdkReply:
        answer = await self.client.post(self.path, cast_to=object, body=body)
        return self.read_body(self._parsed(answer))

    def _parsed(self, answer: object) -> object:
        """Return the JSON of *answer*: the SDKs return text if the content type is not JSON, as some servers have it."""
        return json.loads(answer) if isinstance(answer, str) and answer.lstrip().startswith("{") else answer

    def _connect(self, **options: Any) -> SdkT:
        """Make the SDK's client. *options* are arguments that both SDKs' clients take; api_key may be None where no key is needed."""
        return self.sdk(**options)

    async def _look_up_model(self) -> bool | None:
        """Whether the server has the model; None if it does not list its models."""
        await self.client.models.retrieve(self.model)
        return True

    async def _hear(self, response: httpx2.Response) -> None:
        """Pass the rate limits in the headers of *response* to ``on_rates``.

        Responses of other paths (models, batches) are ignored, because those have limits of their own.
        """
        if self.on_rates is None or not response.request.url.raw_path.partition(b"?")[0].endswith(self._raw_path):
            return
        rates = read_rates(response.headers.raw)
        if rates is not None:
            self.on_rates(rates)


def as_count(value: object) -> int:
    """Return *value* if it is a positive integer, else 0 (some servers omit the usage or send null)."""
    return value if type(value) is int and value > 0 else 0


def part(body: object, key: str) -> Any:
    """Return ``body[key]``; None if *body* is not an object (servers may send null instead) or has no such key."""
    return body.get(key) if isinstance(body, Mapping) else None


def parts(body: object, key: str) -> Sequence[Any]:
    """Return the list ``body[key]``; empty if there is none."""
    found = part(body, key)
    return found if isinstance(found, list) else ()
