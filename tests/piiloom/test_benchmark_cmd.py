"""``piiloom benchmark``: what it makes, that it makes it again, what it shows, and what it refuses."""

from __future__ import annotations

import json

import pytest

import piiloom
from piiloom.cli.main import run
from piiloom.detection.benchmark import making
from piiloom.detection.benchmark.benchmark_options import PUBLISHED, BenchmarkOptions
from piiloom.foundation.errors import DataError
from piiloom.taxonomy.entities.entity_catalogue import LOCALES

DOCUMENTS = 24
NAMES = ("benchmark.jsonl", "look_alikes.jsonl", "benchmark.json")
ASKED = ("--locale", "pl_PL", "--seed", 3, "--quiet")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """One document for each domain and length."""
    folder = tmp_path_factory.mktemp("benchmark") / "pl"
    assert run(["benchmark", "make", "--out", str(folder), "--documents", str(DOCUMENTS), *map(str, ASKED)]) == 0
    return folder


def rows(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.mark.long
def test_a_folder_holds_one_document_for_each_domain_and_length(cli, made):
    assert {path.name for path in made.iterdir()} == set(NAMES)
    told = json.loads(cli("benchmark", "show", made, "--json").out)
    counts = told["counts"]
    assert counts["documents"] == {"pl_PL": DOCUMENTS}
    assert set(counts["domains"].values()) == {4}
    assert counts["lengths"] == {"tiny": 6, "short": 6, "medium": 6, "long": 6}
    assert told["options"]["seed"] == 3
    assert counts["entities"].keys() >= {"person_name", "pl_pesel"}
    assert counts["look_alikes"]


def test_spans_and_look_alikes_are_exact_and_apart(made):
    beside = {row["id"]: row for row in rows(made / "look_alikes.jsonl")}
    seen = 0
    for row in rows(made / "benchmark.jsonl"):
        text, domain, length = row["context"], *row["id"].split("-")[1:3]
        assert (beside[row["id"]]["domain"], beside[row["id"]]["length"]) == (domain, length)
        places = [*row["spans"], *beside[row["id"]]["look_alikes"]]
        assert all(text[one["start"] : one["end"]] == one["text"] != "" for one in places)
        taken = [at for one in places for at in range(one["start"], one["end"])]
        assert len(taken) == len(set(taken))
        seen += len(places)
    counts = json.loads((made / "benchmark.json").read_text())["counts"]
    assert seen == sum(counts["entities"].values()) + sum(counts["look_alikes"].values())


def test_other_commands_read_the_rows(made):
    assert len(piiloom.load(made / "benchmark.jsonl")) == DOCUMENTS


def test_the_same_command_writes_the_same_bytes_and_a_larger_benchmark_begins_with_the_smaller_one(cli, made, tmp_path):
    one, other, another = (tmp_path / name for name in ("one", "other", "another"))
    for folder in (one, other):
        assert cli("benchmark", "make", "--out", folder, "--documents", 13, *ASKED).code == 0
    assert cli("benchmark", "make", "--out", another, "--documents", 13, *ASKED, "--seed", 4).code == 0
    for name in NAMES:
        assert (one / name).read_bytes() == (other / name).read_bytes() != (another / name).read_bytes()
    for name in NAMES[:2]:
        assert (made / name).read_bytes().startswith((one / name).read_bytes())


def test_one_domain_one_length_and_perturbations_in_turn(cli, tmp_path):
    words = ("--domain", "IT", "--length", "tiny", "--documents", 4, "--perturb", "case", "--perturb", "digits")
    told = json.loads(cli("benchmark", "make", "--out", tmp_path / "it", *words, *ASKED, "--json").out)
    assert (told["domains"], told["lengths"], told["perturbations"]) == ({"IT": 4}, {"tiny": 4}, {"case": 2, "digits": 2})
    found = rows(tmp_path / "it" / "benchmark.jsonl")
    assert [row["id"].rsplit("-", 1)[1] for row in found] == ["case", "digits"] * 2
    assert all(row["context"] in (row["context"].lower(), row["context"].upper()) for row in found[::2])
    assert not any(digit in row["context"] for row in found[1::2] for digit in "0123456789")


def test_the_published_numbers_of_documents():
    assert len(PUBLISHED) == len(LOCALES)
    assert sum(map(BenchmarkOptions().count, LOCALES)) == sum(PUBLISHED) == 1_505


def test_a_document_with_its_values_marked(cli, made):
    row = rows(made / "benchmark.jsonl")[7]
    shown = cli("benchmark", "show", made, "--document", row["id"]).out
    assert all(f"[{one['text']}|{one['subtype']}]" in shown for one in row["spans"])
    assert json.loads(cli("benchmark", "show", made, "--document", row["id"], "--json").out)["spans"] == row["spans"]


def test_what_is_said_of_a_folder(cli, made):
    shown = cli("benchmark", "show", made).out
    assert "24 documents" in shown
    assert "no native speaker has checked the carrier texts" in shown


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--locale", "xx_XX"), ("unknown locale 'xx_XX'", "pl_PL")),
        (("--locale", "en_US"), ("unknown locale 'en_US'", "pl_PL")),
        (("--domain", "Sport"), ("--domain", "unknown name 'Sport'", "Healthcare")),
        (("--length", "huge"), ("--length", "unknown name 'huge'", "medium")),
        (("--perturb", "rain"), ("--perturb", "unknown name 'rain'", "ocr")),
    ],
)
def test_names_that_nobody_knows(cli, tmp_path, words, says):
    outcome = cli("benchmark", "make", "--out", tmp_path / "out", *words)
    assert outcome.code == 2
    line = outcome.error_line()
    assert all(part in line for part in says), line
    assert not (tmp_path / "out").exists()


