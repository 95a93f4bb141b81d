"""The cluster bootstrap: the same as drawing by hand, order-free, and as wide as it has to be."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from piiloom.evaluation.scoring import resampling as bootstrap
from piiloom.evaluation.scoring.counts import Clusters, CountTable
from piiloom.evaluation.scoring.resampling import Interval, ResamplingSettings, cluster_sums, intervals, resampled_totals
from piiloom.foundation.errors import UsageError
from piiloom.foundation.seeding import derive_seed
from tests.evaluation.scored_pairs import exact_scheme, f1, random_counts, scored_pair
from tests.longer import case_by_case, few


def percentile(values, share):
    """The linear interpolation between order statistics, by hand."""
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])


def test_intervals_are_those_of_drawing_cluster_by_cluster():
    rng = np.random.default_rng(1)
    rows, clusters = random_counts(rng, 30), np.array([n % 11 for n in range(30)])
    found = intervals(exact_scheme(), cluster_sums(rows, clusters), ResamplingSettings(resamples=200, confidence=0.9, seed=5))
    draws = np.random.default_rng(derive_seed("evaluation", "bootstrap", 5)).integers(0, 11, size=(200, 11))
    values = []
    for drawn in draws.tolist():
        members = [row for cluster in drawn for row, own in zip(rows.tolist(), clusters, strict=True) if own == cluster]
        values.append(f1([sum(column) for column in zip(*members, strict=True)]))
    assert found["f1"].low == pytest.approx(percentile(values, 0.05), abs=1e-12)
    assert found["f1"].high == pytest.approx(percentile(values, 0.95), abs=1e-12)
    assert set(found) == {"precision", "recall", "f1"}


def test_how_many_rounds_are_done_at_once_changes_nothing(monkeypatch):
    sums = random_counts(np.random.default_rng(2), 7)
    whole = resampled_totals(sums, rounds=101, seed=3)
    for drawn in (1, 7, 22, 300):
        monkeypatch.setattr(bootstrap, "_DRAWN", drawn)
        assert np.array_equal(resampled_totals(sums, rounds=101, seed=3), whole)


def test_systems_with_as_many_clusters_get_the_same_draws():
    rng = np.random.default_rng(3)
    one, other = random_counts(rng, 40), random_counts(rng, 40)
    together = resampled_totals(np.hstack((one, other)), rounds=50, seed=9)
    assert np.array_equal(together[:, :3], resampled_totals(one, rounds=50, seed=9))
    assert np.array_equal(together[:, 3:], resampled_totals(other, rounds=50, seed=9))
    assert not np.array_equal(resampled_totals(one, rounds=50, seed=10), together[:, :3])


@case_by_case("clusters", [0, 1])
def test_fewer_than_two_clusters_have_no_interval(clusters):
    assert intervals(exact_scheme(), np.ones((clusters, 3)), ResamplingSettings()) == {"precision": None, "recall": None, "f1": None}


def test_equal_clusters_have_an_interval_of_no_width():
    found = intervals(exact_scheme(), np.tile([3.0, 1.0, 2.0], (20, 1)), ResamplingSettings(resamples=20))
    assert found["precision"] == Interval(low=0.75, high=0.75)


@case_by_case(("field", "value"), [("resamples", -1), ("confidence", 0), ("confidence", 1), ("confidence", float("nan"))])
def test_impossible_settings_are_refused(field, value):
    with pytest.raises(UsageError, match=f"^(--)?{field}: "):
        ResamplingSettings.of({field: value})


def test_without_resamples_there_are_no_intervals():
    assert intervals(exact_scheme(), np.ones((9, 3)), ResamplingSettings(resamples=0)) == {}


COUNTS = st.lists(st.tuples(*[st.integers(0, 6)] * 3), min_size=2, max_size=12)


@few
@given(counts=COUNTS, seed=st.integers(0, 99))
def test_the_order_of_documents_changes_no_interval(counts, seed):
    pairs = [scored_pair(n, each, [f"story:{n // 2}"]) for n, each in enumerate(counts)]
    found = []
    for order in (pairs, random.Random(seed).sample(pairs, len(pairs))):
        table, clusters = CountTable(exact_scheme()), Clusters("story")
        for pair in order:
            table.add(pair)
            clusters.add(pair)
        found.append(intervals(table.scheme, cluster_sums(table.rows, clusters.numbers()), ResamplingSettings(resamples=30)))
    assert found[0] == found[1]


@few
@given(counts=COUNTS, times=st.integers(2, 5))
def test_copies_within_clusters_narrow_nothing(counts, times):
    """A document that stands several times in its cluster is one piece of evidence."""
    rows = np.array(counts, dtype=float)
    numbers = np.arange(len(rows))
    once = intervals(exact_scheme(), cluster_sums(rows, numbers), ResamplingSettings(resamples=40))
    copied = intervals(exact_scheme(), cluster_sums(np.tile(rows, (times, 1)), np.tile(numbers, times)), ResamplingSettings(resamples=40))
    for name, interval in once.items():
        assert (interval.low, interval.high) == pytest.approx((copied[name].low, copied[name].high), abs=1e-12)


def test_copies_as_documents_of_their_own_would_narrow_it():
    rows = random_counts(np.random.default_rng(4), 60)
    alone = intervals(exact_scheme(), rows, ResamplingSettings())["f1"]
    copied = intervals(exact_scheme(), np.tile(rows, (9, 1)), ResamplingSettings())["f1"]
    assert (copied.high - copied.low) / (alone.high - alone.low) == pytest.approx(1 / 3, rel=0.15)  # 1 / sqrt(9)


@few
@given(counts=COUNTS)
def test_more_confidence_is_wider_and_within_what_single_clusters_have(counts):
    sums = np.array(counts, dtype=float)
    narrow, wide = (intervals(exact_scheme(), sums, ResamplingSettings(resamples=60, confidence=level)) for level in (0.5, 0.95))
    single = exact_scheme().figures(sums[sums.sum(axis=1) > 0])
    for name in narrow:
        assert wide[name].low <= narrow[name].low <= narrow[name].high <= wide[name].high
        if len(single[name]):
            # A ratio of sums lies between the ratios of the parts; 0/0, which counts as 0, may be drawn too.
            assert wide[name].high <= single[name].max() + 1e-12


@few
@given(rows=COUNTS, data=st.data())
def test_clusters_keep_all_counts(rows, data):
    numbers = np.array(data.draw(st.lists(st.integers(0, 3), min_size=len(rows), max_size=len(rows))))
    sums = cluster_sums(np.array(rows, dtype=float), numbers)
    assert np.array_equal(sums.sum(axis=0), np.sum(rows, axis=0))
    assert len(sums) == max(numbers) + 1


@pytest.mark.long
def test_intervals_hold_the_true_value_as_often_as_they_say():
    """Simulated test sets of 80 clusters of 5 documents that are alike within a cluster; true recall is the mean difficulty, 0.7."""
    rng = np.random.default_rng(6)
    numbers = np.repeat(np.arange(80), 5)
    by_cluster = by_document = 0
    trials = 400
    for trial in range(trials):
        ease = rng.beta(3.5, 1.5, size=80)[numbers]  # mean 0.7
        hits = rng.binomial(4, ease)
        rows = np.stack([hits, np.zeros_like(hits), 4 - hits], axis=1).astype(float)
        options = ResamplingSettings(resamples=400, seed=trial)
        held = [intervals(exact_scheme(), sums, options)["recall"] for sums in (cluster_sums(rows, numbers), rows)]
        by_cluster += held[0].low <= 0.7 <= held[0].high
        by_document += held[1].low <= 0.7 <= held[1].high
    assert 0.91 <= by_cluster / trials <= 0.98
    assert by_document / trials < 0.85  # by theory .76: what comes of taking documents for independent that are not
