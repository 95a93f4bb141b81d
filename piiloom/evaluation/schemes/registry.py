"""The schemes by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from piiloom.evaluation.schemes.base import Scheme, SchemeSettings
from piiloom.evaluation.schemes.capid import CapidScheme, CapidStrictScheme
from piiloom.evaluation.schemes.masking import PrivacyScheme
from piiloom.evaluation.schemes.precision_recall import ExactScheme, NervaluateScheme, PartialScheme, TextScheme, TokenScheme
from piiloom.evaluation.schemes.tab import TabScheme
from piiloom.foundation.errors import UsageError

SCHEMES: dict[str, Callable[[SchemeSettings], Scheme]] = {
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
DEFAULT_SCHEME: Final = "exact"
SCHEME_HELP: Final = f"Scheme of comparison: {', '.join(sorted(SCHEMES, key=lambda name: name != DEFAULT_SCHEME))} (docs/schemes.md)."
# Beyond, F is recall to the last digits.
_GREATEST_BETA = 1_000_000
# Under these, nothing is found if both sides have no type in common.
BY_TYPE = frozenset(("exact", "partial", "text", "token", "nervaluate"))


def make_scheme(name: str, options: SchemeSettings) -> Scheme:
    """Return the scheme called *name*; raises ``UsageError``, listing the known ones, if there is none, and for a beta without an F."""
    for beta in options.beta:
        if not 0 <= beta <= _GREATEST_BETA:
            raise UsageError(f"not from 0 to {_GREATEST_BETA:,}: {beta:g}", where="--beta", remedy="Give for example --beta 2")
    if name not in SCHEMES:
        raise UsageError(f"unknown scheme {name!r}", remedy=f"Known schemes: {', '.join(SCHEMES)}")
    return SCHEMES[name](options)


def make_schemes(names: Sequence[str], settings: SchemeSettings) -> list[Scheme]:
    """Return the schemes *names*. Raises ``UsageError`` for none, one named twice, and a setting that no scheme uses."""
    if not names:
        raise UsageError("no scheme is named", where="--scheme", remedy=f"Known schemes: {', '.join(SCHEMES)}")
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"the scheme {name!r} is named twice", where="--scheme", remedy="Name it once")
    for option, value in (
        ("--weights", settings.weights),
        ("--token-probabilities", settings.token_probabilities),
        ("--may-stay", settings.may_stay),
    ):
        users = ("tab", "privacy") if option == "--weights" else ("tab",)
        if value and not set(users).intersection(names):
            remedy = f"Add --scheme {users[0]}, or leave it out"
            raise UsageError(f"only the scheme {' or '.join(users)} uses it", where=option, remedy=remedy)
    return [make_scheme(name, settings) for name in names]
