"""The index against the definition written out: every pair compared, nothing missed."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from piiloom.corpus.near_duplicates import NearDuplicateIndex, shingle_hashes
from piiloom.foundation.words import WORD
from tests.longer import case_by_case

VOCABULARY = [f"word{n}" for n in range(300)]


def shingles(text: str) -> set[tuple[str, ...]]:
    found = [word.lower() for word in WORD.findall(text)]
    return {tuple(found[i : i + 5]) for i in range(max(1, len(found) - 4))}


def jaccard(a: str, b: str) -> float:
    return ratio(shingles(a), shingles(b))


def ratio(left: set[tuple[str, ...]], right: set[tuple[str, ...]]) -> float:
    return len(left & right) / len(left | right)


def family(rng: random.Random, size: int) -> list[str]:
    """Texts that drift away from one another word by word, so that similarities spread over the whole range."""
    base = [rng.choice(VOCABULARY) for _ in range(rng.randrange(8, 90))]
    texts = []
    for _ in range(size):
        for _ in range(rng.randrange(0, 3)):
            base[rng.randrange(len(base))] = rng.choice(VOCABULARY)
        texts.append(" ".join(base[rng.randrange(0, 4) :]))
    return texts


@pytest.mark.parametrize(("seed", "longest_run"), [(1, 2**22), (2, 4000), (3, 1)])
def test_no_pair_is_missed_across_runs(seed: int, longest_run: int) -> None:
    rng = random.Random(seed)
    texts = [text for _ in range(35) for text in family(rng, 6)]
    rng.shuffle(texts)
    sets = [shingles(text) for text in texts]
    index = NearDuplicateIndex(longest_run=longest_run)
    for number, text in enumerate(texts):
        expected = [str(n) for n in range(number) if ratio(sets[n], sets[number]) >= 0.5]
        assert index.insert(str(number), text) == expected
    assert len(index) == len(texts)


def test_add_names_the_most_similar_kept_text_and_does_not_index_a_duplicate() -> None:
    words = [f"w{n}" for n in range(60)]
    index = NearDuplicateIndex()
    assert index.add("first", " ".join(words)) is None
    drifted = " ".join([*words[:40], *(f"x{n}" for n in range(20))])
    assert jaccard(" ".join(words), drifted) < 0.5
    assert index.add("second", drifted) is None
    assert index.add("third", " ".join([*words[:45], *(f"x{n}" for n in range(5, 20))])) == "second"
    assert len(index) == 2
    assert index.similar("nothing of all this was ever said before") == []


@case_by_case(
    ("earlier", "later", "twin"),
    [
        ("Don’t panic, it's fine.", "DON’T PANIC: it's fine!", True),
        ("one two", "ONE, two", True),
        ("a", "a a", False),
        ("a a a a a", "a a a a a a", True),
        ("", "…", True),
        ("", "word", False),
        ("one two three four five six", "six five four three two one", False),
    ],
)
def test_short_texts_and_normalised_twins(earlier: str, later: str, twin: bool) -> None:
    index = NearDuplicateIndex()
    index.add("earlier", earlier)
    assert index.add("later", later) == ("earlier" if twin else None)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.text(max_size=60), max_size=12), st.sampled_from([0.3, 0.5, 0.9]))
def test_any_text_agrees_with_the_definition(texts: list[str], threshold: float) -> None:
    index = NearDuplicateIndex(threshold)
    for number, text in enumerate(texts):
        expected = [str(n) for n in range(number) if jaccard(texts[n], text) >= threshold]
        assert index.insert(str(number), text) == expected


@pytest.mark.parametrize("threshold", [0.0, -1.0, 1.5])
def test_a_threshold_outside_the_unit_interval_is_refused(threshold: float) -> None:
    with pytest.raises(ValueError, match="threshold"):
        NearDuplicateIndex(threshold)


def test_hashes_agree_between_processes() -> None:
    text = "The café’s manager asked whether I’d rather cycle home before the snow"
    code = f"from piiloom.corpus.near_duplicates import shingle_hashes; print(shingle_hashes({text!r}).tolist())"
    root = Path(__file__).resolve().parents[2]
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code], cwd=root, env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
        ).stdout
        for seed in ("1", "2")
    }
    assert outputs == {f"{shingle_hashes(text).tolist()}\n"}
