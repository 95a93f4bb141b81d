"""``piiloom surrogate run --values llm``: what is sent, kept, listed, and looked at before anything is paid."""

from __future__ import annotations

import errno
import json
import os
import sys
from pathlib import Path

from tests.fakes.llm_server import LLMServer
from tests.piiloom.surrogate_runs import _own_names, fill, notes, put_in
from tests.providers.provider_calls import MODELS
from tests.surrogates.by_model.model_runs import naming

__all__ = ["_own_names", "fill", "notes"]


def _asking(server, notes, tmp_path, *more):
    url = ("--base-url", server.openai_url, "--replies", tmp_path / "kept" / "replies.duckdb", "--workers", 1)
    return ("surrogate", "run", notes, "--values", "llm", "--provider", "openai", "--model", MODELS["openai"], *url, *more)


def test_values_by_a_model_are_asked_of_the_server_and_kept(cli, notes, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789-abcdefghij")
    with LLMServer(naming()) as server:
        outcome = cli(*_asking(server, notes, tmp_path, "--out", tmp_path / "out", "--yes", "--json", "--seed", 3))
        assert outcome.code == 0, outcome.err
        assert server.requests == 1
        again = cli(*_asking(server, notes, tmp_path, "--out", tmp_path / "again", "--yes", "--json", "--seed", 3))
        assert server.requests == 1
    report = json.loads(outcome.out)
    told = report["engine"]["by_model"]
    assert (told["values_drawn"], told["by_kind"]) == (1, {"company": 1})
    assert put_in(tmp_path / "out", "company") == ["Bobobobo"]
    assert "1 sentence of 1 document " in outcome.err
    assert "sk-test" not in outcome.err + outcome.out
    assert {**json.loads(again.out), "out": 0} == {**report, "out": 0}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["again", "kept", "notes", "out"]
    assert cli("surrogate", "check", tmp_path / "out", notes).code == 0


def test_a_run_that_was_stopped_pays_for_no_reply_again(cli, notes, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789-abcdefghij")
    full = OSError(errno.ENOSPC, "No space left on device")
    with LLMServer(naming()) as server:
        words = _asking(server, notes, tmp_path, "--out", tmp_path / "out", "--yes", "--vault", tmp_path / "vault")
        with monkeypatch.context() as patch:
            patch.setattr(os, "link", lambda *_: (_ for _ in ()).throw(full))  # when the vault gets its name, at the very end
            assert "No space left on device" in cli(*words).err
        assert server.requests == 1
        (kept,) = tmp_path.glob(".out.key-*")
        key = kept.read_bytes().hex()
        assert cli(*words).code == 0
        assert server.requests == 1
    assert (tmp_path / "vault").read_text().startswith(f'{{"key": "{key}"}}\n')
    assert not kept.exists()


def test_what_the_model_could_not_give_is_listed(cli, notes, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789-abcdefghij")
    with LLMServer(lambda _: {"value": "[COMPANY]"}) as server:
        outcome = cli(*_asking(server, notes, tmp_path, "--out", tmp_path / "out", "--yes"))
    assert outcome.code == 0, outcome.err
    assert str(tmp_path / "out" / "rejects.jsonl") in outcome.err
    (row,) = [json.loads(line) for line in (tmp_path / "out" / "rejects.jsonl").read_text().splitlines()]
    assert (row["kind"], row["reason"]) == ("company", "signs")
    assert "[COMPANY]" not in (tmp_path / "out" / "mirror" / "deep" / "b.txt").read_text()


def test_nothing_is_sent_when_nobody_can_agree(cli, notes, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789-abcdefghij")
    with LLMServer(naming()) as server:
        monkeypatch.setattr(sys, "stdin", Path(os.devnull).open())  # noqa: SIM115 - closed with the interpreter's own
        outcome = cli(*_asking(server, notes, tmp_path, "--out", tmp_path / "out"))
        sys.stdin.close()
        assert server.requests == 0
    assert outcome.code == 2
    assert "--yes" in outcome.error_line()
    assert [path.name for path in tmp_path.iterdir()] == ["notes"]


def test_places_are_looked_at_before_a_model_is_paid(cli, fill, notes, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789-abcdefghij")
    fill(notes)
    (tmp_path / "v").write_text("mine")
    with LLMServer(naming()) as server:
        taken = cli(*_asking(server, notes, tmp_path, "--out", tmp_path / "out", "--yes"))
        vault = cli(*_asking(server, notes, tmp_path, "--out", tmp_path / "new", "--vault", tmp_path / "v", "--yes"))
        assert server.requests == 0
    assert (taken.code, vault.code) == (2, 2)
    assert "not empty" in taken.error_line()
    assert "never overwritten" in vault.error_line()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["notes", "out", "v"]
