"""Names of one document: which are given again, and when."""

from __future__ import annotations

from datetime import date

import pytest

from piiloom.foundation.seeding import mix
from piiloom.pii_values.names.index import builtin
from piiloom.pii_values.names.pools import NamePools
from piiloom.surrogates.persona_assignment.groups import GROUPS
from piiloom.surrogates.persona_assignment.personas import PersonaDrawer, Taken, joiner_of
from tests.longer import case_by_case

POOLS = NamePools(builtin())
_NEAR = 200


def drawn(number: int, origin: str | None = None) -> tuple[list[tuple[str, str]], Taken]:
    drawer, taken = PersonaDrawer(POOLS, "US"), Taken()
    people = (drawer.draw(mix(7, one), one % len(GROUPS), date(2025, 1, 1), "p1", taken, origin=origin) for one in range(number))
    return [(person.given, person.family) for person in people], taken


def test_of_thousands_of_people_no_two_near_each_other_share_a_name():
    people, taken = drawn(4000)
    for at, (given, family) in enumerate(people):
        near = {name for one in people[max(0, at - _NEAR) : at] for name in one}
        assert given not in near
        assert family not in near
    assert len(taken) <= 1000
    assert len({family for _, family in people}) < len(people)  # far apart they come again: the pools go round


def test_two_hundred_people_all_have_names_of_their_own():
    people, _ = drawn(200)
    assert len({name for one in people for name in one}) == 400


@pytest.mark.parametrize("origin", ["NL", "JP", "NG"])
def test_a_country_that_runs_out_of_names_gives_some_again(origin):
    people, _ = drawn(3000, origin)
    own = {gender: set(POOLS.given(origin, gender)) for gender in ("female", "male")}
    for at, (given, family) in enumerate(people):
        gender = GROUPS[at % len(GROUPS)][0]
        assert given in own[gender]
        assert family in POOLS.family(origin, gender)
    assert len({given for given, _ in people}) < len(people) > len({family for _, family in people})


@case_by_case(("language", "joiner"), [("en", "and"), ("es", "y"), ("sv", "och"), ("da", "og"), ("no", "og"), ("fi", "ja"), ("cs", "&")])
def test_names_of_two_are_joined_in_their_language(language, joiner):
    assert joiner_of(language) == joiner
