"""OpenAI's fine-tuning jobs through its SDK, against a server that behaves as OpenAI's, and against ones that imitate it badly."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, TypeVar

import httpx2
import pytest

from piiloom.foundation.errors import UsageError
from piiloom.providers.errors import InvalidRequest
from piiloom.providers.factory import make_provider, make_tuning_api
from piiloom.providers.prices import load_models, tuned_family
from piiloom.providers.tuning_api import JobRequest, TuningApi, TuningUnknown
from tests.fakes.openai_tuning import JobPlan
from tests.fakes.openai_tuning_http import TuningServer

T = TypeVar("T")
MODEL = "gpt-4o-mini-2024-07-18"
ROWS = b'{"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]}\n' * 10


@pytest.fixture
def server() -> Iterator[TuningServer]:
    with TuningServer() as running:
        yield running


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789abcdef")


def with_api(url: str, work: Callable[[TuningApi], Awaitable[T]], http_client: httpx2.AsyncClient | None = None) -> T:
    async def whole() -> T:
        api = make_tuning_api(make_provider("openai", model=MODEL, base_url=url, http_client=http_client))
        try:
            return await work(api)
        finally:
            await api.aclose()

    return asyncio.run(whole())


def test_a_file_is_found_by_name_and_size_unless_it_is_damaged(server: TuningServer) -> None:
    async def work(api: TuningApi) -> list[str | None]:
        first, second = await api.upload("a.jsonl", ROWS), await api.upload("a.jsonl", ROWS)
        server.files[first.id].created -= 10
        found = [await api.find_file("a.jsonl", len(ROWS)), await api.find_file("a.jsonl", 1), await api.find_file("b.jsonl", len(ROWS))]
        server.files[second.id].status = "error"
        found.append(await api.find_file("a.jsonl", len(ROWS)))
        assert (await api.look_up_file(second.id)).note == "the file is damaged"
        return [None if one is None else one.id for one in found]

    assert with_api(server.url, work) == ["file-0001", None, None, "file-0000"]


def test_lists_are_gone_through_page_by_page(server: TuningServer) -> None:
    server.plan = JobPlan(steps=0)

    async def work(api: TuningApi) -> None:
        file = await api.upload("a.jsonl", ROWS)
        ours = JobRequest(label="ours", model=MODEL, training_file=file.id)
        made = await api.create(ours)
        for number in range(110):
            await api.create(JobRequest(label=f"other{number}", model=MODEL, training_file=file.id))
        assert [job.id for job in await api.find_jobs(ours, 0)] == [made.id]
        assert await api.find_jobs(JobRequest(label="never", model=MODEL, training_file=file.id), 0) == []
        assert [job.id for job in await api.list_jobs(3)] == ["ftjob-0110", "ftjob-0109", "ftjob-0108"]

    with_api(server.url, work)


def test_events_come_oldest_first_and_only_new_ones(server: TuningServer) -> None:
    async def work(api: TuningApi) -> None:
        file = await api.upload("a.jsonl", ROWS)
        made = await api.create(JobRequest(label="ours", model=MODEL, training_file=file.id))
        job = server.jobs[made.id]
        for number in range(240):
            server.tell(job, f"event {number}")
        first = await api.events(made.id, ())
        assert [event.message for event in first[2:]] == [f"event {number}" for number in range(240)]
        server.tell(job, "Step 1/1", train_loss=0.5, step=1)
        asked = server.asked["events"]
        (last,) = await api.events(made.id, {event.id for event in first})
        assert (last.message, dict(last.metrics)) == ("Step 1/1", {"train_loss": 0.5, "step": 1.0})
        assert server.asked["events"] == asked + 1

    with_api(server.url, work)


def test_what_is_not_there_is_told(server: TuningServer) -> None:
    for asked in (lambda api: api.look_up("ftjob-9"), lambda api: api.look_up_file("file-9"), lambda api: api.events("ftjob-9", ())):
        with pytest.raises(TuningUnknown, match="for this key"):
            with_api(server.url, asked)
    assert with_api(server.url, lambda api: api.delete_file("file-9")) is None


def answering(body: Any, content_type: str = "application/json") -> httpx2.AsyncClient:
    text = body if isinstance(body, str) else json.dumps(body)
    return httpx2.AsyncClient(
        transport=httpx2.MockTransport(lambda _: httpx2.Response(200, text=text, headers={"content-type": content_type}))
    )


def test_an_answer_of_another_kind_is_no_job() -> None:
    for client in (answering("<html>", "text/html"), answering({"error": {"message": "no such thing"}}), answering([])):
        with pytest.raises(InvalidRequest, match="not one of this API"):
            with_api("http://127.0.0.1:9/v1", lambda api: api.look_up("ftjob-1"), client)


def test_a_job_with_few_fields_is_read() -> None:
    job = with_api("http://127.0.0.1:9/v1", lambda api: api.look_up("j"), answering({"id": "j", "status": "succeeded", "error": None}))
    assert (job.stage, job.trained_tokens, job.tuned_model, job.label) == ("succeeded", None, None, None)
    unknown = with_api("http://127.0.0.1:9/v1", lambda api: api.look_up("j"), answering({"id": "j", "status": "warming_up"}))
    assert (unknown.stage, unknown.ended) == ("working", False)


def test_only_openai_has_jobs() -> None:
    with pytest.raises(UsageError, match="no fine-tuning jobs"):
        make_tuning_api(make_provider("compatible", model="any", base_url="http://127.0.0.1:9/v1"))


@pytest.mark.parametrize("name", ["gpt-4.1-mini", "gpt-4.1-mini-2025-04-14", "ft:gpt-4.1-mini-2025-04-14:acme:piiloom:abc"])
def test_tuned_models_are_priced_as_their_family(name: str) -> None:
    assert tuned_family(name) == "ft:gpt-4.1-mini"
    book = load_models()
    tuned = book.find("openai", name if name.startswith("ft:") else f"ft:{name}:acme::abc")
    assert tuned is not None
    assert (tuned.input, tuned.output, tuned.training) == (0.8, 3.2, 5.0)
    assert book.find("openai", "ft:gpt-9:acme::abc") is None
