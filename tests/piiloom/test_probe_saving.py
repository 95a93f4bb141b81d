"""``piiloom probe --out`` and what becomes of it: a detector for ``piiloom detect``, from the command line and from Python."""

from __future__ import annotations

import json

import pytest

import piiloom
from piiloom.evaluation.probe.data import read_corpus
from piiloom.tagging.model_folder import load_tagging_model
from piiloom.taxonomy.own_types import from_json, to_json
from tests.evaluation.probe_corpora import capid_row, native_row, write_rows
from tests.longer import mostly_long


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    train = write_rows(folder / "train.jsonl", [native_row(seed) for seed in range(40)])
    people = write_rows(folder / "people.jsonl", [capid_row(seed) for seed in range(100, 115)])
    return train, people


@pytest.fixture(scope="module")
def model(files, tmp_path_factory):
    """A saved detector; made once."""
    folder = tmp_path_factory.mktemp("made") / "model"
    train, people = files
    return folder, piiloom.probe(train, people, out=folder, calibrate=people)


def test_saved_without_a_test(cli, files, tmp_path):
    train, people = files
    outcome = cli("probe", train, "--limit", 20, "--calibrate", people, "--out", tmp_path / "model")
    assert (outcome.code, outcome.err) == (0, "")
    first, saved, on, spans, high = outcome.out.splitlines()
    assert first == f"train {train}: 40 records"
    assert saved.startswith(f"saved {tmp_path / 'model'}: ")
    assert saved.endswith(" types, learnt from 20 records")
    assert on == "  calibrated on people.jsonl, 15 records"
    assert spans.startswith("  scores of spans: ECE 0.")
    assert high.startswith("  probabilities of high: ECE 0.")
    card = json.loads((tmp_path / "model" / "piiloom.json").read_text())
    assert (card["family"], card["schema"], card["data"]["records"]) == ("probe", 1, 20)
    assert card["data"]["file"] == "train.jsonl"
    assert sum(card["data"]["relevance"].values()) == sum(card["data"]["spans"].values()) == 60


def test_its_figures_are_those_of_the_probe(files, model):
    train, people = files
    folder, told = model
    assert told["trainings"] == piiloom.probe(train, people)["trainings"]
    kept = json.loads((folder / "piiloom.json").read_text())["figures"]
    assert kept["tests"][0]["span_f1_exact"] == pytest.approx(told["trainings"][0]["tests"][0]["span_f1_exact"], abs=1e-6)
    assert kept["calibration"] == told["saved"]["calibration"]


@pytest.mark.parametrize("threshold", ["0", "0.6"])
def test_it_detects_what_the_probe_found(cli, files, model, tmp_path, threshold):
    _, people = files
    out = tmp_path / "found.jsonl"
    words = ("--input-format", "capid", "--locale", "en_US", "--detector", "probe", "--model-path", model[0], "--threshold", threshold)
    outcome = cli("detect", people, *words, "--out", out)
    assert outcome.code == 0
    assert "occupation" in outcome.out
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    loaded = load_tagging_model(model[0])
    for row, record in zip(rows, read_corpus(people).records, strict=True):
        expected = [one for one in loaded.tag(record.context, record.question) if one.score >= float(threshold)]
        assert [(one["start"], one["end"], one["type"], one["relevance"]) for one in row["spans"]] == [
            (one.start, one.end, one.entity_type, one.relevance) for one in expected
        ]
        assert [(one["score"], one["relevance_score"]) for one in row["spans"]] == [
            (round(one.score, 4), round(one.high_score, 4)) for one in expected
        ]
        assert {one["detector"] for one in row["spans"]} <= {"probe"}
    assert len(piiloom.load(out)) == 15  # what it writes can be read


def test_a_format_without_room_for_it_is_told(cli, files, model, tmp_path):
    words = ("--input-format", "capid", "--locale", "en_US", "--detector", "probe", "--model-path", model[0], "--threshold", 0)
    outcome = cli("detect", files[1], *words, "--format", "csv", "--out", tmp_path / "out")
    assert outcome.code == 0
    assert "the format does not keep: " in outcome.out
    assert "validated, relevance_score" in " ".join(outcome.out.split())


