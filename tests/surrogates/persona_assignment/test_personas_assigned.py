"""Groups in balance, cues to genders, and names drawn for a group."""

from __future__ import annotations

import math
import tracemalloc
from collections import Counter
from datetime import date
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from piiloom.foundation.errors import UsageError
from piiloom.foundation.seeding import mix
from piiloom.pii_values.names.index import builtin
from piiloom.pii_values.names.pools import NamePools
from piiloom.pii_values.names.regions import REGIONS
from piiloom.surrogates.persona_assignment.groups import (
    FEMALE,
    GROUPS,
    MALE,
    OPEN,
    Roles,
    Weights,
    _shuffled,
    assign_groups,
    gender_after,
    gender_before,
    gender_cues,
    quotas,
    spread_group_count,
    title_before,
)
from piiloom.surrogates.persona_assignment.personas import PersonaDrawer, Taken, joiner_of
from tests.longer import case_by_case


def counted(codes, seed=1, weights=None):
    return Counter(GROUPS[number] for number in assign_groups(bytes(codes), seed, weights))


def test_two_hundred_and_sixty_people_are_twenty_six_of_each_group():
    assert set(counted([OPEN] * 260).values()) == {26}


def test_what_the_texts_tell_is_kept_and_the_rest_makes_up_for_it():
    codes = [FEMALE] * 70 + [OPEN] * 150 + [MALE] * 40
    groups = assign_groups(bytes(codes), 5)
    assert all(GROUPS[g][0] == "female" for g in groups[:70])
    assert all(GROUPS[g][0] == "male" for g in groups[220:])
    assert set(counted(codes, 5).values()) == {26}


def test_more_women_than_half_leave_the_open_ones_to_men():
    found = counted([FEMALE] * 80 + [OPEN] * 20)
    genders = Counter()
    for (gender, _), count in found.items():
        genders[gender] += count
    assert genders == {"female": 80, "male": 20}
    assert {found["female", region] for region in REGIONS} == {16}
    assert {found["male", region] for region in REGIONS} == {4}


@given(st.lists(st.sampled_from([OPEN, FEMALE, MALE]), max_size=200), st.integers(0, 2**63))
def test_no_group_is_larger_by_more_than_one_than_another_of_its_gender(codes, seed):
    found = counted(codes, seed)
    for gender in ("female", "male"):
        assert spread_group_count({r: found[gender, r] for r in REGIONS}) <= 1
    women, total = sum(found["female", r] for r in REGIONS), len(codes)
    fixed_women, fixed_men = codes.count(FEMALE), codes.count(MALE)
    assert fixed_women <= women <= total - fixed_men
    if fixed_women <= total // 2 and fixed_men <= total // 2:
        assert abs(2 * women - total) <= 1
    if codes.count(OPEN) == total:
        assert spread_group_count({str(g): found[g] for g in GROUPS}) <= 1


@given(st.integers(0, 500), st.lists(st.floats(0, 10), min_size=1, max_size=6), st.integers(0, 5))
def test_quotas_add_up_and_stay_next_to_the_exact_share(total, weights, first):
    if sum(weights) < 1e-6:
        weights = [1.0, *weights]
    shares = quotas(total, weights, first=first)
    assert sum(shares) == total
    assert all(abs(share - total * weight / sum(weights)) < 1 + 1e-6 for share, weight in zip(shares, weights, strict=True))


def test_the_seed_changes_who_is_in_which_group_but_nothing_else():
    one, other = assign_groups(bytes(1000), 1), assign_groups(bytes(1000), 2)
    assert one != other
    assert Counter(one) == Counter(other)
    assert one == assign_groups(bytes(1000), 1)


def test_neighbours_are_not_of_related_groups():
    groups = assign_groups(bytes(20_000), 3)
    pairs = Counter(zip(groups[:-1:2], groups[1::2], strict=True))
    assert len(pairs) == 100
    assert max(pairs.values()) < 2 * min(pairs.values())


def test_weights():
    found = counted([OPEN] * 1200, weights=Weights.parse("female=2, africa=2, Oceania=0"))
    assert found["female", "Africa"] == 320
    assert found["male", "Asia"] == 80
    assert not found["female", "Oceania"]


