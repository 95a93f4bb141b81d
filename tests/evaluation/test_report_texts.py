"""Figures about wording: words, n-grams, lengths, openers, self-BLEU, near-duplicates."""

from __future__ import annotations

import random
import subprocess
import sys
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from piiloom.evaluation.report.wording import (
    INSTALL,
    ORDERS,
    SAMPLE_TEXTS,
    SAMPLE_WORDS,
    SAMPLES,
    THRESHOLD,
    WordedTexts,
    bleu_against_others,
    distinct_shares,
    measure_lengths,
    measure_openers,
    measure_repeats,
    measure_texts,
    sampled_distinct_shares,
    self_bleu,
)
from piiloom.foundation.words import words
from tests.longer import few

# Few different words: n-grams repeat.
lines = st.lists(st.sampled_from("a b c d Don't".split()), max_size=9).map(" ".join)
corpora = st.lists(lines, max_size=8)


def lower(text: str) -> list[str]:
    return [word.lower() for word in words(text)]


@few
@given(corpora)
def test_words_come_back(texts):
    worded = WordedTexts.of(texts)
    assert [list(worded.words_of(number)) for number in range(len(worded))] == [lower(text) for text in texts]
    assert worded.lengths().tolist() == [len(lower(text)) for text in texts]


@few
@given(corpora)
def test_distinct_n_is_what_counting_tuples_gives(texts):
    expected = []
    for order in ORDERS:
        grams = [tuple(row[at : at + order]) for row in map(lower, texts) for at in range(len(row) - order + 1)]
        expected.append(len(set(grams)) / len(grams) if grams else None)
    assert list(distinct_shares(WordedTexts.of(texts))) == expected


@few
@given(corpora, st.integers(0, 30), st.randoms(use_true_random=False))
def test_a_beginning_has_the_words_asked_for(texts, size, rng):
    worded = WordedTexts.of(texts)
    order = list(range(len(texts)))
    rng.shuffle(order)
    part = worded.beginning(order, size)
    in_order = [word for number in order for word in lower(texts[number])]
    assert [word for number in range(len(part)) for word in part.words_of(number)] == in_order[:size]


@few
@given(st.lists(st.integers(0, 3000), min_size=1, max_size=60))
def test_a_histogram_holds_every_text_once(sizes):
    lengths = measure_lengths(WordedTexts.of(" ".join(["w"] * size) for size in sizes))
    assert sum(each.texts for each in lengths.histogram) == len(sizes)
    for each in lengths.histogram:
        assert each.texts == sum(each.first <= size and (each.last is None or size <= each.last) for size in sizes)
    assert [each.first for each in lengths.histogram[1:]] == [each.last + 1 for each in lengths.histogram[:-1]]
    assert len(lengths.histogram) <= 25
    assert (lengths.p5, lengths.longest) == (sorted(sizes)[int(0.05 * (len(sizes) - 1))], max(sizes))


def test_openers():
    openers = measure_openers(WordedTexts.of(["I am a baker", "I am a pilot", "i  AM, a cook", "I was", "", "So there"]))
    assert [(opener.words, opener.texts, opener.share) for opener in openers.top[:2]] == [("i am a", 3, 0.5), ("", 1, 1 / 6)]
    assert (openers.distinct, openers.for_half) == (4, 1)


def test_texts_of_nothing_are_measured_too():
    figures = measure_texts(["", "…"], seed=7)
    assert (figures.words, figures.distinct, figures.self_bleu.mean) == (0, (None,) * 4, None)
    assert figures.repeats.identical == 2


@pytest.mark.long
def test_the_order_of_the_texts_changes_nothing():
    rng = random.Random(4)
    texts = [" ".join(f"w{rng.randrange(300)}" for _ in range(5)) for _ in range(SAMPLE_TEXTS + 30)]
    first = measure_texts(texts, seed=7)
    assert measure_texts(texts[::-1], seed=7) == first
    other = measure_texts(texts, seed=8)
    assert other.self_bleu.mean != first.self_bleu.mean
    assert other.distinct == first.distinct


def test_distinct_n_in_a_fixed_number_of_words_compares_corpora_of_different_size():
    rng = random.Random(5)
    texts = [" ".join(f"w{rng.randrange(5000)}" for _ in range(50)) for _ in range(1600)]
    small, large = WordedTexts.of(texts[:400]), WordedTexts.of(texts)
    assert distinct_shares(small)[0] > 1.5 * distinct_shares(large)[0]
    sampled = [sampled_distinct_shares(worded, seed=7) for worded in (small, large)]
    assert sampled[0][0] == pytest.approx(sampled[1][0], rel=0.03)
    assert sampled_distinct_shares(large, seed=8) != sampled[1] == sampled_distinct_shares(large, seed=7)
    assert sampled_distinct_shares(WordedTexts.of(texts[: SAMPLE_WORDS // 50 - 1]), seed=7) is None


def test_self_bleu_of_copies_is_one_and_of_strangers_nothing():
    assert self_bleu(WordedTexts.of(["one two three four five"] * 5), seed=7).mean == pytest.approx(1)
    strangers = self_bleu(WordedTexts.of([" ".join(f"{a}{b}" for b in range(9)) for a in "abcdef"]), seed=7)
    assert strangers.mean == pytest.approx(0)
    assert (strangers.texts, strangers.samples) == (6, 1)


@pytest.mark.long
@few
@given(st.lists(st.lists(st.sampled_from("abcde"), min_size=1, max_size=14).map(" ".join), min_size=2, max_size=8))
def test_each_text_has_the_bleu_that_sacrebleu_gives_it(lines):
    metric = pytest.importorskip("sacrebleu").metrics.BLEU(tokenize="none", smooth_method="exp", effective_order=True)
    scores = [metric.sentence_score(line, [*lines[:at], *lines[at + 1 :]]).score for at, line in enumerate(lines)]
    assert list(bleu_against_others(lines)) == scores


def test_self_bleu_takes_samples_of_a_fixed_size():
    rng = random.Random(6)
    texts = WordedTexts.of(" ".join(f"w{rng.randrange(50)}" for _ in range(12)) for _ in range(SAMPLE_TEXTS + 40))
    score = self_bleu(texts, seed=7)
    assert (score.texts, score.samples, score.install) == (SAMPLE_TEXTS, SAMPLES, None)
    assert 0 < score.lowest < score.mean < score.highest < 1


def test_without_the_extra_self_bleu_says_what_to_install():
    code = (
        "import sys; sys.modules['sacrebleu'] = None\n"
        "from piiloom.evaluation.report.wording import self_bleu\nfrom piiloom.evaluation.report.wording import WordedTexts\n"
        "score = self_bleu(WordedTexts.of(['a b', 'b c']), seed=7)\nprint(score.mean, score.install)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == f"None {INSTALL}\n"


@few
@given(st.lists(st.lists(st.sampled_from("abc"), max_size=9).map(" ".join), max_size=10))
def test_near_duplicates_are_those_of_a_comparison_of_all_with_all(texts):
    def shingles(text):
        row = lower(text)
        return {tuple(row[at : at + 5]) for at in range(max(1, len(row) - 4))}

    near, identical = set(), set()
    for first, second in combinations(range(len(texts)), 2):
        one, other = shingles(texts[first]), shingles(texts[second])
        if len(one & other) / len(one | other) >= THRESHOLD:
            near |= {first, second}
        if lower(texts[first]) == lower(texts[second]):
            identical |= {first, second}
    found = measure_repeats(texts, WordedTexts.of(texts))
    assert (found.near, found.identical) == (len(near), len(identical))
    assert found.near_share == (len(near) / len(texts) if texts else None)
