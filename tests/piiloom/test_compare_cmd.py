"""``piiloom compare``: the table on the terminal and in files, names, and what is refused."""

from __future__ import annotations

import json
import random

import pytest

from tests.evaluation.probe_corpora import native_row, write_rows


def _row(number, missed=0.0, wrong=0.0):
    row = native_row(number)
    rng = random.Random(f"{number} {missed} {wrong}")
    spans = [
        span | {"text": row["context"][span["start"] : span["end"]], "type": "name" if rng.random() < wrong else span["type"]}
        for span in row["spans"]
        if rng.random() >= missed
    ]
    return row | {"id": f"r{number}", "spans": spans, "meta": {"group_keys": [f"story:{number // 3}"]}}


@pytest.fixture
def files(tmp_path):
    """Gold, a good system, and a bad one."""
    given = {"gold": (0, 0), "good": (0.1, 0.1), "bad": (0.6, 0.3)}
    return {name: write_rows(tmp_path / f"{name}.jsonl", [_row(n, *rates) for n in range(45)]) for name, rates in given.items()}


QUICK = ("--resamples", 50, "--permutations", 99)


def test_table(cli, files):
    outcome = cli("compare", files["gold"], files["bad"], f"the good one={files['good']}", *QUICK, "--cluster", "story")
    assert (outcome.code, outcome.err) == (0, "")
    lines = outcome.out.splitlines()
    assert all(len(line) <= 80 for line in lines if line.startswith(("┃", "│")))
    assert [line.split("│")[1:3] for line in lines if line.startswith("│    ")][::2] == [
        ["    1 ", " the good one "],
        ["    2 ", " bad          "],
    ]
    assert "45 documents in 15 clusters by story" in lines
    assert "scheme exact, by f1" in outcome.out
    assert "95% intervals" in outcome.out


def test_json_is_all_there_is_and_same_seeds_give_the_same(cli, files):
    runs = [
        cli("compare", files["gold"], files["bad"], files["good"], *QUICK, "--seed", seed, *form)
        for seed, form in ((3, ["--json"]), (3, ["--format", "json"]), (4, ["--json"]))
    ]
    assert runs[0].out == runs[1].out != runs[2].out
    told = json.loads(runs[0].out)
    assert [one["name"] for one in told["systems"]] == ["good", "bad"]
    assert told["systems"][1]["p_adjusted"] == 0.01


def test_tables_go_to_files_and_to_standard_output(cli, files, tmp_path):
    out = tmp_path / "new"
    words = ("compare", files["gold"], files["bad"], files["good"], *QUICK)
    tables = [word for form in ("md", "tex", "html", "json") for word in ("--out", out / f"t.{form}")]
    outcome = cli(*words, *tables)
    assert outcome.code == 0
    assert outcome.out.splitlines()[-4:] == [f"written: {out / 't'}.{form}" for form in ("md", "tex", "html", "json")]
    assert sorted(path.name for path in out.iterdir()) == ["t.html", "t.json", "t.md", "t.tex"]
    for form in ("md", "tex", "html"):
        assert cli(*words, "--format", form).out.rstrip("\n") == (out / f"t.{form}").read_text().rstrip("\n")
    assert json.loads((out / "t.json").read_text()) == json.loads(cli(*words, "--json").out)


def test_figures_that_do_not_fit_go_below(cli, files):
    outcome = cli("compare", files["gold"], files["good"], "--by", "precision", "--beta", 2, "--confidence", 0.9, *QUICK)
    assert "by precision" in outcome.out
    assert "90% intervals" in outcome.out


def test_files_of_equal_names_are_told_apart_by_folder(cli, files, tmp_path):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "out.jsonl").write_bytes(files["good"].read_bytes())
    told = json.loads(cli("compare", files["gold"], *(tmp_path / name / "out.jsonl" for name in ("one", "two")), *QUICK, "--json").out)
    assert [(one["name"], one["rank"]) for one in told["systems"]] == [
        (str(tmp_path / "one" / "out"), 1),
        (str(tmp_path / "two" / "out"), 1),
    ]


def test_a_file_with_an_equals_sign_is_a_file(cli, files, tmp_path):
    odd = tmp_path / "lr=0.1.jsonl"
    odd.write_bytes(files["good"].read_bytes())
    told = json.loads(cli("compare", files["gold"], odd, f"b={odd}", *QUICK, "--json").out)
    assert sorted(one["name"] for one in told["systems"]) == ["b", "lr=0.1"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["bad.jsonl", "--scheme", "nonsense"], "unknown scheme 'nonsense'"),
        (["bad.jsonl", "--by", "f9"], "--by: 'f9' is no headline figure of the scheme exact"),
        (["bad.jsonl", "--format", "pdf"], "'--format': 'pdf' is not one of 'md', 'tex', 'html', 'json'"),
        (["bad.jsonl", "--out", "out.pdf"], "out.pdf: the suffix is not one of a form"),
        (["bad.jsonl", "--confidence", "1.5"], "--confidence: not between 0 and 1"),
        (["bad.jsonl", "--cluster", "a:b"], "--cluster: 'a:b' is no kind of group keys"),
        (["x=bad.jsonl", "x=good.jsonl"], "two systems are called 'x'"),
        (["=bad.jsonl"], "=bad.jsonl: a system without a name"),
        (["bad.jsonl", "--out", "bad.jsonl"], "bad.jsonl: the suffix is not one of a form"),
    ],
)
def test_wrong_requests(cli, files, tmp_path, monkeypatch, words, said):
    monkeypatch.chdir(tmp_path)
    outcome = cli("compare", "gold.jsonl", *words)
    assert outcome.code == 2
    assert said in outcome.error_line()
    assert outcome.out == ""


def test_a_table_that_would_overwrite_predictions_is_refused(cli, files, tmp_path):
    given = tmp_path / "bad.json"
    given.write_bytes(files["bad"].read_bytes())
    assert "would overwrite" in cli("compare", files["gold"], given, "--out", given).error_line()


def test_a_table_that_cannot_be_written_is_an_error(cli, files, tmp_path):
    (tmp_path / "file").write_text("x")
    (tmp_path / "folder.md").mkdir()
    words = ("compare", files["gold"], files["bad"], *QUICK, "--out")
    assert "the file cannot be written" in cli(*words, tmp_path / "file" / "t.md").error_line()
    assert "this is a folder" in cli(*words, tmp_path / "folder.md").error_line()
