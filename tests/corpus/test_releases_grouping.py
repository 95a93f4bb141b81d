"""What links records: rare values, questions, and the limits of both."""

from __future__ import annotations

import random

from piiloom.corpus.releases.grouping import Member, group_members, is_identifying
from piiloom.taxonomy.entity_types import shipped_taxonomy
from tests.corpus.planted_leaks import plain_record


def members_with(*values: dict[str, str], question: str | None = "own") -> list[Member]:
    return [Member.of(plain_record(n, values=own, question=question), taxonomy=shipped_taxonomy()) for n, own in enumerate(values)]


def sizes(members: list[Member], **given: object) -> list[int]:
    return sorted((group.size for group in group_members(members, **given).groups), reverse=True)  # type: ignore[arg-type]


def test_what_tells_texts_apart() -> None:
    assert is_identifying("code", "555-0134")
    assert is_identifying("name", "ana torres")
    assert is_identifying("name", "sunny_baker88")
    assert is_identifying("organization", "sunrise hospice of boulder")
    for entity_type, text in [
        ("code", "4711"),
        ("name", "ana"),
        ("name", "ana88"),
        ("organization", "starbucks"),
        ("location", "austin, tx"),
    ]:
        assert not is_identifying(entity_type, text)


def test_a_rare_value_links_and_a_common_or_short_one_does_not() -> None:
    rare = [{"Ana Torres": "name"}, {"ANA TORRES": "name"}, {"Ana Torres": "organization"}]
    assert sizes(members_with(*rare, {"Ana": "name"}, {"ana": "name"})) == [2, 1, 1, 1]
    hospice = {"Sunrise Hospice of Boulder": "organization"}
    assert sizes(members_with(*[hospice] * 3)) == [3]
    assert sizes(members_with(*[hospice] * 4)) == [1] * 4  # in four texts it is a name that many have
    phone = {"+1 202 555 0134": "code"}
    assert sizes(members_with(*[phone] * 10)) == [10]
    assert sizes(members_with(*[phone] * 11)) == [1] * 11
    closed = {"a very long relationship of twenty letters": "relationship"}
    assert sizes(members_with(closed, closed)) == [1, 1]


def test_values_count_groups_and_not_records() -> None:
    """Twelve records of one story and one outside have the name: that is two groups, so they belong together."""
    rows = members_with(*[{"Ana Torres": "name"}] * 13)
    story = [Member(id=m.id, revision=0, context=m.context, group_keys=("story:1",), values=m.values) for m in rows[:12]]
    assert sizes([*story, rows[12]]) == [13]


def test_values_do_not_chain_into_one_giant_group() -> None:
    """Each record shares one code with the next: together they would be one group of all."""
    chain = [{f"code {n:04d}-XY": "code", f"code {n + 1:04d}-XY": "code"} for n in range(100)]
    members = members_with(*chain)
    found = group_members(members)
    assert max(group.size for group in found.groups) == 10
    assert len(found.notes) == 1
    assert "rare values that records share do not keep them together" in found.notes[0]
    shuffled = members[:]
    random.Random(1).shuffle(shuffled)
    assert group_members(shuffled) == found


def test_a_question_of_the_corpus_does_not_link_and_is_told() -> None:
    question = "What should I do about this now?"
    common = members_with(*[{}] * 30, question=question)
    found = group_members(common)
    assert len(found.groups) == 30
    assert found.notes == ("a question that 30 records (100%) have in the same words does not keep them together",)
    near = [Member(id=f"n{n}", revision=0, context=f"n{n}", question=question + " please") for n in range(2)]
    assert sizes([*common, *near]) == [2] + [1] * 30  # not linked through the common one
    assert sizes(members_with(*[{}] * 10, question=question)) == [10]
    assert sizes(common[:10], group_by=("contexts",)) == [1] * 10


def test_records_without_a_question_are_not_linked_by_it() -> None:
    assert sizes(members_with({}, {}, question=None)) == [1, 1]
    assert sizes([]) == []
