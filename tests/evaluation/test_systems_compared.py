"""Systems compared: ranks, ties, differences, and what is refused."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from piiloom.evaluation.comparison import RankingSettings, compare_systems
from piiloom.evaluation.scoring.resampling import permutation_p
from piiloom.foundation.errors import UsageError
from tests.evaluation.scored_pairs import exact_scheme, f1, random_counts, scored_pair

QUICK = 100


def compared(counts, ranking=None, *, stories=1, seed=None):
    """Compare systems by name, each a list of (tp, fp, fn) of the documents; *stories*: so many documents each have a story in common."""

    def pairs_of(name):
        pairs = [scored_pair(n, each, [f"story:{n // stories}"]) for n, each in enumerate(counts[name])]
        return pairs if seed is None else random.Random(seed).sample(pairs, len(pairs))

    systems = {name: pairs_of(name) for name in counts}
    return compare_systems(systems, exact_scheme(), ranking or RankingSettings(resamples=QUICK, permutations=999))


def made(seed=1, size=60):
    """A good system, one nearly as good, and one that is plainly worse."""
    rng = np.random.default_rng(seed)
    good = np.stack([rng.binomial(6, 0.8, size), rng.binomial(2, 0.2, size)], axis=1)
    near = good + np.stack([rng.integers(-1, 2, size), np.zeros(size, int)], axis=1)
    near = np.clip(near, 0, 6)
    bad = np.stack([rng.binomial(6, 0.4, size), rng.binomial(2, 0.5, size)], axis=1)
    return {name: [(int(tp), int(fp), 6 - int(tp)) for tp, fp in rows] for name, rows in (("bad", bad), ("good", good), ("near", near))}


def test_who_does_not_differ_shares_a_rank():
    counts = made()
    found = compared(counts)
    assert [(one.rank, one.tied) for one in found.systems] == [(1, True), (1, True), (3, False)]
    assert [one.name for one in found.systems][2] == "bad"
    best, second, last = found.systems
    for one in found.systems:
        assert one.figures["f1"] == pytest.approx(f1(np.sum(counts[one.name], axis=0)))
        assert one.intervals["f1"].low <= one.figures["f1"] <= one.intervals["f1"].high
    assert best.figures["f1"] >= second.figures["f1"] > last.figures["f1"]
    assert (best.difference, best.difference_interval, best.p) == (None, None, None)
    assert last.difference == last.figures["f1"] - best.figures["f1"]
    assert last.difference_interval.low <= last.difference <= last.difference_interval.high < 0
    assert last.p == 0.003  # 1/1000, times the 3 pairs
    assert second.p > 0.05
    assert (found.by, found.documents, found.clusters, found.keyed) == ("f1", 60, 60, 0)


def test_p_values_are_adjusted_over_all_pairs():
    counts = made()
    found = compared(counts)
    names = list(counts)
    raw = permutation_p(exact_scheme(), [np.array(rows, dtype=float) for rows in counts.values()], ["f1"], rounds=5000, seed=1)["f1"]
    assert {(test.first, test.second) for test in found.tests} == {
        (first.name, second.name) for at, first in enumerate(found.systems) for second in found.systems[at + 1 :]
    }
    for test in found.tests:
        assert test.p == pytest.approx(raw[names.index(test.first), names.index(test.second)], abs=0.08)
        assert test.p <= test.adjusted <= min(1, 3 * test.p)
        assert test.difference >= 0


def test_equal_systems_share_the_first_rank():
    rows = made()["good"]
    found = compared({"b": rows, "a": rows})
    assert [(one.name, one.rank, one.tied, one.p) for one in found.systems] == [("a", 1, True, None), ("b", 1, True, 1.0)]
    assert found.systems[1].difference == 0
    assert found.systems[1].difference_interval.low == found.systems[1].difference_interval.high == 0


def test_each_step_down_is_a_rank_where_all_differ():
    rng = np.random.default_rng(3)
    counts = {f"{rate}": [(int(tp), 0, 9 - int(tp)) for tp in rng.binomial(9, rate, 80)] for rate in (0.9, 0.7, 0.5, 0.3)}
    found = compared(counts)
    assert [(one.name, one.rank, one.tied) for one in found.systems] == [
        ("0.9", 1, False),
        ("0.7", 2, False),
        ("0.5", 3, False),
        ("0.3", 4, False),
    ]
    assert all(first.figures["f1"] > second.figures["f1"] for first, second in pairwise(found.systems))


def test_the_lowest_can_be_the_best_and_any_headline_figure_may_rank():
    counts = made()
    ranking = RankingSettings(by="precision", lowest=True, resamples=QUICK, permutations=999)
    found = compared(counts, ranking)
    assert (found.systems[0].name, found.by) == ("bad", "precision")
    assert found.systems[1].difference > 0
    assert [one.rank for one in found.systems] == [1, 2, 2]


def test_clusters_take_away_what_copies_made_up():
    """Sixty copies of each of eight documents differ as 480 documents, and not as eight stories."""
    rng = np.random.default_rng(5)
    one, other = ([tuple(map(int, row)) for row in random_counts(rng, 8)] for _ in range(2))
    counts = {name: [row for row in rows for _ in range(60)] for name, rows in (("one", one), ("other", other))}
    as_documents = compared(counts, stories=60)
    as_stories = compared(counts, RankingSettings(cluster="story", resamples=QUICK, permutations=999), stories=60)
    alone = compared({"one": one, "other": other})
    assert (as_documents.clusters, as_stories.clusters, as_stories.keyed) == (480, 8, 480)
    assert as_documents.systems[1].p < 0.05 < as_stories.systems[1].p
    assert as_stories.systems[1].p == alone.systems[1].p


def test_the_order_of_documents_changes_nothing():
    assert compared(made(), seed=1) == compared(made(), seed=2)


def test_the_same_seed_gives_the_same_and_another_another():
    found = [compared(made(), RankingSettings(resamples=100, seed=seed, permutations=99)).systems[1] for seed in (3, 3, 4)]
    assert found[0] == found[1] != found[2]


def test_one_cluster_has_neither_intervals_nor_differences():
    found = compared({"a": [(5, 0, 0)], "b": [(1, 9, 4)]})
    assert [(one.name, one.rank) for one in found.systems] == [("a", 1), ("b", 1)]
    assert found.systems[1].intervals == {"precision": None, "recall": None, "f1": None}
    assert (found.systems[1].p, found.systems[1].difference_interval) == (1, None)


def test_one_system_is_a_table_of_one_and_no_document_no_error():
    assert [(one.rank, one.tied) for one in compared({"a": [(1, 1, 1), (2, 0, 0)]}).systems] == [(1, False)]
    assert compared({"a": [], "b": []}).systems[1].p == 1


def test_documents_that_only_one_system_names_count_for_that_one():
    """A table of entities has no row for a document in which a system found nothing, so each system brings its own beside the gold's."""

    every = [scored_pair(n, (1, 0, 1)) for n in range(6)]
    systems = {name: [*every, *(scored_pair(n, (0, 1, 0)) for n in others)] for name, others in {"b": (9, 7, 10), "a": (7, 8)}.items()}
    found = compare_systems(systems, exact_scheme(), RankingSettings(resamples=QUICK))
    a, b = found.systems
    assert (found.documents, found.clusters) == (10, 10)
    assert (a.figures["precision"], b.figures["precision"]) == (6 / 8, 6 / 9)
    # They differ in the documents 8, 9 and 10, one of which is a's: of the 8 ways to swap these, 6 leave a difference of one false positive
    # (as it is), 2 one of three: none leaves a smaller one.
    assert b.p == 1


