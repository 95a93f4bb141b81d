"""The provider interface: a provider takes a ``PromptCall`` and returns a ``Completion``.

Stages build calls, providers answer them. A call carries both the prompt, rendered lazily so that providers that need none
do not pay for it, and the stage's variables, from which the built-in composer answers.
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
    """Sampling settings of one call.

    ``max_output_tokens`` is always sent, ``seed`` only if the API accepts one, the others only if given. ``extra_body`` holds
    further request fields (JSON values) under the provider's own names.
    """

    max_output_tokens: int = 1024
    seed: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    extra_body: Mapping[str, Any] | None = None

    @property
    def identity(self) -> tuple[object, ...]:
        """The settings that influence a reply, as part of its cache key.

        Temperature, top_p and extra_body were added later. They are included only if given, so that the keys of replies stored
        before stay valid.
        """
        later = {"temperature": self.temperature, "top_p": self.top_p, "extra_body": self.extra_body}
        given = {name: value for name, value in later.items() if value is not None}
        return (self.max_output_tokens, self.seed, *([given] if given else []))


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptCall:
    """One request to a provider.

    ``variables`` are the template's variables, JSON values only; ``render`` returns the messages. ``schema`` is the JSON
    schema of the expected reply; without one the reply is a plain text. ``attempt`` starts at 0 and is raised each time a validator refuses
    a reply; ``variables["fault"]`` then says why. ``item_id`` identifies the item in logs and is never sent to the model.
    """

    stage: str
    template: str
    variables: Mapping[str, Any]
    render: Callable[[], Sequence[Message]]
    schema_name: str
    schema: JsonSchema | None
    item_id: str
    attempt: int = 0
    settings: SamplingSettings = field(default_factory=SamplingSettings)


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenUsage:
    """Token counts of one call.

    ``input`` includes ``cached`` (read from the vendor's prompt cache) and ``cache_write`` (written to it).
    """

    input: int = 0
    cached: int = 0
    output: int = 0
    cache_write: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """One reply: its raw ``text``, the ``data`` parsed from it (of a plain reply the text), its usage, cost (USD) and latency (seconds).

    ``cost_usd`` is None if no price is known. ``retries`` counts the transport retries before this reply.
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
    """Interface of a provider.

    ``paid``: replies cost money or much time, so they are journaled; otherwise they can be recomputed at will.
    ``endpoint`` is the base URL without credentials; it is part of the identity of a reply.

    Two optional attributes are read with ``getattr``: ``spec`` (a ``ModelSpec``: prices and limits) and ``on_rates`` (a
    callback that may be set; it is called with a ``RateReport`` for each response that has rate-limit headers).
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
