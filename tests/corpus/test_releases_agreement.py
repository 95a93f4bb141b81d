"""The share of equal labels among the versions of annotators."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from piiloom.corpus.releases.freezing import agreement, cohen_kappa
from tests.longer import case_by_case

TEXT = "Ann, 34, lives in Rome."
NAME, AGE, TOWN = (0, 3, "name", "low"), (5, 7, "age", "high"), (18, 22, "location", None)


def version(*labels: tuple[int, int, str, str | None], verdict: str = "accepted", text: str = TEXT) -> dict[str, Any]:
    spans = [{"start": start, "end": end, "type": kind, "relevance": relevance} for start, end, kind, relevance in labels]
    return {"verdict": verdict, "document": {"context": text, "question": None, "spans": spans}}


@case_by_case(
    ("versions", "share"),
    [
        ([version(NAME, AGE), version(NAME, AGE)], 1),
        ([version(), version()], 1),
        ([version(NAME), version()], 0),
        ([version(NAME, AGE), version(NAME, TOWN)], 1 / 3),
        ([version(NAME, AGE), version(NAME, (5, 7, "age", "low"))], 1 / 3),
        ([version(AGE), version((5, 7, "finance", "high"))], 0),
        ([version(AGE), version((4, 7, "age", "high"))], 0),
        ([version(NAME), version(NAME), version()], 1 / 3),
        ([version(NAME), version(verdict="rejected")], 0),
        ([version(NAME, verdict="rejected"), version(verdict="rejected")], 1),
        # A text that was edited moves the ranges: the words count.
        ([version(AGE, TOWN), version((6, 8, "age", "high"), (19, 23, "location", None), text=f"{TEXT[:3]} {TEXT[3:]}")], 1),
        ([version(NAME), version((0, 4, "name", "low"), text="Anna is here.")], 0),
    ],
)
def test_agreement_is_the_mean_share_of_equal_labels(versions: list[dict[str, Any]], share: float) -> None:
    assert agreement(versions) == pytest.approx(share)
    assert agreement(versions[::-1]) == pytest.approx(share)


def test_kappa_is_that_of_a_case_done_by_hand() -> None:
    # 20 yes-yes, 15 no-no, 5 and 10 apart: 0.7 observed, 0.5 by chance.
    ones, others = [1] * 25 + [0] * 25, [1] * 20 + [0] * 5 + [1] * 10 + [0] * 15
    assert cohen_kappa(ones, others) == pytest.approx(0.4)
    assert cohen_kappa([1, 1], [1, 1]) is None
    assert cohen_kappa([], []) is None


@given(st.lists(st.tuples(st.integers(-1, 3), st.integers(-1, 3)), max_size=30))
def test_kappa_is_that_of_scikit_learn(labels: list[tuple[int, int]]) -> None:
    ones, others = [one for one, _ in labels], [other for _, other in labels]
    ours = cohen_kappa(ones, others)
    if len({*ones, *others}) < 2:
        assert ours is None
    else:
        assert ours == pytest.approx(cohen_kappa_score(ones, others))
