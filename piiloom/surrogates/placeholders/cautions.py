"""What a user must hear about placeholders: that none is known, that one kind swallows the rest, that the texts are in another language."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from piiloom.surrogates.placeholders.mapping import Mapping as TagMapping
from piiloom.surrogates.placeholders.mapping import Rule

NO_RULE: Final = "no placeholder of a known meaning was found: nothing is replaced"
_ENOUGH: Final = 20  # fewer surrogates than this say nothing about a corpus
_SURE: Final = 0.8  # names are most of many corpora; they are suspicious only where their tags are less sure than this
_SHOWN: Final = 3
_LANGUAGES: Final = {
    "en": "English", "nl": "Dutch", "pt": "Portuguese", "de": "German", "fr": "French", "es": "Spanish", "it": "Italian", "sv": "Swedish",
    "no": "Norwegian", "da": "Danish", "fi": "Finnish", "pl": "Polish",
}  # fmt: skip


def kind_caution(counts: Mapping[str, int], rules: Iterable[Rule] = ()) -> str:
    """Return a warning if one kind has more than half of the surrogates that *counts* has by kind, else "".

    Names that the *rules* are sure of are no cause for one.
    """
    total = sum(counts.values())
    kind = max(counts, key=lambda name: (counts[name], name), default="")
    if total < _ENOUGH or 2 * counts[kind] <= total:
        return ""
    tags = sorted((rule for rule in rules if rule.kind == kind and rule.use), key=lambda rule: -rule.count)
    if kind == "person" and all(rule.confidence >= _SURE for rule in tags[:_SHOWN]):
        return ""
    named = ", ".join(f"{rule.name} {rule.count:,}" for rule in tags[:_SHOWN])
    others = f" (read from {named})" if named else ""
    return f"{counts[kind]:,} of {total:,} surrogates are of the kind {kind}{others}: if that is not what stood there, correct the mapping"


def surrogate_cautions(counts: Mapping[str, int], mapping: TagMapping) -> tuple[str, ...]:
    """Return what the user should hear about the surrogates that *counts* has by kind, and about the *mapping* that they come from."""
    if not any(counts.values()):
        tags = ", ".join(one.tag for one in mapping.unknown[:_SHOWN])
        first = f"{NO_RULE}; of an unknown meaning: {tags}" if tags else NO_RULE
    else:
        first = kind_caution(counts, mapping.rules)
    return tuple(filter(None, (first, *mapping.cautions)))


def survey_cautions(mapping: TagMapping) -> tuple[str, ...]:
    """Return what the user should hear about a *mapping* that was learned, before it is used."""
    counts: dict[str, int] = {}
    for rule in mapping.rules:
        counts[rule.kind] = counts.get(rule.kind, 0) + rule.count * rule.use
    return surrogate_cautions(counts, mapping)


def foreign_cautions(rules: Iterable[Rule]) -> tuple[str, ...]:
    """Return warnings of the *rules* that are not used as no other tag supports their language."""
    cautions = []
    foreign: dict[str, list[Rule]] = {}
    for rule in rules:
        if rule.language and not rule.use:
            foreign.setdefault(rule.language, []).append(rule)
    for language, unused in foreign.items():
        count, tags = sum(rule.count for rule in unused), ", ".join(f"{rule.name} = {rule.kind}" for rule in unused[:_SHOWN])
        cautions.append(f"{count:,} places have tags that only {named(language)} knows, which the texts are not in; not replaced: {tags}")
    return tuple(cautions)


def language_caution(locale: str, told: str) -> str:
    """Return a warning if the texts are told to be in another language than *locale* says, else ""."""
    if not told or told == locale.partition("_")[0]:
        return ""
    return f"the texts read as {named(told)}, the locale is {locale}: values come in its language; name the texts' own with --locale"


def named(language: str) -> str:
    """Return the English name of *language*."""
    return _LANGUAGES.get(language, language)
