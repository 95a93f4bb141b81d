"""Check whether a model may be used without known prices: only on the user's own hardware, or with ``--unpriced``."""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit

from piiloom.foundation.errors import UsageError
from piiloom.providers.prices import ModelSpec

# Domains that resolve only on one host or in a local network (RFC 6761, 6762, 8375, and .internal).
_PRIVATE_ENDINGS = (".localhost", ".local", ".internal", ".home.arpa", ".lan")


def needs_prices(provider: str, base_url: str | None, spec: ModelSpec) -> bool:
    """Whether prices are missing for calls that will be charged. A compatible server at a private address does not charge."""
    return not spec.priced and not (provider == "compatible" and is_private(base_url))


def check_priced(provider: str, model: str, base_url: str | None, spec: ModelSpec, *, unpriced: bool, budget: bool = False) -> None:
    """Raise ``UsageError`` if the model has no known price, unless *unpriced* accepts calls of unknown cost.

    With a *budget*, prices are always required, because it could not be enforced without them.
    """
    if spec.priced or not (budget or (not unpriced and needs_prices(provider, base_url, spec))):
        return
    remedy = 'Give its prices, as in --price "input=0.5,output=1.5" (USD per million tokens)'
    if budget:
        raise UsageError(f"a budget needs prices, and those of the model {model!r} are unknown", where="--budget-usd", remedy=remedy)
    accept = ", or accept calls of unknown cost with --unpriced"
    raise UsageError(f"the price of the model {model!r} is unknown", where=provider, remedy=remedy + accept)


def is_private(base_url: str | None) -> bool:
    """Whether *base_url* points to this machine or the local network, judged by the text alone, without a DNS lookup."""
    try:
        host = (urlsplit(base_url or "").hostname or "").rstrip(".").casefold()
    except ValueError:
        return False
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        # A host name without a dot, for example of a container, is not on the public internet.
        return bool(host) and ("." not in host or host.endswith(_PRIVATE_ENDINGS))
    mapped = getattr(address, "ipv4_mapped", None) or address
    return not mapped.is_global
