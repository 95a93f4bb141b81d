"""The schemes by name."""

from __future__ import annotations

from collections.abc import Callable

from piiloom.evaluation.schemes.base import Scheme, SchemeOptions
from piiloom.evaluation.schemes.capid import CapidScheme
from piiloom.evaluation.schemes.capid_strict import CapidStrictScheme
from piiloom.evaluation.schemes.exact import ExactScheme
from piiloom.evaluation.schemes.nervaluate_modes import NervaluateScheme
from piiloom.evaluation.schemes.partial import PartialScheme
from piiloom.evaluation.schemes.privacy import PrivacyScheme
from piiloom.evaluation.schemes.tab import TabScheme
from piiloom.evaluation.schemes.text import TextScheme
from piiloom.evaluation.schemes.token_labels import TokenScheme
from piiloom.foundation.errors import UsageError

SCHEMES: dict[str, Callable[[SchemeOptions], Scheme]] = {
    "capid": CapidScheme,
    "capid-strict": CapidStrictScheme,
    "exact": ExactScheme,
    "tab": TabScheme,
    "privacy": PrivacyScheme,
    "text": TextScheme,
    "partial": PartialScheme,
    "token": TokenScheme,
    "nervaluate": NervaluateScheme,
}
# Beyond, F is recall to the last digits.
_GREATEST_BETA = 1_000_000
# Under these, nothing is found if both sides have no type in common.
BY_TYPE = frozenset(("exact", "partial", "text", "token", "nervaluate"))


def make_scheme(name: str, options: SchemeOptions) -> Scheme:
    """Return the scheme called *name*; raises ``UsageError``, listing the known ones, if there is none, and for a beta without an F."""
    for beta in options.beta:
        if not 0 <= beta <= _GREATEST_BETA:
            raise UsageError(f"not from 0 to {_GREATEST_BETA:,}: {beta:g}", where="--beta", remedy="Give for example --beta 2")
    if name not in SCHEMES:
        raise UsageError(f"unknown scheme {name!r}", remedy=f"Known schemes: {', '.join(SCHEMES)}")
    return SCHEMES[name](options)
