"""``--store`` names a file that is no DuckDB database: every command refuses it, and none says that it has stored anything."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer

from piiloom.cli.main import app_of
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.records import count_records
from piiloom.generation.running.health_checks import store_check
from tests.fakes.llm_server import LLMServer
from tests.piiloom.small_runs import SMALL
from tests.piiloom.surrogate_runs import _own_names, notes
from tests.providers.provider_calls import MODELS
from tests.surrogates.by_model.model_runs import naming

__all__ = ["_own_names", "notes"]

CAPID = Path(__file__).parents[1] / "corpus" / "data" / "small_capid.jsonl"
CONTENT = b'{"a": 1}\n'
NOBODY = ("--provider", "compatible", "--model", "m", "--base-url", "http://127.0.0.1:9/v1", "--unpriced")
# What each command needs beside the store; SNAPSHOT stands for a store that is whole, OUT for a place to write to.
COMMANDS = {
    "generate": ("--samples", "3", *SMALL, "--quiet"),
    "trace": ("0",),
    "cost": (),
    "rejects": (),
    "import": (CAPID, "--input-format", "capid"),
    # With --behind-https it would not serve an unknown number of seconds, were the file taken.
    "annotate": ("--port", "0", "--behind-https"),
    "release": ("--name", "v1"),
    "export": ("--release", "v1", "--out", "OUT", "--format", "native"),
    "report": (),
    "reidentify": ("--release", "v1"),
    "utility": ("v1",),
    "train spacy": ("--release", "v1", "--out", "OUT"),
    "train lora": ("--release", "v1", "--model", "BASE", "--out", "OUT"),
    "train openai": ("--release", "v1", "--estimate"),
    "train verifier-data": ("--release", "v1", "--out", "OUT", *NOBODY),
    "runs list": (),
    "runs show": ("last",),
    "runs delete": ("last", "--yes"),
    "releases list": (),
    "releases show": ("v1",),
    "releases diff": ("v1", "v2"),
    "releases delete": ("v1", "--yes"),
    "records list": (),
    "records show": ("r1",),
    "records search": ("night",),
    "stages list": (),
    "stages run": ("topics", *SMALL),
    "journal show": (),
    "journal export": ("--out", "OUT"),
    "journal purge": ("--run", "last", "--yes"),
    "journal vacuum": (),
    "batch list": (),
    "batch cancel": (),
    "annotators add": ("ana", "--oidc", "ana@example.org"),
    "annotators list": (),
    "annotators role": ("ana", "admin"),
    "annotators password": ("ana", "--password-stdin"),
    "annotators deactivate": ("ana",),
    "annotators reactivate": ("ana",),
}
MORE = [
    ("generate", ("--resume", "last")),
    ("stages run", ("values",)),
    ("report", ("--release", "v1")),
    ("annotate", ("--restore", "SNAPSHOT")),
]
# Commands that keep paid replies in a store of their own.
REPLIES = {"benchmark write": ("--locale", "pl_PL", "--out", "OUT", *NOBODY)}
# Tests of their own: they need a server, or their other checks take seconds.
ELSEWHERE = {"detect", "doctor", "train encoder"}


def _commands_with_a_store(group, path=()):
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from _commands_with_a_store(command, (*path, name))
        elif any("--store" in parameter.opts for parameter in command.params):
            yield " ".join((*path, name))


def test_all_commands_that_take_a_store_are_tried():
    assert set(_commands_with_a_store(typer.main.get_command(app_of()))) == {*COMMANDS, *ELSEWHERE}


@pytest.mark.parametrize(
    ("command", "words", "option"),
    [*((*one, "--store") for one in (*COMMANDS.items(), *MORE)), *((*one, "--replies") for one in REPLIES.items())],
)
def test_a_data_file_is_refused_by_every_command(cli, filled, tmp_path, command, words, option):
    data = tmp_path / "data.jsonl"
    data.write_bytes(CONTENT)
    before = sorted(tmp_path.rglob("*"))
    places = {"SNAPSHOT": filled, "OUT": tmp_path / "out"}
    outcome = cli(*command.split(), *(places.get(word, word) for word in words), option, data)
    assert outcome.code == 1, outcome
    assert outcome.error_line() == f"{data}: the file is not a piiloom store. Nothing was changed. Name another file with {option}"
    assert data.read_bytes() == CONTENT
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("suffix", ["csv", "json", "parquet"])
def test_a_new_store_of_any_name_is_on_disk(cli, tmp_path, suffix):
    path = tmp_path / f"new.{suffix}"
    assert cli("import", CAPID, "--input-format", "capid", "--store", path, "--rejects", tmp_path / "r").code == 0
    assert path.read_bytes()[8:12] == b"DUCK"
    again = json.loads(cli("import", CAPID, "--input-format", "capid", "--store", path, "--rejects", tmp_path / "r", "--json").out)
    assert (again["records"], again["already_stored"]) == (0, 2)
    with Store.open(path, create=False) as store:
        assert count_records(store) == 2


def test_a_store_called_memory_is_on_disk_too(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = ("import", CAPID, "--input-format", "capid", "--store", ":memory:", "--rejects", tmp_path / "r", "--json")
    assert json.loads(cli(*words).out)["records"] == 2
    assert json.loads(cli(*words).out)["already_stored"] == 2
    assert (tmp_path / ":memory:").is_file()


def test_doctor_says_that_it_is_no_store(tmp_path):
    data = tmp_path / "data.csv"
    data.write_bytes(b"a,b\n1,2\n")
    check = store_check(data)
    assert check.status == "failed"
    assert "not a piiloom store" in check.detail


def test_a_link_to_a_data_file_is_refused_and_one_to_a_store_is_not(cli, filled, tmp_path):
    data = tmp_path / "data.csv"
    data.write_bytes(b"a,b\n1,2\n")
    (tmp_path / "a.duckdb").symlink_to(data)
    (tmp_path / "b.csv").symlink_to(filled)
    assert cli("cost", "--store", tmp_path / "a.duckdb").code == 1
    assert cli("release", "--name", "v1", "--store", tmp_path / "b.csv").code == 0
    assert cli("release", "--name", "v1", "--store", filled).code == 1  # it was kept


def test_replies_of_a_model_are_not_paid_for_and_lost(cli, notes, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789-abcdefghij")
    data = tmp_path / "replies.csv"
    data.write_bytes(b"a,b\n1,2\n")
    with LLMServer(naming()) as server:
        server_words = ("--provider", "openai", "--model", MODELS["openai"], "--base-url", server.openai_url, "--yes")
        words = ("--values", "llm", "--replies", data, "--out", tmp_path / "out", "--workers", 1)
        outcome = cli("surrogate", "run", notes, *words, *server_words)
        assert server.requests == 0
    assert outcome.code == 1
    assert "the file is not a piiloom store" in outcome.err
    assert data.read_bytes() == b"a,b\n1,2\n"
    assert not (tmp_path / "out").exists()
