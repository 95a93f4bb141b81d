"""Whether a model may be used without a price: only on one's own hardware, or when that is asked for."""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit

from piiloom.foundation.errors import UsageError
from piiloom.providers.prices import ModelSpec

# Names that resolve inside a host or a house only (RFC 6761, 6762, 8375, and .internal).
_PRIVATE_ENDINGS = (".localhost", ".local", ".internal", ".home.arpa", ".lan")


def needs_prices(provider: str, base_url: str | None, spec: ModelSpec) -> bool:
    """Whether a price is missing that somebody will charge: not so for a compatible server at a private address."""
    return not spec.priced and not (provider == "compatible" and is_private(base_url))


def check_priced(provider: str, model: str, base_url: str | None, spec: ModelSpec, *, unpriced: bool, budget: bool = False) -> None:
    """Raise ``UsageError`` for a model of unknown price, unless calls without a known cost are accepted by *unpriced*.

    With a *budget* there must be a price in any case: nothing else could hold the run to it.
    """
    if spec.priced or not (budget or (not unpriced and needs_prices(provider, base_url, spec))):
        return
    remedy = 'Give its prices, as in --price "input=0.5,output=1.5" (USD per million tokens)'
    if budget:
        raise UsageError(f"a budget needs prices, and those of the model {model!r} are unknown", where="--budget-usd", remedy=remedy)
    accept = ", or accept calls of unknown cost with --unpriced"
    raise UsageError(f"nobody has told what the model {model!r} costs", where=provider, remedy=remedy + accept)


def is_private(base_url: str | None) -> bool:
    """Whether *base_url* names this machine or one of the same network, as far as the text tells; nothing is looked up."""
    try:
        host = (urlsplit(base_url or "").hostname or "").rstrip(".").casefold()
    except ValueError:
        return False
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        # A name without a dot, as containers have, cannot be one of the public internet.
        return bool(host) and ("." not in host or host.endswith(_PRIVATE_ENDINGS))
    mapped = getattr(address, "ipv4_mapped", None) or address
    return not mapped.is_global
