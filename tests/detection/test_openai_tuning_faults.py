"""A fine-tuning job against a server that misbehaves in all its ways, and against what users do; see ``test_openai_tuning``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from piiloom.corpus.store.database import Store
from piiloom.detection.training.openai_tuning.finishing import standing
from piiloom.detection.training.openai_tuning.job_folder import JobFolder
from piiloom.foundation.errors import DataError, PiiloomError, ProviderError, RunError
from piiloom.providers.errors import AuthFailed, ProviderUnavailable, RateLimited
from tests.detection.tuning_jobs import booked, in_session, planned
from tests.fakes.llm_wire import BAD_KEY
from tests.fakes.openai_tuning import JobPlan
from tests.fakes.openai_tuning_http import TuningServer

LOST = ("lost", "cut", "error_after")


pytestmark = pytest.mark.long


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[TuningServer]:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789abcdef")
    with TuningServer() as running:
        yield running


@pytest.fixture
def folder(tmp_path: Path, server: TuningServer) -> Path:
    return planned(tmp_path / "job", server.url)


@pytest.mark.parametrize("trouble", LOST)
@pytest.mark.parametrize("operation", ["upload", "create"])
def test_what_was_done_though_the_answer_was_lost_is_not_done_again(
    server: TuningServer, folder: Path, operation: str, trouble: str
) -> None:
    server.trouble = lambda asked, nth: trouble if asked == operation and nth == 0 else None
    assert in_session(folder, lambda session: session.run()).status == "succeeded"
    assert (server.done["upload"], server.done["create"]) == (2, 1)


@pytest.mark.parametrize("operation", ["upload", "create", "files", "job", "events"])
@pytest.mark.parametrize("trouble", ["rate_limit", "server_error"])
def test_a_passing_fault_is_waited_for(server: TuningServer, folder: Path, operation: str, trouble: str) -> None:
    server.trouble = lambda asked, nth: trouble if asked == operation and nth < 2 else None
    said: list[str] = []
    assert in_session(folder, lambda session: session.run(), said=said).status == "succeeded"
    assert (server.done["upload"], server.done["create"]) == (2, 1)
    assert sum("asking again" in line for line in said) == 2


@pytest.mark.parametrize(("trouble", "error"), [("rate_limit", RateLimited), ("server_error", ProviderUnavailable)])
def test_a_lasting_fault_ends_the_session_and_the_next_one_goes_on(
    server: TuningServer, folder: Path, trouble: str, error: type[ProviderError]
) -> None:
    server.trouble = lambda asked, _: trouble if asked == "create" else None
    with pytest.raises(error):
        in_session(folder, lambda session: session.run())
    server.trouble = lambda *_: None
    assert in_session(folder, lambda session: session.run()).status == "succeeded"
    assert (server.done["upload"], server.done["create"]) == (2, 1)


def test_an_answer_that_does_not_come_in_time_is_looked_for(server: TuningServer, folder: Path) -> None:
    server.trouble = lambda asked, nth: "hang" if asked == "create" and nth == 0 else None
    assert in_session(folder, lambda session: session.run(), timeout_s=0.4).status == "succeeded"
    assert (server.done["upload"], server.done["create"]) == (2, 1)


def test_a_job_that_was_cancelled_unseen_may_be_billed(server: TuningServer, folder: Path) -> None:
    server.plan = JobPlan(steps=9)
    in_session(folder, lambda session: session.run(wait=False))
    for _ in range(3):
        server.look(server.jobs["ftjob-0000"])
    found = in_session(folder, lambda session: session.cancel())
    assert found.charged_usd == pytest.approx(found.plan.estimate.most_usd or 0)


def test_a_job_that_no_label_marks_is_known_by_its_file(server: TuningServer, folder: Path) -> None:
    server.keeps_metadata = False
    server.trouble = lambda asked, nth: "lost" if asked == "create" and nth == 0 else None
    assert in_session(folder, lambda session: session.run()).status == "succeeded"
    assert server.done["create"] == 1


def test_a_job_is_found_behind_many_others(server: TuningServer, folder: Path) -> None:
    server.trouble = lambda asked, nth: "lost" if asked == "create" and nth == 0 else None
    in_session(folder, lambda session: session.run(wait=False))
    body = server.bodies[0]
    (folder / "ledger.jsonl").write_text(
        "".join(
            line + "\n" for line in (folder / "ledger.jsonl").read_text().splitlines() if '"made"' not in line or "upload" in line
        ).replace('"did": "done", "job"', '"did": "unknown", "job"')
    )
    for number in range(120):
        server.create(body | {"metadata": {"piiloom_job": f"other-{number}"}})
    assert in_session(folder, lambda session: session.run()).job_id == "ftjob-0000"
    assert server.done["create"] == 1


def test_two_jobs_by_a_fault_of_the_server_become_one(server: TuningServer, folder: Path) -> None:
    server.trouble = lambda asked, nth: "lost" if asked == "create" and nth == 0 else None
    first = in_session(folder, lambda session: session.run(wait=False))
    server.create(server.bodies[0])
    ledger = folder / "ledger.jsonl"
    ledger.write_text("".join(line for line in ledger.read_text().splitlines(keepends=True) if '"job"' not in line))
    again = in_session(folder, lambda session: session.run())
    assert (again.job_id, again.status) == (first.job_id, "succeeded")
    assert [job.status for job in server.jobs.values()] == ["succeeded", "cancelled"]


def test_equal_data_is_uploaded_once_for_several_jobs(server: TuningServer, folder: Path) -> None:
    in_session(folder, lambda session: session.run())
    other = planned(folder.parent / "other", server.url)
    assert in_session(other, lambda session: session.run()).status == "succeeded"
    assert (server.done["upload"], len(server.jobs)) == (2, 2)


def test_files_that_openai_would_refuse_make_the_job_fail(server: TuningServer, tmp_path: Path) -> None:
    folder = planned(tmp_path / "job", server.url, examples=9)
    found = in_session(folder, lambda session: session.run())
    assert (found.status, found.fault) == ("failed", "invalid_n_examples (training_file): The job failed due to an invalid training file.")


def test_a_damaged_upload_makes_no_job(server: TuningServer, folder: Path) -> None:
    server.file_status = "error"
    with pytest.raises(DataError, match="the file is damaged"):
        in_session(folder, lambda session: session.run())
    assert not server.jobs


def test_a_wrong_key_is_told_and_nothing_is_set_aside(server: TuningServer, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", BAD_KEY)
    with pytest.raises(AuthFailed) as caught:
        in_session(folder, lambda session: session.run())
    assert BAD_KEY not in str(caught.value)
    assert [event["kind"] for event in booked(folder)] == ["sent", "failed"]


def test_cancelling_before_there_is_a_job_gives_the_money_back(server: TuningServer, folder: Path) -> None:
    server.trouble = lambda asked, _: "server_error" if asked == "upload" else None
    with pytest.raises(ProviderUnavailable):
        in_session(folder, lambda session: session.run())
    assert in_session(folder, lambda session: session.cancel()).status == "planned"
    assert not server.jobs


def test_a_paused_job_stops_the_waiting_and_goes_on_when_told(server: TuningServer, folder: Path) -> None:
    server.plan = JobPlan(pauses=True)
    assert in_session(folder, lambda session: session.run()).status == "paused"
    assert in_session(folder, lambda session: session.unpause()).status == "succeeded"
    with pytest.raises(RunError, match="not paused"):
        in_session(folder, lambda session: session.unpause())


def test_events_are_told_once(server: TuningServer, folder: Path) -> None:
    server.plan = JobPlan(steps=230)
    said: list[str] = []
    in_session(folder, lambda session: session.run(wait=False))
    (job,) = server.jobs.values()
    for _ in range(150):
        server.look(job)
    in_session(folder, lambda session: session.look(), said=said)
    in_session(folder, lambda session: session.run(), said=said)
    told = [event["message"] for event in job.events]
    assert [line for line in said if line in set(told)] == told
    assert len((folder / "events.jsonl").read_bytes().splitlines()) == len(told)


def test_tokens_that_are_not_told_are_charged_as_reserved(server: TuningServer, folder: Path) -> None:
    server.plan = JobPlan(tells_tokens=False)
    found = in_session(folder, lambda session: session.run())
    assert (found.cost_usd, found.charged_usd) == (None, pytest.approx(found.plan.estimate.most_usd or 0))


def test_files_can_be_deleted_afterwards(server: TuningServer, folder: Path) -> None:
    in_session(folder, lambda session: session.run())
    assert in_session(folder, lambda session: session.delete_files()) == ["file-0000", "file-0001"]
    assert not server.files


def test_a_locked_store_loses_nothing(server: TuningServer, folder: Path) -> None:
    in_session(folder, lambda session: session.run(wait=False))
    with Store.open(folder.parent / "costs.duckdb") as store:
        store.change("CREATE TABLE busy (one INTEGER)", [])
        path = folder.parent / "costs.duckdb"
        path.rename(path.with_suffix(".away"))
        path.mkdir()
        with pytest.raises(PiiloomError):
            in_session(folder, lambda session: session.run())
        path.rmdir()
        path.with_suffix(".away").rename(path)
    with JobFolder(folder) as job:
        assert not standing(job).ended
    assert in_session(folder, lambda session: session.run()).cost_usd is not None
    assert len(booked(folder)) == 2


def test_a_ledger_that_a_kill_cut_short_is_gone_on_with(server: TuningServer, folder: Path) -> None:
    in_session(folder, lambda session: session.run(wait=False))
    ledger = folder / "ledger.jsonl"
    ledger.write_bytes(ledger.read_bytes() + b'{"at": 17')
    assert in_session(folder, lambda session: session.run()).status == "succeeded"
    assert all(json.loads(line) for line in ledger.read_bytes().splitlines())


def test_a_ledger_without_a_plan_is_no_new_folder(server: TuningServer, folder: Path) -> None:
    in_session(folder, lambda session: session.run(wait=False))
    (folder / "job.json").unlink()
    with pytest.raises(DataError, match=r"no job\.json"), JobFolder(folder):
        pass
