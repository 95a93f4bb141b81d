"""``piiloom surrogate leakage``, and ``run --leakage``."""

from __future__ import annotations

import importlib.util
import json

import pytest

from tests.piiloom.surrogate_runs import _own_names, fill, notes

__all__ = ["_own_names", "fill", "notes"]


@pytest.mark.long
def test_leakage_prints_a_table_and_writes_a_report(cli, notes, tmp_path):
    out = tmp_path / "deep" / "leakage"
    outcome = cli("surrogate", "leakage", notes, "--miss", "0.01,0.05", "--out", out)
    assert outcome.code == 0
    assert "1.00%" in outcome.out
    assert "5.00%" in outcome.out
    assert "4 people, 5 mentions" in outcome.out
    assert "pairs of people with the same full name: 0.0 expected, 0 among as many generated people\n" in outcome.out
    assert "  a known --seed: dates of 0 of 0 documents, 100.0% of name words\n" in outcome.out
    assert str(out) in outcome.err
    report = json.loads((out / "leakage.json").read_text())
    assert [row["miss_rate"] for row in report["leakage"]] == [0.01, 0.05]
    plots = {"leakage.png"} if importlib.util.find_spec("matplotlib") else set()
    assert {path.name for path in out.iterdir()} == {"leakage.json", *plots}


@pytest.mark.long
def test_leakage_as_json_is_json_also_when_files_are_written(cli, notes, tmp_path):
    words = ("surrogate", "leakage", notes, "--miss", "0.05", "--json")
    plain = json.loads(cli(*words).out)
    assert (plain["documents"], plain["people"], plain["mentions"]) == (2, 4, 5)
    replayed = plain["replay_attack"]
    assert replayed["known_seed"]["name_words_predicted"] == 1
    low, high = replayed["pools_alone"]["interval"]
    assert low <= replayed["secret_key"]["name_words_predicted"] <= high < 0.2
    assert json.loads(cli(*words, "--out", tmp_path / "l").out) == plain == json.loads((tmp_path / "l" / "leakage.json").read_text())


@pytest.mark.long
def test_leakage_without_matplotlib_says_what_is_missing(spawn, notes, tmp_path):
    before = "sys.modules['matplotlib'] = None"
    outcome = spawn("surrogate", "leakage", notes, "--miss", "0.05", "--out", tmp_path / "l", before=before)
    assert outcome.code == 0
    assert ".[report]" in outcome.err
    assert [path.name for path in (tmp_path / "l").iterdir()] == ["leakage.json"]


def test_run_says_for_the_miss_rates_how_often_a_document_leaks(fill, notes):
    (row,) = fill(notes, "--leakage", "0.05")["engine"]["leakage"]
    assert row["miss_rate"] == 0.05
    assert row["consistent"] >= row["per-mention"] >= 0
