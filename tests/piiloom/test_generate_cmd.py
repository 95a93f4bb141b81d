"""``piiloom generate``: settings, output, going on with a run, stopping."""

from __future__ import annotations

import json
import signal
import subprocess
import sys

import pytest

from piiloom.corpus.store.database import Store
from piiloom.corpus.store.records import count_records, iter_records
from piiloom.corpus.store.runs import RejectRow, get_run, save_rejects
from tests.forked import Forked
from tests.longer import mostly_long
from tests.piiloom.small_runs import SMALL

# Lines of progress come at once, so that the test knows when to send its signal.
EAGER = (
    "import sys\nimport piiloom.cli.progress as view\nview.LINE_EVERY_S = 0.0\n"
    "from piiloom.cli.main import run\nsys.exit(run(sys.argv[1:]))"
)


def _contexts(path):
    with Store.open(path, create=False) as store:
        return [record.context for record in iter_records(store)]


def test_json_is_all_that_is_printed(cli, store_path):
    outcome = cli("generate", "--samples", 5, "--seed", 3, *SMALL, "--json", "--store", store_path)
    assert (outcome.code, outcome.err) == (0, "")
    result = json.loads(outcome.out)
    assert (result["status"], result["accepted"], result["wanted"], result["cost_usd"]) == ("finished", 5, 5, 0.0)
    assert result["store"] == str(store_path)
    with Store.open(store_path) as store:
        assert get_run(store, result["run"]).seed == 3
        assert count_records(store, run_id=result["run"]) == 5


def test_the_summary_says_what_came_out_and_what_is_next(cli, store_path):
    outcome = cli("generate", "--samples", 5, *SMALL, "--preview", 2, "--store", store_path)
    assert outcome.code == 0
    assert "5 of 5 records accepted" in outcome.out
    assert "template-based generator" in outcome.out
    assert f"piiloom release --name NAME --store {store_path}" in outcome.out
    assert ", high]" in outcome.out.replace("\n", " ")
    assert "[" not in outcome.err


def test_quiet_prints_nothing(cli, store_path):
    outcome = cli("generate", "--samples", 2, *SMALL, "--quiet", "--preview", 2, "--store", store_path)
    assert outcome == type(outcome)(code=0, out="", err="")


def test_options_win_over_the_run_file(cli, tmp_path, store_path):
    file = tmp_path / "run.yaml"
    file.write_text("samples: 4\nseed: 11\npairs: health+occupation\nlocale: en_GB\n")
    result = json.loads(cli("generate", "--config", file, "--seed", 12, "--json", "--store", store_path).out)
    with Store.open(store_path) as store:
        run = get_run(store, result["run"])
    assert (run.samples, run.seed, run.config["locale"]) == (4, 12, "en_GB")


def test_a_run_grows_to_what_one_go_gives(cli, filled, tmp_path):
    whole = tmp_path / "whole.duckdb"
    assert cli("generate", "--samples", 20, *SMALL, "--quiet", "--store", whole).code == 0
    grown = cli("generate", "--resume", "last", "--samples", 20, "--concurrency", 3, "--json", "--store", filled)
    assert json.loads(grown.out)["accepted"] == 20
    assert _contexts(filled) == _contexts(whole)


@pytest.mark.long
def test_a_run_file_with_more_samples_goes_on_with_its_run(cli, tmp_path, store_path):
    file = tmp_path / "run.yaml"
    words = ("generate", "--config", file, "--json", "--store", store_path)
    results = []
    for samples in (4, 4, 7, 5):
        file.write_text(f"samples: {samples}\npairs: health+occupation\n")
        results.append(json.loads(cli(*words).out))
    assert len({result["run"] for result in results}) == 1
    assert [(result["wanted"], result["accepted"], result["status"]) for result in results] == [
        (4, 4, "finished"),
        (4, 4, "finished"),
        (7, 7, "finished"),
        (7, 7, "finished"),
    ]
    assert json.loads(cli(*words, "--samples", 8).out)["run"] == results[0]["run"]
    assert "--config goes on with the run" in cli(*words, "--resume", "last").out
    file.write_text("samples: 4\npairs: age+education\n")
    assert json.loads(cli(*words).out)["run"] != results[0]["run"]


