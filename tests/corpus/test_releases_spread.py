"""Exchanges make the splits alike, keep their sizes, and leave each pair in train."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest

from piiloom.corpus.releases.assigning import choose_groups, features, spread_groups
from piiloom.corpus.releases.grouping import Member, Value, group_members
from piiloom.corpus.releases.release_options import SplitSettings
from piiloom.corpus.releases.splits import split_members


def people(count: int, seed: int = 1) -> list[Member]:
    """Records of three locales, of different lengths, types and relevance."""
    rng = random.Random(seed)
    members = []
    for number in range(count):
        words = [f"w{number}x{n}" for n in range(rng.randrange(6, 60))]
        values, at = [], 0
        for word in words[: rng.randrange(1, 6)]:
            kind, relevance = rng.choice(["age", "code", "health", "name"]), rng.choice(["high", "low"])
            values.append(Value(start=at, end=at + len(word), entity_type=kind, relevance=relevance))  # type: ignore[arg-type]
            at += len(word) + 1
        members.append(
            Member(
                id=f"r{number:05d}",
                revision=0,
                context=" ".join(words),
                locale=rng.choices(["en_US", "de_DE", "pt_BR"], [6, 3, 1])[0],
                group_keys=(f"g{number // rng.randrange(1, 3)}",),
                stratum=f"pair{number % 6}",
                values=tuple(values),
            )
        )
    return members


def distance(parts, table, sizes):
    """The sum over splits and columns of (held - fair)² / (fair + 1)."""
    fair = (np.bincount(parts, weights=sizes) / sizes.sum())[:, None] * table.sum(axis=0)
    held = np.array([table[parts == part].sum(axis=0) for part in (0, 1)])
    return ((held - fair) ** 2 / (fair + 1)).sum()


@pytest.mark.parametrize("seed", [1, 2])
def test_exchanges_bring_the_splits_much_nearer_to_their_fair_shares(seed: int) -> None:
    members = people(300, seed)
    groups = group_members(members).groups
    chosen = {group.ids[0] for group in choose_groups(groups, 60, random.Random(seed))}
    before = np.array([int(group.ids[0] in chosen) for group in groups])
    table, sizes = features(groups, {m.id: m for m in members}), np.array([group.size for group in groups])
    after = spread_groups(before, table, groups, random.Random(seed), train=0)
    assert np.bincount(after, weights=sizes).tolist() == np.bincount(before, weights=sizes).tolist() == [240, 60]
    assert distance(after, table, sizes) < distance(before, table, sizes) / 2
    assert spread_groups(before, table, groups, random.Random(seed), train=0).tolist() == after.tolist()


def test_the_last_group_of_a_pair_stays_in_train() -> None:
    members = people(60)
    lonely = [Member(id=f"x{n}", revision=0, context=f"x{n} " * 400, locale="sv_SE", stratum=f"lonely{n}") for n in range(4)]
    for seed in range(3):
        split = split_members([*members, *lonely], SplitSettings(test_size=20, seed=seed))
        assert {m.id for m in lonely} <= set(split.ids["train"])


def test_folds_are_alike() -> None:
    members = people(300)
    split = split_members(members, SplitSettings(folds=3, seed=4))
    locale = {m.id: m.locale for m in members}
    counts = [Counter(locale[record_id] for record_id in ids) for ids in split.ids.values()]
    for name in ("en_US", "de_DE", "pt_BR"):
        held = [count[name] for count in counts]
        assert max(held) - min(held) <= 2
