"""Lists in the real app: how many people annotate a record, what the numbers on the pages count, and what a list can do at once."""

from __future__ import annotations

from editor_page import marked

from piiloom.annotation_app.serving.services import open_services
from piiloom.corpus.store.annotation_items import load_items
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.records import add_records
from tests.annotation_app.app_driver import AppPage, record_of
from tests.annotation_app.people_tools import GOOD
from tests.annotation_app.served_app import served

QUIET = ("--snapshot-every", "0")
RECORDS = [record_of(f"r-{n}", marked(f"[[Ada|name|low]] met [[Grace|name|low]] in [[Kent|location|high]] as note {n}.")) for n in range(3)]


def number(page: AppPage, label: str):
    return page.page.get_by_role("spinbutton", name=label, exact=True)


def test_the_number_of_people_is_asked_for_and_can_be_changed(browser, tmp_path):
    path = tmp_path / "s.duckdb"
    with Store.open(path) as store:
        add_records(store, None, [(None, one) for one in RECORDS], status="imported")
    services = open_services(path)
    services.accounts.add("boss", "admin", password=GOOD)
    services.close()
    with served(path, *QUIET) as server:
        page = AppPage(browser, server, "boss")
        page.see_text("h3", "The work list is empty")
        number(page, "People for each record").fill("2")
        page.page.get_by_role("button", name="Put all records into the work list").click()
        page.at("note")
        page.open("admin")
        page.see_text("[data-testid=stText]", "Unfinished records: 2 people each for 3 records.")
        number(page, "People for each record").fill("3")
        page.page.get_by_role("button", name="Put into the work list").click()
        page.see_text("[data-testid=stAlert]", "0 added, 3 were there before; 3 of them are for another number of people")
        number(page, "People for each of them from now on").fill("1")
        page.page.get_by_role("button", name="Change the number of people").click()
        page.see_text("[data-testid=stAlert]", "Changed: 1 person for each of 3 unfinished records.")
        page.see_text("[data-testid=stText]", "Unfinished records: 1 person each for 3 records.")
        page.context.close()
        assert server.stop()[0] == 0
    with Store.open(path, create=False) as store:
        assert [item.wanted for item in load_items(store)] == [1, 1, 1]
