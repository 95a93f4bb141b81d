"""Build a provider by name, with its API key from the environment. Importing this module imports no SDK."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

from piiloom.foundation.errors import UsageError
from piiloom.providers.addresses import EXAMPLES, Redactor, check_base_url, public_url, secrets_of
from piiloom.providers.batch_api import BatchApi, BatchLimits
from piiloom.providers.errors import AuthFailed
from piiloom.providers.prices import ModelSpec, check_priced, load_models, parse_prices
from piiloom.providers.protocol import Provider
from piiloom.providers.sdk_errors import Translator
from piiloom.providers.sdk_provider import SdkOptions, SdkProvider

if TYPE_CHECKING:
    import httpx2

    from piiloom.providers.local.local_provider import LocalProvider
    from piiloom.providers.model_calls import ModelCalls

COMPATIBLE_KEY = "PIILOOM_COMPATIBLE_API_KEY"


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """Description of one kind of provider: its class, where its key and base URL come from, and the class of its batch API, if any.

    Classes are named, since importing one imports an SDK, which takes most of a second. ``url_ends_in_v1`` is used to suggest a correction
    for a wrong base URL.
    """

    provider: str
    key_variable: str
    key_needed: bool
    url_variable: str | None
    default_url: str | None
    url_ends_in_v1: bool
    unreachable_remedy: str
    batches: str | None = None


_NETWORK = "Check the network and the proxy settings"
KINDS: dict[str, Kind] = {
    "openai": Kind(
        provider="piiloom.providers.openai_api:OpenAIProvider",
        batches="piiloom.providers.openai_api:OpenAIBatches",
        key_variable="OPENAI_API_KEY",
        key_needed=True,
        url_variable="OPENAI_BASE_URL",
        default_url="https://api.openai.com/v1",
        url_ends_in_v1=True,
        unreachable_remedy=_NETWORK,
    ),
    "anthropic": Kind(
        provider="piiloom.providers.anthropic_api:AnthropicProvider",
        batches="piiloom.providers.anthropic_api:AnthropicBatches",
        key_variable="ANTHROPIC_API_KEY",
        key_needed=True,
        url_variable="ANTHROPIC_BASE_URL",
        default_url="https://api.anthropic.com",
        url_ends_in_v1=False,
        unreachable_remedy=_NETWORK,
    ),
    "compatible": Kind(
        provider="piiloom.providers.compatible_api:CompatibleProvider",
        key_variable=COMPATIBLE_KEY,
        key_needed=False,
        url_variable=None,
        default_url=None,
        url_ends_in_v1=True,
        unreachable_remedy=f"Start the server, or correct the base URL, for example {EXAMPLES}",
    ),
}


def make_provider(
    name: str,
    *,
    model: str | None = None,
    base_url: str | None = None,
    api_key_env: str | None = None,
    http_client: httpx2.AsyncClient | None = None,
    timeout_s: float | None = None,
    output_tokens: int | None = None,
    models_file: Path | None = None,
    prices: ModelSpec | None = None,
    response_format: str = "auto",
) -> SdkProvider[Any]:
    """Build the provider *name* (openai, anthropic, compatible). It does not retry; ``execution`` does.

    *model* defaults to the provider's default model, *base_url* to the environment or the vendor's URL. *api_key_env* names
    another environment variable for the key. *timeout_s* bounds each request (None: in proportion to the output limit),
    *output_tokens* each reply, if given. *http_client* is closed with the provider.
    Prices are *prices* if given; otherwise they come from *models_file* or the file named by ``PIILOOM_MODELS``, laid over
    the shipped list. *response_format* (auto, json_schema, json_object, text) is used for compatible servers only.

    Raises ``UsageError`` for an unknown name, a malformed URL or a missing model, ``ConfigError`` for a models file that
    cannot be read, and ``AuthFailed``, naming the environment variable, if a required key is not set.
    """
    kind = KINDS.get(name)
    if kind is None:
        raise UsageError(f"there is no LLM provider {name!r}", remedy=f"Choose one of {', '.join(KINDS)}")
    chosen = choose_model(name, model, models_file)
    spec = load_models(models_file).resolve(name, chosen, prices)
    url = _base_url(kind, base_url)
    key_variable = api_key_env or kind.key_variable
    key = _key(name, kind, key_variable, explicit=api_key_env is not None)
    options = SdkOptions(
        model=chosen,
        api_key=key,
        base_url=url,
        spec=spec.model_copy(update={"reply_tokens": output_tokens}) if output_tokens else spec,
        translator=_translator(name, kind, url, key, key_variable),
        timeout_s=timeout_s,
        http_client=http_client,
        response_format=response_format,
    )
    made: SdkProvider[Any] = resolve_name(kind.provider)(options)
    return made


def make_priced_provider(
    name: str, calls: ModelCalls, *, model: str | None, base_url: str | None, price: str | None, response_format: str = "auto"
) -> SdkProvider[Any]:
    """Build the provider *name* with the limits of *calls*; *price* has the form of --price.

    Raises the errors of ``make_provider``, and ``UsageError`` if a price is needed that is unknown.
    """
    provider = make_provider(
        name,
        model=model,
        base_url=base_url,
        timeout_s=calls.timeout_s,
        output_tokens=calls.max_output_tokens,
        prices=parse_prices(price) if price else None,
        response_format=response_format,
    )
    check_priced(name, provider.model, base_url, provider.spec, unpriced=calls.unpriced, budget=calls.budget_usd is not None)
    return provider


def make_local_provider(
    base: Path, adapter: Path | None = None, *, device: str = "auto", batch_size: int = 16, alpaca: bool = False
) -> LocalProvider:
    """Build the provider "local": the causal language model in the folder *base*, with the *adapter* of another one if given.

    *alpaca*: prompts have the layout of Alpaca, whatever the chat template of the model.

    Raises ``UsageError`` if a folder is not what it should be, or a library is missing.
    """
    from piiloom.providers.local.local_provider import LocalOptions, LocalProvider  # noqa: PLC0415 - only who asks such a model needs it

    return LocalProvider(LocalOptions(base=base, adapter=adapter, device=device, batch_size=batch_size, alpaca=alpaca))


def choose_model(name: str, model: str | None, models_file: Path | None = None) -> str:
    """Return *model*, or the default model of provider *name*; raises ``UsageError`` if there is neither."""
    chosen = (model or load_models(models_file).defaults.get(name, "")).strip()
    if not chosen:
        raise UsageError(f"the provider {name!r} needs the name of a model", remedy="Give it with --model, as the server spells it")
    return chosen


def _base_url(kind: Kind, base_url: str | None) -> str:
    from_environment = os.environ.get(kind.url_variable, "") if kind.url_variable else ""
    url = base_url or from_environment or kind.default_url
    if not url:
        raise UsageError("the provider 'compatible' needs a base URL", remedy=f"Give it with --base-url, for example {EXAMPLES}")
    return check_base_url(url)


def _key(name: str, kind: Kind, variable: str, *, explicit: bool) -> str | None:
    """Read the API key from the environment variable *variable*; None if it is not set and not needed.

    Raises ``AuthFailed`` if it is not set although the provider needs one or the user named the variable (*explicit*), or if
    it contains characters that no key has.
    """
    key = os.environ.get(variable, "").strip()
    if not key:
        if kind.key_needed or explicit:
            raise AuthFailed(
                f"the provider {name!r} needs a key, and the environment variable {variable} is not set",
                remedy=f"Set it (export {variable}=…), or use --provider composer, which needs none",
            )
        return None
    if not (key.isascii() and key.isprintable()) or " " in key:
        # Such a key cannot be sent in a header, and the error of the HTTP library would quote it.
        raise AuthFailed(f"the key in {variable} holds white space or characters no key has", remedy="Copy it again")
    return key


def _missing_path_remedy(kind: Kind, shown: str) -> str:
    """Return the advice for a path that does not exist: check the base URL, with a suggestion if "/v1" is missing or too much.

    Addresses with another version have none (``…/paas/v4`` of Zhipu, ``…/v1beta/openai`` of Gemini).
    """
    if kind.url_ends_in_v1 == shown.endswith("/v1") or re.search(r"/v\d(?!$)|/v[02-9]", shown):
        return "Check the base URL"
    right = f"{shown}/v1" if kind.url_ends_in_v1 else shown.removesuffix("/v1")
    return f"Check the base URL; did you mean {right}?"


def _translator(name: str, kind: Kind, url: str, key: str | None, key_variable: str) -> Translator:
    shown = public_url(url)
    return Translator(
        provider=name,
        endpoint=shown,
        redactor=Redactor([*([key] if key else []), *secrets_of(url)]),
        key_variable=key_variable,
        unreachable_remedy=kind.unreachable_remedy,
        missing_path_remedy=_missing_path_remedy(kind, shown),
    )


def make_batch_api(provider: Provider, limits: BatchLimits | None = None) -> BatchApi:
    """Return the batch API client for *provider*'s account; raises ``UsageError`` if the provider has no batch API."""
    kind = KINDS.get(provider.name)
    if kind is None or kind.batches is None or not isinstance(provider, SdkProvider):
        raise UsageError(f"the provider {provider.name!r} has no batch API", where="--batch", remedy="Use it with openai or anthropic")
    made: BatchApi = resolve_name(kind.batches)(provider, limits)
    return made
