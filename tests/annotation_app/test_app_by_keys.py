"""Every action by keys in the real app, on texts that are hard to count; then the offsets in the file that the server left."""

from __future__ import annotations

import pytest
from editor_page import marked

from tests.annotation_app.app_driver import FAMILY, AppPage, documents_in, labels, launch, make_project, record_of, sync_api
from tests.annotation_app.served_app import served

STORY = "Ada came from London to meet [[Grace|name|low]] here. Grace stayed "
BEGINNINGS = {
    "emoji": f"{FAMILY} \U0001f600 x ",
    "combining": "Cafe\u0301 nai\u0308ve ",
    "arabic": "مرحبا بالجميع ",
    "crlf": "One\r\ntwo\rthree\r\n\r\n",
}
RECORDS = [record_of(f"r-{name}", marked(f"{begin}{STORY}{name}.")) for name, begin in BEGINNINGS.items()]


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as playwright:
        found = launch(playwright)
        yield found
        found.close()


def here(page: AppPage):
    """The record on the screen."""
    return next(record for record in RECORDS if record.context.rpartition(" ")[2] in page.shown())


def edit(page: AppPage, record) -> None:
    """All that can be done to one record without the mouse, and back to a state that says whether each was done."""
    onwards = "ArrowLeft" if record.id == "r-arabic" else "ArrowRight"
    page.press("n")
    for _ in range(12):
        if page.locator(".said").text_content() == "Selected: London":
            break
        page.press(onwards)
    page.press("Enter")
    page.type("loc")
    page.press("Enter", "Tab")
    page.see_text(".said", "Grace: name, low relevance")
    page.press("r", "t")
    page.type("occ")
    page.press("Enter", "]", "{", "[", "Alt+]", "Alt+]", "Alt+[", "Alt+[", "}")
    assert page.values() == ["London", "Grace"]
    page.see(".check .button")
    page.saved()
    page.press("m")
    assert page.values() == ["London", "Grace", "Grace"]
    page.press("e", "ArrowLeft")
    page.type("x")
    page.press("Escape", "c")
    assert page.values() == ["London", "Gracxe", "Grace"]
    page.press("Shift+E")
    page.type(" Now?")
    page.press("Escape", "Shift+Tab")
    page.locator(".text.context").focus()
    page.press("Tab", "Delete", "u", "f")
    page.type("look")
    page.press("Enter", "p")
    page.see(".text.preview")
    page.press("p", "?")
    page.see_text("dialog", "all keys")
    page.press("Escape", "u", "Shift+U")
    page.saved()


def test_every_action_by_keys(browser, tmp_path):
    path = make_project(tmp_path / "s.duckdb", RECORDS, {"ana": "annotator"})
    with served(path, "--snapshot-every", "0") as server:
        page = AppPage(browser, server, "ana")
        page.open()
        page.at("stayed")
        first = here(page)
        page.press("s")
        others = [record for record in RECORDS if record != first]
        done = []
        for _ in others:
            page.at("stayed")
            now = here(page)
            edit(page, now)
            done.append(now)
            page.press("a")
            sync_api.expect(page.locator(".text.context")).not_to_contain_text(now.context.rpartition(" ")[2], timeout=45_000)
        page.at(first)
        page.press("x")
        page.type("not a text")
        page.press("Enter")
        page.see_text("h3", "Nothing left to do")
        page.open("records")
        page.see_text("h3", "Records")
        assert page.dialogs == []
        page.context.close()
        assert server.stop()[0] == 0
    found = documents_in(path)
    assert {record.id for record in done} == {record.id for record in others}
    for record in others:
        one = found[record.id, "ana"]
        assert labels(one) == [("London", "location", "low"), ("Gracxe", "occupation", "high"), ("Grace", "occupation", "high")]
        assert one.state["document"]["context"] == record.context.replace("Grace", "Gracxe", 1)
        assert one.state["document"]["question"] == "What is it? Now?"
        assert (one.verdict, one.state["flag"]) == ("accepted", "look")
        assert not any(span["doubt"] for span in one.state["document"]["spans"])
    assert found[first.id, "ana"].verdict == "rejected"
    assert found[first.id, "ana"].state["reason"] == "not a text"
