"""What the two batch APIs share: reading results as calls are read."""

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
    """The completion in *result*, at batch prices; raises the ``ProviderError`` that it is otherwise.

    Without its *call* a reply is not held against the schema, and its data is None.
    """
    if result.fate == "answered":
        reply = provider.read_body(result.body)
        completion = provider.completion_from(reply, call or _nobodys_call(), latency_s=latency_s, batch=True)
        return completion if call is not None else replace(completion, data=None)
    if result.fault is None:
        # Such requests are not billed.
        raise ProviderUnavailable(f"{provider.name}: {_ENDED_EARLY[result.fate]} before the request was answered", where=provider.endpoint)
    if call is None:
        # Whose prompt it was is not known here, so the server's words could quote it unseen.
        raise provider.translator.from_status(replace(result.fault, message=""), model=provider.model)
    raise provider.translator.from_status(result.fault, model=provider.model, prompt=[message.content for message in call.render()])


async def guarded_reading(provider: SdkProvider[Any], work: Awaitable[T]) -> T:
    """Await a piece of a long answer; what the SDKs let through when a stream breaks off is an error of the provider's too."""
    import httpx2  # noqa: PLC0415 - the SDKs have it loaded by now; whoever sends no batch should not have to

    try:
        return await provider.guarded(work, timeout_s=TRANSFER_TIMEOUT_S)
    except httpx2.HTTPError as error:
        failure = provider.translator.from_connection(error)
    raise failure


def encoded(value: Mapping[str, Any]) -> bytes:
    """*value* as compact JSON; raises ``UnicodeEncodeError`` for text that UTF-8 cannot hold."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def _nobodys_call() -> PromptCall:
    return PromptCall(stage="", template="", variables={}, render=tuple, schema_name="", schema={}, item_id="")
