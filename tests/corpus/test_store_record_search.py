"""Finding records: every filter, together and alone, revisions, and paging."""

from __future__ import annotations

import pytest

from piiloom.corpus.record import Record, RecordPlan, Span
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.records import add_records
from piiloom.corpus.store.releases import ReleaseRow, TextConditions, find_stored, insert_release, releases_of, search_records, values_there
from piiloom.corpus.store.runs import create_run


def record(name, context, *spans, question=None, pair=None, **more):
    marked = [Span(id=f"s{n}", start=context.index(v), end=context.index(v) + len(v), **kind) for n, (v, kind) in enumerate(spans)]
    return Record(id=name, context=context, question=question, spans=tuple(marked), plan=pair and RecordPlan(pair=pair), **more)


HIGH_HEALTH = {"entity_type": "health", "relevance": "high"}
LOW_HEALTH = {"entity_type": "health", "relevance": "low"}
HIGH_WORK = {"entity_type": "occupation", "relevance": "high"}


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    with Store.open(tmp_path_factory.mktemp("search") / "s.duckdb") as store:
        for digest in ("a" * 8, "b" * 8):
            create_run(store, provider="composer", model=None, seed=1, samples=9, config={}, config_digest=digest)
        first, second = "r0001-aaaaaaaa", "r0002-bbbbbbbb"
        nurse = record("nurse01", "A Nurse with Asthma.", ("Nurse", HIGH_WORK), ("Asthma", LOW_HEALTH), pair=("health", "occupation"))
        gluten = record(
            "gluten1",
            "100% gluten_free \U0001f35e, no nurse",
            ("gluten_free", HIGH_HEALTH),
            question="What of BREAD?",
            pair=("age", "health"),
        )
        add_records(store, second, [(0, gluten)])
        add_records(store, first, [(1, nurse), (0, record("plain01", "Nothing here", question="Überhaupt?"))])
        old = record("import1", "Straße nach asthma", ("asthma", {"entity_type": "health"}), locale="de_DE")
        add_records(store, None, [(None, old)], status="imported")
        add_records(store, None, [(None, record("import1", "now a smith", revision=1, locale="de_DE"))], status="imported")
        add_records(store, None, [(None, record("control", "asthma control"))], status="control")
        insert_release(store, ReleaseRow(name="v1", seed=1, test_size="1"), [("import1", 0, "train"), ("nurse01", 0, "test")])
        yield store


def found(store, *, limit=0, offset=0, **wanted):
    total, records = search_records(store, TextConditions(**wanted), limit=limit, offset=offset)
    return total, [one.record.id for one in records]


@pytest.mark.parametrize(
    ("wanted", "ids"),
    [
        ({}, ["plain01", "nurse01", "gluten1", "import1"]),
        ({"run": "r0001-aaaaaaaa"}, ["plain01", "nurse01"]),
        ({"status": "imported"}, ["import1"]),
        ({"status": "control"}, ["control"]),
        ({"locale": "de_DE"}, ["import1"]),
        ({"pair": "occupation+health"}, ["nurse01"]),
        ({"only_types": "health"}, ["nurse01", "gluten1"]),  # not the import, whose newest revision has none
        ({"relevance": "none", "all_revisions": True}, ["import1"]),
        ({"only_types": "health", "relevance": "high"}, ["gluten1"]),  # the nurse's high span is of another type
        ({"text": "NURSE"}, ["nurse01", "gluten1"]),
        ({"text": "nurse", "in_values": True}, ["nurse01"]),
        ({"text": "e", "in_values": True, "only_types": "health"}, ["gluten1"]),
        ({"text": "asthma", "in_values": True, "relevance": "high"}, []),
        ({"text": "bread"}, ["gluten1"]),  # in the question
        ({"text": "ÜBERHAUPT"}, ["plain01"]),
        ({"text": "100%"}, ["gluten1"]),
        ({"text": "n_"}, ["gluten1"]),  # a literal underscore, no wildcard
        ({"text": "%"}, ["gluten1"]),
        ({"text": "_free \U0001f35e", "pair": "age+health"}, ["gluten1"]),
        ({"text": "' OR 1=1 --"}, []),
        ({"text": "straße", "all_revisions": True}, ["import1"]),
        ({"text": "straße"}, []),
        ({"release": "v1"}, ["nurse01", "import1"]),
        ({"release": "v1", "split": "train", "text": "straße"}, ["import1"]),  # the revision that the release holds
        ({"release": "v1", "split": "test", "status": "generated"}, ["nurse01"]),
    ],
)
def test_filters(store, wanted, ids):
    assert found(store, **wanted) == (len(ids), ids)


@pytest.mark.parametrize(
    ("limit", "offset", "ids"),
    [(0, 0, 4), (2, 0, 2), (2, 3, 1), (0, 1, 3), (9, 9, 0)],
)
def test_pages(store, limit, offset, ids):
    every = found(store)[1]
    total, page = found(store, limit=limit, offset=offset)
    assert total == 4
    assert len(page) == ids
    assert page == every[offset : offset + limit if limit else None]


def test_what_is_found_says_where_it_is(store):
    _, records = search_records(store, TextConditions(text="100%"))
    (one,) = records
    assert (one.run_id, one.plan_index, one.status) == ("r0002-bbbbbbbb", 0, "generated")
    assert one.record.spans[0].text_in(one.record.context) == "gluten_free"


def test_one_record_by_its_id_or_plan_item(store):
    assert [one.record.revision for one in find_stored(store, prefix="impo")] == [1]
    assert [one.record.id for one in find_stored(store, run_id="r0001-aaaaaaaa", plan_index=0)] == ["plain01"]
    assert find_stored(store, prefix="zzz") == []
    (held,) = releases_of(store, "import1", None)
    assert (held.name, held.split, held.revision) == ("v1", "train", 0)
    assert releases_of(store, "import1", "r0001-aaaaaaaa") == []


def test_values_that_there_are(store):
    assert values_there(store, "entity_type") == ["health", "occupation"]
    assert values_there(store, "locale") == ["de_DE", "en_US"]


def test_more_records_than_are_read_at_once(tmp_path):
    with Store.open(tmp_path / "many.duckdb") as store:
        add_records(store, None, [(None, Record(id=f"{n:05d}", context=f"number {n}")) for n in range(2_500)])
        total, records = search_records(store, TextConditions(text="number"), offset=100)
        assert total == 2_500
        assert [one.record.id for one in records] == [f"{n:05d}" for n in range(100, 2_500)]
