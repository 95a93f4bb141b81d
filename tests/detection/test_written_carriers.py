"""What is taken as a carrier from a model, and which fault of it is named."""

from __future__ import annotations

from functools import cache

import pytest

from piiloom.detection.benchmark.carriers import shipped_carriers
from piiloom.detection.benchmark.written_carriers import (
    LANGUAGES,
    SIZES,
    SLOT,
    carrier_of,
    carrier_orders,
    comparable,
    literal_text,
    personal_parts,
    reply_schema,
)
from piiloom.execution.calls import Fault
from piiloom.prompts.library import open_library
from piiloom.taxonomy.entities.catalogue_file import DOMAINS
from piiloom.taxonomy.entities.entity_catalogue import LOCALES, load_catalogue
from tests.detection.carrier_author import written
from tests.longer import case_by_case, usually

LOCALE = "pl_PL"
EVERY = 24  # domains and lengths


@cache
def orders(locale=LOCALE, count=EVERY):
    return tuple(carrier_orders(locale, count, seed=7))


@cache
def prompt(number):
    return open_library().find("benchmark_carrier").render({**orders()[number].variables(), "fault": None}).user


def judged(number, **changes):
    reply = written(prompt(number)) | changes
    return carrier_of(reply, orders()[number], load_catalogue(LOCALE, unconfirmed=True), "openai some-model")


# A short carrier with a look-alike, and one with entries.
SHORT, GROWING = (next(one.number for one in orders() if one.look_alike and one.length == length) for length in ("short", "medium"))
TEXT = "Proszę o szybkie sprawdzenie sprawy, ponieważ klient nadal czeka na odpowiedź naszego działu. " * 4
ENGLISH = "We are sorry that your parcel came late, and have asked the carrier to look into it. " * 4


def with_slots(text, number=SHORT):
    kinds = " ".join(f"{{{one.id}}}" for one in orders()[number].asked)
    return f"{text}\n{kinds} {{!order_number}}"


@pytest.mark.long
@pytest.mark.parametrize("number", usually(range(EVERY), {0, 7, 14, 21}))
def test_a_good_reply_of_each_domain_and_length_is_a_carrier(number):
    order, carrier = orders()[number], judged(number)
    assert (carrier.domain, carrier.form) == (order.domain, order.form)
    assert order.length in carrier.lengths
    assert len(carrier.entries) == order.size.entries
    assert (carrier.checked_by, carrier.written_by) == (None, "openai some-model")
    assert carrier.id.endswith(f"-w{number}")


@case_by_case(
    ("changes", "code", "told"),
    [
        ({"form": "poem"}, "form", orders()[SHORT].form),
        ({"text": " \n "}, "few_slots", "it uses 0 of the kinds"),
        ({"text": with_slots(f"{TEXT}{{pl_nothing}}")}, "unknown_slot", "{pl_nothing}"),
        ({"text": with_slots(f"{TEXT}{{=weather}}")}, "unknown_slot", "{weather}"),
        ({"text": with_slots(f"{TEXT}{{us_ssn}}")}, "unknown_slot", "{us_ssn}"),
        ({"text": with_slots(f"{TEXT}{{Imię}}")}, "malformed_slot", "is no slot"),
        ({"text": with_slots(f"{TEXT}{{oops")}, "malformed_slot", "is no slot"),
        ({"text": f"{TEXT}{{{orders()[SHORT].asked[0].id}}} {{!order_number}}"}, "few_slots", "it uses 1 of the kinds"),
        ({"text": with_slots(TEXT).replace(" {!order_number}", "")}, "no_look_alike", "{!order_number}"),
        ({"text": with_slots(f"{TEXT}\x07")}, "characters", "U+0007"),
        ({"text": with_slots(f"{TEXT}{SLOT}")}, "characters", "U+E000"),
        ({"text": with_slots(f"{TEXT}\ud83d")}, "characters", "U+D83D"),
    ],
)
def test_the_fault_of_a_reply_is_named(changes, code, told):
    with pytest.raises(Fault) as caught:
        judged(SHORT, **changes)
    assert caught.value.code == code, caught.value
    assert told in str(caught.value)


