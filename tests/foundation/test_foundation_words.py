from __future__ import annotations

import os
import subprocess
import sys

import pytest

from piiloom.foundation.errors import ConfigError, PiiloomError, UsageError
from piiloom.foundation.seeding import derive_rng, derive_seed, digest
from piiloom.foundation.words import content_words, count_words, whole_word, words


def test_apostrophes_stay_inside_words_and_hyphens_part_them() -> None:
    assert words("Don't ask my mother-in-law’s vet, '90s fan!") == ["Don't", "ask", "my", "mother", "in", "law’s", "vet", "90s", "fan"]
    assert count_words("") == 0
    # Two characters of Han or kana are a word, and five of Thai.
    assert [count_words(text) for text in ("我今年47岁了，在IBM上班。", "東京タワーの近く", "เชียงใหม่", "서울에서 일해요")] == [7, 4, 2, 2]


def test_function_words_carry_no_content() -> None:
    assert content_words("The Nurse and the ladder") == {"nurse", "ladder"}


@pytest.mark.parametrize(("text", "found"), [("an asthma spray", True), ("asthmatic", False), ("(asthma)", True), ("Asthma", False)])
def test_whole_words_are_not_touched_by_word_characters(text: str, found: bool) -> None:
    assert bool(whole_word("asthma").search(text)) is found


def test_an_amount_is_found_with_its_sign() -> None:
    assert whole_word("$52,400").search("earning $52,400.") is not None
    assert whole_word("52,400").search("earning $152,400") is None


def test_seeds_agree_between_processes() -> None:
    code = "from piiloom.foundation.seeding import derive_seed; print(derive_seed('run', 7, ('a', 'ü')))"
    for hash_seed in ("0", "12345"):
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": os.pathsep.join(sys.path)}
        told = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True).stdout
        assert int(told) == derive_seed("run", 7, ("a", "ü"))


def test_different_parts_give_different_streams() -> None:
    assert derive_rng(1, "a").random() == derive_rng(1, "a").random() != derive_rng(1, "b").random()
    assert digest("a", "b") != digest("ab")
    assert digest({"x": 1, "y": 2}) == digest({"y": 2, "x": 1})
    assert 0 <= derive_seed("x") < 2**63


def test_an_error_says_where_what_and_what_next() -> None:
    error = ConfigError("is empty", where="run.yaml:3", remedy="Name a type.")
    assert str(error) == "run.yaml:3: is empty. Name a type."
    assert str(PiiloomError("stopped")) == "stopped"
    assert isinstance(error, UsageError)
    assert (error.exit_code, PiiloomError("x").exit_code) == (2, 1)
