"""From labels of tokens to spans: schemes of labels, whole words, windows. No model is needed."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from piiloom.detection.token_decoding import TokenMention, Words, decoded_mentions, scheme_of, token_words, windows_of
from piiloom.foundation.errors import UsageError
from tests.longer import case_by_case, examples

BIO = ("O", "B-PER", "I-PER", "B-LOC", "I-LOC")
TEXTS = st.text(st.sampled_from("ab9 .,:'’-@_\n王明ไทé́नम\u200d👩🏽🇩🇪"), max_size=60)


@case_by_case(
    ("labels", "scheme", "kinds"),
    [
        (BIO, "BIO", ("PER", "LOC")),
        (("O", "B-A", "I-A", "L-A", "U-A"), "BILOU", ("A",)),
        (("B_A", "I_A", "E_A", "S_A", "O"), "BIOES", ("A",)),
        (("O", "PER-B", "PER-I"), "BIO", ("PER",)),
        (("O", "I-PER", "I-ORG"), "BIO", ("PER", "ORG")),
        (("O", "PERSON", "B-DAY"), "IO", ("PERSON", "B-DAY")),
        ((*("others", "name")[::-1], "O"), "IO", ("name", "others")),
        (("O", "B-I-9", "I-I-9"), "BIO", ("I-9",)),
    ],
)
def test_schemes_are_found_in_the_labels(labels, scheme, kinds):
    found = scheme_of(labels)
    assert (found.scheme, found.kinds) == (scheme, kinds)
    assert found.kind_of.count(-1) == 1


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        (("LABEL_0", "LABEL_1"), "have no names"),
        (("B-PER", "I-PER"), "for what is no mention"),
        (("O",), "for a kind"),
        ((), "no mention|for a kind"),
    ],
)
def test_labels_that_say_nothing_are_refused(labels, said):
    with pytest.raises(UsageError, match=said):
        scheme_of(labels)


@case_by_case(
    ("text", "words"),
    [
        ("O'Brien met Ann's friend, don't!", "O'Brien|met|Ann|'|s|friend|,|don't|!"),
        ("34.5 kg at 7:45 (10,000)", "34.5|kg|at|7:45|(|10,000|)"),
        ("a_b x@y.de", "a_b|x|@|y|.|de"),
        ("王小明 went", "王|小|明|went"),
        ("नमस्ते e\u0301t", "नमस्ते|e\u0301t"),
        ("👩\u200d👧🇩🇪🇫🇷", "👩\u200d👧|🇩🇪|🇫🇷"),
    ],
)
def test_words(text, words):
    found, at, cut = Words(text), 0, []
    while at < len(text):
        start, end = found.around(at, at + 1)
        if end > start:
            cut.append(text[start:end])
        at = max(end, at + 1)
    assert "|".join(cut) == words


def _probabilities(labels, said, sure=0.9):
    rows = np.full((len(said), len(labels)), (1 - sure) / (len(labels) - 1), dtype=np.float32)
    for number, label in enumerate(said):
        rows[number, labels.index(label)] = sure
    return rows


def _decoded(text, pieces, said, labels=BIO):
    """The mentions where the tokens are *pieces*, one after the other in *text*."""
    offsets, at = [], 0
    for piece in pieces:
        start = text.index(piece, at)
        offsets.append((start, start + len(piece)))
        at = start + len(piece)
    return [
        (text[one.start : one.end], one.kind)
        for one in decoded_mentions(token_words(text, offsets), _probabilities(labels, said), scheme_of(labels))
    ]


def test_a_word_is_judged_by_its_first_token_and_never_cut():
    pieces = ["Mc", "Don", "ald", "met", "Al", "ice", "'", "s", "son"]
    said = ["B-PER", "O", "B-LOC", "O", "B-PER", "O", "O", "I-PER", "O"]
    assert _decoded("McDonald met Alice's son", pieces, said) == [("McDonald", "PER"), ("Alice", "PER"), ("s", "PER")]


def test_adjacent_words_of_one_kind_are_one_mention_unless_a_new_one_begins():
    pieces = ["Ann", "Lee", "Bo", "Oslo"]
    assert _decoded("Ann Lee Bo Oslo", pieces, ["B-PER", "I-PER", "B-PER", "I-LOC"]) == [("Ann Lee", "PER"), ("Bo", "PER"), ("Oslo", "LOC")]
    io = ("O", "PER", "LOC")
    assert _decoded("Ann Lee Bo Oslo", pieces, ["PER", "PER", "PER", "LOC"], io) == [("Ann Lee Bo", "PER"), ("Oslo", "LOC")]
    bilou = ("O", "B-PER", "I-PER", "L-PER", "U-PER")
    assert _decoded("Ann Lee Bo Kim", [*pieces[:3], "Kim"], ["B-PER", "L-PER", "I-PER", "U-PER"], bilou) == [
        ("Ann Lee", "PER"),
        ("Bo", "PER"),
        ("Kim", "PER"),
    ]


def test_the_score_is_the_mean_probability_of_the_kind_over_the_words():
    rows = np.array([[0.1, 0.5, 0.3, 0.05, 0.05], [0.4, 0.1, 0.5, 0.0, 0.0]], dtype=np.float32)
    (found,) = decoded_mentions(token_words("Ann Lee", [(0, 3), (4, 7)]), rows, scheme_of(BIO))
    assert found[:3] == (0, 7, "PER")
    assert found.score == pytest.approx((0.8 + 0.6) / 2)


def test_no_tokens_give_no_mentions():
    assert decoded_mentions(token_words("  ", []), np.zeros((0, 5), dtype=np.float32), scheme_of(BIO)) == []
    assert token_words(" \n", [(0, 1), (1, 2), (2, 2)]) == []


@settings(max_examples=examples(400), deadline=None)
@given(TEXTS, st.data())
def test_spans_are_exact_disjoint_and_never_cut_a_word(text, data):
    cuts = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=20)))
    offsets = [(a, b) for a, b in itertools.pairwise(cuts) if data.draw(st.booleans())]
    said = data.draw(st.lists(st.sampled_from(BIO), min_size=len(offsets), max_size=len(offsets)))
    found: list[TokenMention] = decoded_mentions(token_words(text, offsets), _probabilities(BIO, said), scheme_of(BIO))
    end = 0
    for one in found:
        assert end <= one.start < one.end <= len(text)
        end = one.end
        assert Words(text).around(one.start, one.end) == (one.start, one.end)
        assert not text[one.start].isspace()
        assert not text[one.end - 1].isspace()
        for place in (one.start, one.end):  # no Latin word or number is cut, by a rule that knows nothing of ours
            assert not re.search(r"[a-z0-9_]\Z", text[:place]) or not re.match(r"[a-z0-9_]", text[place:])


@settings(max_examples=examples(400), deadline=None)
@given(st.integers(0, 300), st.integers(2, 60), st.data())
def test_windows_cover_each_token_once_and_begin_with_words(count, limit, data):
    overlap = data.draw(st.integers(0, limit - 1))
    starts = sorted(data.draw(st.sets(st.integers(0, max(0, count - 1)), max_size=count)))
    windows = windows_of(count, limit, overlap, starts)
    owned = [number for one in windows for number in range(one.own_first, one.own_last)]
    assert owned == list(range(count))
    for one in windows:
        assert 0 <= one.first <= one.own_first <= one.own_last <= one.last <= count
        assert one.last - one.first <= limit
    if count and count <= limit:
        assert windows == [(0, count, 0, count)]


def test_each_token_is_judged_where_it_has_more_around_it():
    assert windows_of(10, 6, 4, range(10)) == [(0, 6, 0, 4), (2, 8, 4, 6), (4, 10, 6, 10)]
    assert windows_of(10, 6, 2, [0, 3, 9]) == [(0, 6, 0, 4), (3, 9, 4, 8), (7, 10, 8, 10)]


def test_a_window_larger_than_its_overlap_is_asked_for():
    with pytest.raises(ValueError, match="overlap"):
        windows_of(10, 4, 4, [])