def test_a_benchmark_that_is_there_is_replaced_by_force_only(cli, tmp_path):
    words = ("benchmark", "make", "--out", tmp_path, "--documents", 1, *ASKED)
    assert cli(*words).code == 0
    before = (tmp_path / NAMES[0]).read_bytes()
    outcome = cli(*words, "--seed", 5)
    assert outcome.code == 1
    assert "--force" in outcome.error_line()
    assert (tmp_path / NAMES[0]).read_bytes() == before
    assert cli(*words, "--seed", 5, "--force").code == 0
    assert (tmp_path / NAMES[0]).read_bytes() != before


def test_a_place_that_cannot_be_written(cli):
    outcome = cli("benchmark", "make", "--out", "/proc/benchmark", "--documents", 1, *ASKED)
    assert outcome.code == 1
    assert "/proc/benchmark" in outcome.error_line()


@pytest.mark.parametrize("broken", [None, "", "{}", "[1]", '{"schema": 2, "counts": {}}'])
def test_a_folder_that_holds_no_benchmark(cli, tmp_path, broken):
    if broken is not None:
        (tmp_path / "benchmark.json").write_text(broken)
    outcome = cli("benchmark", "show", tmp_path)
    assert outcome.code == 1
    assert "piiloom benchmark make" in outcome.error_line()


def test_a_document_that_is_not_there(cli, made):
    outcome = cli("benchmark", "show", made, "--document", "pl_PL-IT-tiny-09999")
    assert outcome.code == 2
    assert "there is no document 'pl_PL-IT-tiny-09999'" in outcome.error_line()


def test_a_benchmark_that_cannot_be_made_leaves_no_files(cli, tmp_path, monkeypatch):
    def fails(*_given):
        raise DataError("the carrier is broken", where="pl_PL/it.yaml")

    monkeypatch.setattr(making, "compose", fails)
    outcome = cli("benchmark", "make", "--out", tmp_path / "out", "--documents", 1, *ASKED)
    assert outcome.code == 1
    assert "the carrier is broken" in outcome.error_line()
    assert list(tmp_path.rglob("*.*")) == []
