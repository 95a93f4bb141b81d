"""``piiloom doctor``: what works here, without a key in the output."""

from __future__ import annotations

import importlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from piiloom.foundation.errors import ConfigError
from tests.fakes import llm_formats
from tests.fakes.llm_server import LLMServer
from tests.piiloom.test_bad_input import HOLDER

pytestmark = pytest.mark.long  # each loads all banks


def _report(outcome):
    return {check["name"]: check for check in json.loads(outcome.out)["checks"]}


def test_a_healthy_machine(cli, filled):
    outcome = cli("doctor", "--store", filled, "--json")
    assert (outcome.code, outcome.err) == (0, "")
    checks = _report(outcome)
    assert "1 run, 12 records" in checks["store"]["detail"]
    assert "duckdb" in checks["packages"]["detail"]
    assert checks["scenario bank en"]["status"] == "ok"
    assert "scenarios for 78 of 78 pairs" in checks["scenario bank en"]["detail"]
    assert not any(name.startswith("server") for name in checks)


def test_packages_out_of_their_declared_bounds(cli, store_path, tmp_path, monkeypatch):
    """Metadata of other versions lies before the installed ones on the path."""
    monkeypatch.syspath_prepend(tmp_path)
    for name, version, status, said in (
        ("faker", "39.1.0", "failed", "faker 39.1.0 is installed, but >=40 is needed; install piiloom again"),
        ("pydantic", "99.0", "failed", "pydantic 99.0 is installed, but <3,>=2.12 is needed; install piiloom again"),
        ("matplotlib", "1.0", "warning", "matplotlib 1.0 is installed, but an extra needs >=3.10"),
    ):
        info = tmp_path / f"{name}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.4\nName: {name}\nVersion: {version}\n")
        importlib.invalidate_caches()
        outcome = cli("doctor", "--store", store_path, "--json")
        shutil.rmtree(info)
        found = _report(outcome)["packages"]
        assert (outcome.code, found["status"]) == (int(status == "failed"), status)
        assert said in found["detail"]


def test_no_store_yet_is_no_fault_and_none_is_made(cli, store_path):
    outcome = cli("doctor", "--store", store_path)
    assert outcome.code == 0
    assert "none yet" in " ".join(outcome.out.split())
    assert not store_path.exists()


@pytest.mark.parametrize("place", ["/proc/a/b.duckdb", "/sys/b.duckdb", "/proc/version/b.duckdb"])
def test_where_no_store_can_be_made_is_a_fault(cli, place):
    outcome = cli("doctor", "--store", place, "--json")
    assert (outcome.code, outcome.err) == (1, "")
    checks = _report(outcome)
    assert checks["store"]["status"] == "failed"
    assert "cannot be written (" in checks["store"]["detail"]
    assert checks["python"]["status"] == "ok"


def test_a_working_folder_that_is_gone_is_a_fault(cli, tmp_path, monkeypatch):
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    assert _report(cli("doctor", "--store", "a.duckdb", "--json"))["store"]["status"] == "failed"


UNSHARED = ("unshare", "--mount", "--map-root-user")
# A disk of its own, read-only or full, with the store.duckdb of argument 2 on it; argument 1 is where it is mounted.
DISK = """
mount -t tmpfs -o size=64m tmpfs "$1" && cp "$2" "$1/store.duckdb" && cd "$1" && mkdir outputs
if [ "$3" = full ]; then dd if=/dev/zero of=fill bs=4k 2>/dev/null; else mount -o remount,ro "$1"; fi
"$5" -c "$6" "$4" 2>&1
"""
# All in one process: each would take a second to start.
ON_DISK = """
import sys
from piiloom.cli.main import run
for words in (
    "doctor --store store.duckdb --json", "doctor --store outputs/new.duckdb --json", "generate --samples 1 --quiet",
    f"import {sys.argv[1]} --input-format capid --store store.duckdb", "records list --store store.duckdb --json",
):
    code = run(words.split())
    print(f"code {code}\\n----", flush=True)
"""


