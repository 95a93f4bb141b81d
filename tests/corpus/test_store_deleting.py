"""Deleting runs and releases: what goes, what stays, and what stands against it."""

from __future__ import annotations

import json

import pytest

from piiloom.corpus.record import Record, Span
from piiloom.corpus.store.annotation_items import AnnotationItem, add_items
from piiloom.corpus.store.call_events import BatchRow, save_batches
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.deleting import contents_of_run, delete_release, delete_run, ties_of_run
from piiloom.corpus.store.derived_stores import deal_partition
from piiloom.corpus.store.records import add_records, count_records, iter_records
from piiloom.corpus.store.releases import ReleaseRow, count_members, get_release, insert_release, list_releases
from piiloom.corpus.store.runs import RejectRow, StageResultRow, create_run, list_runs, save_plan_items, save_rejects, save_stage_results
from piiloom.foundation.errors import ReleaseError, RunError

TABLES = ("records", "spans", "plan_items", "stage_results", "rejects", "judgements", "call_events", "prompt_texts", "releases")


@pytest.fixture
def store(tmp_path):
    """A store with two runs of two records each, the second of which has used a reply of the first, and an import."""
    with Store.open(tmp_path / "s.duckdb") as store:
        for number in (1, 2):
            run = create_run(store, provider="openai", model="m", seed=1, samples=2, config={}, config_digest=f"{number}" * 8)
            save_plan_items(store, run.id, [(0, "{}"), (1, "{}"), (2, "{}")])
            save_stage_results(store, run.id, [StageResultRow(plan_index=at, stage="values", payload="{}") for at in (0, 1)])
            save_rejects(store, run.id, [RejectRow(plan_index=2, stage="values", reason_code="x", attempts=1)])
            span = Span(id="s1", start=0, end=4, entity_type="health")
            add_records(store, run.id, [(at, Record(id=f"{number}-{at}", context="text", spans=(span,))) for at in (0, 1)])
        add_records(store, None, [(None, Record(id="import", context="text"))], status="imported")
        first, second = (run.id for run in list_runs(store))
        for key in ("lent", "own"):
            say(store, first, key, "sent", {"try": 1, "user": "u", "system": f"for {key}"})
            say(store, first, key, "reply", {"try": 1, "reply": "r", "cost_usd": 0.25})
        say(store, second, "lent", "used", {"from_run": first})
        store.append("prompt_texts", ("sha256", "text"), [("for lent", "a"), ("for own", "b")])
        yield store


def say(store, run_id, key, kind, entry):
    store.append(
        "call_events",
        ("key", "run_id", "kind", "stage", "item_id", "attempt", "entry"),
        [(key, run_id, kind, "values", "0", 0, json.dumps(entry))],
    )


def sizes(store):
    return {table: store.value(f"SELECT count(*) FROM {table}") for table in TABLES}  # noqa: S608 - constants


def first_run(store):
    return list_runs(store)[0].id


def test_a_run_goes_with_all_that_is_its_own_and_nothing_else(store):
    run = first_run(store)
    contents = contents_of_run(store, run)
    assert (contents.records, contents.spans, contents.plan_items, contents.stage_results, contents.rejects) == (2, 2, 3, 2, 1)
    assert (contents.calls, contents.replies, contents.lent, contents.cost_usd) == (2, 2, 1, 0.5)
    others = [record for record in iter_records(store) if not record.id.startswith("1-")]
    before = sizes(store)
    delete_run(store, run)
    assert [one.id for one in list_runs(store)] == ["r0002-22222222"]
    assert list(iter_records(store)) == others
    after = sizes(store)
    assert {name: before[name] - after[name] for name in TABLES if before[name] != after[name]} == {
        "records": 2,
        "spans": 2,
        "plan_items": 3,
        "stage_results": 2,
        "rejects": 1,
    }


