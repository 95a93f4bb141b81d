"""A catalogue file of a user: what is taken, and what is refused with file and line."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from piiloom.foundation.errors import ConfigError, UsageError
from piiloom.taxonomy.entities.catalogue_file import DOMAINS, UNIVERSAL
from piiloom.taxonomy.entities.entity_catalogue import LOCALES, catalogue_locales, known_locale, load_catalogue, shipped_entities
from piiloom.taxonomy.own_entities import own_catalogue

GOOD = """\
locale: pl_PL
language: pl
against: [Wersja]
context:
  payment_card: [Kartą]
entities:
  my_badge:
    name: Badge
    native: Identyfikator
    domains: [IT]
    structured: true
    type: code
    identifier: direct
    sensitivity: 2
    priority: 50
    patterns:
      - {pattern: 'BD-\\d{5}', score: 0.8}
    validator: stdnum:luhn
    context: [Identyfikator, badge]
    generator: {masks: ['BD-#####']}
    source: our own
"""


def load(tmp_path: Path, text: str) -> object:
    path = tmp_path / "own.yaml"
    path.write_text(text, encoding="utf-8")
    return load_catalogue("pl_PL", [own_catalogue(path)])


def test_own_entities_stand_beside_those_that_ship(tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(GOOD, encoding="utf-8")
    plain, extended = load_catalogue("pl_PL"), load_catalogue("pl_PL", [own_catalogue(path)])
    assert extended.entities.keys() - plain.entities.keys() == {"my_badge"}
    assert extended.entities["my_badge"].context == ("identyfikator", "badge")
    assert extended.entities["payment_card"].context[0] == "kartą"
    assert "wersja" in extended.against
    assert extended.digest != plain.digest
    assert load_catalogue("nl_NL", [own_catalogue(path)]).entities.keys() == load_catalogue("nl_NL").entities.keys()  # not of that locale


@pytest.mark.parametrize(
    ("before", "after", "line", "fault"),
    [
        (r"BD-\\d{5}", "BD-(", 17, "a group is written"),
        (r"BD-\\d{5}", "(?=BD)1", 17, "a group is written"),
        (r"BD-\\d{5}", r"\\d?", 17, "matches an empty text"),
        (r"BD-\\d{5}", "[a-z]{1999}[a-z]{1999}[a-z]{1999}[a-z]{1999}", 17, "places"),
        ("stdnum:luhn", "stdnum:nothing", 18, "no module 'nothing'"),
        ("stdnum:luhn", "piiloom:nothing", 18, "there is no validator"),
        ("stdnum:luhn", "luhn", 18, "there is no validator"),
        ("stdnum:luhn", "phonenumbers:XX", 18, "no region"),
        ("my_badge", "pl_pesel", 7, "is defined already in pl_PL.yaml"),
        ("my_badge", "My-Badge", 7, "entities"),
        ("type: code", "type: cod", 12, "there is no type 'cod'"),
        ("domains: [IT]", "domains: [It]", 10, "domains"),
        ("score: 0.8", "score: 1.8", 17, "score"),
        ("payment_card", "payment_crad", 5, "there is no entity 'payment_crad'"),
        ("    source: our own\n", "", 7, "source"),
        ("sensitivity: 2", "sensitivity: 9", 14, "sensitivity"),
        ("masks: ['BD-#####']", "masks: ['BD-#####'], draw: phone", 20, "exactly one"),
        ("    priority: 50", "    priority: 50\n    colour: red", 16, "colour"),
        ("locale: pl_PL", "locale: polish", 1, "locale"),
        ("    native: Identyfikator\n", "    native: Identyfikator\n    native: x\n", 10, "given twice"),
    ],
)
def test_a_fault_is_told_with_file_and_line(tmp_path: Path, before: str, after: str, line: int, fault: str) -> None:
    before, after = before.replace("\\\\", "\\"), after.replace("\\\\", "\\")
    assert before in GOOD
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, GOOD.replace(before, after))
    assert fault in caught.value.message
    assert caught.value.where == f"own.yaml:{line}"


def test_a_missing_file_and_an_unknown_locale_are_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        load_catalogue("pl_PL", [own_catalogue(tmp_path / "none.yaml")])
    with pytest.raises(UsageError, match="Did you mean 'pl_PL'"):
        known_locale("pl_LP")
    assert known_locale("pt-br") == "pt_BR"


def test_the_catalogue_is_as_large_as_promised() -> None:
    by_locale = {locale: list(shipped_entities([locale])) for locale in (UNIVERSAL, *catalogue_locales())}
    assert all(len(by_locale[locale]) >= 22 for locale in LOCALES)
    entities = [one for found in by_locale.values() for one in found]
    assert len(entities) > 300
    assert len({one.id for one in entities}) == len(entities)
    assert {domain for one in entities for domain in one.domains} == set(DOMAINS)
    for one in entities:
        assert one.source.strip(), one.id
        assert one.patterns or not one.structured, one.id
        assert one.generator is not None or not one.patterns, one.id
    assert all(re.fullmatch(r"[a-z]{2}_[A-Z]{2}", locale) for locale in catalogue_locales())


def test_a_form_of_a_locale_names_a_universal_entity() -> None:
    universal = {one.id for one in shipped_entities([UNIVERSAL])}
    forms = {one.id: one.form_of for one in shipped_entities() if one.form_of is not None}
    assert forms["pl_phone"] == "phone"
    assert set(forms.values()) <= universal
    assert not forms.keys() & universal
