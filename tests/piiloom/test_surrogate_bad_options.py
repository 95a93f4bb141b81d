"""Options of ``piiloom surrogate`` that make no sense, and those that are a warning only."""

from __future__ import annotations

import pytest

from tests.piiloom.surrogate_runs import _own_names, notes, refused

__all__ = ["_own_names", "notes", "refused"]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--locale", "xx_YY"), ("--locale", "'xx_YY'", "nl_NL")),
        (("--locale", "nl"), ("--locale", "nl_NL")),
        (("--locale", "Dutch"), ("--locale", "nl_NL")),
        (("--leakage", "often"), ("--leakage", "'often'", "0.01")),
        (("--leakage", "0.01,1.5"), ("--leakage", "'1.5'")),
        (("--leakage", "nan"), ("--leakage", "'nan'")),
        (("--groups", "weights", "--weights", "women=2"), ("'women=2'", "female, male, Africa")),
        (("--groups", "weights", "--weights", "female=-1"), ("'female=-1'",)),
        (("--groups", "weights", "--weights", "female=inf"), ("'female=inf'",)),
        (("--groups", "weights", "--weights", "female=0,male=0"), ("are 0",)),
        (("--weights", "female=2"), ("--weights", "--groups weights")),
        (("--groups", "even"), ("--groups",)),
        (("--strategy", "random"), ("--strategy",)),
        (("--scope", "world"), ("--scope",)),
        (("--scope", "corpus", "--groups-by", "document"), ("--groups-by document", "--scope document")),
        (("--speaker-field", "role"), ("--speaker-field", "--group-by")),
        (("--group-by", "file", "--question-field", "q"), ("--group-by", "no question")),
        (("--on-unknown", "guess"), ("--on-unknown",)),
        (("--keep-probability", "2"), ("--keep-probability",)),
        (("--seed", "x"), ("--seed",)),
        (("--max-unpacked", "0"), ("--max-unpacked",)),
        (("--delimiter", "ab"), ("--delimiter",)),
        (("--input-format", "doc"), ("doc", "jsonl")),
        (("--text-field", "a", "--text-field", "a"), ("--text-field", "twice")),
        (("--values", "dice"), ("--values",)),
        (("--values", "llm"), ("--provider openai",)),
        (("--values", "llm", "--provider", "openia", "--yes"), ("openai",)),
        (("--values", "llm", "--provider", "compatible", "--model", "m", "--yes"), ("--base-url",)),
        (("--provider", "openai"), ("--values llm",)),
        (("--values", "local"), ("--values",)),
        (("--groups", "exact"), ("--groups",)),
        (("--ray-address", "a:1"), ("--ray-address", "--ray")),
    ],
)
def test_options_that_make_no_sense(refused, notes, words, says):
    refused(notes, *words, code=2, says=says)


@pytest.mark.parametrize("workers", ["0", "-1", "many", "1.5", "²", ""])
def test_a_number_of_workers_that_is_none(cli, notes, tmp_path, workers):
    outcome = cli("surrogate", "run", notes, "--out", tmp_path / "out", f"--workers={workers}")
    assert outcome.code == 2
    assert "--workers" in outcome.error_line()
    assert [path.name for path in tmp_path.iterdir()] == ["notes"]


@pytest.mark.parametrize("miss", ["often", "2", "0", ",", "0.1;0.2"])
def test_miss_rates_that_are_none(refused, notes, miss):
    refused(notes, "--miss", miss, command="leakage", code=2, says=("--miss", "0.01,0.05"))


@pytest.mark.parametrize("command", ["run", "leakage"])
@pytest.mark.parametrize("data", [None, b"", b"junk" * 100])
def test_names_of_a_broken_file(refused, notes, tmp_path, command, data):
    index = tmp_path / "names.idx"
    if data is not None:
        index.write_bytes(data)
    refused(notes, "--names-index", index, command=command, code=1, says=("names.idx",))


def test_a_language_without_words_needs_a_mapping_or_consent(cli, notes, tmp_path):
    words = ("surrogate", "run", notes, "--out", tmp_path / "out", "--locale", "cs_CZ", "--workers", 1)
    outcome = cli(*words)
    assert outcome.code == 2
    assert "no words are known in 'cs'" in outcome.error_line()
    assert "--language-words none" in outcome.error_line()
    assert not (tmp_path / "out").exists()
    mapping = tmp_path / "mapping.yaml"
    assert cli("surrogate", "survey", notes, "--out", mapping).code == 0
    for more in (("--language-words", "none"), ("--placeholders", mapping, "--force")):
        outcome = cli(*words, *more)
        assert outcome.code == 0
        assert "warning: no words are known in 'cs'" in outcome.err


@pytest.mark.parametrize(
    "words", [["run"], ["run", "notes"], ["survey"], ["check", "out"], ["leakage"], ["frobnicate"], ["run", "a", "--frobnicate"]]
)
def test_lines_that_say_too_little_or_too_much(cli, words):
    outcome = cli("surrogate", *words)
    assert outcome.code == 2
    assert "piiloom surrogate" in outcome.error_line()
