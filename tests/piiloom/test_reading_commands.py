"""Commands that only read: beside a process that writes the store, and where nobody may write it."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import tempfile
from contextlib import contextmanager

import pytest
import typer

from piiloom.cli.main import app_of
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.upgrading import MIGRATIONS, Migrations
from tests.forked import Forked
from tests.piiloom.small_runs import SMALL

# Every command that only reads; {record} is a record's id.
READING = (
    "runs list",
    "runs show",
    "releases list",
    "releases show v1",
    "records list",
    "records show last:0",
    "records search a",
    "stages list",
    "rejects",
    "trace last:0",
    "cost",
    "journal show",
    "batch list",
    "report",
    "report --release v1",
    "generate --estimate --resume last",
)
# A run that goes on until it is killed: its process holds the store.
GENERATE = "import sys; from piiloom.cli.main import run; sys.exit(run(sys.argv[1:]))"
# A process that holds the store (argument 1), in the midst of a transaction, until it is told to end.
HOLDER = """
import sys
from pathlib import Path
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.runs import list_runs, set_run_status
with Store.open(Path(sys.argv[1])) as store:
    set_run_status(store, list_runs(store)[0].id, "running")
    with store.transaction():
        store.change("DELETE FROM records")
        print("held", flush=True)
        sys.stdin.read()
"""
# Root may write everywhere: without its capabilities it is a user like any other.
LIKE_ANY_USER = """
import ctypes
header = (ctypes.c_uint32 * 2)(0x20080522, 0)
assert ctypes.CDLL(None, use_errno=True).syscall({capset}, header, (ctypes.c_uint32 * 6)()) == 0
"""
CAPSET = {"x86_64": 126, "aarch64": 91}


# Commands whose --json prints a line a record.
JSON_LINES = ("records list", "records search")


def told(words, out):
    """The JSON that a command printed: one document, or lines where its help says so."""
    return [json.loads(line) for line in out.splitlines()] if words.startswith(JSON_LINES) else json.loads(out)


def options_named_json(group, path=()):
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from options_named_json(command, (*path, name))
        else:
            yield from ((" ".join((*path, name)), option.help) for option in command.params if "--json" in option.opts)


@pytest.mark.long
def test_json_is_one_document_or_lines_as_the_help_says(cli, released):
    helps = dict(options_named_json(typer.main.get_command(app_of())))
    assert {name for name, said in helps.items() if "JSON lines" in said} == set(JSON_LINES)
    assert all("the result as JSON" in said for name, said in helps.items() if name not in JSON_LINES)
    for words in READING:
        name = max((name for name in helps if words.startswith(name)), key=len)
        outcome = cli(*words.split(), "--store", released, "--json")
        assert outcome.code == 0, (words, outcome.err)
        lines = outcome.out.splitlines()
        assert told(name, outcome.out), words
        assert all(line.startswith("{") and line.endswith("}") for line in lines) == (name in JSON_LINES), words
    assert cli("records", "list", "--only-types", "nothing", "--store", released, "--json").code == 2


@contextmanager
def holding(path):
    with subprocess.Popen([sys.executable, "-c", HOLDER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "held\n"
        try:
            yield process
        finally:
            process.communicate("")


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.mark.long
def test_all_of_them_work_while_another_process_writes(cli, released, temporary):
    with holding(released) as process:
        for words in READING:
            outcome = cli(*words.split(), "--store", released, "--json")
            assert outcome.code == 0, (words, outcome.err)
            assert told(words, outcome.out)
            assert f"process {process.pid}" in outcome.err, words
            assert "read a copy of the store made at " in outcome.err
            assert "run r0001-" in outcome.err  # which its process has set to running
        for words in (("export", "--release", "v1", "--format", "native"), ("journal", "export")):
            out = released.parent / words[0]
            outcome = cli(*words, "--out", out, "--store", released)
            assert outcome.code == 0, outcome.err
        listed = cli("records", "list", "--store", released, "--limit", 0, "--json").out.splitlines()
        assert len(listed) == 12  # what is not committed is not seen
        assert json.loads(cli("runs", "list", "--store", released, "--json").out)["read"]["in_use_by"] == process.pid
        for words in (("release", "--name", "v2"), ("runs", "delete", "last", "--yes"), ("releases", "delete", "v1", "--yes")):
            refused = cli(*words, "--store", released)
            assert refused.code == 1
            assert f"process {process.pid}" in refused.error_line()
    assert list(temporary.iterdir()) == []


@pytest.mark.long
def test_a_run_that_goes_on_is_read_and_not_disturbed(cli, store_path, temporary):
    command = [sys.executable, "-c", GENERATE, "generate", "--samples", "150", *SMALL, "--quiet", "--json", "--store", str(store_path)]
    seen = []
    with Forked(command) as process:
        while process.poll() is None:
            outcome = cli("runs", "show", "--store", store_path, "--json")
            if outcome.code:  # before the run is there
                assert not seen, outcome.err
                continue
            found = json.loads(outcome.out)
            assert found["rows"]["balanced"]
            seen.append((found["read"]["in_use_by"], found["accepted"], found["rows"]["accepted"]))
        result = json.loads(process.stdout.read())
        assert process.returncode == 0, process.stderr.read()
    assert result["accepted"] == 150
    beside = [one for one in seen if one[0] == process.pid]
    assert beside
    assert all(accepted == rows for _, accepted, rows in beside)
    assert [accepted for _, accepted, _ in seen] == sorted(accepted for _, accepted, _ in seen)
    assert list(temporary.iterdir()) == []


@pytest.mark.long
@pytest.mark.skipif(os.uname().machine not in CAPSET, reason="the number of capset on this machine is not known here")
def test_all_of_them_work_where_nobody_may_write(spawn, cli, released):
    before = LIKE_ANY_USER.format(capset=CAPSET[os.uname().machine])
    folder = released.parent
    was = released.read_bytes()
    released.chmod(stat.S_IRUSR)
    folder.chmod(stat.S_IRUSR | stat.S_IXUSR)
    try:
        refused = spawn("release", "--name", "v2", "--store", released, before=before)
        assert refused.code == 1
        assert "permission is denied" in refused.error_line()
        code = "import shlex\n" + before  # all in one process: each would take a second to start
        code += "from piiloom.cli.main import run\n"
        code += f"codes = [run([*shlex.split(words), '--store', {str(released)!r}]) for words in {READING!r}]\nassert not any(codes), codes"
        done = spawn("--version", before=code)
        assert done.code == 0, done.err
        assert done.err == ""  # the file itself was read
        exported = spawn(
            "export", "--release", "v1", "--format", "native", "--out", folder.parent / "out", "--store", released, before=before
        )
        assert exported.code == 0, exported.err
    finally:
        folder.chmod(0o755)
    assert released.read_bytes() == was
    assert [entry.name for entry in folder.iterdir()] == [released.name]
    released.chmod(0o000)
    unreadable = spawn("runs", "list", "--store", released, before=before)
    assert unreadable.code == 2
    assert "not readable" in unreadable.error_line()


def test_an_older_store_is_read_and_stays_as_it_is(cli, store_path, temporary):
    Store.open(store_path, migrations=Migrations(MIGRATIONS.steps[:1])).close()
    before = store_path.read_bytes()
    outcome = cli("records", "list", "--store", store_path)
    assert outcome.code == 0
    assert "brought up from schema version 1" in outcome.err
    assert store_path.read_bytes() == before
    assert [entry.name for entry in store_path.parent.iterdir()] == [store_path.name]
    assert list(temporary.iterdir()) == []
