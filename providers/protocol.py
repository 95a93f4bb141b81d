"""What a provider is: something that completes a ``PromptCall``.

Stages build calls, providers answer them. The call carries both the rendered prompt (lazily: a provider that needs no
prompt never pays for rendering) and the stage's variables, so the embedded composer can answer from the latter.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

JsonSchema = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message of a prompt."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SamplingSettings:
    """Settings of one call. ``max_output_tokens`` is always sent; ``seed`` only where an API takes one; the others where given.

    ``extra_body`` are further fields of the request (JSON values), as the provider spells them.
    """

    max_output_tokens: int = 1024
    seed: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    extra_body: Mapping[str, Any] | None = None

    @property
    def identity(self) -> tuple[object, ...]:
        """What of it shapes a reply. The later settings count only where given, so that older replies keep their keys."""
        later = {"temperature": self.temperature, "top_p": self.top_p, "extra_body": self.extra_body}
        given = {name: value for name, value in later.items() if value is not None}
        return (self.max_output_tokens, self.seed, *([given] if given else []))


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptCall:
    """One question to a provider.

    ``variables`` are JSON values only. ``schema`` is the JSON schema of the wanted reply (every stage wants JSON).
    ``attempt`` counts from 0 and grows when a validator refused the reply before; ``variables["fault"]`` then says why.
    ``item_id`` identifies the item for logs and ledgers, never the model.
    """

    stage: str
    template: str
    variables: Mapping[str, Any]
    render: Callable[[], Sequence[Message]]
    schema_name: str
    schema: JsonSchema
    item_id: str
    attempt: int = 0
    settings: SamplingSettings = field(default_factory=SamplingSettings)


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenUsage:
    """Tokens of one call. Part of ``input``: ``cached``, read from the maker's prompt cache, ``cache_write``, written to it."""

    input: int = 0
    cached: int = 0
    output: int = 0
    cache_write: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """One answer: its ``text`` as sent, ``data`` parsed from it, and what it took (USD, seconds).

    ``cost_usd`` is None where no price is known. ``retries`` counts the transport retries before this answer.
    """

    text: str
    data: Any
    model: str
    usage: TokenUsage = TokenUsage()
    cost_usd: float | None = 0.0
    latency_s: float = 0.0
    finish_reason: str = "stop"
    retries: int = 0


@runtime_checkable
class Provider(Protocol):
    """Anything that can complete a call.

    ``paid`` says whether replies cost money or time worth keeping (they are journaled) or can be recomputed at will.
    ``endpoint`` names where replies come from, without credentials; it is part of what identifies a reply.

    Two more attributes are there where they mean something, and are read with ``getattr``: ``spec`` (a ``ModelSpec``: prices
    and limits) and ``on_rates`` (settable: called with a ``RateReport`` for each response whose headers speak of rate limits).
    """

    name: str
    model: str
    endpoint: str
    paid: bool

    async def complete(self, call: PromptCall) -> Completion:
        """Answer *call*, or raise one of ``piiloom.providers.errors``."""
        ...

    async def aclose(self) -> None:
        """Close connections."""
        ...
