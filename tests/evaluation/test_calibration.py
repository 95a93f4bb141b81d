"""Whether scores are what they say."""

from __future__ import annotations

import pytest

from piiloom.evaluation.inputs.documents import AnnotatedDocument, AnnotatedMention, Pair
from piiloom.evaluation.scoring.counts import CalibrationCollector


def _mention(start: int, score: float | None, entity_type: str = "name") -> AnnotatedMention:
    return AnnotatedMention(text="x", entity_type=entity_type, start=start, end=start + 1, score=score)


def _figures(gold: list[AnnotatedMention], found: list[AnnotatedMention]):
    collector = CalibrationCollector()
    collector.add(Pair(gold=AnnotatedDocument(where="g", mentions=tuple(gold)), found=AnnotatedDocument(where="f", mentions=tuple(found))))
    return collector.figures()


def test_by_hand() -> None:
    gold = [_mention(at, None) for at in range(4)]
    # In [0.8, 0.9): two of three right; in [0.5, 0.6): one, wrong in its type.
    found = [_mention(0, 0.8), _mention(1, 0.82), _mention(9, 0.84), _mention(2, 0.5, "age"), _mention(3, None)]
    figures = _figures(gold, found)
    assert (figures.spans, figures.unscored) == (4, 1)
    assert [(one.tenth, one.count, one.right) for one in figures.bands] == [(5, 1, 0.0), (8, 3, pytest.approx(2 / 3))]
    assert figures.ece == pytest.approx((1 * 0.5 + 3 * (0.82 - 2 / 3)) / 4)
    assert figures.brier == pytest.approx((0.2**2 + 0.18**2 + 0.84**2 + 0.5**2) / 4)


def test_a_gold_mention_makes_one_span_right_the_surest() -> None:
    figures = _figures([_mention(0, None)], [_mention(0, 0.6), _mention(0, 1.0)])
    assert [(one.said, one.right) for one in figures.bands] == [(0.6, 0.0), (1.0, 1.0)]


def test_without_scores_there_is_nothing_to_say() -> None:
    figures = _figures([_mention(0, None)], [_mention(0, None)])
    assert (figures.ece, figures.brier, figures.bands, figures.unscored) == (None, None, (), 1)
