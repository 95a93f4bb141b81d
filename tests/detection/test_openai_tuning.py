"""A fine-tuning job against a server that behaves as OpenAI's, and misbehaves: never two uploads of a file, never two jobs, none lost."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from piiloom.detection.training.job_plan import TuningPlan, training_price, usual_epochs
from piiloom.detection.training.tuning_job import JobBusy, JobFolder, Ledger
from piiloom.execution.money.budget import BudgetReached
from piiloom.foundation.errors import DataError, PiiloomError, ProviderError, RunError, UsageError
from piiloom.providers import openai_jobs
from piiloom.providers.errors import AuthFailed, InvalidRequest, ProviderUnavailable, RateLimited
from piiloom.providers.factory import make_provider
from piiloom.providers.openai_jobs import OpenAIJobs, TuningUnknown
from piiloom.providers.prices import load_models, tuned_family
from piiloom.tagging.model_folder import CARD, read_about
from tests.detection.tuning_jobs import booked, in_session, planned
from tests.fakes.llm_wire import BAD_KEY
from tests.fakes.openai_tuning import JobPlan
from tests.fakes.openai_tuning_http import TuningServer

LOST = ("lost", "cut", "error_after")


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[TuningServer]:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789abcdef")
    with TuningServer() as running:
        yield running


@pytest.fixture
def folder(tmp_path: Path, server: TuningServer) -> Path:
    return planned(tmp_path / "job", server.url)


def run(folder: Path, **more: Any) -> dict[str, Any]:
    """Run the job in *folder* to its end."""
    return in_session(folder, lambda job: job.run(), **more)


def make(folder: Path) -> dict[str, Any]:
    """Make the job in *folder*, and do not follow it."""
    return in_session(folder, lambda job: job.run(wait=False))


def cancel(folder: Path) -> dict[str, Any]:
    return in_session(folder, lambda job: job.cancel())


def ends_well(server: TuningServer, folder: Path, **more: Any) -> None:
    """Run the job, and check that its two files were uploaded once, and that there is one job."""
    assert run(folder, **more)["status"] == "succeeded"
    assert (server.done["upload"], server.done["create"]) == (2, 1)


def test_a_job_from_upload_to_the_command_that_uses_the_model(server: TuningServer, folder: Path) -> None:
    said: list[str] = []
    found = in_session(folder, lambda job: job.run(budget_usd=1), said=said)
    (job,) = server.jobs.values()
    tokens, tuned = 3 * (len(server.files["file-0000"].content) // 4), found["model"]
    assert (found["status"], found["job"], found["trained_tokens"]) == ("succeeded", job.id, tokens)
    assert found["cost_usd"] == pytest.approx(tokens * 3 / 1e6)
    assert found["use"] == f"piiloom detect texts.jsonl --detector markers --provider openai --model {tuned} --out found.jsonl"
    assert "Step 2/2: training loss=0.5" in said
    assert [file.name for file in server.files.values()] == [file["name"] for file in found["files"]]
    assert [(folder / file["path"]).read_bytes() for file in found["files"]] == [file.content for file in server.files.values()]
    about = read_about(folder, "openai")
    assert about.settings == {
        **dict.fromkeys(("seed", "batch_size", "learning_rate_multiplier")),
        "task": "markers",
        "markers": "types",
        "suffix": "mine",
        "n_epochs": 3,
        "model": tuned,
        "job": job.id,
    }
    assert about.figures["train_loss"] == 0.5
    sent, reply = booked(folder)
    assert (sent["kind"], sent["worst_usd"]) == ("sent", pytest.approx(found["estimate"]["most_usd"]))
    assert (reply["kind"], reply["input"], reply["cost_usd"]) == ("reply", tokens, found["cost_usd"])


def test_the_request_for_a_job_is_what_the_api_documents(server: TuningServer, tmp_path: Path) -> None:
    make(planned(tmp_path / "job", server.url, validation=None, seed=11, epochs=2, batch_size=4, learning_rate=1.5))
    numbers = {"n_epochs": 2, "batch_size": 4, "learning_rate_multiplier": 1.5}
    assert server.bodies == [
        {
            "model": "gpt-4o-mini-2024-07-18",
            "training_file": "file-0000",
            "method": {"type": "supervised", "supervised": {"hyperparameters": numbers}},
            "suffix": "mine",
            "seed": 11,
            "metadata": {"piiloom_job": "piiloom-job"},
        }
    ]


def test_a_job_is_searched_before_another_intent_is_noted(server: TuningServer, tmp_path: Path) -> None:
    make(planned(tmp_path / "new", server.url))
    assert server.asked["jobs"] == 0
    server.trouble = lambda asked, nth: "lost" if (asked, server.done["create"]) == ("create", 1) else None
    make(planned(tmp_path / "lost", server.url))
    steps = [row["did"] for row in Ledger(tmp_path / "lost").rows if row["step"] == "create"]
    assert (steps, server.done["create"]) == (["intent", "unknown", "done"], 2)


@pytest.mark.parametrize("trouble", [pytest.param(one, marks=() if one == "cut" else pytest.mark.long) for one in (*LOST, "hang")])
def test_what_was_done_though_the_answer_was_lost_is_not_done_again(
    server: TuningServer, tmp_path: Path, trouble: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(openai_jobs, "TRANSFER_TIMEOUT_S", 2.0)  # of ten minutes
    for operation in ("upload", "create"):
        server.trouble = lambda asked, nth: trouble if (asked, nth) == (operation, server.done["create"]) else None  # noqa: B023 - used at once
        assert run(planned(tmp_path / operation, server.url), timeout_s=0.4 if trouble == "hang" else 5)["status"] == "succeeded"
    assert (server.done["upload"], server.done["create"]) == (2, 2)


@pytest.mark.long
@pytest.mark.parametrize("trouble", ["rate_limit", "server_error"])
def test_a_passing_fault_is_waited_for(server: TuningServer, tmp_path: Path, trouble: str) -> None:
    for operation in ("upload", "create", "files", "job", "events"):
        before = server.asked[operation]
        server.trouble = lambda asked, nth: trouble if asked == operation and nth < before + 2 else None  # noqa: B023 - used at once
        said: list[str] = []
        examples = 20 + len(server.jobs)  # other files
        assert run(planned(tmp_path / operation, server.url, examples=examples, validation=None), said=said)["status"] == "succeeded"
        assert sum("asking again" in line for line in said) == 2
    assert (server.done["upload"], server.done["create"]) == (5, 5)


@pytest.mark.long
@pytest.mark.parametrize(("trouble", "error"), [("rate_limit", RateLimited), ("server_error", ProviderUnavailable)])
def test_a_lasting_fault_ends_the_session_and_the_next_one_goes_on(
    server: TuningServer, folder: Path, trouble: str, error: type[ProviderError]
) -> None:
    server.trouble = lambda asked, _: trouble if asked == "create" else None
    with pytest.raises(error):
        run(folder)
    server.trouble = lambda *_: None
    ends_well(server, folder)


def test_a_budget_holds_before_anything_is_sent(server: TuningServer, folder: Path) -> None:
    with pytest.raises(BudgetReached, match="too small"):
        in_session(folder, lambda job: job.run(budget_usd=0.001))
    assert not server.asked
    assert booked(folder) == []


def test_a_refused_job_gives_back_what_was_set_aside(server: TuningServer, tmp_path: Path) -> None:
    folder = planned(tmp_path / "job", server.url, model="gpt-9")
    with pytest.raises(InvalidRequest, match="not available for fine-tuning"):
        run(folder)
    sent, failed = booked(folder)
    assert (sent["try"], failed["try"], failed["charge_usd"], failed["maybe_billed"]) == (1, 1, 0.0, False)


def test_a_wrong_key_is_told_and_nothing_is_set_aside(server: TuningServer, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", BAD_KEY)
    with pytest.raises(AuthFailed) as caught:
        run(folder)
    assert BAD_KEY not in str(caught.value)
    assert [event["kind"] for event in booked(folder)] == ["sent", "failed"]


def test_a_failed_job_says_why_but_not_what_it_quotes(server: TuningServer, folder: Path) -> None:
    server.plan = JobPlan(fails_with=("quotes", "training_file"))
    found = run(folder)
    assert (found["status"], found["fault"].partition(": ")[0]) == ("failed", "quotes (training_file)")
    assert "<occupation>" not in (folder / "ledger.jsonl").read_text()
    assert booked(folder)[-1]["charge_usd"] == 0.0
    assert not (folder / CARD).exists()


def test_files_that_openai_would_refuse_make_the_job_fail(server: TuningServer, tmp_path: Path) -> None:
    found = run(planned(tmp_path / "job", server.url, examples=9))
    assert (found["status"], found["fault"]) == (
        "failed",
        "invalid_n_examples (training_file): The job failed due to an invalid training file.",
    )


def test_a_damaged_upload_makes_no_job(server: TuningServer, folder: Path) -> None:
    server.file_status = "error"
    with pytest.raises(DataError, match="the file is damaged"):
        run(folder)
    assert not server.jobs


def test_a_key_of_another_account_makes_no_second_job(server: TuningServer, folder: Path) -> None:
    def lose(asked: str, _: int) -> str | None:
        server.hides |= asked == "create"
        return "lost" if asked == "create" else None

    server.trouble = lose
    with pytest.raises(ProviderUnavailable):
        run(folder)
    made = server.done["create"]
    server.trouble = lambda *_: None
    with pytest.raises(TuningUnknown, match="does not see its training file"):
        run(folder)
    assert server.done["create"] == made


@pytest.mark.parametrize("seen", [True, False], ids=["seen to train", "unseen"])
def test_cancelling_books_what_was_trained(server: TuningServer, folder: Path, seen: bool) -> None:
    server.plan = JobPlan(steps=9)
    make(folder)
    for _ in range(3):
        in_session(folder, lambda job: job.look()) if seen else server.look(server.jobs["ftjob-0000"])
    found = cancel(folder)
    assert (found["status"], found["charged_usd"]) == ("cancelled", pytest.approx(found["estimate"]["most_usd"]))
    assert cancel(folder)["status"] == "cancelled"
    assert len(booked(folder)) == 2


def test_cancelling_before_there_is_a_job_gives_the_money_back(server: TuningServer, folder: Path) -> None:
    server.trouble = lambda asked, _: "server_error" if asked == "upload" else None
    with pytest.raises(ProviderUnavailable):
        run(folder)
    assert cancel(folder)["status"] == "planned"
    assert not server.jobs


def test_cancelling_a_job_whose_request_never_left_gives_the_money_back(server: TuningServer, folder: Path) -> None:
    make(folder)
    without_made_job(folder)
    server.jobs.clear()
    assert cancel(folder)["status"] == "planned"
    assert [entry["kind"] for entry in booked(folder)] == ["sent", "failed"]
    assert (run(folder)["status"], len(server.jobs)) == ("succeeded", 1)


def test_a_plan_with_an_impossible_setting_is_damaged(server: TuningServer, folder: Path) -> None:
    plan = folder / "job.json"
    plan.write_text(json.dumps(json.loads(plan.read_text()) | {"epochs": 99}))
    with pytest.raises(DataError, match="the plan of the job is damaged"):
        run(folder)


@pytest.mark.parametrize("name", ["job.json", "ledger.jsonl", "train.jsonl"])
def test_a_damaged_folder_is_one_clear_error(server: TuningServer, folder: Path, name: str) -> None:
    (folder / name).write_bytes(b'{"at": 1}\n')
    with pytest.raises(DataError) as caught:
        run(folder)
    assert name in str(caught.value)
    assert not server.jobs


def test_another_server_or_process_or_a_lost_plan_is_refused(server: TuningServer, folder: Path) -> None:
    with pytest.raises(UsageError, match="was begun at"):
        run(folder, url="http://127.0.0.1:9/v1")
    with JobFolder(folder), pytest.raises(JobBusy):
        run(folder)
    make(folder)
    (folder / "job.json").unlink()
    with pytest.raises(DataError, match=r"no job\.json"), JobFolder(folder):
        pass


def without_made_job(folder: Path) -> None:
    """Take from the ledger that the job was made, as if a kill had come first."""
    path = folder / "ledger.jsonl"
    path.write_text("".join(line for line in path.read_text().splitlines(keepends=True) if '"job"' not in line))


def test_a_job_that_no_label_marks_is_known_by_its_file(server: TuningServer, folder: Path) -> None:
    server.keeps_metadata = False
    server.trouble = lambda asked, nth: "lost" if asked == "create" and nth == 0 else None
    ends_well(server, folder)


@pytest.mark.long
def test_a_job_is_found_behind_many_others(server: TuningServer, folder: Path) -> None:
    make(folder)
    without_made_job(folder)
    for number in range(120):
        server.create(server.bodies[0] | {"metadata": {"piiloom_job": f"other-{number}"}})
    assert run(folder)["job"] == "ftjob-0000"
    assert server.done["create"] == 1


def test_two_jobs_by_a_fault_of_the_server_become_one(server: TuningServer, folder: Path) -> None:
    make(folder)
    without_made_job(folder)
    server.create(server.bodies[0])
    found = run(folder)
    assert (found["job"], found["status"]) == ("ftjob-0000", "succeeded")
    assert [job.status for job in server.jobs.values()] == ["succeeded", "cancelled"]


def test_equal_data_is_uploaded_once_for_several_jobs_and_deleted_afterwards(server: TuningServer, folder: Path) -> None:
    run(folder)
    assert run(planned(folder.parent / "other", server.url))["status"] == "succeeded"
    assert (server.done["upload"], len(server.jobs)) == (2, 2)
    for _ in range(2):
        in_session(folder, lambda job: job.delete_files())
    assert not server.files
    third = planned(folder.parent / "third", server.url)
    make(third)
    assert server.done["upload"] == 4


def test_a_paused_job_stops_the_waiting_and_goes_on_when_told(server: TuningServer, folder: Path) -> None:
    server.plan = JobPlan(pauses=True)
    assert run(folder)["status"] == "paused"
    assert in_session(folder, lambda job: job.unpause())["status"] == "succeeded"
    with pytest.raises(RunError, match="not paused"):
        in_session(folder, lambda job: job.unpause())


@pytest.mark.long
def test_events_are_told_once(server: TuningServer, folder: Path) -> None:
    server.plan = JobPlan(steps=230)
    said: list[str] = []
    make(folder)
    (job,) = server.jobs.values()
    for _ in range(150):
        server.look(job)
    in_session(folder, lambda job: job.look(), said=said)
    asked = server.asked["events"]
    in_session(folder, lambda job: job.look(), said=said)
    assert server.asked["events"] == asked + 1  # not the pages behind the first known event
    events = folder / "events.jsonl"
    events.write_bytes(events.read_bytes() + b'{"id": "cut sho')
    run(folder, said=said)
    told = [event["message"] for event in job.events]
    assert [line for line in said if line in set(told)] == told
    assert len(events.read_bytes().splitlines()) == len(told)


def test_a_server_that_tells_no_tokens_is_charged_the_careful_figure(server: TuningServer, folder: Path) -> None:
    server.plan = JobPlan(tells_tokens=False)
    found = run(folder)
    assert (found["cost_usd"], found["charged_usd"]) == (None, pytest.approx(found["estimate"]["most_usd"]))


def test_a_store_that_cannot_be_used_loses_nothing(server: TuningServer, folder: Path) -> None:
    make(folder)
    path = folder.parent / "costs.duckdb"
    path.rename(path.with_suffix(".away"))
    path.mkdir()
    with pytest.raises(PiiloomError):
        run(folder)
    assert not JobFolder(folder).ended
    path.rmdir()
    path.with_suffix(".away").rename(path)
    assert run(folder)["cost_usd"] is not None
    assert len(booked(folder)) == 2


def asked_of(body: str, kind: str = "application/json") -> dict[str, Any]:
    """Return the first of the account's jobs, as they are read from a server that answers with *body*."""

    async def newest() -> list[dict[str, Any]]:
        answer = httpx2.Response(200, text=body, headers={"content-type": kind})
        client = httpx2.AsyncClient(transport=httpx2.MockTransport(lambda _: answer))
        api = OpenAIJobs(make_provider("openai", base_url="http://127.0.0.1:9/v1", http_client=client))
        await api.ask(api.jobs.retrieve("job"), "job")
        return await api.newest_jobs(1)

    return asyncio.run(newest())[0]


