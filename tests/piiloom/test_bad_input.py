"""Bad input: one clear line on standard error, exit code 2 or 1, no traceback, no secret, nothing half-written."""

from __future__ import annotations

import socket
import subprocess
import sys

import duckdb
import pytest

from piiloom.corpus.store.database import Store
from piiloom.corpus.store.upgrading import MIGRATIONS, Migrations
from tests.piiloom.small_runs import SMALL

# A process that holds the store (argument 1) until it is told to end.
HOLDER = """
import sys
from pathlib import Path
from piiloom.corpus.store.database import Store
with Store.open(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""
# To a writer this looks like a full disk; Python ignores the signal, so that the write itself fails.
# No bytecode under such a limit: Python would keep half a file of it and fail on it the next time.
LIMITED = (
    "import resource, sys\nsys.dont_write_bytecode = True\nresource.setrlimit(resource.RLIMIT_FSIZE, ({bytes}, resource.RLIM_INFINITY))"
)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["generate", "--samples", "0"], "--samples"),
        (["generate", "--samples", "-5"], "--samples"),
        (["generate", "--samples", "many"], "--samples"),
        (["generate", "--concurrency", "0"], "--concurrency"),
        (["generate", "--max-attempts", "99"], "--max-attempts"),
        (["generate", "--provider", "openia"], "composer, openai, anthropic, compatible"),
        (["generate", "--pairs", "health+helth"], "health"),
        (["generate", "--pairs", "health+health"], "health"),
        (["generate", "--pairs", "name+health"], "name"),
        (["generate", "--pairs", "health"], "pair"),
        (["generate", "--pairs", "shoes+health"], "shoes"),
        (["generate", "--locale", "xx_YY"], "es_ES"),
        (["generate", "--values", "dice"], "--values"),
        (["generate", "--model", "gpt"], "composer"),
        (["generate", "--base-url", "http://localhost"], "composer"),
        (["generate", "--provider", "compatible", "--model", "m"], "--base-url"),
        (["generate", "--provider", "compatible", "--model", "m", "--base-url", "localhost:80"], "http"),
        (["generate", "--provider", "compatible", "--base-url", "http://localhost/v1"], "--model"),
        (["generate", "--resume", "last", "--seed", "3", "--pairs", "all"], "--pairs, --seed"),
        (["generate", "--retry", "17"], "--resume"),
        (["generate", "--budget-usd", "0", "--provider", "openai"], "budget_usd"),
        (["generate", "--budget-usd", "-3", "--provider", "openai"], "budget_usd"),
        (["generate", "--price", "input=-1,output=2", "--provider", "openai"], "price"),
        (["generate", "--price", "cheap", "--provider", "openai"], "price"),
        (["generate", "--rpm", "0", "--provider", "openai"], "rpm"),
        (["generate", "--judge", "relevance"], "--provider"),
        (["generate", "--judge", "taste", "--provider", "openai"], "judges"),
        (["generate", "--batch"], "composer"),
        (["generate", "--otel"], "composer"),
        (["generate", "--prompts", "no-such-folder", "--provider", "openai"], "no-such-folder"),
        (["stages", "run", "topic"], "topics, subtopics, values"),
        (["stages", "run", "values", "--seed", "3"], "topics"),
        (["release", "--name", "v1", "--test-size", "half"], "test size"),
        (["release", "--name", "v1", "--test-size", "-1"], "test size"),
        (["release", "--name", "v1", "--status", "good"], "--status"),
        (["export", "--release", "v1", "--format", "parquett", "--out", "out"], "native, capid"),
        (["export", "--format", "native", "--out", "out"], "--release"),
        (["frobnicate"], "frobnicate"),
        (["generate", "--frobnicate"], "--frobnicate"),
    ],
)
def test_usage_errors(cli, store_path, words, says):
    takes_store = "--resume" not in words and words[0] != "frobnicate"
    outcome = cli(*words, *(["--store", store_path] if takes_store else []))
    assert outcome.code == 2
    assert says in outcome.error_line()
    assert not store_path.exists()


@pytest.mark.parametrize(("provider", "variable"), [("openai", "OPENAI_API_KEY"), ("anthropic", "ANTHROPIC_API_KEY")])
def test_a_missing_key_is_named(cli, store_path, provider, variable):
    outcome = cli("generate", "--provider", provider, "--store", store_path)
    assert outcome.code == 1
    assert variable in outcome.error_line()
    assert not store_path.exists()


@pytest.mark.parametrize("budget", [(), ("--budget-usd", "5")])
def test_a_model_of_unknown_price_is_refused_before_anything_is_asked(cli, store_path, monkeypatch, budget):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    server = f"http://127.0.0.1:{_closed_port()}/v1"
    outcome = cli("generate", "--provider", "openai", "--model", "gpt-99", "--base-url", server, *budget, "--store", store_path)
    assert outcome.code == 2
    assert "'gpt-99'" in outcome.error_line()
    assert "--price" in outcome.error_line()
    assert not store_path.exists()


def _closed_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


@pytest.mark.parametrize("command", [("generate",), ("stages", "run", "topics")])
def test_an_unreachable_server_is_found_before_anything_is_written(cli, store_path, monkeypatch, command):
    monkeypatch.setenv("PIILOOM_COMPATIBLE_API_KEY", "sk-very-secret")
    url = f"http://127.0.0.1:{_closed_port()}/v1"
    outcome = cli(*command, "--provider", "compatible", "--model", "m", "--base-url", url, "--store", store_path)
    assert outcome.code == 1
    assert "cannot be reached" in outcome.error_line()
    assert "secret" not in outcome.err
    assert not store_path.exists()


def test_credentials_in_an_address_are_refused_since_it_would_be_stored(cli, store_path):
    outcome = cli("generate", "--provider", "compatible", "--base-url", "http://me:pass-word@127.0.0.1:9/v1", "--store", store_path)
    assert outcome.code == 2
    assert "PIILOOM_COMPATIBLE_API_KEY" in outcome.error_line()
    assert "pass-word" not in outcome.err
    assert not store_path.exists()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("samples: 3\nseeed: 4\n", ("run.yaml:2", "seeed")),
        ("samples: 3\npairs: [health\n", ("run.yaml:",)),
        ("samples: none\n", ("run.yaml:1", "samples")),
        ("samples: 3\nsamples: 4\n", ("run.yaml:2", "samples")),
        ("- samples\n", ("run.yaml:1",)),
        ("", ("run.yaml:1",)),
        ("samples: \x00", ("run.yaml:1",)),
    ],
)
def test_malformed_run_files_name_file_line_and_key(cli, tmp_path, store_path, text, says):
    file = tmp_path / "run.yaml"
    file.write_text(text)
    outcome = cli("generate", "--config", file, "--store", store_path)
    assert outcome.code == 2
    assert all(part in outcome.error_line() for part in says), outcome.err
    assert not store_path.exists()


@pytest.mark.parametrize("kind", ["missing", "folder", "binary"])
def test_unreadable_run_files(cli, tmp_path, store_path, kind):
    file = tmp_path / "run.yaml"
    if kind == "folder":
        file.mkdir()
    elif kind == "binary":
        file.write_bytes(b"\xff\xfe\x00")
    outcome = cli("generate", "--config", file, "--store", store_path)
    assert outcome.code == 2
    assert "run.yaml" in outcome.error_line()


@pytest.mark.parametrize("kind", ["missing", "folder", "binary", "no json", "empty", "other format"])
def test_unreadable_imports(cli, tmp_path, store_path, kind):
    file = tmp_path / "rows.jsonl"
    if kind == "folder":
        file.mkdir()
    elif kind != "missing":
        row = b'{"context": "I am a baker.", "question": "Why?", "piis": {"baker": {"type": "occupation", "relevance": "1"}}}\n'
        file.write_bytes({"binary": b"\xff\xfe\x00", "no json": b"{nope}\n", "empty": b"", "other format": row}[kind])
    outcome = cli("import", file, "--input-format", "native", "--store", store_path)
    assert outcome.code == 1
    line = outcome.error_line()
    assert "rows.jsonl" in line
    assert kind in {"missing", "folder", "binary", "empty"} or "rows.jsonl:1" in line
    assert "baker" not in line
    assert not store_path.exists()


@pytest.mark.parametrize(("option", "value", "says"), [("--input-format", "csvv", "native, capid"), ("--locale", "xx", "es_ES")])
def test_import_options(cli, tmp_path, store_path, option, value, says):
    file = tmp_path / "rows.jsonl"
    file.write_text("{}\n")
    options = {"--input-format": "native", option: value}
    outcome = cli("import", file, *(word for pair in options.items() for word in pair), "--store", store_path)
    assert outcome.code == 2
    assert says in outcome.error_line()
    assert not store_path.exists()


@pytest.mark.parametrize("target", ["input", "store"])
def test_rejects_never_overwrite_what_is_worked_on(cli, tmp_path, empty_store, target):
    file = tmp_path / "rows.jsonl"
    file.write_text('{"context": "I am here.", "spans": []}\n')
    outcome = cli(
        "import", file, "--input-format", "native", "--rejects", file if target == "input" else empty_store, "--store", empty_store
    )
    assert outcome.code == 2
    assert "overwrite" in outcome.error_line()
    assert file.stat().st_size
    assert empty_store.stat().st_size


@pytest.mark.parametrize("words", [("stages", "list"), ("generate", "--resume", "last"), ("release", "--name", "v")])
def test_a_store_that_is_not_there(cli, store_path, words):
    outcome = cli(*words, "--store", store_path)
    assert outcome.code == 1
    assert str(store_path) in outcome.error_line()
    assert not store_path.exists()


@pytest.mark.parametrize("words", [("stages", "list"), ("generate", "--resume", "r9"), ("release", "--name", "v", "--run", "r9")])
def test_a_run_that_is_not_there(cli, filled, words):
    if words[1] == "list":
        words = (*words, "--run", "r9")
    outcome = cli(*words, "--store", filled)
    assert outcome.code == 1
    assert "r0001-" in outcome.error_line()


def test_a_locked_store_names_its_holder(cli, empty_store):
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(empty_store)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout.readline() == "held\n"
        outcomes = [cli("generate", *SMALL, "--store", empty_store), cli("release", "--name", "v1", "--store", empty_store)]
        outcomes.append(cli("stages", "run", "values", "--store", empty_store))
        holder.communicate("")
    for outcome in outcomes:
        assert outcome.code == 1
        assert f"process {holder.pid}" in outcome.error_line()


def test_a_newer_store_is_left_alone(cli, empty_store):
    with duckdb.connect(str(empty_store)) as connection:
        connection.execute("INSERT INTO schema_version VALUES (99, 'piiloom', 'from the future')")
    before = empty_store.read_bytes()
    outcome = cli("generate", *SMALL, "--store", empty_store)
    assert outcome.code == 1
    assert "99" in outcome.error_line()
    assert empty_store.read_bytes() == before


def test_an_older_store_is_backed_up_and_migrated(cli, store_path):
    Store.open(store_path, migrations=Migrations(MIGRATIONS.steps[:1])).close()
    assert cli("generate", "--samples", 2, *SMALL, "--quiet", "--store", store_path).code == 0
    assert store_path.with_name(f"{store_path.name}.v1.bak").exists()
    assert cli("release", "--name", "v1", "--test-size", 0, "--store", store_path).code == 0


@pytest.mark.parametrize("kind", ["text", "other tables", "folder"])
def test_not_a_store(cli, tmp_path, kind):
    path = tmp_path / "notes.duckdb"
    if kind == "text":
        path.write_text("my notes " * 1000)
    elif kind == "folder":
        path.mkdir()
    else:
        with duckdb.connect(str(path)) as connection:
            connection.execute("CREATE TABLE mine (a INTEGER)")
    before = None if kind == "folder" else path.read_bytes()
    outcome = cli("generate", *SMALL, "--store", path)
    assert outcome.code == 1
    assert str(path) in outcome.error_line()
    assert before is None or path.read_bytes() == before


@pytest.mark.long
def test_no_room_for_a_store_leaves_none(spawn, store_path):
    outcome = spawn("generate", *SMALL, "--quiet", "--store", store_path, before=LIMITED.format(bytes=1000))
    assert outcome.code == 1
    assert "file size limit" in outcome.error_line()
    assert not store_path.exists()


@pytest.mark.long
def test_a_disk_that_fills_up_leaves_a_run_to_go_on_with(spawn, cli, empty_store):
    # The language model of the screening is unpacked to a temporary file: not what is to fail here.
    before = f"import piiloom.screening.language\npiiloom.screening.language._classifier('en')\n{LIMITED.format(bytes=20_000)}"
    outcome = spawn("generate", "--samples", 40, *SMALL, "--quiet", "--store", empty_store, before=before)
    assert outcome.code == 1
    assert "cannot be written" in outcome.error_line()
    resumed = cli("generate", "--resume", "last", "--quiet", "--store", empty_store)
    assert (resumed.code, resumed.err) == (0, "")


@pytest.mark.long
def test_no_room_for_an_export_leaves_nothing(spawn, released, tmp_path):
    out = tmp_path / "out"
    words = ("export", "--release", "v1", "--format", "native", "--out", out, "--store", released)
    outcome = spawn(*words, before=LIMITED.format(bytes=500))
    assert outcome.code == 1
    assert str(out) in outcome.error_line()
    assert not out.exists() or not list(out.iterdir())


@pytest.mark.parametrize("out", ["a file", "below a file"])
def test_an_output_that_cannot_be_a_folder(cli, released, tmp_path, out):
    file = tmp_path / "taken"
    file.write_text("mine")
    target = file if out == "a file" else file / "below"
    outcome = cli("export", "--release", "v1", "--format", "native", "--out", target, "--store", released)
    assert outcome.code == 1
    assert "taken" in outcome.error_line()
    assert file.read_text() == "mine"


def test_a_store_below_a_file(cli, tmp_path):
    (tmp_path / "taken").write_text("mine")
    outcome = cli("generate", *SMALL, "--store", tmp_path / "taken" / "a.duckdb")
    assert outcome.code == 1
    assert "taken" in outcome.error_line()


@pytest.mark.long
def test_a_read_only_place(spawn, tmp_path):
    # Kernel files are read-only for everybody, root included.
    outcome = spawn("generate", *SMALL, "--store", "/proc/piiloom/a.duckdb")
    assert outcome.code == 1
    assert "/proc/piiloom" in outcome.error_line()


def test_a_release_name_is_used_once(cli, released):
    outcome = cli("release", "--name", "v1", "--store", released)
    assert outcome.code == 1
    assert "v1" in outcome.error_line()


@pytest.mark.parametrize(("size", "code"), [("12", 2), ("500", 2)])
def test_a_test_split_of_everything(cli, filled, size, code):
    outcome = cli("release", "--name", "v2", "--test-size", size, "--store", filled)
    assert outcome.code == code
    assert "12 records" in outcome.error_line()


def test_a_release_of_nothing(cli, empty_store):
    outcome = cli("release", "--name", "v1", "--store", empty_store)
    assert outcome.code == 1
    assert "no records" in outcome.error_line()


def test_an_unknown_release(cli, released, tmp_path):
    outcome = cli("export", "--release", "v2", "--format", "native", "--out", tmp_path / "out", "--store", released)
    assert outcome.code == 1
    assert "v1" in outcome.error_line()
    assert not (tmp_path / "out").exists()


def test_a_folder_that_is_not_empty_needs_force(cli, released, tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    words = ("export", "--release", "v1", "--format", "native", "--out", tmp_path, "--store", released)
    outcome = cli(*words)
    assert outcome.code == 1
    assert "--force" in outcome.error_line()
    assert cli(*words, "--force").code == 0
    assert (tmp_path / "notes.txt").read_text() == "mine"
    assert (tmp_path / "train.jsonl").exists()


def test_the_same_run_again_says_how_to_go_on(cli, filled):
    outcome = cli("generate", "--samples", 12, *SMALL, "--store", filled)
    assert outcome.code == 1
    assert "--resume r0001-" in outcome.error_line()


def test_a_run_does_not_shrink(cli, filled):
    outcome = cli("generate", "--resume", "last", "--samples", 3, "--store", filled)
    assert outcome.code == 2
    assert "--samples" in outcome.error_line()