@pytest.mark.parametrize("text", ["women=2", "female", "female=-1", "female=nan", "female=0,male=0"])
def test_weights_that_mean_nothing_are_refused(text):
    with pytest.raises(UsageError):
        Weights.parse(text)


@given(st.integers(0, 700), st.integers(0, 2**64 - 1), st.integers(0, 255))
def test_shuffling_is_a_permutation(count, seed, salt):
    assert sorted(_shuffled(count, seed, salt)) == list(range(count))


def test_groups_are_those_of_earlier_versions():
    """Whoever runs a corpus again with the same seed gets the same people; the digest is that of the version that used arrays."""
    codes = bytes(number * number % 7 % 3 for number in range(5000))
    found = assign_groups(codes, 2**63 + 11, Weights.parse("female=2,Africa=3"))
    assert sha256(found).hexdigest()[:16] == "24be425a9abe954d"


@pytest.mark.long
def test_every_order_of_a_few_is_as_likely():
    orders = Counter(tuple(_shuffled(3, mix(seed, 1), 0x6E)) for seed in range(6000))
    assert len(orders) == 6
    assert all(abs(count - 1000) < 5 * math.sqrt(1000) for count in orders.values())


@pytest.mark.long
def test_a_hundred_thousand_people_take_a_few_bytes_each():
    codes = bytes(100_000)
    tracemalloc.start()
    groups = assign_groups(codes, 5)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1_200_000
    assert set(Counter(groups).values()) == {10_000}


