"""``docs/entities.md``: the entity catalogue as tables, one a locale."""

from __future__ import annotations

from collections.abc import Iterable

from docs.making.markdown import page, table
from piiloom.taxonomy.entities.catalogue_file import UNIVERSAL, Entity
from piiloom.taxonomy.entities.entity_catalogue import LOCALES, catalogue_locales, shipped_entities

_SURE = 0.5
_INTRO = """
What detectors know, by locale: {total} kinds of personal information, {shared} of them universal. `piiloom entities show ID` tells
patterns, scores and context words of one. `piiloom entities test` tries all: 20 drawn values must be found as what they are, and 10
look-alikes refused. [Detection](detection.md) explains how they are found, [the entity catalogue](entity-catalogue.md) what an entry is
and how to add your own.

**Needs a label**: a value is told only with a word near it that says what it is, as many other numbers look the same. **Checked by**: the
function that a value has to pass; `stdnum` is python-stdnum, `phonenumbers` libphonenumber, `piiloom` ours. **Off**: no source confirmed
the format, so it is looked for with `--unconfirmed` or `--also ID` only. **On request**: looked for with `--also ID` only.
"""
_HEADS = ("id", "name", "there called", "type", "domains", "identifier", "checked by", "needs a label", "source")


def entities_page() -> str:
    """The text of the page."""
    by_locale = {locale: list(shipped_entities([locale])) for locale in (UNIVERSAL, *catalogue_locales())}
    total = sum(map(len, by_locale.values()))
    parts = [f"## {_title(locale)}\n\n{table(_HEADS, map(_row, found))}" for locale, found in by_locale.items()]
    counts = table(("locale", "entities", "with patterns", "with a check", "off"), (_count(*one) for one in by_locale.items()))
    return page("Entities", _INTRO.format(total=total, shared=len(by_locale[UNIVERSAL])), counts, *parts)


def _title(locale: str) -> str:
    return "All locales" if locale == UNIVERSAL else locale if locale in LOCALES else f"{locale} (beside the thirteen)"


def _count(locale: str, found: Iterable[Entity]) -> tuple[str, ...]:
    listed = list(found)
    return (
        _title(locale),
        str(len(listed)),
        str(sum(bool(one.patterns) for one in listed)),
        str(sum(one.validator is not None for one in listed)),
        str(sum(not one.confirmed for one in listed)),
    )


def _row(entity: Entity) -> tuple[str, ...]:
    labels = all(pattern.score < _SURE or pattern.preceded_by or pattern.followed_by for pattern in entity.patterns)
    label = "yes" if entity.patterns and labels else "" if entity.patterns else "no pattern: a model or word lists"
    return (
        f"`{entity.id}`" + ("" if entity.confirmed else " **off**") + ("" if entity.default else " **on request**"),
        entity.name,
        "" if entity.native == entity.name else entity.native,
        entity.entity_type,
        ", ".join(entity.domains),
        entity.identifier,
        f"`{entity.validator}`" if entity.validator else "",
        label,
        entity.source,
    )
