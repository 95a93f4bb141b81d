"""Goldens of generation: native exports of all recipes, keys of paid calls, and runs that are killed and resumed."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from collections.abc import Mapping
from typing import Any

import duckdb
import pytest

from tests.fakes.llm_server import LLMServer
from tests.generation.case_author import CaseAuthor
from tests.golden.goldens import MODELS, check, command, environment, exported, paid_options, piiloom

pytestmark = pytest.mark.golden

CASE = ("generate", "--recipe", "case", "--samples", 12, *paid_options("openai"), "--store", "golden.duckdb")


class PatientServer(LLMServer):
    """Expects that a client that is killed between the head and the body of a request sends no body."""

    def take_ordinal(self, body: Mapping[str, Any]) -> int:
        if not body:
            raise ConnectionAbortedError("the client is gone")
        return super().take_ordinal(body)


@pytest.mark.parametrize("recipe", ["story", "staged"])
def test_records_of_the_composer(recipe, tmp_path):
    piiloom(tmp_path, "generate", "--recipe", recipe, "--samples", 40, "--seed", 7, "--store", "golden.duckdb")
    check(f"generate-{recipe}", exported(tmp_path, "golden.duckdb"))


def test_records_of_a_model(tmp_path):
    with LLMServer(CaseAuthor(7)) as server:
        piiloom(tmp_path, *CASE, server=server)
    check("generate-case", exported(tmp_path, "golden.duckdb"))


def test_a_killed_run_gives_the_records_of_an_unbroken_run(tmp_path):
    with PatientServer(CaseAuthor(7), latency_s=0.05) as server:
        for words, asked in ((CASE, 5), (("generate", "--resume", "last", "--store", "golden.duckdb"), 30)):
            with subprocess.Popen(command(*words), cwd=tmp_path, env=environment(server), stdout=-3, stderr=-3) as process:
                until = time.monotonic() + 120
                while server.requests < asked:
                    assert process.poll() is None
                    assert time.monotonic() < until
                    time.sleep(0.002)
                process.send_signal(signal.SIGKILL)
            assert process.returncode == -signal.SIGKILL
        told = json.loads(piiloom(tmp_path, "generate", "--resume", "last", "--store", "golden.duckdb", "--json", server=server))
    assert (told["status"], told["accepted"]) == ("finished", 12)
    check("generate-case", exported(tmp_path, "golden.duckdb"))


@pytest.mark.parametrize("provider", MODELS)
def test_keys_of_paid_calls_and_nothing_is_paid_twice(provider, tmp_path):
    words = ("generate", "--recipe", "case", "--samples", 4, *paid_options(provider), "--store", "golden.duckdb")
    with LLMServer(CaseAuthor(7)) as server:
        piiloom(tmp_path, *words, server=server)
        paid = server.requests
        piiloom(tmp_path, "journal", "export", "--run", "last", "--out", "journal.jsonl", "--store", "golden.duckdb")
        # Without the results of its stages the run renders all prompts again: their keys must lead to the replies of the journal.
        with duckdb.connect(str(tmp_path / "golden.duckdb")) as connection:
            for table in ("stage_results", "shared_results", "records", "spans"):
                connection.execute(f"DELETE FROM {table}")  # noqa: S608 - a name from above
            connection.execute("UPDATE runs SET status = 'interrupted'")
        again = json.loads(piiloom(tmp_path, "generate", "--resume", "last", "--store", "golden.duckdb", "--json", server=server))
        assert server.requests == paid > 0
    assert (again["status"], again["accepted"]) == ("finished", 4)
    rows = [json.loads(line) for line in (tmp_path / "journal.jsonl").read_text().splitlines()]
    calls = sorted(f"{row['stage']} {row['item_id']} {row['attempt']} {row['key']}" for row in rows if row.get("kind") == "reply")
    assert len(calls) == paid
    check(f"journal-{provider}", {"keys": "\n".join(calls).encode()})
