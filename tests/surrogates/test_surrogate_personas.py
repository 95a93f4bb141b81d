"""Ten thousand people through the engine: names as frequent as chance has it, groups equal, and everything about a person agrees."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable
from datetime import date, timedelta
from functools import cache

import numpy as np
import pytest

from piiloom.foundation.seeding import below, mix, seed_of
from piiloom.surrogates.kinds.identifiers import ascii_letters
from piiloom.surrogates.leakage.attacks import agreement_of, expected_pairs, observed_pairs
from piiloom.surrogates.persona_assignment.groups import GROUPS
from piiloom.surrogates.settings import EngineSettings
from tests.surrogates.ten_thousand import LOCALES, PEOPLE, POOLS, People, ten_thousand

LARGEST_SHARE = 0.005
pytestmark = pytest.mark.long  # ten thousand people are drawn; test_persona_groups has sixty


@pytest.fixture(scope="module")
def people() -> People:
    """Everybody."""
    return ten_thousand()


# Names and groups


def test_all_ten_groups_are_equal(people: People) -> None:
    assert Counter(one.group for one in people.told) == dict.fromkeys(range(10), PEOPLE // 10)
    assert [report["largest_difference"] for report in people.reports] == [0] * len(LOCALES)


def test_names_are_of_their_group(people: People) -> None:
    for one in people.told:
        gender, region = GROUPS[one.group]
        given, family = one.values["given"], one.values["family"]
        assert any(
            given in POOLS.given(country, gender) and family[1:] in _tails(country, gender) for country in set(POOLS.countries(region))
        ), one


@cache
def _tails(country: str, gender: str) -> frozenset[str]:
    """Family names without their first letter, which is a capital where the name stands alone."""
    return frozenset(name[1:] for name in POOLS.family(country, gender))  # type: ignore[arg-type]


def test_no_full_name_comes_twice_above_chance(people: People) -> None:
    """Pairs of equal full names are as many as even draws from the pools give, within four standard deviations of that count."""
    names = Counter(one.values["full"] for one in people.told)
    chances = np.array([[chance_of_same(one, other) for other in range(10)] for one in range(10)])
    assert agreement_of(POOLS) == pytest.approx(chances)
    expected = expected_pairs([PEOPLE // 10] * 10, chances)
    assert observed_pairs(names) <= expected + 4 * math.sqrt(expected), (observed_pairs(names), expected)
    assert max(names.values()) <= 3


@pytest.mark.parametrize(
    "draws",
    [
        lambda seed: (mix(seed, 1), mix(seed, 2)),
        lambda seed: (mix(seed, 7), mix(seed, 8)),
        lambda seed: (mix(seed, 0x61), mix(seed, 0x61) >> 32),  # given and family name
        lambda seed: (seed >> 8, mix(seed, 0x61)),  # country and given name
        lambda seed: (seed >> 8, mix(seed, 0x61) >> 32),
        lambda seed: (mix(seed, 5) >> 20, mix(seed, 5) >> 40),  # form and sign of an address
    ],
)
def test_two_draws_from_one_seed_tell_nothing_of_each_other(draws: Callable[[int], tuple[int, int]]) -> None:
    """The chi-squared of 32 × 32 cells has a mean of 1023 and a deviation of 45; the seeds are as the engine makes them."""
    seeds = [mix(mix(seed_of("personas"), 0xD0C), number) for number in range(50_000)]
    cells = Counter((below(one, 32), below(other, 32)) for one, other in map(draws, seeds))
    even = len(seeds) / 1024
    assert sum((cells[a, b] - even) ** 2 / even for a in range(32) for b in range(32)) < 1023 + 6 * 45


def chance_of_same(one: int, other: int) -> float:
    """The probability that somebody of each of two groups bears the same full name; names of several countries count in all of them."""
    return sum(
        share * other_share * len(givens & other_givens) * len(families & other_families) / (sizes * other_sizes)
        for share, givens, families, sizes in pools_of(one)
        for other_share, other_givens, other_families, other_sizes in pools_of(other)
    )


@cache
def pools_of(group: int) -> list[tuple[float, frozenset[str], frozenset[str], int]]:
    """For each country of a group how likely it is drawn, its given and family names, and how many full names they make."""
    gender, region = GROUPS[group]
    turns = Counter(POOLS.countries(region))
    found = []
    for country, count in turns.items():
        givens, families = frozenset(POOLS.given(country, gender)), frozenset(POOLS.family(country, gender))
        found.append((count / turns.total(), givens, families, len(givens) * len(families)))
    return found


def test_no_part_of_a_name_dominates(people: People) -> None:
    for part in ("given", "family"):
        counts = Counter(one.values[part] for one in people.told)
        assert counts.most_common(1)[0][1] <= LARGEST_SHARE * PEOPLE, (part, counts.most_common(3))
    words = Counter(word for one in people.told for word in re.split(r"[ -]", one.values["full"]) if word not in PARTICLES)
    assert words.most_common(1)[0][1] <= LARGEST_SHARE * PEOPLE, words.most_common(5)


PARTICLES = frozenset({"Al", "De", "de", "da", "dos", "van", "der", "bin", "El", "la"})  # parts of many families' names


# What agrees with the name


def test_addresses_and_usernames_are_made_of_the_name(people: People) -> None:
    for one in people.told:
        given, family = ascii_letters(one.values["given"]), ascii_letters(one.values["family"])
        assert given
        assert family
        local, _, domain = one.values["email"].partition("@")
        assert re.fullmatch(r"[a-z]+([._-]?[a-z]+)*[0-9]*", local), local
        assert domain.endswith((".example", ".test", ".invalid", "example.com", "example.org", "example.net"))
        letters = re.sub(r"[^a-z]", "", local)
        assert letters in {*_handles(given, family), *_handles(family, given)}, (given, family, local)
        assert one.values["username"] == local.replace("-", "_")


def _handles(first: str, second: str) -> set[str]:
    """Letters of an address that names a person: one name whole, of the other all, three letters or the first."""
    return {first + second, first + second[:1], first[:1] + second, first + second[:3], first[:3] + second}


def test_full_given_and_family_name_are_one_name(people: People) -> None:
    for one in people.told:
        full, given, family = (one.values[name] for name in ("full", "given", "family"))
        assert full in {f"{given} {family}", f"{given} {family[0].lower()}{family[1:]}"}


def test_age_year_and_date_of_birth_agree(people: People) -> None:
    last = EngineSettings().anchor
    first = last - timedelta(days=730)  # a document's day lies within two years before the anchor
    for one in people.told:
        born = one.born
        assert one.values["birth_year"] == str(born.year)
        assert years_between(born, first) <= int(one.values["age"]) <= years_between(born, last)


def years_between(born: date, day: date) -> int:
    return day.year - born.year - ((day.month, day.day) < (born.month, born.day))
