"""Chat completions (``POST <base URL>/chat/completions``) at any server that speaks them: vLLM, Ollama, llama.cpp, gateways.

It runs on the OpenAI SDK, but nothing of an OpenAI account reaches the server: its key, organisation and project headers
are kept back even where the environment sets them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import httpx2
import openai

from providers.chat_dialects import Dialect
from providers.prices import ModelSpec
from providers.protocol import Message, PromptCall, TokenUsage
from providers.sdk_errors import Translator, read_error_body
from providers.sdk_provider import SdkProvider, SdkReply, as_count

# The SDK wants a key; servers that need none ignore it.
NO_KEY = "not-needed"
# format twice, limit name, seed, and the request itself
_MAX_TRIES = 5


class CompatibleProvider(SdkProvider[openai.AsyncOpenAI]):
    """Any chat completions server. ``dialect`` is what the server has been found to understand so far."""

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
    ) -> None:
        key = api_key or NO_KEY
        headers: dict[str, Any] = {
            "Authorization": f"Bearer {key}",
            "OpenAI-Organization": openai.Omit(),
            "OpenAI-Project": openai.Omit(),
        }
        client = openai.AsyncOpenAI(
            api_key=key, base_url=base_url, timeout=timeout_s, max_retries=0, http_client=http_client, default_headers=headers
        )
        super().__init__(name="compatible", model=model, spec=spec, client=client, translator=translator, timeout_s=timeout_s)
        self.dialect = Dialect()

    @property
    def _failure(self) -> type[Exception]:
        return openai.OpenAIError

    async def _ask(self, call: PromptCall, messages: Sequence[Message]) -> SdkReply:
        limit = self._spec.output_limit(call.settings.max_output_tokens)
        for _ in range(_MAX_TRIES - 1):
            tried = self.dialect
            try:
                return await self._send(tried.request(call, messages, model=self.model, limit=limit))
            except openai.APIStatusError as error:
                simpler = tried.after_refusal(error.status_code, ": ".join(read_error_body(error.body)))
                if simpler is None:
                    raise
                # Another call may have found out more meanwhile; its finding stands.
                if self.dialect == tried:
                    self.dialect = simpler
        return await self._send(self.dialect.request(call, messages, model=self.model, limit=limit))

    async def _send(self, body: dict[str, Any]) -> SdkReply:
        return self._read(await self._client.chat.completions.create(**body))

    async def _look_up_model(self) -> bool | None:
        try:
            listed = await self._client.models.list()
        except openai.APIStatusError as error:
            if error.status_code in {404, 405, 501}:
                return None
            raise
        names = [getattr(entry, "id", None) for entry in getattr(listed, "data", None) or ()]
        return self.model in names if names else None

    def _read(self, response: object) -> SdkReply:
        """The reply in *response*, whatever its finish reason."""
        choices = getattr(response, "choices", None)
        choice = choices[0] if isinstance(choices, list) and choices else None
        message = getattr(choice, "message", None)
        if message is None:
            raise self._translator.not_our_api(response)
        finish = str(getattr(choice, "finish_reason", None) or "stop")
        refusal = getattr(message, "refusal", None)
        refused = bool(refusal) or finish == "content_filter"
        return SdkReply(
            text=str(refusal or getattr(message, "content", None) or ""),
            model=str(getattr(response, "model", "") or ""),
            usage=_usage(getattr(response, "usage", None)),
            finish_reason="refusal" if refused else finish,
            outcome="refused" if refused else "truncated" if finish == "length" else "answered",
            note=finish if finish in {"length", "content_filter"} else "",
        )


def _usage(usage: object) -> TokenUsage:
    """Token usage as chat completions count it; prompt tokens count the cached ones already."""
    details = getattr(usage, "prompt_tokens_details", None)
    return TokenUsage(
        input=as_count(getattr(usage, "prompt_tokens", None)),
        cached=as_count(getattr(details, "cached_tokens", None)),
        output=as_count(getattr(usage, "completion_tokens", None)),
    )
