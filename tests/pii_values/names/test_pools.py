"""Pools: enough names, no part that stands out, forms that fit the gender, names that read as names."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from piiloom.pii_values.names.index import builtin
from piiloom.pii_values.names.pools import ENGLISH, NamePools, no_names, tidy
from piiloom.pii_values.names.regions import REGIONS, borne_by, region_of

INDEX = builtin()
POOLS = NamePools(INDEX)
ENGLISH_ONLY = NamePools(INDEX, english_only=True)
NATIVE = NamePools(INDEX, script="native")
PERSONAS = 10_000


def _cast(pools: NamePools) -> list[tuple[str, str, str]]:
    """Country, given and family name of 10,000 people, as many of each group."""
    rng = random.Random(11)
    people = []
    for gender, region in pools.groups():
        for _ in range(PERSONAS // 10):
            country = rng.choice(pools.countries(region))
            people.append((country, rng.choice(pools.given(country, gender)), rng.choice(pools.family(country, gender))))
    return people


def test_the_groups_are_two_by_five():
    assert len(POOLS.groups()) == len(set(POOLS.groups())) == 10
    assert {region for _, region in POOLS.groups()} == set(REGIONS)


@pytest.mark.parametrize("region", REGIONS)
def test_each_region_has_at_least_400_names_of_each_kind(region):
    countries = set(POOLS.countries(region))
    assert {region_of(country) for country in countries} == {region}
    for gender in ("female", "male"):
        assert len({name for country in countries for name in POOLS.given(country, gender)}) >= 400
        assert len({name for country in countries for name in POOLS.family(country, gender)}) >= 400


# With the English-only filter, names such as Thomas are given and family names of three regions.
@pytest.mark.long
@pytest.mark.parametrize(("pools", "most"), [(POOLS, 0.005), (ENGLISH_ONLY, 0.007), (NATIVE, 0.005)], ids=["all", "english only", "native"])
def test_no_name_part_stands_out_among_10_000_people(pools, most):
    people = _cast(pools)
    parts = Counter(given for _, given, _ in people) + Counter(family for _, _, family in people)
    assert max(parts.values()) <= PERSONAS * most, parts.most_common(3)


def test_full_names_repeat_no_more_than_chance_has_it():
    people = _cast(POOLS)
    # The expected number of pairs with one name, from the very chances that the names were drawn with, and five deviations more.
    # Two people have one name when what one country gives them the other (or the same one) gives as well, given and family name.
    expected = 0.0
    for gender, region in POOLS.groups():
        countries = POOLS.countries(region)
        known = []
        for country, turns in Counter(countries).items():
            given, family = set(POOLS.given(country, gender)), set(POOLS.family(country, gender))
            known.append((turns / len(countries) / len(given) / len(family), given, family))
        same = sum(a * b * len(g & other_g) * len(f & other_f) for a, g, f in known for b, other_g, other_f in known)
        drawn = PERSONAS // 10
        expected += drawn * (drawn - 1) / 2 * same
    repeats = sum(n * (n - 1) // 2 for n in Counter((given, family) for _, given, family in people).values())
    assert repeats <= expected + 5 * expected**0.5 + 5


def test_names_read_as_names():
    for region in REGIONS:
        for country in set(POOLS.countries(region)):
            for name in {*POOLS.given(country, "female"), *POOLS.given(country, "male"), *POOLS.family(country)}:
                assert tidy(name) == name
                assert len(name) > 1
                assert name.casefold() not in no_names()


def test_a_pool_has_no_repeats_and_no_name_of_both_genders():
    for country in INDEX.countries():
        female, male = POOLS.given(country, "female"), POOLS.given(country, "male")
        assert len(female) == len(set(female))
        assert not set(female) & set(male)


def test_family_names_follow_the_gender_where_they_do():
    assert all(name.endswith(("ová", "á", "í", "ů")) for name in POOLS.family("CZ", "female"))
    assert not any(name.endswith("ová") for name in POOLS.family("CZ", "male"))
    assert "Petrova" in POOLS.family("BG", "female")
    assert "Petrov" in POOLS.family("BG", "male")
    assert "Petrov" not in POOLS.family("BG", "female")
    assert all(name.endswith("dóttir") for name in POOLS.family("IS", "female"))
    assert POOLS.family("NL", "female") is POOLS.family("NL", "male")


def test_family_names_of_a_gender_are_those_that_it_may_bear_in_the_order_of_their_ranks():
    table = INDEX.last
    for country in ("RU", "LT", "GR", "IN", "NL"):
        every = INDEX.last_names(country).numbers
        for side, gender in enumerate(("female", "male")):
            expected = []
            for number in every:
                told, own = borne_by(table.name(number), country), table.genders(number)[side]
                if told == gender or (told is None and (table.genders(number) == (None, None) or own)):
                    expected.append(number)
            assert list(INDEX.last_names(country, gender).numbers) == expected, (country, gender)


@pytest.mark.long
def test_english_only_keeps_ascii_names_in_use_in_english_speaking_countries():
    for region in REGIONS:
        assert ENGLISH_ONLY.countries(region)
        for country in set(ENGLISH_ONLY.countries(region)):
            for gender in ("female", "male"):
                for kind, names in (("first", ENGLISH_ONLY.given(country, gender)), ("last", ENGLISH_ONLY.family(country, gender))):
                    table = INDEX.table(kind)
                    assert all(name.isascii() for name in names)
                    for name in names:
                        places = {place.country for number in table.like(name) for place in table.places(number)}
                        assert places & set(ENGLISH), name


def test_vietnamese_names_keep_their_marks():
    assert {"Ngọc", "Hương"} <= set(POOLS.given("VN", "female"))
    assert "Nguyễn" in POOLS.family("VN")
    assert len(POOLS.given("VN", "female")) >= 100
    assert len(POOLS.given("VN", "male")) >= 100
    assert len(POOLS.family("VN")) >= 40


def test_native_names_where_there_are_some_and_latin_ones_elsewhere():
    assert "Смирнов" in NATIVE.family("RU", "male")
    assert not any(name.isascii() for name in NATIVE.given("JP", "female"))
    assert NATIVE.given("NL", "male") == POOLS.given("NL", "male")
    honorifics = {"श्री", "श्रीमती", "सुश्री", "डॉ", "डॉ."}
    assert not any(part in honorifics for gender in ("female", "male") for name in NATIVE.given("IN", gender) for part in name.split())


def test_equal_settings_give_equal_pools_in_equal_order():
    again = NamePools(builtin())
    assert again.countries("Asia") == POOLS.countries("Asia")
    assert again.given("KE", "female") == POOLS.given("KE", "female")