def test_what_cannot_be_ranked_is_refused_before_anything_is_read():
    never = (pytest.fail("it is read") for _ in range(1))

    with pytest.raises(UsageError, match="Rank by one of: precision, recall, f1"):
        compare_systems({"a": never}, exact_scheme(), RankingSettings(by="f9"))
    with pytest.raises(UsageError, match="nothing to compare"):
        compare_systems({}, exact_scheme(), RankingSettings())
    with pytest.raises(UsageError, match="permutations: must be at least 1"):
        RankingSettings.of({"permutations": 0})


def test_json_holds_all_of_it():
    told = replace(compared(made()), extra={"cost": {"good": "$1"}}).to_json()
    assert (told["scheme"], told["by"], told["best"], told["documents"]) == ("exact", "f1", "highest", 60)
    assert told["cluster"] == {"by": "document", "clusters": 60, "documents_with_key": 0}
    assert (told["resamples"], told["permutations"], told["confidence"], told["seed"]) == (100, 999, 0.95, 7)
    systems = {one["name"]: one for one in told["systems"]}
    assert systems["bad"]["p_adjusted"] == 0.003
    assert systems["good"]["extra"] == {"cost": "$1"}
    assert "extra" not in systems["bad"]
    assert len(systems["bad"]["difference_interval"]) == 2
    assert {"tp", "fp", "fn", "precision", "recall", "f1", "f5"} == set(systems["bad"]["metrics"])
    assert len(told["pairs"]) == 3
    assert set(told["pairs"][0]) == {"systems", "difference", "p", "p_adjusted"}
