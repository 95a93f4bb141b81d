"""Ten thousand people who went through the engine, one in each text, with all that their texts say of them."""

from __future__ import annotations

import marshal
from datetime import date
from functools import cache
from typing import NamedTuple

from piiloom.pii_values.names.index import builtin
from piiloom.pii_values.names.pools import NamePools
from piiloom.pii_values.rewriting.calendars import date_order
from piiloom.pii_values.rewriting.date_layouts import read_date
from piiloom.surrogates.documents import Document, Mention
from piiloom.surrogates.engine import Engine
from piiloom.surrogates.engine_report import group_report
from piiloom.surrogates.persona_assignment.groups import GROUPS
from piiloom.surrogates.settings import EngineSettings

LOCALES = ("en_US", "en_GB", "nl_NL", "pt_BR", "sv_SE", "de_DE", "fr_FR", "es_ES", "it_IT", "pl_PL", "fi_FI")
PEOPLE = 10_000
POOLS = NamePools(builtin())
# What each document holds of its one person: the name in three forms, and all that must agree with it.
SLOTS = (
    ("full", "person", "full"),
    ("given", "person", "given"),
    ("family", "person", "family"),
    *((kind, kind, "") for kind in ("email", "username", "phone", "fax", "national_id", "tax_id", "birth_date", "birth_year", "age")),
    *((kind, kind, "") for kind in ("bank_account", "payment_card")),
)


class Told(NamedTuple):
    """What a text says of its person; ``group`` is what the engine gave them."""

    locale: str
    group: int
    values: dict[str, str]

    @property
    def country(self) -> str:
        return self.locale[3:]

    @property
    def gender(self) -> str:
        return GROUPS[self.group][0]

    @property
    def born(self) -> date:
        language = self.locale[:2]
        layout = read_date(self.values["birth_date"], language, date_order(language, self.country), EngineSettings().anchor)
        assert layout is not None
        assert layout.precision == "day"
        return layout.when


def document(number: int) -> Document:
    """One person's text."""
    text, mentions = "", []
    for name, kind, form in SLOTS:
        text += f"{name}: "
        mentions.append(Mention(len(text), len(text) + 2, kind, index="1" if kind == "person" else "", form=form))
        text += "<>\n"
    return Document(number, f"d{number}", text, "memory.txt", None, tuple(mentions))


class People(NamedTuple):
    """Everybody, and the reports of the batches."""

    told: list[Told]
    reports: list[dict[str, object]]


@cache
def ten_thousand() -> People:
    """10,000 people in batches of one locale each, all batches and so all of them balanced."""
    told: list[Told] = []
    reports = []
    for locale in LOCALES:
        count = 900 if locale != LOCALES[-1] else PEOPLE - len(told)
        engine = Engine(EngineSettings(seed=20, locale=locale), POOLS)
        documents = [document(number)._replace(ordinal=number) for number in range(len(told), len(told) + count)]
        assigned = engine.assign([engine.scan(documents)])
        engine.load(assigned)
        groups = marshal.loads(assigned)[0]  # noqa: S302 - the engine wrote it a moment ago
        reports.append(group_report(assigned))
        for group, done in zip(groups, engine.replace(documents, 0), strict=True):
            texts = [done.text[one.new_start : one.new_end] for one in done.placed]
            told.append(Told(locale, group, dict(zip((name for name, _, _ in SLOTS), texts, strict=True))))
    return People(told, reports)
