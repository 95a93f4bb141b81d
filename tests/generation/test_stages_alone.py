"""Each stage alone, from the shell: in order they give what a whole run gives; out of order they say what is missing."""

from __future__ import annotations

import io
import json
import runpy
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

from piiloom.corpus.store.database import Store
from piiloom.corpus.store.runs import get_run, list_runs, load_plan_items, load_rejects
from piiloom.foundation.errors import RunError, StoreError, UsageError
from piiloom.generation.running.tracing import report_stages
from piiloom.generation.stage_command import run_stage_command
from piiloom.generation.stages.pipeline import stage_names
from tests.generation.composer_settings import exported, finished, in_a_process, resume, start
from tests.longer import EXPLORE, case_by_case, explored, mostly_long

STAGE_NAMES = stage_names("staged", ())

SAMPLES = 30 if EXPLORE else 16
OPTIONS = ("--samples", str(SAMPLES), "--seed", "21", "--recipe", "staged")


def shell(stage, *arguments):
    """Do what ``python generation/<stage>.py`` does, in this process: its exit code, output and errors."""
    output, errors = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(output), redirect_stderr(errors):
        patch.setattr(sys, "argv", [f"generation.{stage}", *arguments])
        patch.setenv("COLUMNS", "120")
        with pytest.raises(SystemExit) as caught:
            runpy.run_path(str(Path(__file__).parents[2] / "generation" / f"{stage}.py"), run_name="__main__")
    return caught.value.code or 0, output.getvalue(), errors.getvalue()


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The export of a whole run."""
    path = tmp_path_factory.mktemp("whole") / "s.duckdb"
    start(path, samples=SAMPLES, seed=21)
    return exported(path)


def run_all(path, *, in_process):
    """Run every stage in order on the store at *path*; those that *in_process* names here, the others in processes of their own."""
    outputs = {}
    for number, stage in enumerate(STAGE_NAMES):
        arguments = ("--store", str(path), *(OPTIONS if number == 0 else ()))
        if stage in in_process:
            code, outputs[stage], errors = shell(stage, *arguments)
        else:
            code, outputs[stage], errors = finished(in_a_process("-m", f"generation.{stage}", *arguments, hash_seed=number))
        assert (code, errors) == (0, ""), stage
    return outputs


@pytest.fixture(scope="module")
def stages_alone(tmp_path_factory):
    """A store on which every stage ran alone, and what each printed."""
    path = tmp_path_factory.mktemp("alone") / "s.duckdb"
    return path, run_all(path, in_process=set(STAGE_NAMES) - {"topics", "screen"})


@pytest.mark.long
def test_all_stages_in_order_equal_a_whole_run(stages_alone, whole):
    path, _ = stages_alone
    assert exported(path) == whole
    with Store.open(path) as store:
        assert get_run(store, "last").status == "finished"


@pytest.mark.long
def test_stages_replace_what_they_reject_and_equal_a_whole_run(tmp_path):
    settings = {"samples": 30, "max_attempts": 1, "situation_words": (25, 25), "peripheral_words": (9, 9), "seed": 3}
    settings |= {"recipe": "staged", "pairs": "health+occupation,age+belief", "composer": {"scenarios_per_pair": 1}}
    alone, whole = tmp_path / "alone.duckdb", tmp_path / "whole.duckdb"
    rejected = {}
    for stage in STAGE_NAMES:
        progress = run_stage_command(stage, alone, overrides=settings if stage == "topics" else {})
        rejected[stage] = progress.rejected
        assert stage in STAGE_NAMES[:2] or progress.accepted == 30
    start(whole, **settings)
    assert exported(alone) == exported(whole)
    assert [stage for stage, number in rejected.items() if number] == ["situation", "peripheral", "screen"]
    left = []
    for path in (alone, whole):
        with Store.open(path) as store:
            run = get_run(store, "last")
            left.append((run.status, load_rejects(store, run.id), load_plan_items(store, run.id)))
    assert left[0] == left[1]


@explored
@pytest.mark.long
def test_all_stages_in_processes_of_their_own_equal_a_whole_run(tmp_path, whole):
    run_all(tmp_path / "s.duckdb", in_process=())
    assert exported(tmp_path / "s.duckdb") == whole


@pytest.mark.long
def test_each_stage_says_what_it_did(stages_alone):
    path, outputs = stages_alone
    with Store.open(path) as store:
        run = get_run(store, "last")
        lines = {line.stage: line for line in report_stages(store, run)}
    for stage, output in outputs.items():
        # What a later stage rejects, it replaces by items that it takes through the stages before it.
        later = sum(line.rejected for line in lines.values() if STAGE_NAMES.index(line.stage) > STAGE_NAMES.index(stage))
        done = lines[stage].done - (later if stage not in STAGE_NAMES[:2] else 0)
        assert output.startswith(f"{run.id} {stage}: {done} done, {lines[stage].rejected} rejected")


@pytest.mark.long
def test_a_stage_that_has_nothing_to_do_does_nothing(stages_alone):
    path, _ = stages_alone
    before = exported(path)
    for stage in STAGE_NAMES[2:]:
        assert run_stage_command(stage, path).wanted == 0
    assert exported(path) == before
    with Store.open(path) as store:
        assert get_run(store, "last").status == "finished"


@pytest.mark.long
def test_a_whole_run_goes_on_where_a_stage_stopped(tmp_path, whole):
    path = tmp_path / "s.duckdb"
    settings = {"samples": SAMPLES, "seed": 21, "recipe": "staged"}
    run_stage_command("topics", path, overrides=settings)
    for stage in ("subtopics", "values", "situation", "peripheral", "question"):
        assert run_stage_command(stage, path, overrides={"concurrency": 3}).status == "finished"
    assert resume(path).status == "finished"
    assert exported(path) == whole


@pytest.fixture
def with_topics(tmp_path):
    path = tmp_path / "s.duckdb"
    run_stage_command("topics", path, overrides={"samples": 5, "pairs": "health+occupation", "recipe": "staged"})
    return path


@pytest.mark.parametrize("stage", mostly_long(STAGE_NAMES[2:], quick=STAGE_NAMES[2::3]))
def test_a_stage_before_its_turn_says_what_must_run_first(with_topics, stage):
    with pytest.raises(RunError, match="first") as caught:
        run_stage_command(stage, with_topics)
    assert caught.value.remedy
    # The store is none the worse.
    run_stage_command("subtopics", with_topics)
    assert run_stage_command("values", with_topics).accepted == 5


@pytest.mark.long
def test_a_stage_that_skips_another_says_so(with_topics):
    for stage in ("subtopics", "values", "situation"):
        run_stage_command(stage, with_topics)
    for stage in ("question", "paraphrase", "spans", "screen"):  # which all need what the stage peripheral gives
        with pytest.raises(RunError, match="Run the stage peripheral first"):
            run_stage_command(stage, with_topics)


def test_without_a_store_or_a_run_there_is_nothing_to_work_on(tmp_path):
    path = tmp_path / "s.duckdb"
    with pytest.raises(StoreError):
        run_stage_command("values", path)
    with Store.open(path):
        pass
    with pytest.raises(RunError, match="no runs yet"):
        run_stage_command("values", path)
    assert run_stage_command("topics", path, overrides={"samples": 2, "pairs": "age+health"}).accepted == 1
    with pytest.raises(RunError, match="there is no run 'r9'"):
        run_stage_command("subtopics", path, run_id="r9")


def test_settings_belong_to_the_first_stage(with_topics):
    with pytest.raises(UsageError, match="start of a run"):
        run_stage_command("subtopics", with_topics, overrides={"samples": 9})
    with pytest.raises(UsageError, match="start of a run"):
        run_stage_command("topics", with_topics, run_id="last", overrides={"seed": 9})
    with pytest.raises(UsageError, match="The stages, in order: topics, subtopics, values"):
        run_stage_command("reword", with_topics)


@case_by_case("stage", STAGE_NAMES)
def test_every_stage_explains_itself_with_an_example(stage):
    code, output, errors = shell(stage, "--help-all")
    assert (code, errors) == (0, "")
    flat = " ".join(output.split())
    assert f"python -m generation.{stage} --store" in flat
    assert f"Stage {STAGE_NAMES.index(stage) + 1}:" in flat
    assert all(option in flat for option in ("--store", "--run", "--concurrency", "In:", "Out:"))
    assert all(option in flat for option in ("--budget-usd", "--rpm", "--tpm", "--timeout", "--price", "--unpriced", "--stop-after"))
    assert all((option in flat) == (stage == "topics") for option in ("--samples", "--judge ", "--prompts", "--topics-per-pair"))


def test_errors_are_one_line_without_a_traceback(tmp_path):
    code, output, errors = shell("values", "--store", str(tmp_path / "none.duckdb"))
    assert (code, output) == (1, "")
    assert errors.startswith("error: ")
    assert errors.count("\n") == 1
    code, _, errors = shell("topics", "--store", str(tmp_path / "s.duckdb"), "--pairs", "health+hobby")
    assert code == 2
    assert "hobby" in errors
    assert not (tmp_path / "s.duckdb").exists()


def test_a_run_file_may_give_the_settings(tmp_path):
    (tmp_path / "run.yaml").write_text("samples: 4\npairs: health+occupation\nseed: 3\n")
    path = tmp_path / "s.duckdb"
    code, output, _ = shell("topics", "--store", str(path), "--config", str(tmp_path / "run.yaml"), "--seed", "5")
    assert (code, output.split(": ")[1]) == (0, "1 done, 0 rejected\n")
    with Store.open(path) as store:
        run = get_run(store, "last")
    assert (run.samples, run.seed, run.config["pairs"]) == (4, 5, "health+occupation")
    again = ("topics", "--store", str(path), "--config", str(tmp_path / "run.yaml"), "--seed", "5", "--samples", "6")
    assert shell(*again)[0] == 0
    with Store.open(path) as store:
        assert [(row.id, row.samples) for row in list_runs(store)] == [(run.id, 6)]
    (tmp_path / "bad.yaml").write_text("samples: 4\nsampels: 5\n")
    code, _, errors = shell("topics", "--store", str(path), "--config", str(tmp_path / "bad.yaml"))
    assert code == 2
    assert "bad.yaml:2" in errors
    assert json.dumps(errors).count("\\n") == 1
