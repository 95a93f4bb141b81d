"""Every action by mouse in the real app, on texts that are hard to count; then the offsets in the file that the server left."""

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


def name_of(page: AppPage) -> str:
    return page.shown().rpartition(" ")[2]


def edit(page: AppPage, name: str) -> None:
    """All that the mouse can do to one record; keys only where text is typed."""
    page.select("ond", "ndo")  # within a word: the whole of it is meant
    page.see(".picker")
    page.click(".picker-row:has-text('location')")
    if name == "arabic.":
        page.select("مر", "حبا")
        page.click(".picker-row:has-text('name')")
        assert "مرحبا" in page.values()
        page.row("مرحبا", "remove")
    page.select("ra", "ra", alt=True)
    assert page.locator(".picker").count() == 0  # inside a span: that one is selected
    page.row("Grace", "relevance")
    page.row("Grace", "type")
    page.click(".picker-row:has-text('occupation')")
    page.click("mark.span:has-text('Grace')")
    page.pull("end", "here", after=True)
    assert page.values() == ["London", "Grace here"]
    page.pull("end", "Grace", after=True)
    page.pull("start", "meet")
    page.pull("start", "Grace")
    assert page.values() == ["London", "Grace"]
    page.saved()
    page.click(".check .button")
    assert page.values() == ["London", "Grace", "Grace"]
    page.click(".context-block button:has-text('Edit')")
    page.press("ArrowLeft")
    page.type("x")
    page.click(".context-block button:has-text('Done')")
    page.row("Gracxe", "confirm")
    page.click(".question-block button:has-text('Edit')")
    page.type(" Now?")
    page.click(".question-block button:has-text('Done')")
    page.row("London", "remove")
    page.button("Undo")
    page.button("Undo")
    page.button("Redo")
    page.button("Flag")
    page.type("look")
    page.click("dialog button:has-text('Flag')")
    page.button("Preview")
    page.see_text(".text.preview", "[LOCATION]")
    page.button("Preview")
    page.saved()


def test_every_action_by_mouse(browser, tmp_path):
    path = make_project(tmp_path / "s.duckdb", RECORDS, {"ana": "annotator"})
    with served(path, "--snapshot-every", "0") as server:
        page = AppPage(browser, server, "ana")
        page.open()
        page.at("stayed")
        first = name_of(page)
        page.button("Skip")
        for _ in RECORDS[1:]:
            sync_api.expect(page.locator(".text.context")).not_to_contain_text(first, timeout=45_000)
            page.at("stayed")
            edit(page, now := name_of(page))
            page.button("Accept")
            sync_api.expect(page.locator(".text.context")).not_to_contain_text(now, timeout=45_000)
        page.at(first)
        page.click(".top button:has-text('List')")
        page.see_text("h3", "Records")
        page.page.get_by_role("link", name="Annotate").click()
        page.at(first)
        page.button("Reject")
        page.type("not a text")
        page.click("dialog button:has-text('Reject')")
        page.see_text("h3", "Nothing left to do")
        assert page.dialogs == []
        page.context.close()
        assert server.stop()[0] == 0
    found = documents_in(path)
    for record in RECORDS:
        one = found[record.id, "ana"]
        if record.context.endswith(first):
            assert (one.verdict, one.state["reason"]) == ("rejected", "not a text")
            continue
        assert labels(one) == [("London", "location", "low"), ("Gracxe", "occupation", "high"), ("Grace", "occupation", "high")]
        assert one.state["document"]["context"] == record.context.replace("Grace", "Gracxe", 1)
        assert one.state["document"]["question"] == "What is it? Now?"
        assert (one.verdict, one.state["flag"]) == ("accepted", "look")
