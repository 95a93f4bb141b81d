"""The schemes by name."""

from __future__ import annotations

from collections.abc import Callable

from piiloom.evaluation.schemes.base import Scheme, SchemeOptions
from piiloom.evaluation.schemes.exact import ExactScheme
from piiloom.evaluation.schemes.nervaluate_modes import NervaluateScheme
from piiloom.evaluation.schemes.partial import PartialScheme
from piiloom.evaluation.schemes.token_labels import TokenScheme
from piiloom.foundation.errors import UsageError

SCHEMES: dict[str, Callable[[SchemeOptions], Scheme]] = {
    "exact": ExactScheme,
    "partial": PartialScheme,
    "token": TokenScheme,
    "nervaluate": NervaluateScheme,
}


def make_scheme(name: str, options: SchemeOptions) -> Scheme:
    """Return the scheme called *name*; raises ``UsageError``, listing the known ones, if there is none."""
    if name not in SCHEMES:
        raise UsageError(f"unknown scheme {name!r}", remedy=f"Known schemes: {', '.join(SCHEMES)}")
    return SCHEMES[name](options)
