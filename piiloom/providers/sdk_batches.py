"""Helpers shared by the two batch APIs: read batch results like the replies to single calls."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from piiloom.providers.batch_api import TRANSFER_TIMEOUT_S, BatchResult
from piiloom.providers.errors import ProviderUnavailable
from piiloom.providers.protocol import Completion, PromptCall
from piiloom.providers.sdk_provider import SdkProvider

T = TypeVar("T")

_ENDED_EARLY = {"expired": "the batch expired", "cancelled": "the batch was cancelled"}


def completion_of(provider: SdkProvider[Any], result: BatchResult, call: PromptCall | None, *, latency_s: float) -> Completion:
    """Return the completion in *result*, at batch prices; raise a ``ProviderError`` if the request failed.

    If *call* is None, the reply is not validated against a schema and ``Completion.data`` is None.
    """
    if result.fate == "answered":
        reply = provider.read_body(result.body)
        completion = provider.completion_from(reply, call or _nobodys_call(), latency_s=latency_s, batch=True)
        return completion if call is not None else replace(completion, data=None)
    if result.fault is None:
        # Such requests are not billed.
        raise ProviderUnavailable(f"{provider.name}: {_ENDED_EARLY[result.fate]} before the request was answered", where=provider.endpoint)
    if call is None:
        # The prompt is not known here, so quotes of it in the server's message could not be removed.
        raise provider.translator.from_status(replace(result.fault, message=""), model=provider.model)
    raise provider.translator.from_status(result.fault, model=provider.model, prompt=[message.content for message in call.render()])


async def guarded_reading(provider: SdkProvider[Any], work: Awaitable[T]) -> T:
    """Await one part of a streamed response.

    The SDKs do not wrap the HTTP errors of a broken stream, so these are turned into a ``ProviderUnavailable`` here.
    """
    import httpx2  # noqa: PLC0415 - the SDKs have loaded it by now; a run without batches need not import it

    try:
        return await provider.guarded(work, timeout_s=TRANSFER_TIMEOUT_S)
    except httpx2.HTTPError as error:
        failure = provider.translator.from_connection(error)
    raise failure


def encoded(value: Mapping[str, Any]) -> bytes:
    """Encode *value* as compact JSON; raises ``UnicodeEncodeError`` for text that UTF-8 cannot encode (lone surrogates)."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def _nobodys_call() -> PromptCall:
    return PromptCall(stage="", template="", variables={}, render=tuple, schema_name="", schema={}, item_id="")
