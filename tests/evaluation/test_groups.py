"""Figures by group, and their means."""

from __future__ import annotations

import numpy as np
import pytest

from piiloom.evaluation.scoring.counts import Clusters, CountTable, Groups, mean_over_groups
from piiloom.evaluation.scoring.resampling import ResamplingSettings, intervals
from piiloom.foundation.errors import UsageError
from tests.evaluation.scored_pairs import exact_scheme, scored_pair

PAIRS = [
    scored_pair(0, (1, 0, 0), ["story:a"], locale="en_US"),
    scored_pair(1, (1, 1, 0), ["story:b"], locale="en_US"),
    scored_pair(2, (0, 0, 1), ["story:a", "persona:p"], locale="en_US"),
    scored_pair(3, (3, 1, 3), ["story:b", "story:a"], locale="de_DE"),
    scored_pair(4, (2, 0, 0)),
]


def collected(by, pairs=PAIRS):
    table, groups, clusters = CountTable(exact_scheme()), Groups(by), Clusters()
    for pair in pairs:
        for collector in (table, groups, clusters):
            collector.add(pair)
    return table, groups, clusters


def test_figures_by_locale_and_their_means():
    table, groups, _ = collected("locale")
    german, american = groups.figures(table.scheme, table.rows)
    assert (german.name, german.documents, german.entities) == ("de_DE", 1, 6)
    assert (american.name, american.documents, american.entities) == ("en_US", 3, 3)
    assert groups.without == 1
    assert (german.figures["recall"], german.figures["precision"]) == (3 / 6, 3 / 4)
    assert (american.figures["recall"], american.figures["precision"]) == (2 / 3, 2 / 3)
    found = {weight: mean_over_groups(table.scheme, (german, american), weight) for weight in ("documents", "entities", "equal")}
    assert found["documents"]["recall"] == pytest.approx((1 * 1 / 2 + 3 * 2 / 3) / 4)
    assert found["entities"]["recall"] == pytest.approx((6 * 1 / 2 + 3 * 2 / 3) / 9)
    assert found["equal"]["recall"] == pytest.approx((1 / 2 + 2 / 3) / 2)
    assert set(found["equal"]) == {"precision", "recall", "f1", "f5"}  # sums of counts have no mean


def test_recall_weighted_by_entities_is_recall_over_all():
    table, groups, _ = collected("locale", PAIRS[:4])
    mean = mean_over_groups(table.scheme, groups.figures(table.scheme, table.rows), "entities")
    assert mean["recall"] == pytest.approx(table.overall()["recall"])


def test_a_document_with_several_keys_is_in_several_groups():
    table, groups, _ = collected("story")
    a, b = groups.figures(table.scheme, table.rows)
    assert (a.name, a.documents, a.figures["tp"], a.figures["fn"]) == ("a", 3, 4, 4)
    assert (b.name, b.documents, b.figures["tp"], b.figures["fn"]) == ("b", 2, 4, 3)
    assert groups.without == 1


def test_intervals_of_a_group_are_those_of_its_documents():
    table, groups, clusters = collected("locale")
    resampling = ResamplingSettings(resamples=50)
    german, american = groups.figures(table.scheme, table.rows, clusters=clusters.numbers(), resampling=resampling)
    order = np.argsort(clusters.numbers()[:3])  # the clusters' own order
    assert american.intervals == intervals(table.scheme, table.rows[:3][order], resampling)
    assert german.intervals == {"precision": None, "recall": None, "f1": None}
    assert german.to_json()["intervals"]["f1"] is None
    low, high = american.to_json()["intervals"]["f1"]
    assert 0 <= low <= american.figures["f1"] <= high <= 1


def test_without_any_group_there_is_nothing():
    table, groups, _ = collected("persona", PAIRS[:2])
    assert groups.figures(table.scheme, table.rows) == ()
    assert mean_over_groups(table.scheme, (), "equal") == {}
    assert groups.without == 2


def test_groups_without_gold_mentions_weigh_nothing():
    table, groups, _ = collected("locale", [scored_pair(0, (0, 2, 0), locale="en_US")])
    found = groups.figures(table.scheme, table.rows)
    assert mean_over_groups(table.scheme, found, "entities")["f1"] == 0
    assert "intervals" not in found[0].to_json()


def test_what_is_no_kind_is_refused():
    with pytest.raises(UsageError, match="--by"):
        Groups("a:b")