def test_from_python(model):
    text = "I am 33 and work as a nurse in Leeds."
    spans = piiloom.detect(text, locale="nl_NL", question="Did my age matter for this loan?", detector="probe", model_path=str(model[0]))
    assert [(text[one.start : one.end], one.entity_type, one.relevance) for one in spans] == [
        ("33", "age", "high"),
        ("nurse", "occupation", "low"),
        ("Leeds", "location", "low"),
    ]


OWN = {
    "name": "trade",
    "definition": "What somebody does for a living.",
    "subtypes": [
        {
            "name": "value",
            "definition": "A trade.",
            "examples": ["welder"],
            "form": "phrase",
            "generator": {"kind": "lexicon", "values": ["welder", "nurse"]},
        }
    ],
    "pairs": [],
}


def test_own_types_are_kept_and_force_replaces(cli, tmp_path):
    rows = [native_row(seed) for seed in range(30)]
    for row in rows:
        for span in row["spans"]:
            span["type"] = "trade" if span["type"] == "occupation" else span["type"]
    train = write_rows(tmp_path / "train.jsonl", rows)
    own = to_json(from_json([OWN]))
    about = {"schema": 1, "piiloom": "0", "files": {"train.jsonl": {"sha256": ""}}, "own_types": own}
    (tmp_path / "release.json").write_text(json.dumps(about))
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "piiloom.json").write_text("an old one")
    assert cli("probe", train, "--out", tmp_path / "model", "--force").code == 0
    assert json.loads((tmp_path / "model" / "piiloom.json").read_text())["own_types"] == own
    (tmp_path / "in.txt").write_text("I am 33 and work as a nurse in Leeds.")
    words = ("--locale", "en_US", "--detector", "probe", "--model-path", tmp_path / "model", "--threshold", "0")
    assert cli("detect", tmp_path / "in.txt", *words, "--format", "native", "--out", tmp_path / "out").code == 0
    (record,) = piiloom.load(tmp_path / "out")  # which knows the type by its definition
    assert "trade" in {one.entity_type for one in record.spans}
    assert cli("detect", tmp_path / "in.txt", *words, "--format", "huggingface", "--out", tmp_path / "other").code == 0


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["--calibrate", "PEOPLE"], 2, "--out DIR"),
        (["--force"], 2, "--out DIR"),
        (["--out", "NEW", "--calibrate", "TRAIN"], 2, "calibrated on the training data"),
        (["--out", "MODEL"], 1, "the folder is not empty"),
        (["--out", "TRAIN"], 1, "not a folder"),
        (["--out", "NEW", "--calibrate", "NONE"], 1, "no such file"),
    ],
)
def test_what_cannot_be_saved_is_found_before_the_training(cli, files, model, tmp_path, words, code, says):
    train, people = files
    named = {"PEOPLE": people, "TRAIN": train, "MODEL": model[0], "NEW": tmp_path / "new", "NONE": tmp_path / "none"}
    outcome = cli("probe", train, people, *(named.get(word, word) for word in words))
    assert outcome.code == code
    assert says in outcome.error_line()
    assert outcome.out == ""
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(("words", "says"), [([], "needs a model on this machine"), (["--model-path", "none"], "no such folder")])
def test_a_detector_without_its_folder(cli, tmp_path, words, says):
    (tmp_path / "in.txt").write_text("I am 33.")
    outcome = cli("detect", tmp_path / "in.txt", "--locale", "en_US", "--detector", "probe", "--out", tmp_path / "out.jsonl", *words)
    assert outcome.code == 2
    assert "--model-path" in outcome.error_line()
    assert says in outcome.error_line()
    assert not (tmp_path / "out.jsonl").exists()


@pytest.mark.parametrize("package", mostly_long(["pycrfsuite"], quick=()))
def test_without_the_extra_the_detector_names_it(spawn, model, tmp_path, package):
    (tmp_path / "in.txt").write_text("I am 33.")
    words = ("--locale", "en_US", "--detector", "probe", "--model-path", model[0], "--out", tmp_path / "out.jsonl")
    outcome = spawn("detect", tmp_path / "in.txt", *words, before=f"sys.modules[{package!r}] = None")
    assert outcome.code == 2
    assert "pip install -e '.[probe]'" in outcome.error_line()
