"""E-mail addresses and usernames made from a person's name; web and IP addresses that belong to nobody.

Domains are those reserved by RFC 2606 and RFC 6761 (example.com, .org, .net and .example, .test, .invalid). IP addresses come from
the documentation ranges of RFC 5737 and RFC 3849.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from piiloom.pii_values.numbering.reserved import DOMAINS, NETWORK_V6, NETWORKS
from piiloom.surrogates.draws import Draw
from piiloom.surrogates.kinds.folding import folded
from piiloom.surrogates.kinds.kind import owned_seed, salt_of, style_seed
from piiloom.surrogates.kinds.phrases import phrase
from piiloom.surrogates.seeds import below, mix, pick

_USER: Final = salt_of("username")
_MAIL: Final = salt_of("email")
_URL: Final = salt_of("url")
_IP: Final = salt_of("ip_address")
_NAMES: Final = (
    "amber arrow aspen birch bluebird breeze cedar clover cobalt comet copper coral crane cricket dahlia daisy delta dune "
    "ember falcon fern finch flint fox gale garnet ginger glacier harbor hazel heron indigo ivy jade jasper juniper kestrel "
    "lark laurel lemon lily linden lotus lynx maple marble meadow mint moss nectar nova oak olive onyx opal orchid otter "
    "pearl pebble pepper pine plum poppy quartz quill raven reed ridge river robin rowan saffron sage sienna silver sparrow "
    "spruce stone swan teal thistle tulip violet walnut willow wren zephyr"
).split()
_HOSTS: Final = (*("",) * 4, *"mail. post. inbox. home. webmail. my. mx. box. office. net. team. email.".split())
_ENDINGS: Final = ("example", "example", "test", "invalid")
_DOMAINS: Final = (
    *(host + domain for domain in DOMAINS for host in _HOSTS),
    *(f"{name}.{ending}" for name in _NAMES for ending in _ENDINGS),
)
_SITES: Final = (
    *DOMAINS,
    *(f"{name}.{ending}" for name in _NAMES for ending in ("example", "example.com", "example.org", "example.net")),
)
_PAGES: Final = (
    "", "", "/about", "/contact", "/news", "/events", "/team", "/blog", "/faq", "/help", "/login", "/profile", "/shop", "/courses", "/docs",
    "/watch", "/gallery",
    "/forum", "/jobs", "/support", "/article", "/posts", "/map", "/register", "/menu", "/archive", "/library", "/search",
)  # fmt: skip
_SEPARATORS: Final = (".", ".", "_", "", "-")


def _names(draw: Draw, seed: int) -> tuple[str, str]:
    """Return given and family name in lower-case ASCII; random words if there is no owner or the names cannot be transliterated."""
    owner = draw.owner
    if owner is not None:
        given, family = folded(owner.given), folded(owner.family)
        if given or family:
            return given or family, family or given
    return pick(mix(seed, 1), _NAMES), pick(mix(seed, 2), _NAMES)


# Ways to build a handle from given name, family name, separator, tail (may be empty) and number. The most usual one is listed three times.
_Handle = Callable[[str, str, str, str, str], str]
_BOTH: Final[_Handle] = lambda given, family, sign, tail, number: given + sign + family + tail  # noqa: ARG005, E731
_HANDLES: Final[tuple[_Handle, ...]] = (
    _BOTH,
    _BOTH,
    _BOTH,
    lambda given, family, sign, tail, number: given[0] + sign + family + tail,  # noqa: ARG005
    lambda given, family, sign, tail, number: family + sign + given + tail,  # noqa: ARG005
    lambda given, family, sign, tail, number: given + sign + family[0] + number,  # noqa: ARG005
    lambda given, family, sign, tail, number: family + sign + given[0] + number,  # noqa: ARG005
    lambda given, family, sign, tail, number: given + family[:3] + number,  # noqa: ARG005
    lambda given, family, sign, tail, number: given[:3] + family + tail,  # noqa: ARG005
)


def _handle(draw: Draw, seed: int) -> str:
    """Return the handle of a person for e-mail address and username. *seed* determines it; it always contains a part of the name."""
    given, family = _names(draw, seed)
    number = (seed >> 8) % 100
    tail = str(number) if number < 70 else ""
    if draw.owner is not None and number < 30:
        tail = f"{draw.owner.born.year % 100:02d}"
    how = _HANDLES[(seed >> 20) % len(_HANDLES)]
    return how(given, family, _SEPARATORS[(seed >> 40) % len(_SEPARATORS)], tail, tail or str(number))


def username(draw: Draw) -> str:
    """Draw the owner's username, with a leading "@" if the original has one or for ``form="at"``."""
    handle = _handle(draw, owned_seed(draw, _USER)).replace("-", "_")
    return f"@{handle}" if draw.original.startswith("@") or draw.form == "at" else handle


def email(draw: Draw) -> str:
    """Draw the owner's e-mail address on a reserved domain."""
    seed = owned_seed(draw, _USER)
    value = f"{_handle(draw, seed)}@{_DOMAINS[mix(seed, _MAIL) % len(_DOMAINS)]}"
    return value.upper() if draw.original.isupper() else value


def url(draw: Draw) -> str:
    """Draw a URL on a reserved domain, with scheme, "www." and path as in the original; without one, in one style per document."""
    seed = mix(draw.seed, _URL)
    site, page = pick(mix(seed, 1), _SITES), pick(mix(seed, 2), _PAGES)
    if page and seed & 3 == 0:
        page += f"/{100 + below(mix(seed, 3), 9900)}"
    original = draw.original.casefold()
    if original:
        scheme = original.partition("//")[0] + "//" if "//" in original else ""
        return f"{scheme}{'www.' if 'www.' in original else ''}{site}{page if '/' in original.rpartition('//')[2] else ''}"
    return f"{pick(style_seed(draw, _URL), ('https://', 'https://www.', 'www.', 'http://'))}{site}{page}"


def ip_address(draw: Draw) -> str:
    """Draw an IP address from a documentation range.

    It is IPv6 if the original or ``form`` is; with neither, one in twelve is.
    """
    seed = mix(draw.seed, _IP)
    if ":" in draw.original or draw.form == "ipv6":
        return f"{NETWORK_V6}:{below(mix(seed, 1), 0xFFFF) + 1:x}::{below(mix(seed, 2), 0xFFFF) + 1:x}"
    if draw.form == "ipv4" or draw.original or below(seed, 12):
        return f"{pick(mix(seed, 1), NETWORKS)}.{1 + below(mix(seed, 2), 254)}"
    return f"{NETWORK_V6}::{below(mix(seed, 1), 0xFFFF) + 1:x}:{below(mix(seed, 2), 0xFFFF) + 1:x}"


def person(draw: Draw) -> str:
    """Return the owner's full name; without an owner, an initial and a family name from the language's word list."""
    owner = draw.owner
    if owner is not None:
        return f"{owner.given} {owner.family}"
    return phrase("person", draw, mix(draw.seed, _USER))