def test_servers_that_imitate_the_api_badly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789abcdef")
    for answer in (("<html>", "text/html"), ('{"error": {"message": "no such thing"}}',), ("[]",)):
        with pytest.raises(InvalidRequest, match="not one of this API"):
            asked_of(*answer)
    for status, stage in {"succeeded": "succeeded", "warming_up": "working", "paused": "paused"}.items():
        job = asked_of(f'{{"id": "j", "data": [{{"id": "j", "status": "{status}", "error": null}}]}}')
        assert (job["status"], job["stage"]) == (status, stage)
        assert [job[name] for name in ("trained_tokens", "tuned_model", "label", "fault")] == [None] * 4


def test_a_ledger_cut_short_anywhere_keeps_its_whole_lines(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    path = tmp_path / "ledger.jsonl"
    for step, did in (("create", "intent"), ("upload train", "done"), ("create", "unknown"), ("create", "refused")):
        ledger.note(step, did, why="é")
        assert (ledger.unsure_since("create") is None) == (did == "refused")
        assert ledger.result("create") == {}
    whole = path.read_bytes()
    borders = [at for at, byte in enumerate(whole) if byte == ord("\n")]
    for cut in (0, 1, *(at + more for at in borders for more in (-9, 0, 1, 2))):
        path.write_bytes(whole[:cut])
        again = Ledger(tmp_path)
        assert again.rows == ledger.rows[: whole[:cut].count(b"\n")]
        again.note("create", job="ftjob-1")
        assert [*again.rows] == Ledger(tmp_path).rows
    path.write_bytes(whole + b"nonsense\n")
    with pytest.raises(DataError, match=r"ledger\.jsonl:5"):
        Ledger(tmp_path)
    for at in ('"now"', "null", "true", "[1]"):
        path.write_bytes(whole + b'{"at": %b, "step": "create", "did": "intent"}\n' % at.encode())
        with pytest.raises(DataError, match=r"the ledger of the job is damaged.*--list") as caught:
            Ledger(tmp_path)
        assert caught.value.where == f"{path}:5"


def test_the_price_says_where_it_comes_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    listed = training_price("gpt-4o-2024-08-06")
    assert listed is not None
    assert (listed.usd, listed.dated, "2025" in listed.source) == (25.0, "2026-11-27", True)
    assert training_price("gpt-6-luna") is None
    given = training_price("gpt-4o", 7.0)
    assert given is not None
    assert (given.usd, given.source) == (7.0, "given with --training-price")
    own = tmp_path / "models.yaml"
    own.write_text('dated: 2027-01-01\nmodels: {openai: {"ft:gpt-4o": {training: 20.0, input: 1.0, output: 2.0}}}\n')
    monkeypatch.setenv("PIILOOM_MODELS", str(own))
    mine = training_price("gpt-4o")
    assert mine is not None
    assert (mine.usd, mine.dated, "PIILOOM_MODELS" in mine.source) == (20.0, "2027-01-01", True)


def test_an_estimate_is_tokens_times_epochs_times_price(tmp_path: Path) -> None:
    plan: Callable[[Path], TuningPlan] = lambda folder: JobFolder(folder).plan  # noqa: E731 - short
    found = plan(planned(tmp_path / "job", "http://x/v1", epochs=2)).estimate
    tokens, most = found["tokens"], found["most_tokens"]
    assert (found["examples"], found["usd"], found["most_usd"]) == (20, pytest.approx(tokens * 3e-6), pytest.approx(most * 3e-6))
    found = plan(planned(tmp_path / "other", "http://x/v1", epochs=None, price=None)).estimate
    assert (found["chosen"], found["usd"], found["tokens"]) == (True, None, tokens // 2 * 5)
    epochs = {10: 10, 3: 25, 33: 3, 34: 3, 8_333: 3, 10_000: 2, 50_000: 1}
    assert {examples: usual_epochs(examples) for examples in epochs} == epochs


def test_tuned_models_are_priced_as_their_family() -> None:
    for name in ("gpt-4.1-mini", "gpt-4.1-mini-2025-04-14", "ft:gpt-4.1-mini-2025-04-14:acme:piiloom:abc"):
        assert tuned_family(name) == "ft:gpt-4.1-mini"
        tuned = load_models().find("openai", name if name.startswith("ft:") else f"ft:{name}:acme::abc")
        assert tuned is not None
        assert (tuned.input, tuned.output, tuned.training) == (0.8, 3.2, 5.0)
    assert load_models().find("openai", "ft:gpt-9:acme::abc") is None
