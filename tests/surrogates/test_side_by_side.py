"""What placeholders that stand close together tell of each other, and what stands beside them of their kind."""

from __future__ import annotations

import re

import pytest

from piiloom.surrogates.inputs.given_spans import mentions_of
from piiloom.surrogates.placeholders import Finder, auto_mapping
from piiloom.surrogates.placeholders.reading import kind_of_span
from piiloom.surrogates.placeholders.settling import told_by_neighbours
from tests.longer import case_by_case
from tests.surrogates.persons_filled import filled, ids, words


def kinds(text: str, locale: str = "en_US") -> list[str]:
    return [place.kind for place in filled(text, locale)[0].placed]


@case_by_case(
    ("text", "locale"),
    [
        ("Mobile: [PHONE] Desk: [PHONE] Fax: [PHONE]", "en_US"),
        ("[NAME] flew from [CITY] to [CITY].", "en_US"),
        ("[NAME] has two: [ADDRESS], and [ADDRESS]", "en_US"),
        ("[NAME]: [EMAIL] or [EMAIL]", "en_US"),
        ("[naam], tel. [telefoonnummer] of mobiel [telefoonnummer]", "nl_NL"),
        ("Twins of [AGE] and [AGE]", "en_US"),
        ("We went to [LOCATION], [LOCATION] and [LOCATION].", "en_US"),
    ],
)
def test_nobody_writes_one_value_twice_at_once(text, locale):
    for done in filled(text, locale, count=5):
        own = [word for word, place in zip(words(done), done.placed, strict=True) if place.kind != "person"]
        if not re.search("AGE", text):  # ages are told apart, but two may be equal by chance
            assert len(set(own)) == len(own), done.text
        assert len(own) >= 2
    if "AGE" in text:
        assert any(len(set(words(done))) == 2 for done in filled(text, locale, count=9))


def test_a_value_that_is_repeated_later_stays_the_same():
    (done,) = filled("[NAME] lives at [ADDRESS]. The house at [ADDRESS] is theirs; mail [EMAIL] (mailto:[EMAIL]).")
    _, home, again, mail, link = words(done)
    assert home == again
    assert mail == link


def test_a_contact_beside_an_email_is_another_way_to_reach_somebody():
    assert kinds("Details: [NAME] [CONTACT] [EMAIL]") == ["person", "phone", "email"]
    assert kinds("<EMAIL> or <CONTACT>") == ["email", "phone"]


def test_the_parts_of_an_address_are_one_place_also_where_nobody_is_named():
    for done in filled(
        "{{building_number}} {{street_name}} {{secondary_address}} {{city}} {{state_abbr}} {{zipcode}} {{country}}", count=6
    ):
        house, _, flat, _, state, code, country = words(done)
        assert re.fullmatch(r"\d+[A-D]?", house)
        assert re.fullmatch(r"Apt \d+", flat)
        assert re.fullmatch("[A-Z]{2}", state)
        assert re.fullmatch(r"\d{5}", code)
        assert country == "United States"
        assert len(set(ids(done)) - {ids(done)[-1]}) == 1  # all but the country are one's home


def test_two_places_with_a_comma_are_a_town_and_its_region():
    text = "[NAME] lives in [LOCATION], [LOCATION] and saw Dr [NAME] in [LOCATION]."
    assert kinds(text) == ["person", "city", "region", "person", "location"]
    assert kinds("In [LOCATION], [LOCATION] and [LOCATION]") == ["city"] * 3


@case_by_case(
    ("before", "kind"),
    [
        ("My email is ", "email"), ("email me at ", "email"), ("my Email:-", "email"), ("Cell: ", "phone"), ("Cell# ", "phone"),
        ("contact number :-", "phone"), ("my home address is ", "address"), ("calling ", "phone"), ("spoke with ", "person"),
        ("Thanks, ", "email"),
    ],
)  # fmt: skip
def test_what_stands_beside_a_contact_tells_its_kind(before, kind):
    assert kinds(f"So I write. {before}[CONTACT] for now") == [kind]


@pytest.mark.parametrize(
    ("before", "kind"), [("I attend ", "school"), ("a patient at ", "hospital"), ("She works at ", "employer"), ("She likes ", "location")]
)
def test_what_stands_before_a_place_tells_its_kind(before, kind):
    assert kinds(f"{before}[LOCATION] now.") == [kind]


def test_masks_that_spell_a_date_are_written_so():
    (done,) = filled("On Month DD, YYYY and Month D D, Y Y Y Y; YYYY-MM-DD, DD/MM/YYYY.")
    first, second, iso, slashed = words(done)
    assert re.fullmatch(r"[A-Z][a-z]+ \d{1,2}, \d{4}", first)
    assert re.fullmatch(r"[A-Z][a-z]+ \d{1,2}, \d{4}", second)
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", iso)
    assert re.fullmatch(r"\d\d/\d\d/\d{4}", slashed)


def test_a_date_before_its_year_names_its_month_and_has_a_day_only_where_one_can_stand():
    (done,) = filled(
        "[verdachte], geboren op [geboortedatum] 1974 (geb. [geboortedatum]/1974), in [datum] 2012, op [geboortejaar] 1974", "nl_NL"
    )
    _, birth, slashed, month, instead = words(done)
    assert re.fullmatch(r"\d{1,2} [a-z]{3,}", instead)
    assert re.fullmatch(r"\d{1,2} [a-z]{3,}", birth)
    assert re.fullmatch(r"\d\d/\d\d", slashed)
    assert re.fullmatch(r"[a-z]{3,}", month)


def test_the_family_and_a_whole_name():
    (done,) = filled("All of the [NAME] family; [FULL_NAME], and de familie", "en_US")
    family, whole = words(done)
    assert " " in whole
    assert family.isalpha() or "-" in family or " " in family  # a family name alone: it was a whole name before
    assert done.placed[0].subtype == "last_name"


def test_account_types_are_no_numbers_and_labels_of_orders_are_read():
    labels = {
        "account_type": "generic",
        "delivery_country": "country",
        "refund_amount": "money",
        "invoice_id": "case_number",
        "delivery_city": "city",
    }
    assert {label: kind_of_span(label, None) for label in labels} == labels
    assert kinds("[MARITAL_STATUS]") == ["marital_status"]


def test_known_originals_are_never_told_apart_by_where_they_stand():
    text = "020-1234567, 020-1234567"
    mentions = mentions_of(
        [{"start": 0, "end": 11, "type": "PHONE"}, {"start": 13, "end": 24, "type": "PHONE"}], text, kind_of_span
    ).mentions
    assert told_by_neighbours(text, mentions) == list(mentions)


def test_a_text_without_neighbours_is_not_copied():
    text = "[PHONE] stands far away from the other one, which is [PHONE]"
    mentions = Finder(auto_mapping([text])).find(text).mentions
    assert told_by_neighbours(text, mentions) is mentions
