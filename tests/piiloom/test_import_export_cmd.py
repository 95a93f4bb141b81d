"""``piiloom import``, ``release`` and ``export``: what they print, and the way of a record through all three."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

CAPID = Path(__file__).parents[1] / "corpus" / "data" / "small_capid.jsonl"


def test_import_reports_every_row(cli, store_path):
    outcome = cli("import", CAPID, "--input-format", "capid", "--store", store_path)
    assert outcome.code == 0, outcome.err
    assert "sexual_orientation → sexual orientation" in outcome.out
    assert "2 rejected rows with their reasons" in outcome.out
    assert 'line 2: piis["age"]: stands only inside a longer word; piis["flu"]: is not in the context' in outcome.out
    rejects = store_path.parent / "small_capid.rejects.jsonl"
    assert all(json.loads(line)["reason"] for line in rejects.read_text().splitlines())


def test_import_as_json_adds_up(cli, store_path, tmp_path):
    rejects = tmp_path / "refused.jsonl"
    outcome = cli("import", CAPID, "--input-format", "capid", "--store", store_path, "--rejects", rejects, "--json")
    report = json.loads(outcome.out)
    assert report["rows"] == report["records"] + report["already_stored"] + len(report["rejected"])
    assert report["values"] == report["exact"] + report["inside_word"] + report["missing"]
    assert report["rejects_file"] == str(rejects)
    assert len(rejects.read_text().splitlines()) == len(report["rejected"]) > 0


def test_importing_twice_adds_nothing(cli, store_path):
    words = ("import", CAPID, "--input-format", "capid", "--store", store_path, "--json")
    first, second = (json.loads(cli(*words).out) for _ in range(2))
    assert (second["records"], second["already_stored"]) == (0, first["records"])


def test_release_prints_the_splits(cli, filled):
    outcome = cli("release", "--name", "v1", "--test-size", "4", "--seed", 3, "--run", "last", "--store", filled)
    assert outcome.code == 0, outcome.err
    assert "release v1: train " in outcome.out
    assert f"piiloom export --release v1 --format native --out DIR --store {filled}" in outcome.out


def test_release_as_json(cli, filled):
    report = json.loads(cli("release", "--name", "v1", "--test-size", "0", "--json", "--store", filled).out)
    assert (report["splits"], report["withheld"], report["seed"]) == ({"train": 12}, [], 7)


@pytest.mark.parametrize("name", ["native", "capid"])
def test_export_describes_what_it_wrote(cli, released, tmp_path, name):
    out = tmp_path / "out"
    report = json.loads(cli("export", "--release", "v1", "--format", name, "--out", out, "--json", "--store", released).out)
    assert [file["name"] for file in report["files"]] == ["train.jsonl"]
    assert report["files"][0]["records"] == 12
    assert report["files"][0]["sha256"] == hashlib.sha256((out / "train.jsonl").read_bytes()).hexdigest()
    assert {path.name for path in out.iterdir()} == {"train.jsonl", "release.json"}


def test_export_prints_a_table(cli, released, tmp_path):
    outcome = cli("export", "--release", "v1", "--format", "capid", "--out", tmp_path / "o", "--store", released)
    assert outcome.code == 0
    assert "train" in outcome.out
    assert "capid does not keep" in outcome.out


def test_an_export_can_be_imported_elsewhere_and_gives_the_same_bytes(cli, released, tmp_path):
    first, second, other = tmp_path / "first", tmp_path / "second", tmp_path / "other.duckdb"
    assert cli("export", "--release", "v1", "--format", "native", "--out", first, "--store", released).code == 0
    assert cli("import", first / "train.jsonl", "--input-format", "native", "--store", other).code == 0
    assert cli("release", "--name", "v1", "--test-size", "0", "--status", "imported", "--store", other).code == 0
    assert cli("export", "--release", "v1", "--format", "native", "--out", second, "--store", other).code == 0
    assert (second / "train.jsonl").read_bytes() == (first / "train.jsonl").read_bytes()


def test_corrections_are_not_taken_for_what_is_stored(cli, released, tmp_path):
    out, corrected = tmp_path / "out", tmp_path / "corrected.jsonl"
    assert cli("export", "--release", "v1", "--format", "native", "--out", out, "--store", released).code == 0
    rows = [json.loads(line) for line in (out / "train.jsonl").read_text(encoding="utf-8").splitlines()]
    rows[0]["question"] = "What should I do?"
    corrected.write_text("".join(json.dumps(row) + "\n" for row in rows))
    words = ("import", corrected, "--input-format", "native", "--store", released)
    refused = cli(*words)
    assert refused.code == 1
    assert f"corrected.jsonl: a row has the id of a stored record and another text, question or labels: {rows[0]['id']}. Nothing was" in (
        refused.error_line()
    )
    assert "--on-conflict" in refused.err
    skipped = json.loads(cli(*words, "--on-conflict", "skip", "--json").out)
    assert (skipped["rows"], skipped["already_stored"], skipped["skipped_changed"]) == (12, 11, 1)
    updated = cli(*words, "--on-conflict", "update")
    assert updated.code == 0, updated.err
    assert "updated" in updated.out
    assert "a new revision" in " ".join(updated.out.split())
    report = json.loads(cli(*words, "--json").out)
    assert (report["already_stored"], report["updated"], report["earlier_revision"]) == (12, 0, 0)


def test_skipped_values_are_printed_and_kept(cli, store_path):
    words = ("import", CAPID, "--input-format", "capid", "--store", store_path, "--skip-values")
    outcome = cli(*words)
    assert outcome.code == 0, outcome.err
    rejects = store_path.parent / "small_capid.rejects.jsonl"
    assert f"2 skipped values with their reasons: {rejects}" in outcome.out
    assert 'line 2: "flu" is not in the context' in outcome.out
    assert "1 rejected row with its reason: " in outcome.out
    kept = [json.loads(line) for line in rejects.read_text().splitlines()]
    assert [(row["line"], row.get("value")) for row in kept] == [(2, "age"), (2, "flu"), (4, None)]
    report = json.loads(cli(*words, "--json").out)
    assert (report["already_stored"], [row["value"] for row in report["skipped_values"]]) == (3, ["age", "flu"])
    assert report["rejects_file"] == str(rejects)


def test_export_says_what_was_lost_at_import(cli, store_path, tmp_path):
    assert cli("import", CAPID, "--input-format", "capid", "--store", store_path, "--skip-values").code == 0
    assert cli("release", "--name", "v1", "--test-size", "0", "--store", store_path).code == 0
    outcome = cli("export", "--release", "v1", "--format", "native", "--out", tmp_path / "o", "--store", store_path)
    assert "lost at import: 2 values or fields of 1 record (release.json lists them)" in outcome.out


def test_force_names_the_file_that_it_does_not_replace(cli, released, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    (out / "train.jsonl").write_text("mine")
    outcome = cli("export", "--release", "v1", "--format", "native", "--out", out, "--force", "--store", released)
    assert outcome.code == 1
    assert outcome.error_line().startswith(f"{out / 'train.jsonl'}: the file was not written by an export of piiloom")
    assert (out / "train.jsonl").read_text() == "mine"
