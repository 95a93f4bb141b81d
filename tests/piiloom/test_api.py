"""The Python functions: the same way as the commands, also where an event loop is running."""

from __future__ import annotations

import asyncio
import json
import signal
import threading

import pytest

import piiloom
from piiloom.foundation.errors import DataError, ReleaseError, UsageError

SMALL = {"pairs": "health+occupation"}


def test_generate_release_export_load(store_path, tmp_path):
    seen = []
    progress = piiloom.generate(samples=10, store=store_path, watch=lambda now: seen.append(now.accepted), **SMALL)
    assert (progress.status, progress.accepted, seen[-1]) == ("finished", 10, 10)
    release = piiloom.release("v1", store=store_path, test_size=0)
    assert release.name == "v1"
    report = piiloom.export("v1", tmp_path / "out", store=store_path)
    assert [file.records for file in report.files] == [10]
    records = piiloom.load(tmp_path / "out")
    assert records == piiloom.load(tmp_path / "out", split="train") == piiloom.load(tmp_path / "out" / "train.jsonl")
    assert len(records) == 10
    for record in records:
        assert record.plan.pair == ("health", "occupation")
        assert {"health", "occupation"} & {span.entity_type for span in record.spans if span.relevance == "high"} or not record.spans


def test_running_a_cell_again_goes_on_with_the_run(store_path):
    first = piiloom.generate(samples=4, store=store_path, **SMALL)
    again = piiloom.generate(samples=4, store=store_path, **SMALL)
    fewer = piiloom.generate(samples=2, store=store_path, **SMALL)
    more = piiloom.generate(samples=6, store=store_path, **SMALL)
    other = piiloom.generate(samples=4, seed=8, store=store_path, **SMALL)
    assert first.run_id == again.run_id == fewer.run_id == more.run_id != other.run_id
    assert (again.accepted, fewer.accepted, more.accepted) == (4, 4, 6)


def test_in_a_notebook_an_event_loop_is_running(store_path, tmp_path):
    async def cell():
        progress = piiloom.generate(samples=3, store=store_path, **SMALL)
        piiloom.release("v1", store=str(store_path), test_size="0")
        piiloom.export("v1", str(tmp_path / "out"), format="capid", store=store_path)
        return progress

    assert asyncio.run(cell()).status == "finished"
    assert len(piiloom.load(tmp_path / "out")) == 3


def test_the_stop_button_of_a_notebook_stops_cleanly(store_path):
    async def cell():
        return piiloom.generate(samples=5000, store=store_path, watch=lambda now: now.accepted == 3 and interrupt())

    def interrupt():
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    loop = asyncio.new_event_loop()
    try:
        progress = loop.run_until_complete(cell())
    finally:
        loop.close()
    assert progress.status == "interrupted"
    assert 3 <= progress.accepted < 5000


def test_a_provider_is_checked_where_a_loop_is_running(store_path):
    async def cell():
        piiloom.generate(provider="compatible", model="m", base_url="http://127.0.0.1:9/v1", store=store_path)

    with pytest.raises(piiloom.PiiloomError, match="cannot be reached"):
        asyncio.run(cell())
    assert not store_path.exists()


def test_errors_are_ours(store_path, filled, tmp_path):
    with pytest.raises(UsageError, match="samples"):
        piiloom.generate(samples=0, store=store_path)
    with pytest.raises(UsageError, match="sampels"):
        piiloom.generate(sampels=3, store=store_path)
    piiloom.release("v1", store=filled, test_size=0)
    with pytest.raises(ReleaseError, match="v1"):
        piiloom.release("v1", store=filled)
    with pytest.raises(UsageError, match="native, capid"):
        piiloom.export("v1", tmp_path / "out", format="csv", store=filled)


def test_load_names_what_is_wrong(tmp_path):
    with pytest.raises(DataError, match="no such file"):
        piiloom.load(tmp_path / "nothing")
    with pytest.raises(DataError, match="no export"):
        piiloom.load(tmp_path)
    (tmp_path / "release.json").write_text(json.dumps({"format": "native", "files": []}))
    with pytest.raises(DataError, match="damaged"):
        piiloom.load(tmp_path)
    (tmp_path / "release.json").write_text(json.dumps({"format": "native", "files": {"train.jsonl": {"split": "train"}}}))
    with pytest.raises(UsageError, match="train"):
        piiloom.load(tmp_path, split="test")
    (tmp_path / "train.jsonl").write_text('{"context": "I am here.", "spans": [{"start": 0, "end": 99}]}\n')
    with pytest.raises(DataError, match=r"train\.jsonl:1"):
        piiloom.load(tmp_path)
    with pytest.raises(UsageError, match="folder"):
        piiloom.load(tmp_path / "train.jsonl", split="train")


def test_the_package_exports_what_it_documents():
    assert all(getattr(piiloom, name) for name in piiloom.__all__)
    with pytest.raises(AttributeError):
        _ = piiloom.nothing
