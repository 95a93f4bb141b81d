"""The join against the index, which inserts text after text, and against the definition written out."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from piiloom.corpus import near_duplicates
from piiloom.corpus.near_duplicates import NearDuplicateIndex, Wordings
from piiloom.foundation.words import WORD
from tests.longer import sampled

VOCABULARY = [f"word{n}" for n in range(300)]


def by_join(texts: list[str], threshold: float) -> set[tuple[int, int]]:
    """All pairs of near-duplicate texts, the later one first."""
    wordings = Wordings(texts)
    of_text = wordings.of_text.tolist()
    texts_of: dict[int, list[int]] = {}
    for text, wording in enumerate(of_text):
        texts_of.setdefault(wording, []).append(text)
    found = {(later, first) for same in texts_of.values() for later in same for first in same if first < later}
    for left, right in wordings.near_pairs(threshold):
        for one, other in zip(left.tolist(), right.tolist(), strict=True):
            assert one != other
            found |= {(max(a, b), min(a, b)) for a in texts_of[one] for b in texts_of[other]}
    return found


def by_index(texts: list[str], threshold: float) -> set[tuple[int, int]]:
    index = NearDuplicateIndex(threshold)
    return {(number, int(key)) for number, text in enumerate(texts) for key in index.insert(str(number), text)}


def families(seed: int, count: int) -> list[str]:
    """Texts that drift away from one another word by word, so that similarities spread over the whole range."""
    rng = random.Random(seed)
    texts = []
    for _ in range(count):
        base = [rng.choice(VOCABULARY) for _ in range(rng.randrange(3, 90))]
        for _ in range(6):
            for _ in range(rng.randrange(0, 3)):
                base[rng.randrange(len(base))] = rng.choice(VOCABULARY)
            texts.append(" ".join(base[rng.randrange(0, 4) :]))
    rng.shuffle(texts)
    return texts


@pytest.mark.parametrize("count", sampled(60, 600))
@pytest.mark.parametrize("threshold", [0.3, 0.5, 0.8, 1.0])
def test_no_pair_is_missed_and_none_is_invented(threshold: float, count: int) -> None:
    texts = families(int(threshold * 10), count)
    found = by_join(texts, threshold)
    assert found == by_index(texts, threshold)
    assert len(found) > count / 2


def test_blocks_and_chunks_of_any_size_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = families(3, 30)
    expected = by_join(texts, 0.5)
    monkeypatch.setattr(near_duplicates, "_BLOCK", 7)
    monkeypatch.setattr(near_duplicates, "_CHUNK", 11)
    assert by_join(texts, 0.5) == expected


@settings(deadline=None)
@given(
    st.lists(
        st.one_of(st.text(max_size=30), st.lists(st.sampled_from("a b c B Don’t don't".split()), max_size=9).map(" ".join)), max_size=12
    ),
    st.sampled_from([0.3, 0.5, 0.9]),
)
def test_any_texts_agree_with_the_index(texts: list[str], threshold: float) -> None:
    assert by_join(texts, threshold) == by_index(texts, threshold)
    words = [tuple(word.lower() for word in WORD.findall(text)) for text in texts]
    of_text = Wordings(iter(texts)).of_text.tolist()
    assert [[a == b for a in of_text] for b in of_text] == [[a == b for a in words] for b in words]


def test_pairs_that_are_not_wanted_are_left_out() -> None:
    base = " ".join(VOCABULARY[:40])
    texts = [base, base + " one", base + " two"]
    asked = []

    def wanted(left: near_duplicates.Numbers, right: near_duplicates.Numbers) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        asked.append(left.size)
        return np.asarray((left != 2) & (right != 2))

    pairs = [
        (a, b) for left, right in Wordings(texts).near_pairs(0.5, wanted=wanted) for a, b in zip(left.tolist(), right.tolist(), strict=True)
    ]
    assert {frozenset(pair) for pair in pairs} == {frozenset({0, 1})}
    assert sum(asked) >= 3


@pytest.mark.parametrize("threshold", [0.0, -1.0, 1.5])
def test_a_threshold_outside_the_unit_interval_is_refused(threshold: float) -> None:
    with pytest.raises(ValueError, match="threshold"):
        next(Wordings(["a"]).near_pairs(threshold))


def test_no_texts_have_no_pairs() -> None:
    wordings = Wordings([])
    assert wordings.count == 0
    assert list(wordings.near_pairs(0.5)) == []