def test_more_records_than_wanted_are_not_written_as_a_part_of_them(cli, store_path):
    """Rejected items of a finished run are tried again, and one is accepted."""
    assert cli("generate", "--samples", 3, *SMALL, "--seed", 4, "--quiet", "--store", store_path).code == 0
    with Store.open(store_path) as store:
        run = get_run(store, "last")
        store.change("DELETE FROM spans WHERE record_order IN (SELECT record_order FROM records WHERE plan_index = 1)")
        store.change("DELETE FROM records WHERE plan_index = 1")
        save_rejects(store, run.id, [RejectRow(plan_index=1, stage="screen", reason_code="off_length", attempts=1)])
    assert "3 of 3 records accepted" in cli("generate", "--resume", "last", "--store", store_path).out
    outcome = cli("generate", "--resume", "last", "--retry", "off_length", "--store", store_path)
    assert "finished: 4 records accepted (1 more than wanted)" in outcome.out
    assert "4 records accepted (1 more than wanted)" in cli("cost", "--run", "last", "--store", store_path).out


def test_resuming_a_finished_run_adds_nothing(cli, filled):
    outcome = cli("generate", "--resume", "last", "--json", "--store", filled)
    assert (outcome.code, json.loads(outcome.out)["accepted"]) == (0, 12)
    assert len(_contexts(filled)) == 12


@pytest.mark.long
@pytest.mark.parametrize("number", mostly_long([signal.SIGINT, signal.SIGTERM], quick={signal.SIGINT}))
def test_a_signal_stops_cleanly_and_says_how_to_go_on(cli, store_path, number):
    words = ["generate", "--samples", "2000", "--store", str(store_path)]
    with Forked([sys.executable, "-c", EAGER, *words]) as process:
        before = [process.stderr.readline(), process.stderr.readline()]
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
    assert before[0].startswith("draws on 1,000 texts from ")
    assert "/2,000" in before[1]
    assert process.returncode == 1
    last = err.splitlines()[-1]
    assert last.startswith("interrupted")
    assert "--resume r0001-" in last
    assert "interrupted:" in out
    assert "Traceback" not in err
    with Store.open(store_path, create=False) as store:
        assert get_run(store, "last").status == "interrupted"
        kept = count_records(store)
    assert 0 < kept < 2000


def test_too_few_records_are_a_failure_that_says_why(cli, store_path, monkeypatch):
    import piiloom.generation.plan.planning

    monkeypatch.setattr(piiloom.generation.plan.planning, "PLANNED_AT_MOST", 0)
    outcome = cli("generate", "--samples", 3, *SMALL, "--store", store_path)
    assert outcome.code == 1
    assert "0 of 3 records" in outcome.err.splitlines()[-1]
    assert "stages list" in outcome.err


def test_debug_shows_the_traceback(cli, store_path):
    outcome = cli("generate", "--pairs", "nonsense", "--debug", "--store", store_path)
    assert outcome.code == 2
    assert "Traceback" in outcome.err
    assert outcome.err.splitlines()[-1].startswith("error: ")


def test_an_unexpected_error_is_named_but_not_quoted(cli, store_path, monkeypatch):
    import piiloom.cli.generate

    def broken(_wishes, _settings):
        raise KeyError("words of somebody's text")

    monkeypatch.setattr(piiloom.cli.generate, "_generated", broken)
    outcome = cli("generate", "--store", store_path)
    assert outcome.code == 1
    assert "KeyError" in outcome.error_line()
    assert "--debug" in outcome.err
    assert "somebody" not in outcome.err


@pytest.mark.long
def test_a_reader_that_leaves_early_is_no_error(filled):
    command = f"{sys.executable} -m piiloom stages list --store {filled} | true"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert done.stderr == ""
