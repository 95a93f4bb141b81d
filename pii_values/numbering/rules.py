"""The rules of national and tax ids by name, whose modules are imported on first use."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module

from piiloom.pii_values.numbering.holders import Holder


@cache
def rule_of(place: str) -> Callable[[Holder], str]:
    """Return the rule named *place*, as "module:function" ("eastern_ids:pesel")."""
    module, _, name = place.partition(":")
    rule: Callable[[Holder], str] = getattr(import_module(f"piiloom.pii_values.numbering.{module}"), name)
    return rule
