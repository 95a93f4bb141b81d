"""Balancing leaves out whole texts until no other text would make the classes more equal, and never most of the records."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

import pytest

from piiloom.corpus.releases.assigning import balance_members
from piiloom.corpus.releases.grouping import Member
from piiloom.corpus.releases.release_options import BalanceBy, SplitSettings
from piiloom.corpus.releases.splits import split_members
from piiloom.taxonomy.entity_types import shipped_taxonomy
from tests.corpus.planted_leaks import plain_record

TYPES = ["code", "location", "age"]


def unbalanced(seed: int, count: int = 120) -> list[Member]:
    """Two records a text, more low than high, more codes than others, more of one locale."""
    rng = random.Random(seed)
    members = []
    for number in range(count // 2):
        values = {f"v{number}x{n}": rng.choices(TYPES, [4, 3, 3])[0] for n in range(rng.randrange(1, 5))}
        record = plain_record(number, values=values)
        spans = tuple(replace(span, relevance=rng.choices(["high", "low"], [2, 3])[0]) for span in record.spans)
        record = replace(record, spans=spans, locale=rng.choices(["en_US", "de_DE"], [3, 2])[0])
        members += [
            Member.of(record, taxonomy=shipped_taxonomy()),
            Member.of(replace(record, id=f"{record.id}b"), taxonomy=shipped_taxonomy()),
        ]
    return members


def classes(members: list[Member], by: BalanceBy) -> Counter[str | None]:
    if by == "locale":
        return Counter(m.locale for m in members)
    return Counter(v.entity_type if by == "type" else v.relevance for m in members for v in m.values)


def distance(members: list[Member], by: BalanceBy, of: int) -> float:
    counts = classes(members, by)
    return sum((counts[name] / counts.total() - 1 / of) ** 2 for name in counts) + (of - len(counts)) / of**2


@pytest.mark.parametrize("by", ["relevance", "type", "locale"])
def test_classes_are_as_equal_as_whole_texts_allow(by: BalanceBy) -> None:
    for seed in range(4):
        members = unbalanced(seed)
        balanced = balance_members(members, by, seed=7)
        kept = [m for m in members if m.id not in balanced.left_out]
        texts = Counter(m.context for m in kept)
        assert set(texts.values()) == {2}  # whole texts
        before, after = classes(members, by), classes(kept, by)
        assert max(after.values()) - min(after.values()) < (max(before.values()) - min(before.values())) / 2
        now = distance(kept, by, len(before))
        for text in texts:
            assert distance([m for m in kept if m.context != text], by, len(before)) >= now - 1e-9
        assert len(balanced.notes) == 1


def test_at_most_half_of_the_records_is_left_out_and_that_is_told() -> None:
    members = [Member.of(replace(plain_record(n), locale="de_DE" if n < 3 else "en_US"), taxonomy=shipped_taxonomy()) for n in range(200)]
    balanced = balance_members(members, "locale", seed=7)
    assert len(balanced.left_out) == 100
    assert all(int(record_id[1:]) >= 3 for record_id in balanced.left_out)
    assert "stopped short" in balanced.notes[1]


def test_nothing_is_left_out_of_what_is_equal_or_has_one_class() -> None:
    members = [Member.of(replace(plain_record(n), locale=("de_DE", "en_US")[n % 2]), taxonomy=shipped_taxonomy()) for n in range(10)]
    assert balance_members(members, "locale", seed=7).left_out == frozenset()
    alike = balance_members(members[::2], "locale", seed=7)
    assert (alike.left_out, alike.notes) == (frozenset(), ("there is nothing to balance: only one locale occurs",))
    assert balance_members([], "type", seed=7).left_out == frozenset()


def test_what_is_left_out_is_withheld_with_its_reason_and_depends_on_the_seed_only() -> None:
    members = unbalanced(3)
    split = split_members(members, SplitSettings(balance="relevance", test_size=6, seed=2))
    assert {reason for _, reason in split.withheld} == {"left out to balance the records by relevance"}
    assert sum(map(len, split.ids.values())) + len(split.withheld) == len(members)
    assert "left out to balance by relevance" in split.notes[0]
    assert balance_members(members[::-1], "relevance", seed=2) == balance_members(members, "relevance", seed=2)
    assert balance_members(members, "relevance", seed=3).left_out != balance_members(members, "relevance", seed=2).left_out