@pytest.mark.parametrize("told", [bytes([OPEN]), bytes([OPEN, OPEN, FEMALE]), bytes([MALE, OPEN, FEMALE, OPEN])])
def test_the_people_of_each_role_are_balanced(told: bytes) -> None:
    count = 260
    codes = bytes(told[(number // 3) % len(told)] for number in range(3 * count))
    roles = bytes(number % 3 for number in range(3 * count))  # a student, a tutor and a parent in each text
    for seed in range(5):
        groups = assign_groups(codes, seed, roles=roles)
        for role in range(3):
            assert set(Counter(group for group, own in zip(groups, roles, strict=True) if own == role).values()) == {26}


def test_rare_roles_leave_the_whole_balanced() -> None:
    roles = bytes(range(200)) + bytes(200)
    groups = assign_groups(bytes(400), 7, roles=roles)
    assert spread_group_count({str(group): count for group, count in Counter(groups).items()}) <= 1
    assert assign_groups(bytes(400), 7, roles=bytes(400)) == assign_groups(bytes(400), 7)


def test_roles_of_chunks_are_those_of_the_whole() -> None:
    whole, first, second = Roles(), Roles(), Roles()
    for number, role in enumerate(["b", "a", "b", "c", "a", "d"]):
        whole.add(role, 2)
        (first if number < 3 else second).add(role, 2)
    joined = Roles()
    joined.extend(list(first.names), bytes(first.numbers))
    joined.extend(list(second.names), bytes(second.numbers))
    assert (joined.names, joined.numbers) == (whole.names, whole.numbers)
    many, parts = Roles(), Roles()
    for number in range(300):
        many.add(str(number), 1)
    parts.extend(list(many.names), bytes(many.numbers))
    assert max(many.numbers) == 254
    assert parts.numbers == many.numbers


def told(language, text):
    cues = gender_cues(language)
    start = text.index("@")
    return gender_before(text, start, cues) or gender_after(text, start + 1, 10**9, cues)


@case_by_case(
    ("language", "text", "gender"),
    [
        ("en", "Then @ said that she was late.", "female"),
        ("en", "Then @ lost his keys.", "male"),
        ("en", "Mrs. @ and her dog", "female"),
        ("en", "my husband @ left", "male"),
        ("en", "Mr @ told her so", "male"),
        ("en", "@ is a big boy.", "male"),
        ("en", "I met @ yesterday.", None),
        ("en", "They told @ that they were late.", None),
        ("en", "@ left. It rained. Nobody came. She was late.", None),
        ("en", "the @ is shelled", None),
        ("nl", "dat @ heeft verklaard dat hij thuis was", "male"),
        ("nl", "Mevrouw @ is verschenen", "female"),
        ("nl", "de heer @ te Utrecht", "male"),
        ("nl", "@ voert aan dat zij geen bericht kreeg", "female"),
        ("nl", "@ voert aan dat de stukken onvolledig zijn", None),
        ("pt", "A senhora @ chegou", "female"),
        ("pt", "@ disse que ele viria", "male"),
        ("pt", "@ chegou cedo", None),
    ],
)
def test_cues(language, text, gender):
    assert told(language, text) == gender


def test_a_pronoun_beyond_the_next_person_does_not_count():
    text = "@ met NAME and her sister."
    assert gender_after(text, 1, text.index("NAME"), gender_cues("en")) is None


@pytest.mark.parametrize(
    ("text", "gender"),
    [
        ("@ saw them. It rained. Then he left.", None),  # "he" stands in "them", too, before the two sentence ends
        ("@ saw them. Then he left.", "male"),
        ("@man left.", "male"),  # a placeholder, and a word behind it
    ],
)
def test_a_cue_is_a_whole_word(text, gender):
    assert gender_after(text, 1, 10**9, gender_cues("en")) == gender


def test_a_part_of_a_word_is_no_cue():
    text = "Chairman Ek left; the book was hers."
    assert gender_after(text, len("Chair"), text.index("left"), gender_cues("en")) is None
    assert gender_after(text, text.index("Ek") + 2, text.index("hers") + 3, gender_cues("en")) is None
    assert gender_after(text.replace("hers", "her "), text.index("Ek") + 2, text.index("hers") + 3, gender_cues("en")) == "female"


def test_a_language_without_a_file_has_no_cues():
    assert gender_cues("xx") is None


@pytest.mark.parametrize("text", ["(Mr @)", "“Mr @”", "Mr @", "told Mr. @", "Mr.  @"])
def test_a_title_stands_at_the_beginning_or_behind_an_opening_sign(text):
    assert told("en", text) == "male"
    assert title_before(text, text.index("@"), gender_cues("en")) == "mr"


@pytest.mark.parametrize("text", ["@", " @", "the mister-@", "my wife @"])
def test_no_title_before_a_name(text):
    assert not title_before(text, text.index("@"), gender_cues("en"))


@case_by_case("language", ["en", "nl", "pt", "de", "fr", "es", "it", "sv"])
def test_professions_are_titles_that_tell_a_gender(language):
    cues = gender_cues(language)
    assert cues.professions <= {title.rstrip(".") for title in cues.titles}


POOLS = NamePools(builtin())
_NEAR = 200


def drawn(number: int, origin: str | None = None) -> tuple[list[tuple[str, str]], Taken]:
    drawer, taken = PersonaDrawer(POOLS, "US"), Taken()
    people = (drawer.draw(mix(7, one), one % len(GROUPS), date(2025, 1, 1), "p1", taken, origin=origin) for one in range(number))
    return [(person.given, person.family) for person in people], taken


def test_of_thousands_of_people_no_two_near_each_other_share_a_name():
    people, taken = drawn(4000)
    for at, (first, family) in enumerate(people):
        near = {name for one in people[max(0, at - _NEAR) : at] for name in one}
        assert first not in near
        assert family not in near
    assert len(taken) <= 1000
    assert len({family for _, family in people}) < len(people)  # far apart they come again: the pools go round


def test_two_hundred_people_all_have_names_of_their_own():
    people, _ = drawn(200)
    assert len({name for one in people for name in one}) == 400


@pytest.mark.parametrize("origin", ["NL", "JP", "NG"])
def test_a_country_that_runs_out_of_names_gives_some_again(origin):
    people, _ = drawn(3000, origin)
    own, families = ({gender: set(of(origin, gender)) for gender in ("female", "male")} for of in (POOLS.given, POOLS.family))
    for at, (first, family) in enumerate(people):
        gender = GROUPS[at % len(GROUPS)][0]
        assert first in own[gender]
        assert family in families[gender]
    assert len({given for given, _ in people}) < len(people) > len({family for _, family in people})


@case_by_case(("language", "joiner"), [("en", "and"), ("es", "y"), ("sv", "och"), ("da", "og"), ("no", "og"), ("fi", "ja"), ("cs", "&")])
def test_names_of_two_are_joined_in_their_language(language, joiner):
    assert joiner_of(language) == joiner