def test_the_journal_goes_where_it_is_asked_for_but_for_replies_that_serve_others(store):
    delete_run(store, first_run(store), with_journal=True)
    assert store.rows("SELECT key, kind FROM call_events ORDER BY rowid") == [("lent", "sent"), ("lent", "reply"), ("lent", "used")]
    assert store.rows("SELECT sha256 FROM prompt_texts") == [("for lent",)]


def test_no_later_run_gets_the_name_of_a_deleted_one(store):
    last = list_runs(store)[-1]
    say(store, last.id, "paid", "reply", {"cost_usd": 1.0})
    delete_run(store, last.id)
    again = create_run(store, provider="openai", model="m", seed=1, samples=2, config={}, config_digest=last.config_digest)
    assert again.id == "r0003-22222222"
    assert again.created_order == 3


@pytest.mark.parametrize("of_run", [True, False])
def test_a_run_in_a_release_stays(store, of_run):
    run = first_run(store)
    insert_release(store, ReleaseRow(name="my v1", seed=1, test_size="0", run_id=run if of_run else None), [("1-0", 0, "train")])
    before = sizes(store)
    with pytest.raises(RunError, match="release my v1") as caught:
        delete_run(store, run, with_journal=True)
    assert "piiloom releases delete 'my v1'" in str(caught.value)
    assert sizes(store) == before
    delete_run(store, list_runs(store)[1].id)  # the other is in none
    delete_release(store, "my v1")
    delete_run(store, run)
    assert [record.id for record in iter_records(store)] == ["import"]


def test_a_run_whose_records_people_annotate_stays(store):
    order = store.rows("SELECT record_order FROM records WHERE id = '1-1'")[0][0]
    add_items(store, [AnnotationItem(record_id="1-1", record_order=order)])
    assert ties_of_run(store, first_run(store)).annotated == 1
    with pytest.raises(RunError, match=r"annotated records of run r0001-11111111 \(1\)"):
        delete_run(store, first_run(store))
    delete_run(store, list_runs(store)[1].id)


def test_a_run_with_batches_out_stays(store):
    run = first_run(store)
    row = BatchRow(
        id="b1",
        run_id=run,
        provider="openai",
        endpoint="https://x",
        model="m",
        state="submitted",
        requests=3,
        remote_id=None,
        created_at="2026",
    )
    save_batches(store, [row])
    with pytest.raises(RunError, match="open batches") as caught:
        delete_run(store, run)
    assert f"piiloom batch cancel --run {run}" in str(caught.value)


def test_a_run_that_is_worked_on_in_partitions_stays(store):
    partition = deal_partition(store, first_run(store), 0, [2])
    with pytest.raises(RunError, match="partition"):
        delete_run(store, first_run(store))
    assert partition.path.exists()


def test_a_deletion_that_fails_has_deleted_nothing(store, monkeypatch):
    before, change = sizes(store), Store.change

    def fail(self, sql, parameters=()):
        if sql.startswith("DELETE FROM runs"):
            raise KeyboardInterrupt
        change(self, sql, parameters)

    monkeypatch.setattr(Store, "change", fail)
    with pytest.raises(KeyboardInterrupt):
        delete_run(store, first_run(store), with_journal=True)
    assert sizes(store) == before
    assert len(list_runs(store)) == 2


def test_a_release_goes_without_its_records(store):
    for name in ("v1", "v2"):
        insert_release(store, ReleaseRow(name=name, seed=1, test_size="0"), [("1-0", 0, "train"), ("import", 0, "test")], [("2-0", "twin")])
    delete_release(store, "v1")
    assert [release.name for release in list_releases(store)] == ["v2"]
    assert count_members(store, get_release(store, "v2")) == {"train": 1, "test": 1}
    assert store.rows("SELECT DISTINCT release_name FROM release_withheld") == [("v2",)]
    assert count_records(store) == 5
    with pytest.raises(ReleaseError, match="v1"):
        delete_release(store, "v1")
    with pytest.raises(RunError):
        delete_run(store, "r9")
