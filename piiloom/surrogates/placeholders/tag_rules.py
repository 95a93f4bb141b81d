"""Look up the ``tag:`` rules of a mapping for candidates of the built-in grammars."""

from __future__ import annotations

import re

from piiloom.surrogates.placeholders.families import has_tokens, pattern_of
from piiloom.surrogates.placeholders.mapping import Mapping, Rule
from piiloom.surrogates.placeholders.reading import Meaning
from piiloom.surrogates.placeholders.scanning import Candidate
from piiloom.surrogates.placeholders.verdicts import MASK, Verdict


class TagRules:
    """The ``tag:`` rules of a mapping, found by exact tag, by family (the survey's pattern), or by matching a user's own pattern."""

    def __init__(self, mapping: Mapping) -> None:
        rules = [rule for rule in mapping.rules if rule.tag]
        self._by_tag = {rule.tag: rule for rule in rules}
        self._patterns = [(re.compile(pattern_of(rule.tag)), rule) for rule in rules if has_tokens(rule.tag)]

    def rule_of(self, candidate: Candidate, verdict: Verdict) -> tuple[Rule | None, Verdict]:
        """Return the rule for *candidate* and the verdict it gives, or None and *verdict* unchanged if there is no rule."""
        if not self._by_tag:
            return None, verdict
        literal = " ".join(candidate.literal.split())
        rule = self._by_tag.get(literal)
        if rule is not None:
            return rule, by_rule(rule, verdict, {})
        family = self._by_tag.get(verdict.family)
        for pattern, other in self._patterns:
            if family is not None and other is not family:
                continue
            match = pattern.fullmatch(literal)
            if match:
                return other, by_rule(other, verdict, match.groupdict())
        return (family, by_rule(family, verdict, {})) if family is not None else (None, verdict)


def by_rule(rule: Rule, verdict: Verdict, groups: dict[str, str | None]) -> Verdict:
    """Return *verdict* with the meaning of *rule*.

    Index, number and original come from *groups* (the groups of the tag's match) or from *verdict*.
    """
    own = verdict.meaning
    index = groups.get("index") or groups.get("letter") or rule.index or own.index
    number = groups.get("number") or own.number
    meaning = Meaning(
        rule.kind,
        role=rule.role,
        index=own.index if own.index and not rule.index else index.replace(" ", "").casefold(),
        same=rule.same,
        form=rule.form or (own.form if own.role == MASK else ""),
        gender=rule.gender,
        plural=rule.plural,
        context=rule.context,
        number=number,
    )
    read = verdict.original if verdict.family == rule.name else ""  # what stands for the original need not be what the tag has
    original = read or groups.get("original") or verdict.original
    return verdict._replace(status="known", family=rule.name, meaning=meaning, original=original, sure=rule.confidence)
