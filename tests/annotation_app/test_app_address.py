"""The record is in the address: a reload, back and forward, a second tab, and a link to somebody who has to log in first lead to it."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from editor_page import marked

from tests.annotation_app.app_driver import PATIENCE_MS, AppPage, documents_in, labels, make_project, record_of, sync_api
from tests.annotation_app.people_tools import GOOD
from tests.annotation_app.served_app import served

IDS = ("r/1?&=#", 'r 2 "<b>', "r3\u05d0")
RECORDS = [record_of(name, marked(f"[[Ada|name|low]] came to [[Kent|location|high]], note {n}.")) for n, name in enumerate(IDS)]
PEOPLE = {"ana": "annotator", "bo": "annotator"}


@pytest.fixture
def project(tmp_path):
    return make_project(tmp_path / "s.duckdb", RECORDS, PEOPLE, wanted=2)


def at(page: AppPage, number: int) -> None:
    """Wait until the record is on the screen and in the address."""
    page.at(f"note {number}.")
    page.page.wait_for_function(_NAMED, arg=IDS[number], timeout=PATIENCE_MS)
    page.drawn()


_NAMED = "(name) => location.pathname === '/work' && new URLSearchParams(location.search).get('record') === name"


def number_of(page: AppPage) -> int:
    page.rested()
    return int(page.shown().rstrip(".").rpartition(" ")[2])


def test_the_address_leads_to_the_record(browser, project):
    with served(project, "--snapshot-every", "0") as server:
        ana = AppPage(browser, server, "ana")
        one = back_and_forth(ana)
        link = ana.page.url
        tab = AppPage(browser, server, beside=ana)
        tab.page.goto(link)
        at(tab, one)
        tab.page.goto(f"{server.url}/work?record=r-none")
        tab.see_text("[data-testid=stAlert]", "not in the work list")
        bo = AppPage(browser, server)
        by_a_link(bo, link, one)
        finish(bo)
        for page in (ana, bo):
            page.context.close()
        assert server.stop()[0] == 0
    found = documents_in(project)
    assert labels(found[IDS[one], "ana"])[0] == ("Ada", "name", "high")
    assert [found[name, "bo"].verdict for name in IDS] == ["accepted"] * 3


def back_and_forth(ana: AppPage) -> int:
    """Go on, back, and reload; gives the number of the record in the end, which is accepted."""
    ana.open()
    one = number_of(ana)
    at(ana, one)
    ana.press("s")
    left(ana, one)
    two = number_of(ana)
    at(ana, two)
    ana.press("k")
    at(ana, one)
    ana.page.reload()
    at(ana, one)
    ana.press("Tab", "r")
    ana.saved()
    ana.page.go_back()
    at(ana, two)
    ana.page.go_forward()
    at(ana, one)
    ana.press("a")
    left(ana, one)
    at(ana, number_of(ana))
    ana.page.go_back()
    at(ana, one)
    ana.see(".badge.accepted")
    return one


def left(page: AppPage, number: int) -> None:
    """Wait until another record is on the screen."""
    sync_api.expect(page.locator(".text.context")).not_to_contain_text(f"note {number}.", timeout=PATIENCE_MS)


def by_a_link(bo: AppPage, link: str, one: int) -> None:
    """Open the link, log in at the second try, be at the record; to the list, and back."""
    bo.page.goto(link)
    bo.page.fill("input[name=name]", "bo")
    bo.page.fill("input[name=password]", "a wrong one, first")
    bo.page.keyboard.press("Enter")
    bo.see_offline("[role=alert]", "wrong")
    bo.page.fill("input[name=password]", GOOD)
    bo.page.keyboard.press("Enter")
    at(bo, one)
    assert bo.values() == ["Ada", "Kent"]
    bo.press("l")
    bo.see_text("h3", "Records")
    assert bo.page.url == f"{bo.server.url}/records"
    bo.page.go_back()
    at(bo, one)


def finish(bo: AppPage) -> None:
    """Accept one record at its address, and what comes then; in the end the address names none."""
    bo.page.goto(f"{bo.server.url}/work?record={quote(IDS[0], safe='')}")
    number = 0
    for left_over in (2, 1, 0):
        at(bo, number)
        bo.press("a")
        if left_over:
            left(bo, number)
            number = number_of(bo)
    bo.see_text("h3", "Nothing left to do")
    bo.page.wait_for_url(f"{bo.server.url}/work")
