"""``piiloom train encoder`` and ``piiloom detect --detector encoder``, from a release to detected rows."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import piiloom
from tests.detection.tiny_encoder import make_tiny_base
from tests.detection.training_rows import row, write_jsonl
from tests.piiloom.small_runs import Cli

pytestmark = pytest.mark.train

QUICK = ("--epochs", 1, "--threads", 1, "--max-tokens", 60, "--precision", "fp32")


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_tiny_base(tmp_path_factory.mktemp("base"))


def test_from_a_release_to_detected_rows(cli: Cli, base: Path, tmp_path: Path) -> None:
    store, out, found = tmp_path / "s.duckdb", tmp_path / "encoder", tmp_path / "found.jsonl"
    assert cli("generate", "--samples", 12, "--store", store, "--quiet").code == 0
    assert cli("release", "--name", "v1", "--test-size", 0, "--store", store).code == 0
    trained = cli("train", "encoder", "--release", "v1", "--store", store, "--model", base, "--out", out, *QUICK, "--validation-size", 2)
    assert trained.code == 0, trained.err
    assert "trained on 10 records, 1 epoch" in trained.out
    assert "validation: 2 records of 12" in trained.err
    assert (out / "plot.png").exists()
    texts = tmp_path / "texts.jsonl"
    texts.write_text(json.dumps({"context": "Entry 1: I have asthma.", "question": "May I drive?", "spans": [], "id": "a"}) + "\n")
    detected = cli("detect", texts, "--detector", "encoder", "--model-path", out, "--locale", "en_US", "--threshold", 0, "--out", found)
    assert detected.code == 0, detected.err
    (read,) = [json.loads(line) for line in found.read_text().splitlines()]
    assert all(span["text"] == read["context"][span["start"] : span["end"]] for span in read["spans"])
    again = cli("train", "encoder", "--release", "v1", "--store", store, "--model", base, "--out", out, *QUICK)
    assert (again.code, "the folder is not empty" in again.err) == (1, True)


def test_the_result_as_json(cli: Cli, base: Path, tmp_path: Path) -> None:
    file = write_jsonl(tmp_path / "train.jsonl", [row(n) for n in range(6)])
    done = cli(
        "train", "encoder", "--train", file, "--model", base, "--out", tmp_path / "out", *QUICK, "--validation-size", 0, "--quiet", "--json"
    )
    told = json.loads(done.out)
    assert told["data"]["files"][0]["name"] == "train.jsonl"
    assert told["figures"]["epochs"] == 1
    assert told["settings"]["calibration"] is None
    assert done.err == ""


def test_from_python(base: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, seen = write_jsonl(tmp_path / "train.jsonl", [row(n) for n in range(6)]), []
    options = {"train": [file], "epochs": 1, "threads": 1, "max_tokens": 60, "precision": "fp32"}
    about = piiloom.train_encoder(base, tmp_path / "out", watch=seen.append, **options)
    assert (about.family, about.figures["epochs"], seen[-1].step) == ("encoder", 1, seen[-1].steps)
    spans = piiloom.detect("I have asthma.", locale="en_US", detector="encoder", model_path=str(tmp_path / "out"))
    assert all(span.detector == "encoder" for span in spans)
    assert capsys.readouterr() == ("", "")
    for wrong, said in (({"epoch": 2}, "epoch"), ({"epochs": 0}, "epochs"), ({}, "not empty")):
        with pytest.raises(piiloom.PiiloomError, match=said):
            piiloom.train_encoder(base, tmp_path / "out", train=[file], **wrong)


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (
            (),
            1,
            "no span has a relevance to a question, so that relevance cannot be learnt. Train spans and types alone with --no-relevance",
        ),
        (("--no-relevance", "--model", "{tmp}"), 2, "the folder has no config.json"),
        (("--no-relevance", "--release", "v1"), 2, "Give one of the two"),
        (("--no-relevance", "--resume"), 2, "there is no checkpoint to go on from"),
        (("--no-relevance", "--precision", "int4"), 2, "Choose one of auto, fp32, bf16, fp16"),
        (("--no-relevance", "--device", "cuda"), 2, "torch finds no CUDA device"),
        (("--no-relevance", "--validation-size", "x"), 2, "the validation size is not a number"),
    ],
)
def test_what_is_told(cli: Cli, base: Path, tmp_path: Path, options: tuple[str, ...], code: int, said: str) -> None:
    file = write_jsonl(tmp_path / "train.jsonl", [row(n, relevances=(None, None)) for n in range(6)])
    given = [word.format(tmp=tmp_path) for word in options]
    store = tmp_path / "s.duckdb"
    done = cli("train", "encoder", "--train", file, "--model", base, "--out", tmp_path / "out", "--store", store, *QUICK, *given)
    assert (done.code, done.out) == (code, "")
    assert said in done.err
    assert "Traceback" not in done.err