@pytest.mark.skipif(subprocess.run([*UNSHARED, "true"], check=False, capture_output=True).returncode != 0, reason="may not mount here")
@pytest.mark.parametrize(("kind", "why"), [("read-only", "Read-only file system"), ("full", "No space left on device")])
def test_a_disk_that_is_read_only_or_full(filled, tmp_path, kind, why):
    rows = Path(__file__).parents[1] / "corpus" / "data" / "small_capid.jsonl"
    disk = tmp_path / "disk"
    disk.mkdir()
    done = subprocess.run(
        [*UNSHARED, "bash", "-c", DISK, "-", str(disk), str(filled), kind, str(rows), sys.executable, ON_DISK],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )
    there, absent, generated, imported, listed = done.stdout.split("----\n")[:5]
    assert "Traceback" not in done.stdout
    store = {check["name"]: check for check in json.loads(there.split("code ")[0])["checks"]}["store"]
    assert store["status"] == "warning"
    assert "1 run, 12 records; it can be read, but not written" in store["detail"]
    assert why in store["detail"]
    assert why in absent
    for refused in (generated, imported):
        assert " cannot be written" in refused
        assert refused.endswith("code 1\n")
    assert len(listed.splitlines()) == 12 + 1


def test_a_damaged_store_is_a_fault(cli, tmp_path):
    path = tmp_path / "a.duckdb"
    path.write_text("no store " * 1000)
    outcome = cli("doctor", "--store", path, "--json")
    assert outcome.code == 1
    assert _report(outcome)["store"]["status"] == "failed"


@pytest.mark.parametrize("models", [("tiny",), ()])
def test_a_server_that_answers(cli, empty_store, monkeypatch, models):
    monkeypatch.setenv("PIILOOM_COMPATIBLE_API_KEY", "sk-very-secret")
    with LLMServer(lambda _: {}, models=models) as server:
        url = server.openai_url
        outcome = cli("doctor", "--store", empty_store, "--base-url", url, "--model", "tiny", "--json")
        unlisted = cli("doctor", "--store", empty_store, "--base-url", url, "--model", "huge", "--json")
    assert outcome.code == 0
    checks = _report(outcome)
    assert checks["server of compatible"]["status"] == "ok"
    assert checks["key for compatible"]["detail"].endswith("is set")
    assert _report(unlisted)["server of compatible"]["status"] == ("warning" if models else "ok")
    assert "secret" not in outcome.out


@pytest.mark.parametrize(
    ("manner", "status", "said"),
    [
        (
            llm_formats.llama_cpp,
            "ok",
            "json_schema refused (500); json_object with a schema yes; text yes: --response-format auto takes json_object with a schema",
        ),
        (llm_formats.vllm, "ok", "json_schema yes; json_object with a schema yes; text yes: --response-format auto takes json_schema"),
    ],
)
def test_it_says_which_reply_formats_a_server_takes(cli, empty_store, manner, status, said):
    with LLMServer(lambda _: {}, chat_manner=manner) as server:
        words = ("doctor", "--store", empty_store, "--base-url", server.openai_url, "--json")
        named = cli(*words, "--model", "tiny")
        probes = len(server.probes)
        unnamed = cli(*words)
        assert (len(server.probes), server.requests) == (probes, 0)
    assert named.code == unnamed.code == 0
    assert _report(named)["replies of compatible"] == {"name": "replies of compatible", "status": status, "detail": said}
    assert "--model" in _report(unnamed)["replies of compatible"]["detail"]


def test_a_server_that_fails_whatever_it_is_asked_is_not_judged(cli, empty_store):
    with LLMServer(lambda _: {}, probe_fault=lambda _: True) as server:
        outcome = cli("doctor", "--store", empty_store, "--base-url", server.openai_url, "--model", "tiny", "--json")
    found = _report(outcome)["replies of compatible"]
    assert found["status"] == "warning"
    assert found["detail"].endswith("could not be determined")


def test_a_server_that_does_not_answer_is_a_fault(cli, empty_store):
    outcome = cli("doctor", "--store", empty_store, "--base-url", "http://127.0.0.1:9/v1", "--json")
    assert outcome.code == 1
    assert "cannot be reached" in _report(outcome)["server of compatible"]["detail"]


def test_a_store_that_is_held_names_the_holder(cli, empty_store):
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(empty_store)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout.readline() == "held\n"
        outcome = cli("doctor", "--store", empty_store, "--json")
        holder.communicate("")
    assert outcome.code == 1
    assert f"process {holder.pid} (" in _report(outcome)["store"]["detail"]
    assert "holds the store" in _report(outcome)["store"]["detail"]


def test_a_bank_that_is_damaged_is_a_fault(cli, store_path, monkeypatch):
    def damaged(language, *_):
        raise ConfigError("line 7: no scenarios", where=f"{language}.yaml")

    monkeypatch.setattr("piiloom.generation.running.health_checks.load_bank", damaged)
    outcome = cli("doctor", "--store", store_path, "--json")
    assert outcome.code == 1
    assert _report(outcome)["scenario bank en"] == {
        "name": "scenario bank en",
        "status": "failed",
        "detail": "en.yaml: line 7: no scenarios; install piiloom again",
    }
