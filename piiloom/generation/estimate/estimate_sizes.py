"""Convert lengths in bytes to tokens and money, each as a range. All assumptions of the estimates are here.

No tokenizer is used, and what a model will refuse or how long it thinks is not known beforehand. The figures are our own
estimates: wide enough to cover what we have seen, and narrow enough that low and high end of a run differ at most by a factor of three.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import sqrt

from piiloom.providers.prices import ModelSpec
from piiloom.providers.protocol import TokenUsage


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """A range from ``low`` to ``high``; sums and products are taken end by end."""

    low: float = 0.0
    high: float = 0.0

    def __add__(self, other: Range) -> Range:
        return Range(low=self.low + other.low, high=self.high + other.high)

    def __mul__(self, other: Range) -> Range:
        return Range(low=self.low * other.low, high=self.high * other.high)


@dataclass(frozen=True, slots=True, kw_only=True)
class CallSize:
    """The size of one call in bytes of UTF-8; ``system`` is the part of ``prompt`` that all calls of the template share."""

    stage: str
    template: str
    prompt: int
    system: int
    schema: int
    reply: int


# Bytes per token (low: few tokens, so many bytes). English has 4 to 4.8 with OpenAI's tokenizers, 3.3 to 4 with Anthropic's; other
# languages and odd values have fewer.
_BYTES_A_TOKEN = {"openai": Range(low=4.8, high=3.5), "anthropic": Range(low=4.4, high=3.2)}
_BYTES_A_TOKEN_ELSEWHERE = Range(low=4.8, high=3.4)
# Tokens that an API adds to a prompt: role markers, and instructions about structured output.
_ADDED = {"openai": Range(low=5, high=30), "anthropic": Range(low=8, high=45)}
_ADDED_ELSEWHERE = Range(low=5, high=30)
# Length of a real reply relative to the stand-in's.
_REPLY_LENGTH = Range(low=0.8, high=1.25)
# How often a prompt is sent until its reply is accepted: up to 18% of replies are refused, cut off or lost (1 / 0.82 = 1.22).
TRIES = Range(low=1.0, high=1.22)
# Thinking tokens per call for models that cannot turn thinking off, at the effort that is requested.
THINKING = Range(low=90, high=205)
# Providers cache no prefix shorter than this many tokens (four times as many for some models), and do not guarantee hits. The low
# end of a cost assumes this share of cache hits, the high end none.
_SHORTEST_CACHED = 1024
_CACHE_HITS = 0.45


def items_worked_on(wanted: int) -> Range:
    """Return how many items must be worked on to have *wanted* accepted; in small runs the number of rejects varies more."""
    return Range(low=wanted, high=wanted * 1.06 + 0.15 * sqrt(wanted))


def input_tokens(size: CallSize, provider: str) -> Range:
    """Return the tokens of a prompt; the high end counts the schema, too."""
    bytes_a_token = _BYTES_A_TOKEN.get(provider, _BYTES_A_TOKEN_ELSEWHERE)
    lengths = Range(low=size.prompt / bytes_a_token.low, high=(size.prompt + size.schema) / bytes_a_token.high)
    return lengths + _ADDED.get(provider, _ADDED_ELSEWHERE)


def cached_tokens(size: CallSize, provider: str) -> Range:
    """Return the tokens of a prompt that are read from the provider's cache: none unless the shared part is long enough."""
    tokens = size.system / _BYTES_A_TOKEN.get(provider, _BYTES_A_TOKEN_ELSEWHERE).low
    return Range(low=0.0, high=tokens * _CACHE_HITS if tokens >= _SHORTEST_CACHED else 0.0)


def output_tokens(size: CallSize, provider: str, spec: ModelSpec) -> Range:
    """Return the tokens of a reply, with those of thinking if the model is known to think: those of a compatible server are not."""
    bytes_a_token = _BYTES_A_TOKEN.get(provider, _BYTES_A_TOKEN_ELSEWHERE)
    reply = Range(low=size.reply / bytes_a_token.low, high=size.reply / bytes_a_token.high) * _REPLY_LENGTH
    return reply + THINKING if spec.thinking_tokens and provider != "compatible" else reply


def call_cost(spec: ModelSpec, given: Range, cached: Range, answered: Range, *, batch: bool) -> Range | None:
    """Return the cost in USD, None if the model has no price. *given*: input tokens, *cached*: those from the cache, *answered*: output.

    The low end assumes the most cache hits, the high end none.
    """
    if not spec.priced:
        return None
    cheapest = TokenUsage(input=round(given.low), cached=round(cached.high), output=round(answered.low))
    dearest = TokenUsage(input=round(given.high), output=round(answered.high))
    return Range(low=spec.cost_usd(cheapest, batch=batch) or 0.0, high=spec.cost_usd(dearest, batch=batch) or 0.0)


def total(ranges: Iterable[Range]) -> Range:
    """Return the sum of *ranges*."""
    return sum(ranges, Range())
