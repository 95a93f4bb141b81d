"""Chat completions (``POST <base URL>/chat/completions``) on any compatible server: vLLM, Ollama, llama.cpp, gateways.

It uses the OpenAI SDK, but sends nothing of the user's OpenAI account to the server: the key, organization and project headers
are left out even if the environment sets them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import httpx2
import openai

from piiloom.providers.chat_dialects import CHOICES, Dialect, FormatKind, is_certain
from piiloom.providers.protocol import Message, PromptCall, TokenUsage
from piiloom.providers.sampling import with_sampling
from piiloom.providers.sdk_errors import read_error_body
from piiloom.providers.sdk_provider import SdkOptions, SdkProvider, SdkReply, as_count, part, parts

# The SDK requires a key; servers that need none ignore it.
NO_KEY = "not-needed"
# Three format changes, one of the limit's name, one of the seed, and the request itself.
_MAX_TRIES = 6
# Dialects found by probes, by endpoint and model, for the lifetime of the process.
_FOUND: dict[tuple[str, str], Dialect] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class FormatTrial:
    """Result of one request in a format: a reply and the dialect that got it, or the HTTP status of a refusal."""

    kind: FormatKind
    reply: SdkReply | None = None
    dialect: Dialect | None = None
    status: int | None = None


class CompatibleProvider(SdkProvider[openai.AsyncOpenAI]):
    """Provider for any chat completions server. ``dialect`` is the request variant that the server supports, as far as known."""

    name = "compatible"
    path = "/chat/completions"

    def __init__(self, options: SdkOptions) -> None:
        """A response format other than "auto" is never replaced by another one."""
        super().__init__(options)
        begin = Dialect(reply_format=CHOICES[options.response_format], fixed=options.response_format != "auto")
        self.dialect = begin if begin.fixed else _FOUND.get((self.endpoint, self.model), begin)

    def request_body(self, call: PromptCall, messages: Sequence[Message]) -> dict[str, Any]:
        """Return the body of ``POST /chat/completions`` in the current dialect."""
        return self._body(self.dialect, call, messages)

    def read_body(self, body: object) -> SdkReply:
        """Return the reply in *body*, whatever its finish reason; raises ``InvalidRequest`` if it is no response of this API."""
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

    def _connect(self, **options: Any) -> openai.AsyncOpenAI:
        key = options["api_key"] or NO_KEY
        headers = {"Authorization": f"Bearer {key}", "OpenAI-Organization": openai.Omit(), "OpenAI-Project": openai.Omit()}
        return openai.AsyncOpenAI(**{**options, "api_key": key, "default_headers": headers})

    @property
    def _http_class(self) -> type[httpx2.AsyncClient]:
        return openai.DefaultAsyncHttpxClient

    def _body(self, dialect: Dialect, call: PromptCall, messages: Sequence[Message]) -> dict[str, Any]:
        body = dialect.request(call, messages, model=self.model, limit=self.spec.output_limit(call.settings.max_output_tokens))
        return with_sampling(body, call.settings)

    @property
    def probed(self) -> bool:
        """Whether a probe in this process has found the server's dialect."""
        return (self.endpoint, self.model) in _FOUND

    def adopt(self, dialect: Dialect) -> None:
        """Use *dialect* from now on, also in providers for this endpoint and model that this process creates later."""
        self.dialect = _FOUND[self.endpoint, self.model] = replace(dialect, fixed=False)

    async def try_format(self, kind: FormatKind, call: PromptCall) -> FormatTrial:
        """Send *call* in the format *kind*, ignoring the current dialect.

        Raises the same errors as ``complete`` if no HTTP status came back.
        """
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
        """Send the request in the dialect *tried*, then in simpler ones as long as an error names an unsupported field.

        Returns the reply and the dialect that got it.
        """
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
        """Return the dialect to try next; if the refusal is *settled* (certain), ``self.dialect`` is updated at once."""
        if settled and self.dialect == tried:
            self.dialect = simpler
        # A concurrent call may have found a simpler dialect in the meantime; it is used.
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
    """Return the token usage; ``prompt_tokens`` already includes cached tokens."""
    details = part(usage, "prompt_tokens_details")
    return TokenUsage(
        input=as_count(part(usage, "prompt_tokens")),
        cached=as_count(part(details, "cached_tokens")),
        output=as_count(part(usage, "completion_tokens")),
    )
