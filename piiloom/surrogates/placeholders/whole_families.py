"""Letters in brackets are used together or not at all: where "[Y]" is a placeholder, "[X]" in the same corpus is one as well."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from piiloom.surrogates.placeholders.mapping import USE_FROM, Rule

_LETTER: Final = "letter"
_ONE: Final = re.compile(r"(?<![A-Za-z])[A-Z](?![A-Za-z])")
_ENOUGH: Final = 0.2  # the share of a family's places whose rules must be sure for the rest to follow them


def whole_families(rules: Sequence[Rule]) -> list[Rule]:
    """Return *rules* with those of single letters in the same signs all used, or all unused.

    They are used if the rules that are sure by themselves have a fifth of the places. The kind stays that of each letter.
    """
    families: defaultdict[str, list[Rule]] = defaultdict(list)
    for rule in rules:
        if rule.role == _LETTER and _ONE.search(rule.tag):
            families[_ONE.sub("{letter}", rule.tag)].append(rule)
    used = {name: _are_used(family) for name, family in families.items()}
    return [_settled(rule, use=used[_ONE.sub("{letter}", rule.tag)]) if _is_in(rule, families) else rule for rule in rules]


def _is_in(rule: Rule, families: defaultdict[str, list[Rule]]) -> bool:
    return rule.role == _LETTER and _ONE.sub("{letter}", rule.tag) in families


def _are_used(family: Sequence[Rule]) -> bool:
    return sum(rule.count for rule in family if rule.use) >= _ENOUGH * sum(rule.count for rule in family)


def _settled(rule: Rule, *, use: bool) -> Rule:
    confidence = max(rule.confidence, USE_FROM) if use else min(rule.confidence, USE_FROM - 0.01)
    return replace(rule, use=use, confidence=confidence)
