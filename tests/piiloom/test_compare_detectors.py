"""``piiloom compare --detector``: detectors are run on the gold, and measured."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from piiloom.detection.families import FAMILIES
from piiloom.evaluation.comparison_run import asked_detectors
from piiloom.foundation.errors import UsageError
from tests.evaluation.probe_corpora import write_rows
from tests.longer import case_by_case

QUICK = ("--resamples", 50, "--permutations", 99)


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    """Four documents with an e-mail address each, which patterns find, and a name, which they do not."""
    rows = []
    for number in range(4):
        text = f"Maria wrote from maria{number}@example.org yesterday."
        places = [(0, 5, "name"), (17, 35, "code")]
        spans = [{"start": start, "end": end, "text": text[start:end], "type": kind} for start, end, kind in places]
        rows.append({"id": f"d{number}", "context": text, "spans": spans})
    return write_rows(tmp_path / "gold.jsonl", rows)


@pytest.mark.long
def test_a_detector_is_run_and_measured(cli, gold, tmp_path):
    keep, plots, table = tmp_path / "kept", tmp_path / "plots", tmp_path / "t.json"
    words = ("compare", gold, f"gold itself={gold}", "--detector", "by rules=patterns --threshold 0.4", "--locale", "en_US")
    outcome = cli(*words, "--predictions-out", keep, "--plots", plots, "--out", table, *QUICK)
    assert outcome.code == 0, outcome.err
    assert "documents/s and peak memory" in outcome.out
    rules = next(one for one in json.loads(table.read_text())["systems"] if one["name"] == "by rules")
    assert rules["metrics"]["recall"] == 0.5
    assert rules["metrics"]["precision"] == 1.0
    assert {"documents/s", "peak MB", "USD/1,000", "ECE"} <= rules["extra"].keys()
    assert float(rules["extra"]["peak MB"]) > 20
    assert rules["calibration"]["spans"] == 4
    assert (keep / "1-by-rules.jsonl").read_text().count("\n") == 4
    assert sorted(path.name for path in plots.iterdir()) == ["quality.png", "quality.svg", "reliability.png", "reliability.svg"]


@pytest.mark.long
def test_a_detector_that_fails_is_named(cli, gold):
    outcome = cli("compare", gold, "--detector", "patterns --types nowhere.yaml", *QUICK)
    assert outcome.code == 1
    assert "the detector 'patterns' failed" in outcome.err


@case_by_case(
    ("given", "said"),
    [
        (["nobody"], "no detector 'nobody'"),
        (["patterns --out x"], "--out is set"),
        (["patterns", "patterns"], "two systems are called 'patterns'"),
        (["a=patterns", "a=hybrid-offline"], "two systems are called 'a'"),
        (["patterns 'x"], "not a detector and its options"),
        ([""], "no detector ''"),
    ],
)
def test_what_makes_no_sense_is_refused(given, said):
    with pytest.raises(UsageError, match=said):
        asked_detectors(given, FAMILIES)


def test_nothing_is_run_for_a_figure_that_there_is_not(cli, gold, tmp_path):
    outcome = cli("compare", gold, "--detector", "patterns", "--by", "nothing", "--predictions-out", tmp_path / "kept")
    assert outcome.code == 2
    assert not (tmp_path / "kept").exists()


def test_keeping_needs_a_detector(cli, gold, tmp_path):
    outcome = cli("compare", gold, gold, "--predictions-out", tmp_path)
    assert (outcome.code, "--predictions-out" in outcome.err) == (2, True)
