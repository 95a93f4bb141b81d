"""What a call can cost at most, before it is sent; and about how many tokens it will move, for the rate limiter."""

from __future__ import annotations

import json
from collections.abc import Sequence

from piiloom.providers.prices import ModelSpec
from piiloom.providers.protocol import JsonSchema, Message, PromptCall
from piiloom.providers.schemas import plain

# An API may show the schema to the model in a form of its own, beside the one that it enforces.
_SCHEMA_RENDERINGS = 2
# Bytes of prompt a token, about: 4 in English; 2 to 3 bytes a letter make up for the shorter tokens of other scripts.
_BYTES_A_TOKEN = 4
# Tokens of the schema, of role marks, and of a usual reply: a few sentences in JSON.
_TYPICAL_OVERHEAD = 60
_TYPICAL_REPLY = 120


def worst_case_usd(call: PromptCall, messages: Sequence[Message], spec: ModelSpec, *, batch: bool = False) -> float | None:
    """The most that *call*, sent as *messages*, can cost in USD; None where the model has no price.

    No tokenizer is needed: a text never has more tokens than bytes of UTF-8. The answer counts at its full limit, which
    every request carries.
    """
    given = prompt_bytes(messages) + _SCHEMA_RENDERINGS * schema_bytes(call.schema_name, call.schema)
    if call.settings.extra_body:
        given += len(json.dumps(call.settings.extra_body, ensure_ascii=False, default=plain).encode("utf-8", "surrogatepass"))
    return spec.worst_case_usd(given, call.settings.max_output_tokens, batch=batch)


def estimated_tokens(call: PromptCall, messages: Sequence[Message]) -> int:
    """About how many tokens *call* will take in and give out together (corrected by the real usage afterwards)."""
    return prompt_bytes(messages) // _BYTES_A_TOKEN + _TYPICAL_OVERHEAD + min(_TYPICAL_REPLY, call.settings.max_output_tokens)


def prompt_bytes(messages: Sequence[Message]) -> int:
    """The length of *messages* in UTF-8, without what an API puts around them."""
    # A lone surrogate cannot be sent, but that is for the request to find out.
    return sum(len(message.content.encode("utf-8", "surrogatepass")) for message in messages)


def schema_bytes(name: str, schema: JsonSchema) -> int:
    """The length of *schema* as JSON, and of its name."""
    return len(name.encode()) + len(json.dumps(schema, ensure_ascii=False, default=plain).encode("utf-8", "surrogatepass"))
