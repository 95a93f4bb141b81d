"""From lengths in bytes to tokens and money, each as a range: the assumptions of every estimate, in one place.

No tokenizer is at hand, and what a model will refuse or think is not known beforehand. The figures here are ours; they
are wide enough for what we have seen, and narrow enough that the two ends of a whole run stay within a factor of three.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import sqrt

from piiloom.providers.prices import ModelSpec
from piiloom.providers.protocol import TokenUsage


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """From *low* to *high*."""

    low: float = 0.0
    high: float = 0.0

    def __add__(self, other: Range) -> Range:
        return Range(low=self.low + other.low, high=self.high + other.high)

    def __mul__(self, other: Range) -> Range:
        return Range(low=self.low * other.low, high=self.high * other.high)


@dataclass(frozen=True, slots=True, kw_only=True)
class CallSize:
    """One call in bytes of UTF-8. ``system`` is the part of ``prompt`` that all calls of its template share."""

    stage: str
    template: str
    prompt: int
    system: int
    schema: int
    reply: int


# Bytes a token. English has 4 to 4.8 in the tokenizers of OpenAI, 3.3 to 4 in Anthropic's; other languages and odd values fewer.
_BYTES_A_TOKEN = {"openai": Range(low=4.8, high=3.5), "anthropic": Range(low=4.4, high=3.2)}
_BYTES_A_TOKEN_ELSEWHERE = Range(low=4.8, high=3.4)
# Tokens that an API adds to a prompt: marks of roles, and what it tells the model about structured output.
_ADDED = {"openai": Range(low=5, high=30), "anthropic": Range(low=8, high=45)}
_ADDED_ELSEWHERE = Range(low=5, high=30)
# A reply against the one that was made up for it.
_REPLY_LENGTH = Range(low=0.8, high=1.25)
# How often a prompt is sent until its reply is accepted: up to 18% of the replies are refused, cut, or lost on their way.
TRIES = Range(low=1.0, high=1.22)
# Tokens that a model thinks a call where it cannot be told not to, at the effort that is asked for.
THINKING = Range(low=90, high=205)
# The makers cache no prefix shorter than this many tokens (some models none shorter than four times as many), and promise
# no hits: the low end counts on so large a share of them, the high end on none.
_SHORTEST_CACHED = 1024
_CACHE_HITS = 0.45


def items_worked_on(wanted: int) -> Range:
    """How many items it takes to have *wanted* accepted: some are rejected, in small runs more or fewer by chance."""
    return Range(low=wanted, high=wanted * 1.06 + 0.15 * sqrt(wanted))


def input_tokens(size: CallSize, provider: str) -> Range:
    """The tokens of a prompt and, at most, of its schema beside it."""
    bytes_a_token = _BYTES_A_TOKEN.get(provider, _BYTES_A_TOKEN_ELSEWHERE)
    lengths = Range(low=size.prompt / bytes_a_token.low, high=(size.prompt + size.schema) / bytes_a_token.high)
    return lengths + _ADDED.get(provider, _ADDED_ELSEWHERE)


def cached_tokens(size: CallSize, provider: str) -> Range:
    """The tokens of a prompt that come from the maker's cache: none, unless the shared part is long enough."""
    tokens = size.system / _BYTES_A_TOKEN.get(provider, _BYTES_A_TOKEN_ELSEWHERE).low
    return Range(low=0.0, high=tokens * _CACHE_HITS if tokens >= _SHORTEST_CACHED else 0.0)


def output_tokens(size: CallSize, provider: str, spec: ModelSpec) -> Range:
    """The tokens of a reply, and of the thinking before it where the model thinks."""
    bytes_a_token = _BYTES_A_TOKEN.get(provider, _BYTES_A_TOKEN_ELSEWHERE)
    reply = Range(low=size.reply / bytes_a_token.low, high=size.reply / bytes_a_token.high) * _REPLY_LENGTH
    return reply + THINKING if spec.thinking_tokens else reply


def cost(spec: ModelSpec, given: Range, cached: Range, answered: Range, *, batch: bool) -> Range | None:
    """USD; the low end with as much from the cache as can be, the high end with nothing. None where unpriced."""
    if not spec.priced:
        return None
    cheapest = TokenUsage(input=round(given.low), cached=round(cached.high), output=round(answered.low))
    dearest = TokenUsage(input=round(given.high), output=round(answered.high))
    return Range(low=spec.cost_usd(cheapest, batch=batch) or 0.0, high=spec.cost_usd(dearest, batch=batch) or 0.0)


def total(ranges: Iterable[Range]) -> Range:
    """The sum of *ranges*."""
    return sum(ranges, Range())
