"""``piiloom detect`` with detectors that other people made: what is written, and what is told where something is missing."""

from __future__ import annotations

import json

import pytest

from tests.detection.tiny_classifier import write_classifier

pytest.importorskip("torch", reason="make test-train installs it")
pytest.importorskip("presidio_analyzer", reason="make test-train installs it")

pytestmark = [
    pytest.mark.train,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
]


@pytest.fixture
def texts(tmp_path):
    file = tmp_path / "texts.txt"
    file.write_text("John lives in Berlin.\nMail a1@example.com at ACME.\n")
    return file


def _rows(out):
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    return [[(one["text"], one["type"], one.get("subtype"), one["detector"]) for one in row["spans"]] for row in rows]


def test_a_token_classifier(cli, texts, tmp_path):
    write_classifier(tmp_path / "model", ("O", "B-PER", "B-LOC", "B-SHOP"), {"john": "B-PER", "ber": "B-LOC", "acme": "B-SHOP"})
    out = tmp_path / "found.jsonl"
    words = ("detect", texts, "--lines", "--locale", "en_US", "--detector", "huggingface", "--model-path", tmp_path / "model")
    outcome = cli(*words, "--device", "cpu", "--out", out, "--json")
    assert outcome.code == 0, outcome.err
    assert _rows(out) == [[("John", "name", None, "huggingface"), ("Berlin", "location", None, "huggingface")], []]
    assert json.loads(outcome.out)["set_aside"] == {"unmapped_label: SHOP": 1}
    aside = [json.loads(line) for line in next(tmp_path.glob("*aside*.jsonl")).read_text().splitlines()]
    assert [(one["reason"], one["value"], one["start"]) for one in aside] == [("unmapped_label: SHOP", "ACME", 23)]


def test_presidio_with_its_patterns_and_a_label_map_of_ones_own(cli, texts, tmp_path):
    labels, out = tmp_path / "labels.yaml", tmp_path / "found.jsonl"
    labels.write_text("EMAIL_ADDRESS: name/username\n")
    outcome = cli("detect", texts, "--lines", "--locale", "en_US", "--detector", "presidio", "--label-map", labels, "--out", out)
    assert outcome.code == 0, outcome.err
    assert _rows(out) == [[], [("a1@example.com", "name", "username", "presidio")]]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("presidio", "--model-path", "en_core_web_none"), "there is no such pipeline of spaCy"),
        (("presidio", "--types", "{}/nowhere.yaml"), "nowhere.yaml: cannot be read"),
        (("presidio", "--label-map", "{}/nowhere.yaml"), "there is no label map"),
        (("huggingface", "--model-path", "{}/nowhere"), "there is no such folder"),
        (("huggingface",), "needs a model on this machine"),
        (("gliner", "--model-path", "{}"), "has no gliner_config.json"),
    ],
)
def test_what_is_missing_is_told_in_one_line(cli, texts, tmp_path, options, said):
    given = [one.format(tmp_path) for one in options]
    outcome = cli("detect", texts, "--lines", "--locale", "en_US", "--out", tmp_path / "found.jsonl", "--detector", *given)
    assert outcome.code == 2
    assert said in " ".join(outcome.err.split())
    assert "Traceback" not in outcome.err
    assert not (tmp_path / "found.jsonl").exists()
