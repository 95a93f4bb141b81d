"""Contrast groups by hand: who changes their mind with the question, and who does not."""

from __future__ import annotations

import itertools

import numpy as np

from piiloom.corpus.record import CONTRAST_GROUP
from piiloom.evaluation.inputs.documents import Pair
from piiloom.evaluation.schemes.masking import ContrastGroups
from tests.evaluation.masking_documents import document, mention

TEXT = "Ann, 30, from Rome, is a nurse"
SAID = ("Ann", "30", "Rome", "nurse")


def pair(group: str | None, gold: str, found: str) -> Pair:
    """A record of *group*. *gold*, *found*: h(igh), l(ow), n(one stated) or - (no mention) for each of ``SAID``."""
    side = {"h": "high", "l": "low", "n": None}
    sides = [
        document(TEXT, *(mention(TEXT, one, "name", relevance=side[mark]) for one, mark in zip(SAID, marks, strict=True) if mark != "-"))
        for marks in (gold, found)
    ]
    keys = ("story:1", *([f"{CONTRAST_GROUP}{group}"] if group else []))
    return Pair(gold=document(TEXT, *sides[0].mentions, group_keys=keys), found=sides[1])


def scored(*pairs: Pair) -> ContrastGroups:
    groups = ContrastGroups()
    for one in pairs:
        groups.add(one)
    return groups


def test_consistency_by_mention_and_by_group() -> None:
    pairs = [
        # Group 1: Ann and 30 change. Both are right in both records. nurse is wrong, but does not change.
        pair("1", "hllh", "hlll"),
        pair("1", "lhlh", "lhll"),
        # Group 2: Ann, 30 and Rome change. Rome is masked for both questions, 30 for the wrong one, Ann as it should.
        pair("2", "hhhl", "hlll"),
        pair("2", "llll", "lhll"),
        # Group 3: nothing changes. No group, and a mention that changes between questions of other texts.
        pair("3", "llll", "----"),
        pair("3", "llll", "----"),
        pair(None, "hhhh", "llll"),
        pair(None, "llll", "llll"),
    ]
    groups = scored(*pairs)
    assert groups.rows.tolist() == [[1, 1, 2, 2], [1, 0, 3, 1]]
    figures = groups.figures(groups.rows.sum(axis=0))
    assert (figures["contrast_consistency"], figures["contrast_consistency_mentions"]) == (1 / 2, 3 / 5)
    assert set(figures) == set(ContrastGroups.headline)
    for order in itertools.islice(itertools.permutations(pairs), 0, None, 3001):
        assert scored(*order).rows.tolist() == groups.rows.tolist()


def test_what_a_masker_leaves_in_is_as_good_as_high_relevance() -> None:
    assert scored(pair("1", "h---", "----"), pair("1", "l---", "l---")).rows.tolist() == [[1, 1, 1, 1]]
    # A masker that states no relevance masks for both questions, one that masks nothing for neither.
    assert scored(pair("1", "h---", "n---"), pair("1", "l---", "n---")).rows.tolist() == [[1, 0, 1, 0]]
    assert scored(pair("1", "h---", "----"), pair("1", "l---", "----")).rows.tolist() == [[1, 0, 1, 0]]


def test_three_questions_have_to_be_right_each() -> None:
    right = [pair("1", "h---", "h---"), pair("1", "l---", "l---")]
    assert scored(*right, pair("1", "h---", "h---")).rows.tolist() == [[1, 1, 1, 1]]
    assert scored(*right, pair("1", "h---", "l---")).rows.tolist() == [[1, 0, 1, 0]]
    # Without relevance, gold says nothing of this question.
    assert scored(*right, pair("1", "n---", "----")).rows.tolist() == [[1, 1, 1, 1]]


def test_without_groups() -> None:
    groups = scored(pair(None, "hhhh", "hhhh"))
    assert groups.rows.shape == (0, 4)
    assert {float(one) for one in groups.figures(groups.rows.sum(axis=0)).values()} == {0.0}


def test_figures_of_resampled_groups() -> None:
    groups = scored(pair("1", "h---", "h---"), pair("1", "l---", "l---"), pair("2", "h---", "l---"), pair("2", "l---", "l---"))
    picks = np.array([[2.0, 0.0], [0.0, 2.0], [1.0, 1.0]])
    assert groups.figures(picks @ groups.rows)["contrast_consistency"].tolist() == [1, 0, 1 / 2]
