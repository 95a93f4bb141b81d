"""Shared by the tests of ``corpus``: stores in memory and on disk, and records to put into them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from piiloom.corpus.record import Provenance, Record, RecordPlan, Span
from piiloom.corpus.store.database import MEMORY, Store
from piiloom.corpus.store.records import iter_records


@pytest.fixture
def store() -> Iterator[Store]:
    """An empty store in memory."""
    with Store.open(MEMORY) as opened:
        yield opened


@pytest.fixture
def store_path(tmp_path: Path) -> Path:
    """Where a test may make a store on disk; its folder does not exist yet."""
    return tmp_path / "outputs" / "test.duckdb"


@pytest.fixture
def make_record() -> Callable[..., Record]:
    """A factory of small records: ``make_record(7)`` is the same record every time; keywords replace fields."""

    def make(number: int, **changes: object) -> Record:
        fields: dict[str, object] = {
            "id": f"record-{number:05d}",
            "context": f"As a baker with asthma, I wrote note {number}.",
            "question": "Which forms do I need?",
            "spans": (
                Span(
                    id="s1", start=5, end=10, entity_type="occupation", relevance="high", subtype="job_title", value_id="v1", subject="self"
                ),
                Span(id="s2", start=16, end=22, entity_type="health", relevance="high", subtype="condition", value_id="v2"),
            ),
            "plan": RecordPlan(pair=("health", "occupation"), topic="work", subtopic="breathing", scenario="health-occupation.oven"),
            "group_keys": ("scenario:health-occupation.oven", f"persona:{number}"),
            "provenance": Provenance(
                stage="screen", provider="composer", templates=(("topics.v1", "ab" * 32),), seed=1, parents=(f"p{number}@0",)
            ),
        }
        return Record(**{**fields, **changes})  # type: ignore[arg-type] # the keywords are those of Record

    return make


@pytest.fixture(scope="session")
def composed(tmp_path_factory: pytest.TempPathFactory) -> list[Record]:
    """Sixty records as a run of the composer makes them; takes some seconds."""
    from piiloom import api

    store = tmp_path_factory.mktemp("composed") / "store.duckdb"
    api.generate(store=store, samples=60, seed=7)
    with Store.open(store, create=False) as opened:
        return list(iter_records(opened))
