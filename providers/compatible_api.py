"""Chat completions (``POST <base URL>/chat/completions``) at any server that speaks them: vLLM, Ollama, llama.cpp, gateways.

It runs on the OpenAI SDK, but nothing of an OpenAI account reaches the server: its key, organisation and project headers
are kept back even where the environment sets them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import httpx2
import openai

from piiloom.providers.chat_dialects import CHOICES, Dialect, FormatKind, is_certain
from piiloom.providers.connections import time_limits, wide_client
from piiloom.providers.prices import ModelSpec
from piiloom.providers.protocol import Message, PromptCall, TokenUsage
from piiloom.providers.sampling import with_sampling
from piiloom.providers.sdk_errors import Translator, read_error_body
from piiloom.providers.sdk_provider import SdkProvider, SdkReply, as_count, part, parts

# The SDK wants a key; servers that need none ignore it.
NO_KEY = "not-needed"
# format three times, limit name, seed, and the request itself
_MAX_TRIES = 6
# What probes have found, by endpoint and model, for as long as the process lives.
_FOUND: dict[tuple[str, str], Dialect] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class FormatTrial:
    """What came of one request in a format: a reply and the dialect it came by, or the status of a refusal."""

    kind: FormatKind
    reply: SdkReply | None = None
    dialect: Dialect | None = None
    status: int | None = None


class CompatibleProvider(SdkProvider[openai.AsyncOpenAI]):
    """Any chat completions server. ``dialect`` is what the server has been found to understand so far."""

    path = "/chat/completions"

    def __init__(
        self,
        *,
        model: str,
        api_key: str | None,
        base_url: str,
        spec: ModelSpec,
        translator: Translator,
        timeout_s: float,
        http_client: httpx2.AsyncClient | None = None,
        response_format: str = "auto",
    ) -> None:
        """*response_format* is one of ``chat_dialects.CHOICES``; any but "auto" is kept to, whatever the server says of it."""
        key = api_key or NO_KEY
        headers: dict[str, Any] = {
            "Authorization": f"Bearer {key}",
            "OpenAI-Organization": openai.Omit(),
            "OpenAI-Project": openai.Omit(),
        }
        http = http_client or wide_client(openai.DefaultAsyncHttpxClient)
        client = openai.AsyncOpenAI(
            api_key=key,
            base_url=base_url,
            timeout=time_limits(timeout_s),
            max_retries=0,
            http_client=http,
            default_headers=headers,
        )
        super().__init__(
            name="compatible", model=model, spec=spec, client=client, http_client=http, translator=translator, timeout_s=timeout_s
        )
        begin = Dialect(reply_format=CHOICES[response_format], fixed=response_format != "auto")
        self.dialect = begin if begin.fixed else _FOUND.get((self.endpoint, model), begin)

    def request_body(self, call: PromptCall, messages: Sequence[Message]) -> dict[str, Any]:
        """The body of ``POST /chat/completions`` in the dialect found so far."""
        return self._body(self.dialect, call, messages)

    def read_body(self, body: object) -> SdkReply:
        """The reply in *body*, whatever its finish reason."""
        choices = parts(body, "choices")
        message = part(choices[0], "message") if choices else None
        if message is None:
            raise self.translator.not_our_api(body)
        finish = str(part(choices[0], "finish_reason") or "stop")
        refusal = part(message, "refusal")
        refused = bool(refusal) or finish == "content_filter"
        return SdkReply(
            text=str(refusal or part(message, "content") or ""),
            model=str(part(body, "model") or ""),
            usage=_usage(part(body, "usage")),
            finish_reason="refusal" if refused else finish,
            outcome="refused" if refused else "truncated" if finish == "length" else "answered",
            note=finish if finish in {"length", "content_filter"} else "",
        )

    @property
    def _failure(self) -> type[Exception]:
        return openai.OpenAIError

    def _body(self, dialect: Dialect, call: PromptCall, messages: Sequence[Message]) -> dict[str, Any]:
        body = dialect.request(call, messages, model=self.model, limit=self.spec.output_limit(call.settings.max_output_tokens))
        return with_sampling(body, call.settings)

    @property
    def probed(self) -> bool:
        """Whether a probe in this process has found what the server takes."""
        return (self.endpoint, self.model) in _FOUND

    def adopt(self, dialect: Dialect) -> None:
        """Put requests in *dialect* from now on, also those of later providers of this endpoint and model in this process."""
        self.dialect = _FOUND[self.endpoint, self.model] = replace(dialect, fixed=False)

    async def try_format(self, kind: FormatKind, call: PromptCall) -> FormatTrial:
        """Ask *call* in one format, whatever has been found so far; raises what ``complete`` raises where no status came back."""
        messages = call.render()

        async def work() -> FormatTrial:
            try:
                reply, dialect = await self._exchange(Dialect(reply_format=kind, fixed=True), call, messages)
            except openai.APIStatusError as error:
                return FormatTrial(kind=kind, status=error.status_code)
            return FormatTrial(kind=dialect.reply_format, reply=reply, dialect=dialect)

        return await self.guarded(work(), prompt=[message.content for message in messages])

    async def _ask(self, call: PromptCall, messages: Sequence[Message]) -> SdkReply:
        reply, _ = await self._exchange(self.dialect, call, messages)
        return reply

    async def _exchange(self, tried: Dialect, call: PromptCall, messages: Sequence[Message]) -> tuple[SdkReply, Dialect]:
        """Send the request in *tried*, and in simpler dialects as long as the server names what it did not understand."""
        failed: openai.APIStatusError | None = None
        for _ in range(_MAX_TRIES - 1):
            try:
                reply = await self._post(self._body(tried, call, messages))
            except openai.APIStatusError as error:
                simpler = tried.after_refusal(error.status_code, ": ".join(read_error_body(error.body)))
                if simpler is None:
                    raise failed or error from None
                if not is_certain(error.status_code):
                    failed = failed or error
                tried = self._learnt(tried, simpler, settled=failed is None)
            else:
                if failed is not None and tried.fixed == self.dialect.fixed:
                    self.dialect = tried
                return reply, tried
        return await self._post(self._body(tried, call, messages)), tried

    def _learnt(self, tried: Dialect, simpler: Dialect, *, settled: bool) -> Dialect:
        """The dialect to try next; a *settled* refusal is learnt from at once."""
        if settled and self.dialect == tried:
            self.dialect = simpler
        # Another call may have found out more meanwhile; its finding stands.
        return simpler if tried.fixed or not settled else self.dialect

    async def _look_up_model(self) -> bool | None:
        try:
            listed = await self.client.models.list()
        except openai.APIStatusError as error:
            if error.status_code in {404, 405, 501}:
                return None
            raise
        names = [getattr(entry, "id", None) for entry in getattr(listed, "data", None) or ()]
        return self.model in names if names else None


def _usage(usage: object) -> TokenUsage:
    """Token usage as chat completions count it; prompt tokens count the cached ones already."""
    details = part(usage, "prompt_tokens_details")
    return TokenUsage(
        input=as_count(part(usage, "prompt_tokens")),
        cached=as_count(part(details, "cached_tokens")),
        output=as_count(part(usage, "completion_tokens")),
    )
