"""The shipped carrier texts: what each locale has, and what becomes of the slots of a carrier."""

from __future__ import annotations

import random
import re
from datetime import date
from itertools import pairwise

import pytest

from piiloom.detection.benchmark.carriers import LENGTHS, read_carriers, shipped_carriers
from piiloom.detection.benchmark.composing import compose
from piiloom.pii_values.entity_values.people import locale_words
from piiloom.taxonomy.entities.catalogue_file import DOMAINS
from piiloom.taxonomy.entities.entity_catalogue import LOCALES, load_catalogue, shipped_entities
from tests.longer import case_by_case

HEAD = "locale: sv_SE\ndomain: CPG\nchecked_by: null\ndocuments:\n"


@pytest.mark.parametrize("locale", LOCALES)
def test_each_domain_and_length_has_carriers(locale):
    carriers = shipped_carriers(locale)
    assert {(one.domain, length) for one in carriers for length in one.lengths} == {
        (domain, length) for domain in DOMAINS for length in LENGTHS
    }
    assert {one.locale for one in carriers} == {locale}
    assert len({one.id for one in carriers}) == len(carriers)


@case_by_case("locale", LOCALES)
def test_each_entity_of_a_locale_stands_in_a_carrier(locale):
    used = {slot.name for one in shipped_carriers(locale) for slot in one.slots() if slot.kind == "value"}
    assert [entity.id for entity in shipped_entities([locale]) if entity.id not in used] == []


@pytest.fixture
def composed(tmp_path):
    """A Swedish document of a carrier, which is written as the fields of its YAML."""

    def make(*fields, seed=1, length="medium"):
        path = tmp_path / "cpg.yaml"
        path.write_text(HEAD + "\n".join(("  - id: one", "    form: note", f"    length: {length}", *(f"    {one}" for one in fields))))
        return compose(read_carriers(path)[0], length, load_catalogue("sv_SE"), random.Random(seed))

    return make


def entries(*texts):
    return [f"entries: [{', '.join(texts)}]"]


def labeled(document, what):
    return [document.text[one.start : one.end] for one in document.values if one.what == what]


@pytest.mark.parametrize("seed", range(4))
def test_a_word_for_a_relative_agrees_with_who_is_named(composed, seed):
    text = "text: 'min {relation} {person_name@1f} ringde, och {person_name@2m} ({relation}), hon är {relation@1}'"
    words = locale_words("sv_SE").of_person
    drawn = [{words("relations", gender, 0, random.Random(one)) for one in range(60)} for gender in ("female", "male")]
    female, male = drawn[0] - drawn[1], drawn[1] - drawn[0]
    first, second, third = labeled(composed(text, seed=seed, length="tiny"), "relation")
    assert not {first, third} & male
    assert second not in female
    assert (len(female) > 5, len(male) > 5) == (True, True)


def test_an_index_of_one_entry_holds_in_it_alone(composed):
    entry = "'A {{=product@1}} B {{=product@50}} C {{=product@50}} D {{person_name@51}} E {{person_name@51}} ok{}'"
    document = composed(*entries(*(entry.format(number) for number in range(6))))
    found = re.findall(r"A (.+) B (.+) C (.+) D (.+) E (.+) ok", document.text)
    assert len(found) > 6
    assert len({one for one, *_ in found}) == 1
    assert all((second, fourth) == (third, fifth) for _, second, third, fourth, fifth in found)
    assert min(len({row[column] for row in found}) for column in (1, 3)) > 1


@pytest.mark.parametrize("seed", range(4))
def test_the_time_of_a_document_goes_on(composed, seed):
    document = composed(*entries(*["'{=date} {=time} {person_name} ringde om lagret'"] * 6), "pace: hours", seed=seed)
    days = [line.split(" ")[0] for line in document.text.splitlines() if re.match(r"\d{4}-", line)]
    assert all(date.fromisoformat(one) <= date.fromisoformat(other) for one, other in pairwise(days))
    assert {7 <= int(hour) < 21 for hour in re.findall(r"\b(\d\d):\d\d", document.text)} == {True}


def test_an_appointment_is_at_a_quarter_of_an_hour(composed):
    document = composed(*entries(*["'{person_name} kommer kl. {=due_time} idag'"] * 6))
    assert {int(minute) % 15 for minute in re.findall(r"\b\d\d:(\d\d)", document.text)} == {0}


def test_a_local_document_keeps_to_one_city(composed):
    assert len(set(labeled(composed(*entries(*["'levererat till {address}, {city} idag'"] * 6), "local: true"), "city"))) == 1
    assert len(set(labeled(composed(*entries(*["'levererat till {address}, {city} idag'"] * 6)), "city"))) > 1


def test_a_value_begins_as_its_slot_says(composed):
    for seed in range(5):
        (iban,) = labeled(composed("text: 'betala till {iban:FI} idag'", seed=seed, length="tiny"), "iban")
        assert iban.startswith("FI")


def test_a_family_and_a_given_name_side_by_side_are_one_name(composed):
    document = composed(
        "text: 'barn {given_name@1} {family_name@2}, sedan {family_name@2} {given_name@1} av {person_name@2}'", length="tiny"
    )
    first, second, _ = labeled(document, "person_name")
    assert first.split(" ")[::-1] == second.split(" ")
