"""The most that a call can cost, computed before it is sent, and a token estimate for the rate limiter."""

from __future__ import annotations

import json
from collections.abc import Sequence

from piiloom.providers.prices import ModelSpec
from piiloom.providers.protocol import JsonSchema, Message, PromptCall
from piiloom.providers.schemas import plain

# Count the schema twice: an API may show it to the model in its own form, besides the one that it enforces.
_SCHEMA_RENDERINGS = 2
# Approximate bytes of prompt per token: 4 in English. Other scripts have shorter tokens, but 2 to 3 bytes per letter.
_BYTES_A_TOKEN = 4
# Approximate tokens of the schema and role markers, and of a typical reply (a few sentences in JSON).
_TYPICAL_OVERHEAD = 60
_TYPICAL_REPLY = 120


def worst_case_usd(call: PromptCall, messages: Sequence[Message], spec: ModelSpec, *, batch: bool = False) -> float | None:
    """Return the most that *call*, sent as *messages*, can cost in USD; None if the model has no price.

    It needs no tokenizer: a text never has more tokens than UTF-8 bytes. The reply counts at ``max_output_tokens``, which every
    request sets.
    """
    given = prompt_bytes(messages) + _SCHEMA_RENDERINGS * schema_bytes(call.schema_name, call.schema)
    if call.settings.extra_body:
        given += len(json.dumps(call.settings.extra_body, ensure_ascii=False, default=plain).encode("utf-8", "surrogatepass"))
    return spec.worst_case_usd(given, call.settings.max_output_tokens, batch=batch)


def estimated_tokens(call: PromptCall, messages: Sequence[Message]) -> int:
    """Estimate the input plus output tokens of *call*. The limiter corrects the estimate by real usage (``limits.token_ratios``)."""
    return prompt_bytes(messages) // _BYTES_A_TOKEN + _TYPICAL_OVERHEAD + min(_TYPICAL_REPLY, call.settings.max_output_tokens)


def prompt_bytes(messages: Sequence[Message]) -> int:
    """Return the length of *messages* in UTF-8 bytes, without the API's own wrapping."""
    # A lone surrogate cannot be sent, but that error is raised when the request is made.
    return sum(len(message.content.encode("utf-8", "surrogatepass")) for message in messages)


def schema_bytes(name: str, schema: JsonSchema | None) -> int:
    """Return the length in UTF-8 bytes of *schema* as JSON plus its *name*; 0 without one."""
    if schema is None:
        return 0
    return len(name.encode()) + len(json.dumps(schema, ensure_ascii=False, default=plain).encode("utf-8", "surrogatepass"))
