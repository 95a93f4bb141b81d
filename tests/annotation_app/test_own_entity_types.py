"""Own entity types in the annotation app: people see them with a colour that stays, and choose them."""

from __future__ import annotations

import pytest

from piiloom.annotation_app.serving.services import open_services
from piiloom.annotation_app.sync.editor_data import colours, editor_data
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.records import add_records
from piiloom.corpus.store.releases import keep_types, types_of
from piiloom.taxonomy.entity_types import shipped_taxonomy
from piiloom.taxonomy.own_types_file import read_types_file
from tests.annotation_app.app_driver import AppPage, documents_in, labels, make_project
from tests.annotation_app.project_stories import record
from tests.annotation_app.served_app import served
from tests.annotation_app.sync_stories import Tab
from tests.taxonomy.own_types_example import BY_MODEL, TYPES

ADDED = {"op": "type", "id": "s1", "type": "pet"}


@pytest.fixture
def path(tmp_path):
    """A store with a record, and own types that nobody has used yet."""
    path = tmp_path / "s.duckdb"
    with Store.open(path) as store:
        add_records(store, None, [(None, record())])
        keep_types(store, read_types_file(TYPES))
    return path


def test_the_editor_offers_them_with_colours_that_stay(path):
    services = open_services(path)
    try:
        services.pool.add("boss", record_ids=["r1"], wanted=1)
        shown = editor_data(services.documents.open("ana", "r1"), "ana", services.shared.taxonomy)["types"]
    finally:
        services.close()
    assert [one["name"] for one in shown] == [*shipped_taxonomy().types, "vehicle plate", "pet"]
    assert len({one["colour"] for one in shown}) == 17
    # A type more, given later, takes nobody's colour.
    later = colours([*(one["name"] for one in shown), "hobby"])
    assert {one["name"]: one["colour"] for one in shown}.items() <= later.items()
    assert {name: colours(shipped_taxonomy().types)[name] for name in shipped_taxonomy().types}.items() <= later.items()


def test_a_chosen_type_is_kept_and_an_unknown_one_refused(path):
    services = open_services(path)
    try:
        services.pool.add("boss", record_ids=["r1"], wanted=1)
        done = services.documents.deliver("ana", Tab("t").send("r1", 0, ADDED, {"op": "accept"}))
        assert not done.refused
        unknown = services.documents.deliver("ana", Tab("u").send("r1", 2, {"op": "type", "id": "s1", "type": "horoscope"}))
        assert [one.code for one in unknown.refused] == ["unknown_type"]
    finally:
        services.close()
    assert labels(documents_in(path)["r1", "ana"])[0] == ("baker", "pet", "high")


def test_annotate_takes_a_types_file_and_the_store_remembers_it(browser, tmp_path):
    path = make_project(tmp_path / "s.duckdb", [record()], {"ana": "annotator"})
    with served(path, "--snapshot-every", "0", "--types", str(BY_MODEL)) as server:
        page = AppPage(browser, server, "ana")
        page.open()
        page.at("I am 34.")
        page.press("Tab", "t")
        page.type("hob")
        page.press("Enter")
        page.saved()
        assert server.stop()[0] == 0
    assert ("baker", "hobby", "high") in labels(documents_in(path)["r1", "ana"])
    with Store.open(path, create=False) as store:
        assert [one.name for one in types_of(store)] == ["hobby"]
