"""A place that the text names behind a placeholder is where its surrogate lies."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest

from piiloom.surrogates.documents import Mention
from piiloom.surrogates.kinds.places import City, country_places
from piiloom.surrogates.mention_rules import RuleContext, told_by_place_names
from tests.longer import case_by_case
from tests.surrogates.persons_filled import filled, filled_spans, words


def _cities(country: str) -> dict[str, City]:
    return {city.name: city for city in country_places(country).cities}


@case_by_case(
    ("text", "locale", "country"),
    [
        ("I am from [CITY], Germany.", "en_US", "DE"),
        ("Ik kom uit [plaats], Frankrijk, en niet van hier.", "nl_NL", "FR"),
        ("We met in [CITY] (Brazil) then.", "en_GB", "BR"),
        ("She lives in [CITY], the Netherlands", "en_US", "NL"),
        ("Vive en [CIUDAD], Japón, con su madre.", "es_ES", "JP"),
        ("We met in [CITY], USA.", "en_GB", "US"),
    ],
)
def test_a_town_lies_in_the_country_that_stands_behind_it(text: str, locale: str, country: str) -> None:
    drawn = {words(done)[0] for done in filled(text, locale, count=20)}
    assert drawn <= set(_cities(country))
    assert len(drawn) > 3


@pytest.mark.parametrize(
    ("text", "region"), [("Born in [CITY], TX.", "Texas"), ("Born in [CITY], Ohio 44101", "Ohio"), ("From [LOCATION], CA", "California")]
)
def test_a_town_lies_in_the_region_that_stands_behind_it(text: str, region: str) -> None:
    for done in filled(text, count=20):
        assert region in {city.region.name for city in country_places("US").cities if city.name == words(done)[0]}  # Arlington is in two


def test_the_parts_of_an_address_and_all_mentions_of_one_town_are_in_one_country() -> None:
    text = "Sent to [STREET], [ZIP] [CITY], Germany. [PATIENT_CITY], Spain: [PATIENT] likes [PATIENT_CITY]."
    for done in filled(text, count=20):
        _, postcode, town, home, _, again = words(done)
        found = _cities("DE")[town]
        assert re.fullmatch(r"\d{5}", postcode)
        assert postcode.startswith(found.region.post)
        assert home in _cities("ES")
        assert again == home


def test_known_originals_stay_where_they_were() -> None:
    text = "She moved from Berlin, Germany to Lyon, France, and back to Austin, Texas."
    berlin, lyon, austin = filled_spans(
        text, [("Berlin", "location", "city"), ("Lyon", "location", "city"), ("Austin", "location", "city")]
    )
    assert berlin in _cities("DE")
    assert lyon in _cities("FR")
    assert "Texas" in {city.region.name for city in country_places("US").cities if city.name == austin}
    assert {berlin, lyon, austin}.isdisjoint({"Berlin", "Lyon", "Austin"})


@case_by_case(
    "text",
    ["[CITY], Turkey-born", "[CITY] Germany", "[CITY]. Germany", "[CITY], INside", "[CITY], germany", "[NAME], Germany", "[CITY], U.Sx"],
)
def test_what_is_no_place_behind_it_changes_nothing(text: str) -> None:
    kind = "person" if "NAME" in text else "city"
    mentions: Sequence[Mention] = [Mention(0, text.index("]") + 1, kind, same="mention")]
    assert told_by_place_names(text, mentions, RuleContext(country="US")) is mentions
