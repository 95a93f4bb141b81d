"""Sampling settings: check which ones a provider accepts, and add them to the request body."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from piiloom.foundation.errors import UsageError
from piiloom.providers.prices import ModelSpec
from piiloom.providers.protocol import SamplingSettings

_OURS = "piiloom sets it itself"
_UNREADABLE = "the answer could not be read"
_DEARER = "it changes the cost of a call, so that no budget could be kept"
_OWN = "it has a setting of its own"
# Request fields that ``extra_body`` must not set, of all APIs together, with the reason.
_RESERVED: Mapping[str, str] = {
    **dict.fromkeys(("model", "messages", "input", "instructions", "system", "prompt_cache_key", "store"), _OURS),
    **dict.fromkeys(("text", "response_format", "output_config", "max_tokens", "max_completion_tokens", "max_output_tokens"), _OURS),
    **dict.fromkeys(("stream", "background", "tools", "tool_choice", "functions"), _UNREADABLE),
    **dict.fromkeys(("n", "best_of", "service_tier"), _DEARER),
    **dict.fromkeys(("temperature", "top_p"), _OWN),
}


def check_sampling(provider: str, model: str, spec: ModelSpec, wish: SamplingSettings, *, where: str) -> None:
    """Raise ``UsageError`` if *provider* or *model* is known not to accept the settings *wish*.

    A server may still refuse settings that pass this check. *where* names the source of the settings in the error.
    """
    extra = wish.extra_body or {}
    if provider == "composer":
        raise UsageError("the composer samples no tokens", where=where, remedy="Leave temperature, top_p and extra_body out")
    for key in extra:
        if key in _RESERVED:
            raise UsageError(f"extra_body cannot set {key}: {_RESERVED[key]}", where=where, remedy="Leave it out of extra_body")
    named = [name for name in ("temperature", "top_p") if getattr(wish, name) is not None]
    if provider == "anthropic":
        named += ["top_k"] if "top_k" in extra else []
        if named:
            reason = f"Anthropic's API takes no {' and no '.join(named)}"
            raise UsageError(reason, where=where, remedy="Leave it out: prompts, plans and seeds make texts differ")
    effort = _effort(extra, spec)
    if provider == "openai" and named and effort not in {None, "none"}:
        remedy = 'Leave it out, name a model that does not, or switch it off: extra_body {"reasoning": {"effort": "none"}}'
        raise UsageError(f"{model} takes no {' and no '.join(named)} while it reasons (effort {effort})", where=where, remedy=remedy)


def _effort(extra: Mapping[str, Any], spec: ModelSpec) -> object:
    reasoning = extra.get("reasoning")
    return reasoning.get("effort") if isinstance(reasoning, Mapping) else spec.effort


def with_sampling(body: dict[str, Any], settings: SamplingSettings) -> dict[str, Any]:
    """Return *body* with temperature, top_p and the ``extra_body`` fields of *settings* added at the top level.

    This is where the SDKs' own ``extra_body`` argument would put them. *body* itself may be changed.
    """
    for name in ("temperature", "top_p"):
        value = getattr(settings, name)
        if value is not None:
            body[name] = value
    return {**body, **settings.extra_body} if settings.extra_body else body
