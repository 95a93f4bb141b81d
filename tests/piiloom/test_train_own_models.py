"""``piiloom train lora`` and ``piiloom train spacy``: what they print, and their errors in a line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("torch")

from piiloom.cli.main import run
from tests.detection.training_rows import row, write_jsonl
from tests.providers.tiny_llama import write_model

pytestmark = pytest.mark.train


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    return write_jsonl(tmp_path / "rows.jsonl", [row(n) for n in range(6)])


def test_an_adapter(rows: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    base, out = write_model(tmp_path / "base"), tmp_path / "out"
    words = [
        "train",
        "lora",
        "--train",
        str(rows),
        "--model",
        str(base),
        "--out",
        str(out),
        "--task",
        "verifier-1",
        "--validation-size",
        "1",
    ]
    assert run([*words, "--max-steps", "1", "--batch-size", "1", "--accumulation", "1", "--rank", "2"]) == 0
    shown = capsys.readouterr()
    assert "trained on 20 examples of the task verifier-1: 1 step" in shown.out
    assert f"--verify 1 --provider local --model {base} --adapter {out}" in shown.out
    assert "validation: 1 record of 6" in shown.err
    assert run([*words, "--json"]) == 1
    assert "the folder is not empty" in capsys.readouterr().err
    assert run([*words, "--resume"]) == 2
    assert "the training there is finished" in capsys.readouterr().err
    assert run([*words, "--task", "ner"]) == 2
    assert "Choose one of capid, capid-alpaca, markers, verifier-1, verifier-2" in capsys.readouterr().err


def test_a_pipeline(rows: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("spacy")
    out, found = tmp_path / "out", tmp_path / "found.jsonl"
    words = ["train", "spacy", "--train", str(rows), "--out", str(out), "--epochs", "1"]
    assert run([*words, "--validation-size", "0", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["base"] == "blank en"
    assert report["best_epoch"] == 1
    assert run(["detect", str(rows), "--detector", "spacy", "--model-path", str(out), "--out", str(found)]) == 0
    assert len(found.read_text().splitlines()) == 6
    assert run([*words, "--model", "xy_none_sm", "--force"]) == 2
    assert "--model xy_none_sm: there is no such spaCy pipeline here" in capsys.readouterr().err
