"""Which records a report is about: a store, a run, a release, a file of either format."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from piiloom.corpus.releases.freezing import create_release
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.records import add_records
from piiloom.corpus.store.runs import create_run
from piiloom.evaluation.report.sources import ALL, corpus_of_file, corpus_of_release, corpus_of_store
from piiloom.foundation.errors import DataError, ReleaseError, RunError, StoreError, UsageError
from tests.evaluation.report_records import varied, write_capid, write_native
from tests.longer import case_by_case


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """A store with two runs, an edited record, an import, and a release of all."""
    path = tmp_path_factory.mktemp("store") / "some.duckdb"
    records = varied()
    edited = replace(records[0], revision=1, question="Is it edited?")
    with Store.open(path) as store:
        for name, rows in (("one", records[:4]), ("two", records[4:8])):
            create_run(store, provider="composer", model=None, seed=1, samples=4, config={}, config_digest=name * 4, run_id=name)
            add_records(store, name, list(enumerate(rows)))
        add_records(store, "one", [(0, edited)])
        add_records(store, None, [(None, records[8])], status="imported")
        create_release(store, "v1", test_size=2, seed=7)
    return path


def test_all_records_of_a_store_each_in_its_latest_revision(path):
    corpus = corpus_of_store(path)
    assert list(corpus.splits) == [ALL]
    assert [record.id for record in corpus.splits[ALL]] == [f"r{n}" for n in range(9)]
    assert corpus.splits[ALL][0].question == "Is it edited?"
    assert (corpus.source.file, corpus.source.title()) == ("some.duckdb", "some.duckdb")


@pytest.mark.parametrize(("name", "run"), [("one", "one"), ("last", "two")])
def test_one_run(path, name, run):
    corpus = corpus_of_store(path, run=name)
    assert len(corpus.splits[ALL]) == 4
    assert corpus.source.title() == f"run {run} of some.duckdb"


def test_a_release_with_its_splits(path):
    corpus = corpus_of_release(path, "v1")
    assert {name: len(records) for name, records in corpus.splits.items()} == {"train": 7, "test": 2}
    assert list(corpus.splits) == ["train", "test"]
    assert corpus.source.title() == "release v1 of some.duckdb"


def test_what_is_not_there_is_named(path, tmp_path):
    with pytest.raises(ReleaseError, match="Known releases: v1"):
        corpus_of_release(path, "v2")
    with pytest.raises(RunError, match="Known runs"):
        corpus_of_store(path, run="three")
    with pytest.raises(StoreError, match="no store here"):
        corpus_of_store(tmp_path / "none.duckdb")
    Store.open(tmp_path / "empty.duckdb").close()
    with pytest.raises(StoreError, match="no records to report on"):
        corpus_of_store(tmp_path / "empty.duckdb")


def test_the_format_of_a_file_is_seen_in_its_first_row(tmp_path):
    native, capid = write_native(varied(), tmp_path / "a.jsonl"), write_capid(varied(), tmp_path / "b.jsonl")
    assert corpus_of_file(native).source.format == "native"
    assert corpus_of_file(capid).source.format == "capid"
    assert corpus_of_file(native, "native").splits == corpus_of_file(native).splits
    with pytest.raises(DataError, match=r"none of 14 rows is a record; line 1: .*--input-format"):
        corpus_of_file(native, "capid")
    with pytest.raises(UsageError, match="Known formats"):
        corpus_of_file(native, "parquett")


def test_refused_rows_are_counted_by_their_reasons(tmp_path):
    path = tmp_path / "c.jsonl"
    rows = [
        {"context": "I am Ann.", "question": "Q?", "piis": {"Ann": {"type": "name", "relevance": "1"}}},
        {"context": "I am Ann.", "question": "Q?", "piis": {"Bob": {"type": "name", "relevance": "1"}}},
        {
            "context": "I am Joe.",
            "question": "Q?",
            "piis": {"Joe": {"type": "name", "relevance": "0"}, "Eve": {"type": "name", "relevance": "0"}},
        },
        {"context": "Ann is Ann.", "question": "Q?", "piis": {"Ann": {"type": "name", "relevance": "1"}}},
    ]
    path.write_text("\n".join(map(json.dumps, rows)))
    corpus = corpus_of_file(path)
    reading = corpus.source.reading
    assert reading is not None
    assert len(corpus.splits[ALL]) == 2
    assert (reading.rows, reading.refused, reading.reasons) == (4, 2, {"piis[]: is not in the context": 2})
    assert (reading.values, reading.exact, reading.ambiguous, reading.missing, reading.inside_word) == (5, 3, 1, 2, 0)


@case_by_case("content", ["", "\n\n", "not json\n", "[1]\n", '{"a": 1}\n'])
def test_a_file_without_records_is_refused(tmp_path, content):
    path = tmp_path / "d.jsonl"
    path.write_text(content)
    with pytest.raises(DataError, match="rows is a record"):
        corpus_of_file(path)
