"""The small detector: what it says is what the protocol's models say, in windows as in one piece, with probabilities."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction import DictVectorizer
from sklearn.linear_model import LogisticRegression

from piiloom.tagging.model import WordToken, label_windows, tokenise
from piiloom.tagging.training import judged_features
from tests.longer import few
from tests.tagging.trained import example, small_model


def test_relevance_is_the_regression_s():
    rows = [one for seed in range(40) for one in judged_features(example(seed))]
    vectorizer, regression = DictVectorizer(), LogisticRegression(max_iter=500, C=0.5, class_weight="balanced")
    regression.fit(vectorizer.fit_transform([row for row, _ in rows]), [int(gold == "high") for _, gold in rows])
    unseen = [row for seed in range(60, 90) for row, _ in judged_features(example(seed))]
    expected = regression.decision_function(vectorizer.transform(unseen))
    relevance = small_model().relevance
    assert [relevance.log_odds(row) for row in unseen] == pytest.approx(list(expected), abs=1e-4)
    assert {relevance.judge(row) for row in unseen} == {"high", "low"}


def test_spans_are_those_of_the_probe_and_scores_are_probabilities():
    model = small_model()
    for seed in range(60, 90):
        one = example(seed)
        tagged = model.tag(one.context, one.question)
        assert [(span.start, span.end, span.entity_type) for span in tagged] == [tuple(span) for span in model.spans.find(one.context)]
        assert all(0 < span.score < 1 and 0 < span.high_score < 1 for span in tagged)
        assert model.tag(one.context, threshold=0.6) == [
            type(span)(start=span.start, end=span.end, entity_type=span.entity_type, score=span.score)
            for span in tagged
            if span.score >= 0.6
        ]


def test_what_is_unlike_the_examples_gets_a_lower_score():
    model = small_model()
    like, unlike = "I am 33 and work as a nurse in Leeds.", "We are 33 or so, perhaps the nurse said Leeds"
    assert min(one.score for one in model.tag(like)) > max((one.score for one in model.tag(unlike)), default=0.0)


@pytest.mark.parametrize("question", [None, "", "  "])
def test_without_a_question_there_is_no_relevance(question):
    (age, *_) = small_model().tag("I am 33 and work as a nurse in Leeds.", question)
    assert (age.relevance, age.high_score) == (None, None)


@pytest.mark.parametrize("text", ["", " \n", "…", "\u200b", "東京"])
def test_odd_texts(text):
    assert all(0 <= span.start < span.end <= len(text) for span in small_model().tag(text, "Why?"))


@few
@given(words=st.lists(st.sampled_from(["a", ".", "b!", "?"]), max_size=60), most=st.integers(2, 9))
def test_windows_hold_each_token_once_with_its_neighbours(words, most):
    tokens = tokenise(" ".join(words))
    held: list[WordToken] = []
    for window in label_windows(tokens, most):
        assert 0 < window.size <= most
        first = len(held)
        held += window.tokens[window.skip : window.skip + window.size]
        assert list(window.tokens) == tokens[max(0, first - 3) : len(held) + 3]
    assert held == tokens


def test_a_long_text_is_read_in_windows(monkeypatch):
    monkeypatch.setattr("piiloom.tagging.model.label_windows.__defaults__", (40,))
    texts = [example(seed).context for seed in range(60, 80)]
    text = " ".join(texts)
    found = {(span.start, span.end) for span in small_model().tag(text)}
    whole = {(span.start, span.end) for span in small_model().spans.find(text)}
    assert len(whole) > 40
    assert len(found ^ whole) <= 2  # the CRF sees no further than a window: at its borders another path may be likelier
