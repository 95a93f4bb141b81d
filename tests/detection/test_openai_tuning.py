"""A fine-tuning job against a server that behaves as OpenAI's, and misbehaves: never two uploads of a file, never two jobs, none lost."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from piiloom.detection.training.openai_tuning.job_folder import JobBusy, JobFolder
from piiloom.execution.money.budget import BudgetReached
from piiloom.foundation.errors import DataError, UsageError
from piiloom.providers.errors import InvalidRequest, ProviderUnavailable
from piiloom.providers.tuning_api import TuningUnknown
from piiloom.tagging.model_card import CARD, read_about
from tests.detection.tuning_jobs import booked, in_session, planned
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


def test_a_job_from_upload_to_the_command_that_uses_the_model(server: TuningServer, folder: Path) -> None:
    said: list[str] = []
    found = in_session(folder, lambda session: session.run(budget_usd=1), said=said)
    (job,) = server.jobs.values()
    tokens = 3 * (len(server.files["file-0000"].content) // 4)
    assert (found.status, found.job_id, found.trained_tokens) == ("succeeded", job.id, tokens)
    assert found.cost_usd == pytest.approx(tokens * 3 / 1e6)
    assert found.use == f"piiloom detect texts.jsonl --detector markers --provider openai --model {found.tuned_model} --out found.jsonl"
    assert "Step 2/2: training loss=0.5" in said
    assert [file.name for file in server.files.values()] == [file.name for file in found.plan.files]
    assert [(folder / file.path).read_bytes() for file in found.plan.files] == [file.content for file in server.files.values()]
    about = read_about(folder, "openai")
    assert about.settings["model"] == found.tuned_model
    assert about.figures["train_loss"] == 0.5
    sent, reply = booked(folder)
    assert (sent["kind"], sent["worst_usd"]) == ("sent", pytest.approx(20 * 160 * 3 * 3 / 1e6))
    assert (reply["kind"], reply["input"], reply["cost_usd"]) == ("reply", tokens, found.cost_usd)


def test_the_request_for_a_job_is_what_the_api_documents(server: TuningServer, tmp_path: Path) -> None:
    folder = planned(tmp_path / "job", server.url, validation=None, seed=11, epochs=2, batch_size=4, learning_rate=1.5)
    in_session(folder, lambda session: session.run(wait=False))
    assert server.bodies == [
        {
            "model": "gpt-4o-mini-2024-07-18",
            "training_file": "file-0000",
            "method": {
                "type": "supervised",
                "supervised": {"hyperparameters": {"n_epochs": 2, "batch_size": 4, "learning_rate_multiplier": 1.5}},
            },
            "suffix": "mine",
            "seed": 11,
            "metadata": {"piiloom_job": "piiloom-job"},
        }
    ]


@pytest.mark.parametrize(("operation", "trouble"), [("upload", "cut"), ("create", "lost")])
def test_what_was_done_though_the_answer_was_lost_is_not_done_again(
    server: TuningServer, folder: Path, operation: str, trouble: str
) -> None:
    server.trouble = lambda asked, nth: trouble if asked == operation and nth == 0 else None
    assert in_session(folder, lambda session: session.run()).status == "succeeded"
    assert (server.done["upload"], server.done["create"]) == (2, 1)


def test_a_budget_holds_before_anything_is_sent(server: TuningServer, folder: Path) -> None:
    with pytest.raises(BudgetReached, match="too small"):
        in_session(folder, lambda session: session.run(budget_usd=0.01))
    assert not server.asked
    assert booked(folder) == []


def test_a_refused_job_gives_back_what_was_set_aside(server: TuningServer, tmp_path: Path) -> None:
    folder = planned(tmp_path / "job", server.url, model="gpt-9")
    with pytest.raises(InvalidRequest, match="not available for fine-tuning"):
        in_session(folder, lambda session: session.run())
    sent, failed = booked(folder)
    assert (sent["try"], failed["try"], failed["charge_usd"], failed["maybe_billed"]) == (1, 1, 0.0, False)


def test_a_failed_job_says_why_but_not_what_it_quotes(server: TuningServer, folder: Path) -> None:
    server.plan = JobPlan(fails_with=("quotes", "training_file"))
    found = in_session(folder, lambda session: session.run())
    assert found.failure is not None
    assert "quotes (training_file): " in str(found.failure)
    assert "<occupation>" not in (folder / "ledger.jsonl").read_text()
    assert booked(folder)[-1]["charge_usd"] == 0.0
    assert not (folder / CARD).exists()


def test_a_key_of_another_account_makes_no_second_job(server: TuningServer, folder: Path) -> None:
    server.trouble = lambda asked, _: "lost" if asked == "create" else None
    server.hides = True
    with pytest.raises(ProviderUnavailable):
        in_session(folder, lambda session: session.run())
    made = server.done["create"]
    server.trouble = lambda *_: None
    with pytest.raises(TuningUnknown, match="does not see its training file"):
        in_session(folder, lambda session: session.run())
    assert server.done["create"] == made


def test_cancelling_books_what_was_trained(server: TuningServer, folder: Path) -> None:
    server.plan = JobPlan(steps=9)
    in_session(folder, lambda session: session.run(wait=False))
    for _ in range(3):
        in_session(folder, lambda session: session.look())
    found = in_session(folder, lambda session: session.cancel())
    assert found.status == "cancelled"
    assert found.charged_usd == pytest.approx(found.plan.estimate.most_usd or 0)
    assert in_session(folder, lambda session: session.cancel()).status == "cancelled"
    assert len(booked(folder)) == 2


@pytest.mark.parametrize("name", ["job.json", "ledger.jsonl", "train.jsonl"])
def test_a_damaged_folder_is_one_clear_error(server: TuningServer, folder: Path, name: str) -> None:
    (folder / name).write_bytes(b'{"at": 1}\n')
    with pytest.raises(DataError) as caught:
        in_session(folder, lambda session: session.run())
    assert name in str(caught.value)
    assert not server.jobs


def test_another_server_or_process_is_refused(server: TuningServer, folder: Path) -> None:
    with pytest.raises(UsageError, match="was begun at"):
        in_session(folder, lambda session: session.run(), url="http://127.0.0.1:9/v1")
    with JobFolder(folder), pytest.raises(JobBusy):
        in_session(folder, lambda session: session.run())
