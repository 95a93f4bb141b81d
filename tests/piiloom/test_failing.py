"""How commands fail: the line for people, the object for programs, closed streams, names that are wrong."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from contextlib import suppress

import pytest

from piiloom.cli.main import code_of, failure_of, tell_failure
from piiloom.cli.terminal import forget_json, say_json
from piiloom.foundation.errors import PiiloomError, ProviderError
from piiloom.providers import errors as provider_errors
from tests.longer import mostly_long


def error_of(outcome):
    """The object on standard output; what the line on standard error says is in it."""
    told = json.loads(outcome.out)
    assert list(told) == ["error"]
    assert list(told["error"]) == ["code", "message", "where", "remedy"]
    assert told["error"]["message"] in outcome.error_line()
    return told["error"]


@pytest.mark.parametrize(
    ("words", "exit_code", "code"),
    [
        (("rejects", "--store", "none.duckdb"), 1, "store"),
        (("generate", "--pairs", "health+hobby"), 2, "usage"),
        (("generate", "--config", "."), 2, "config"),
        (("release",), 2, "usage"),
        (("generate", "--samples", "0"), 2, "usage"),
        (("no-such-command",), 2, "usage"),
        (("export", "--release", "v1", "--out", "x", "--format", "nope"), 2, "usage"),
    ],
)
def test_with_json_an_error_is_an_object_with_a_code(cli, tmp_path, monkeypatch, words, exit_code, code):
    monkeypatch.chdir(tmp_path)
    outcome = cli(*words, "--json")
    assert outcome.code == exit_code
    assert error_of(outcome)["code"] == code
    plain = cli(*words)
    assert (plain.code, plain.out, plain.err) == (exit_code, "", outcome.err)


def test_a_result_that_was_printed_is_followed_by_no_second_object(capsys):
    """Ctrl-C while a command that is done lets go of its store."""
    forget_json()
    say_json({"status": "finished"})
    tell_failure(failure_of(KeyboardInterrupt(), interrupted=True), as_json=True)
    said = capsys.readouterr()
    assert json.loads(said.out) == {"status": "finished"}
    assert said.err == "error: interrupted\n"


def test_the_object_tells_place_and_remedy_apart(cli, filled):
    error = error_of(cli("rejects", "--stage", "nope", "--json", "--store", filled))
    assert error["where"] == "--stage"
    assert error["message"].endswith("has no stage 'nope'")
    assert error["remedy"].startswith("Name one of topics, subtopics, ")


def test_codes_are_those_of_the_classes():
    def all_of(kind):
        return {kind, *(found for below in kind.__subclasses__() for found in all_of(below))}

    codes = {kind.__name__: code_of(kind) for kind in all_of(PiiloomError) if kind.__module__.startswith("piiloom.")}
    assert {codes[name] for name in ("StoreLocked", "UsageError", "OutputError", "Interrupted")} == {
        "store_locked",
        "usage",
        "output",
        "interrupted",
    }
    assert codes["PiiloomError"] == "failed"
    assert codes[provider_errors.RateLimited.__name__] == "rate_limited"
    assert codes[ProviderError.__name__] == "provider"
    assert len(set(codes.values())) == len(codes)


def test_an_unexpected_error_has_a_code_too(cli, store_path, monkeypatch):
    import piiloom.cli.generate

    def broken(_wishes, _settings):
        raise KeyError("words of somebody's text")

    monkeypatch.setattr(piiloom.cli.generate, "_generated", broken)
    outcome = cli("generate", "--json", "--store", store_path)
    assert error_of(outcome)["code"] == "unexpected"
    assert "somebody" not in outcome.out


def test_a_result_is_no_error(cli, filled):
    assert "error" not in json.loads(cli("rejects", "--json", "--store", filled).out)


@pytest.mark.long
@pytest.mark.parametrize("closed", mostly_long([">&-", "2>&-", "<&-", ">&- 2>&- <&-"], quick={">&-"}))
@pytest.mark.parametrize(("words", "code"), [("rejects --json", 0), ("rejects --run nope", 1)])
def test_closed_streams_are_no_error(filled, closed, words, code):
    before = filled.read_bytes()
    command = f"exec {sys.executable} -m piiloom {words} --store {filled} {closed}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == code
    assert "Traceback" not in done.stderr
    assert "unexpected" not in done.stderr
    assert bool(done.stderr) == (code == 1 and "2>&-" not in closed)
    assert bool(done.stdout) == (code == 0 and not closed.startswith(">&-"))
    assert before[8:12] == filled.read_bytes()[8:12] == b"DUCK"  # nothing was printed into the file that took the free number


def test_a_stage_that_is_none_is_refused_and_those_of_judges_are_known(cli, filled):
    outcome = cli("rejects", "--stage", "nope", "--store", filled)
    assert outcome.code == 2
    assert "Name one of topics, " in outcome.error_line()
    for stage in ("topics", "story", "screen"):
        assert cli("rejects", "--stage", stage, "--store", filled).code == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("rejects", "--limit", "-1"), "must be at least 0"),
        (("generate", "--seed", "x"), "must be a whole number"),
        (("generate", "--timeout", "x"), "must be a number"),
        (("release", "--name", "v", "--status", "x"), "'x' is not one of 'any'"),
    ],
)
def test_what_is_wrong_with_an_option_is_said_in_plain_words(cli, words, said):
    outcome = cli(*words)
    assert outcome.code == 2
    assert said in outcome.error_line()
    assert "Input should" not in outcome.err
    assert "Value error" not in outcome.err


@pytest.mark.parametrize(
    "error", [RuntimeError("Query interrupted"), ImportError("half loaded"), OSError(5, "strange"), KeyboardInterrupt()]
)
def test_whatever_comes_of_ctrl_c_is_told_as_an_interruption(cli, filled, monkeypatch, error):
    """In the midst of a command it may come out as any error."""
    import piiloom.cli.trace_item

    def struck(*_words, **_more):
        with suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        raise error

    monkeypatch.setattr(piiloom.cli.trace_item, "get_run", struck)
    outcome = cli("rejects", "--json", "--store", filled)
    assert (outcome.code, outcome.err) == (1, "error: interrupted\n")
    assert error_of(outcome)["code"] == "interrupted"


def test_notes_and_errors_go_where_the_options_of_every_command_say(cli, tmp_path):
    log = tmp_path / "log.txt"
    words = ("export", "--release", "x", "--format", "masked", "--seed", 1, "--out", tmp_path / "o", "--store", tmp_path / "none.duckdb")
    for options, lines, stamped, logged in (
        ((), 2, 0, None),
        (("--quiet",), 1, 0, None),
        (("-v",), 2, 2, None),
        (("-q", "--verbose"), 1, 0, None),
        (("--quiet", "--log-file", log), 1, 0, ["INFO piiloom: warning", "ERROR piiloom: error"]),
    ):
        outcome = cli(*words, *options)
        printed = outcome.err.splitlines()
        assert (outcome.code, len(printed), "error: " in printed[-1]) == (1, lines, True), options
        assert sum(" piiloom: " in line for line in printed) == stamped, options
        if logged is not None:
            written = log.read_text().splitlines()
            assert len(written) == len(logged)
            assert all(part in line for part, line in zip(logged, written, strict=True)), written