@pytest.mark.long  # loads patterns, names and languages
@pytest.mark.parametrize(
    ("changes", "code", "told"),
    [
        ({"text": with_slots(f"{TEXT}Numer 12345.")}, "personal", "five digits"),
        ({"text": with_slots(f"{TEXT}Numer ١٢٣٤٥.")}, "personal", "five digits"),
        ({"text": with_slots(f"{TEXT}Telefon 601 234 567.")}, "personal", "601 234 567"),
        ({"text": with_slots(f"{TEXT}Adres biuro@firma.pl.")}, "personal", "email"),
        ({"text": with_slots(f"{TEXT}Strona https://firma.pl/oferta.")}, "personal", "url"),
        ({"text": with_slots(f"{TEXT}Pozdrawiam, Anna Kowalska")}, "personal", "Anna Kowalska"),
        ({"text": with_slots(f"{TEXT}PIN 4821.")}, "personal", "4821"),
        (
            {"text": with_slots(ENGLISH)},
            "language",
            "en",
        ),
        ({"text": with_slots("Krótko.")}, "not_composed", "60 to 180 words"),
        ({"text": with_slots(TEXT * 20)}, "not_composed", "60 to 180 words"),
        ({"text": with_slots(f"{TEXT}{{!bad:person_name}}")}, "not_composed", "has no validator"),
    ],
)
def test_the_fault_of_a_document_is_named(changes, code, told):
    with pytest.raises(Fault) as caught:
        judged(SHORT, **changes)
    assert caught.value.code == code, caught.value
    assert told in str(caught.value)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda entries: entries[:5], "it has 5 different entries, and at least 8 are needed"),
        (lambda entries: [*entries[:-1], f" {entries[0]}\n"], "come twice"),
        (lambda entries: [*entries[:-1], " "], "may be empty"),
        (lambda entries: [*entries[:-1], "—"], "may be empty"),
        (lambda entries: [f"Wpis {number}: {{!order_number}}" for number, _ in enumerate(entries)], "hardly more than slots"),
    ],
)
def test_entries_that_would_not_do(change, told):
    with pytest.raises(Fault, match=told) as caught:
        judged(GROWING, entries=change(written(prompt(GROWING))["entries"]))
    assert caught.value.code == "entries"


@pytest.mark.long
def test_what_stands_beside_a_label_of_a_slot_is_no_value_of_it():
    assert literal_text("Hasło: {password}\nPESEL {pl_pesel}") == f"Hasło: {SLOT}\nPESEL {SLOT}"
    assert list(personal_parts(literal_text("Hasło: {password}, PESEL {pl_pesel}, 12.5 km, ul. {address}"), LOCALE)) == []


@pytest.mark.long
def test_copies_are_alike_whatever_their_case_and_with_ideographs_too():
    assert comparable(judged(SHORT)) == comparable(judged(SHORT))
    assert comparable(shipped_carriers("zh_CN")[8]).count(" ") > 40


def test_orders_take_turns_and_more_begin_with_fewer():
    many = orders(count=96)
    assert many[:EVERY] == orders()
    assert {(one.domain, one.length) for one in many[:EVERY]} == {(domain, length) for domain in DOMAINS for length in SIZES}
    assert len({one.form for one in many if one.length == "short" and one.domain == "IT"}) == 4
    assert 0.2 < sum(one.look_alike for one in many) / len(many) < 0.5
    assert all(len({entity.id for entity in one.asked}) == one.size.offered for one in many)
    asked = {entity.id for one in many for entity in one.asked}
    assert {one.id for one in load_catalogue(LOCALE, unconfirmed=True).entities.values() if one.locale == LOCALE} <= asked
    assert next(iter(carrier_orders(LOCALE, 1, seed=8))) != many[0]


def test_each_locale_has_a_language_and_orders():
    assert list(LANGUAGES) == list(LOCALES)
    (order,) = carrier_orders("ar_AE", 1, lengths=("long",), seed=7)
    assert set(reply_schema(order)["properties"]) == {"form", "opening", "entries", "closing"}
    assert "{person_name@1}" in open_library().find("benchmark_carrier").render({**order.variables(), "fault": None}).system


@pytest.mark.long
def test_what_ships_has_nothing_personal_beside_its_slots():
    checked = [(one, locale) for locale in LOCALES for one in shipped_carriers(locale)[::6]]
    assert not [
        (one.id, found) for one, locale in checked if (found := list(personal_parts("\n".join(map(literal_text, one.texts())), locale)))
    ]
