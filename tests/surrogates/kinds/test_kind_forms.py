"""Values in the form that their place asks for: masks, percentages, religions, amounts and times beside their sign, towns of a region."""

from __future__ import annotations

import re

import pytest
from kind_draws import draw, owned

from piiloom.surrogates.kinds.kind import KINDS
from piiloom.surrogates.kinds.places import city_of
from piiloom.surrogates.kinds.wording import names_party, number_of_kin
from tests.longer import case_by_case


def drawn(kind: str, form: str, country: str = "US", original: str = "") -> list[str]:
    return [KINDS[kind].draw(draw(seed, country, original=original)._replace(form=form)) for seed in range(60)]


@case_by_case(
    ("kind", "mask", "country", "shape"),
    [
        ("date", "XX/XX/2019", "US", r"(?:0[1-9]|1[0-2])/[0-3]\d/2019"),
        ("date", "XX/XX/2019", "GB", r"[0-3]\d/(?:0[1-9]|1[0-2])/2019"),
        ("date", "XX/XX/XXXX", "US", r"(?:0[1-9]|1[0-2])/[0-3]\d/20\d\d"),
        ("date", "XXXX-XX-XX", "US", r"20\d\d-(?:0[1-9]|1[0-2])-[0-3]\d"),
        ("date", "XX/XX", "US", r"(?:0[1-9]|1[0-2])/[0-3]\d"),
        ("date", "XX.XX.XX", "DE", r"[0-3]\d\.(?:0[1-9]|1[0-2])\.2\d"),
        ("national_id", "XXX-XX-1234", "US", r"\d{3}-\d\d-1234"),
        ("phone", "(XXX) XXX-XXXX", "US", r"\(\d{3}\) \d{3}-\d{4}"),
        ("payment_card", "XXXX-XXXX-XXXX-1234", "US", r"(?:\d{4}-){3}1234"),
    ],
)
def test_a_mask_is_filled_and_keeps_what_it_tells(kind: str, mask: str, country: str, shape: str) -> None:
    values = drawn(kind, f"mask:{mask}", country)
    assert [value for value in values if not re.fullmatch(shape, value)] == []
    assert len(set(values)) > 30


def test_percentages_have_their_sign_unless_the_text_has_it() -> None:
    assert all(re.fullmatch(r"\d{1,2}%", value) for value in drawn("percent", ""))
    assert all(re.fullmatch(r"\d{1,2} %", value) for value in drawn("percent", "", "FR"))
    assert all(re.fullmatch(r"\d{1,2}", value) for value in drawn("percent", "bare"))
    assert all(re.fullmatch(r"\d,\d %", value) and value != "4,5 %" for value in drawn("percent", "", "NL", original="4,5 %"))


def test_amounts_times_and_companies_leave_out_what_the_text_has() -> None:
    assert all(re.fullmatch(r"[\d.,]+", value) for value in drawn("money", "bare"))
    assert all(re.fullmatch(r"1?\d:\d\d", value) and int(value.split(":")[0]) <= 12 for value in drawn("time", "clock"))
    assert all(re.fullmatch(r"1?\d", value) for value in drawn("time", "hour"))
    assert all(2 <= int(value) <= 12 for value in drawn("number", "count"))
    assert not [value for value in drawn("company", "bare", "DE") if re.search(r"\b(?:GmbH|AG|KG|OHG)$", value)]


@pytest.mark.parametrize(
    ("form", "word", "never"),
    [
        ("noun", "Catholicism", "Catholic"),
        ("adjective", "Jewish", "Judaism"),
        ("member", "Jew", "Jewish"),
        ("church", "Lutheran", "Muslim"),
    ],
)
def test_a_religion_has_the_form_of_its_place(form: str, word: str, never: str) -> None:
    values = {KINDS["religion"].draw(draw(seed)._replace(form=form)) for seed in range(400)}
    assert word in values
    assert never not in values


def test_a_religion_has_the_form_of_its_original() -> None:
    assert "Islam" in (values := set(drawn("religion", "", original="Buddhism")))
    assert not values & {"Muslim", "Jewish", "Buddhism"}
    assert "Muslim" in (values := set(drawn("religion", "", original="Catholic")))
    assert not values & {"Islam", "Catholic"}


def test_a_religion_agrees_with_a_noun_or_a_woman() -> None:
    assert "católica" in set(drawn("religion", "feminine", "ES"))
    members = {KINDS["religion"].draw(owned(seed, "DE")._replace(form="member")) for seed in range(200)}
    assert {"Buddhist", "Buddhistin"} <= members


def test_a_town_lies_in_the_region_that_is_told() -> None:
    assert {city_of("US", "ohio", seed * 99_991).region.name for seed in range(20)} == {"Ohio"}
    assert {city_of("US", "OH", seed * 99_991).region.name for seed in range(20)} == {"Ohio"}
    assert len({city_of("US", "nowhere", seed << 40).region.name for seed in range(20)}) > 3


@pytest.mark.parametrize(
    ("original", "number"), [("two children", "two"), ("12 kids", "12"), ("grandsons", ""), ("son", None), ("son and twins", None)]
)
def test_several_relatives_are_told_with_their_number(original: str, number: str | None) -> None:
    assert number_of_kin(original) == number


@pytest.mark.parametrize(
    ("original", "party"), [("Labour Party", True), ("Volkspartei", True), ("Partido Verde", True), ("Libertarian", False)]
)
def test_a_party_is_told_from_a_leaning(original: str, party: bool) -> None:
    assert names_party(original) is party
