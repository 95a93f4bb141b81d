"""``piiloom report``: what it prints, what it writes, and what it refuses."""

from __future__ import annotations

import json

import pytest

import piiloom
from piiloom.corpus.releases.freezing import create_release
from piiloom.corpus.store.annotation_events import Adjudication, add_adjudications
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.records import add_records, iter_records
from piiloom.foundation.errors import UsageError
from tests.evaluation.report_records import marked, varied, write_capid, write_native


@pytest.fixture
def store(tmp_path):
    """A store with 14 records and the release ``v1`` of them."""
    path = tmp_path / "reported.duckdb"
    with Store.open(path) as opened:
        add_records(opened, None, [(None, record) for record in varied()], status="imported")
        create_release(opened, "v1", test_size=3, seed=7)
    return path


def test_tables_are_printed(cli, store):
    outcome = cli("report", "--store", store)
    assert (outcome.code, outcome.err) == (0, "")
    titles = (
        "records",
        "guessability of relevance",
        "leakage",
        "diversity",
        "most frequent openers",
        "words a context",
        "types by relevance",
    )
    for title in (*titles, "values by type", "plan and origin"):
        assert title in [line.strip() for line in outcome.out.splitlines()], title
    assert "report on reported.duckdb" in outcome.out
    assert "splits" not in outcome.out


@pytest.mark.long
def test_a_release_is_reported_with_its_splits(cli, store):
    outcome = cli("report", "--store", store, "--release", "v1")
    assert "report on release v1 of reported.duckdb" in outcome.out
    assert "splits" in outcome.out
    assert "distinct test values that are also in train" in outcome.out
    found = json.loads(cli("report", "--store", store, "--release", "v1", "--json").out)
    assert {split["split"]: split["counts"]["records"] for split in found["splits"]} == {"train": 11, "test": 3}
    assert 0 <= found["split_leaks"]["values_share"] <= 1


@pytest.mark.long
def test_json_is_printed_alone_and_is_what_the_folder_holds_which_is_not_overwritten_unless_forced(cli, store, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    (out / "mine").write_text("")
    refused = cli("report", "--store", store, "--out", out)
    assert (refused.code, refused.out) == (1, "")
    assert "not empty" in refused.error_line()
    outcome = cli("report", "--store", store, "--out", out, "--force", "--json")
    assert (outcome.code, outcome.err) == (0, "")
    printed = json.loads(outcome.out)
    assert (printed.pop("out"), {"mine", *printed.pop("files")}) == (str(out), {path.name for path in out.iterdir()})
    assert printed == json.loads((out / "report.json").read_text(encoding="utf-8"))
    assert printed["counts"]["records"] == 14
    assert str(tmp_path) not in (out / "report.json").read_text(encoding="utf-8") + (out / "report.md").read_text(encoding="utf-8")


@pytest.mark.long
def test_what_people_have_rejected_is_left_out_and_counted(cli, store):
    with Store.open(store) as opened:
        ids = [record.id for record in iter_records(opened)]
        outcomes = {ids[0]: "rejected", ids[1]: "reopened", ids[2]: "validated"}
        rows = [
            Adjudication(record_id=name, adjudicator="judge", outcome=outcome, document={}, made_at="2026", event=number)
            for number, (name, outcome) in enumerate(outcomes.items())
        ]
        add_adjudications(opened, rows)
    outcome = cli("report", "--store", store)
    assert "report on reported.duckdb, without 2 records rejected or reopened" in outcome.out
    found = json.loads(cli("report", "--store", store, "--json").out)
    assert (found["counts"]["records"], found["source"]["left_out"]) == (12, 2)
    assert json.loads(cli("report", "--store", store, "--release", "v1", "--json").out)["counts"]["records"] == 14  # is what it was


@pytest.mark.long
def test_a_published_file_is_measured_as_it_is(cli, tmp_path):
    path = write_capid(varied(), tmp_path / "published.jsonl")
    with path.open("a") as fh:
        fh.write('{"context": "I am here.", "question": "Q?", "piis": {"Bob": {"type": "name", "relevance": "1"}}}\n')
    outcome = cli("report", path, "--out", tmp_path / "out")
    assert outcome.code == 0
    assert "report on published.jsonl" in outcome.out
    assert "refused rows" in outcome.out
    assert f"written to {tmp_path / 'out'}: lengths.png" in outcome.out
    assert json.loads(cli("report", path, "--json").out)["source"]["reading"]["refused"] == 1


def test_text_of_the_corpus_does_not_steer_the_terminal(cli, tmp_path):
    path = write_native([marked("\x1b[31mI am (bold)[x\x1b]0;t\x07y|name|low].", "[red]Why[/red]?")], tmp_path / "nasty.jsonl")
    outcome = cli("report", path)
    assert outcome.code == 0
    assert not set(outcome.out) & set("\x1b\x07\r")


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("x.jsonl", "--store", "y.duckdb"), 2, "no use for --store"),
        (("x.jsonl", "--run", "last", "--release", "v1"), 2, "no use for --run and --release"),
        (("--run", "last", "--release", "v1"), 2, "Name a run or a release"),
        (("--input-format", "capid"), 2, "only a file has a format"),
        (("none.jsonl",), 1, "cannot be read"),
        (("--store", "none.duckdb"), 1, "no store here"),
    ],
)
def test_contradictions_and_absent_files_are_one_line(cli, tmp_path, monkeypatch, words, code, said):
    monkeypatch.chdir(tmp_path)
    outcome = cli("report", *words)
    assert (outcome.code, outcome.out) == (code, "")
    assert said in outcome.error_line()


@pytest.mark.long
def test_without_the_extra_the_command_says_what_to_install(spawn, store, tmp_path):
    without = "sys.modules['matplotlib'] = sys.modules['sacrebleu'] = None"
    outcome = spawn("report", "--store", store, "--out", tmp_path / "out", before=without)
    assert outcome.code == 0
    *steps, last = outcome.err.splitlines()
    assert last == "no plots were drawn: they need an extra: pip install -e '.[report]' in a clone of piiloom"
    assert all(line.startswith("measuring: ") for line in steps)  # of a slow machine
    assert "Self-BLEU needs an extra: pip" in outcome.out
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"report.json", "report.md", "index.html"}
    assert "Self-BLEU needs an extra: pip install -e '.[report]'" in (tmp_path / "out" / "report.md").read_text(encoding="utf-8")


@pytest.mark.long
def test_from_python(store, tmp_path):
    path = write_native(varied(), tmp_path / "native.jsonl")
    of_store, of_file = piiloom.report(store=store), piiloom.report(input=str(path))
    assert of_store["counts"] == of_file["counts"]
    assert of_store["guessability"] == of_file["guessability"]
    assert [split["split"] for split in piiloom.report(store=store, release="v1")["splits"]] == ["train", "test"]
    with pytest.raises(UsageError):
        piiloom.report(input=path, run="last")
