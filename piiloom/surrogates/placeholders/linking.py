"""Link tags of a mapping that name one person: ``--link "[de man]=[appellant]"``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from piiloom.foundation.errors import UsageError
from piiloom.surrogates.placeholders.families import has_tokens, pattern_of
from piiloom.surrogates.placeholders.mapping import Mapping, Rule

_OPTION: Final = "--link"
_TWO: Final = 2


def linked(mapping: Mapping, links: Sequence[str]) -> Mapping:
    """Return *mapping* with the rules of linked tags naming one person. Each link is "TAG=TAG".

    All tags of a person get role and index of the first that has an index, else of the first; they keep their forms and genders, and are
    used even if the survey was unsure of them. Raises ``UsageError`` if a link is none, or if a tag has no rule or is no person's.
    """
    rules = list(mapping.rules)
    for tags in _people(links):
        found = [_rule_of(mapping.rules, tag) for tag in tags]
        rule, index = next((one for one in found if one[1]), found[0])
        same = "document" if rule.same == "mention" else rule.same
        own = [
            replace(other, tag=tag, role=rule.role, index=index, same=same, use=True, confidence=1.0)
            for tag, (other, _) in zip(tags, found, strict=True)
        ]
        rules = [*own, *(rule for rule in rules if rule.tag not in tags)]
    return replace(mapping, rules=tuple(rules))


def _people(links: Sequence[str]) -> list[list[str]]:
    """Return the tags of each linked person: links that share a tag are about one."""
    people: list[list[str]] = []
    for link in links:
        tags = [part.strip() for part in link.split("=")]
        if len(tags) != _TWO or not all(tags):
            raise UsageError("a link joins two tags", where=_OPTION, remedy='Write --link "[de man]=[appellant]".')
        shared = [known for known in people if not set(known).isdisjoint(tags)]
        people = [known for known in people if known not in shared]
        people.append(list(dict.fromkeys([*(tag for known in shared for tag in known), *tags])))
    return people


def _rule_of(rules: Sequence[Rule], tag: str) -> tuple[Rule, str]:
    """Return the rule that *tag* falls under, and the index that the tag has by it."""
    for rule in rules:
        if rule.tag == tag:
            return _person(rule, tag), rule.index
    for rule in rules:
        if rule.tag and has_tokens(rule.tag):
            found = re.fullmatch(pattern_of(rule.tag), tag)
            if found:
                groups = found.groupdict()
                index = groups.get("index") or groups.get("letter") or rule.index
                return _person(rule, tag), index.replace(" ", "").casefold()
    raise UsageError(
        "no placeholder of the input is written like one of the tags", where=_OPTION, remedy="piiloom surrogate survey lists the tags."
    )


def _person(rule: Rule, tag: str) -> Rule:
    if rule.kind != "person":
        raise UsageError(f"the tag {tag!r} stands for a {rule.kind} and no person", where=_OPTION, remedy="Link tags of people.")
    return rule
