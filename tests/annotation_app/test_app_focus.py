"""A control that has the focus keeps its own keys (Enter, Space, Tab, arrows) and leaves those of the page to the page."""

from __future__ import annotations

import pytest
from disputed_project import make_disputed
from editor_page import marked

from tests.annotation_app.app_driver import PATIENCE_MS, AppPage, documents_in, labels, record_of, sync_api
from tests.annotation_app.served_app import served

RECORDS = [record_of(f"r-{n}", marked(f"[[Ada|name|low]] met [[Grace|name|low]] in [[Kent|location|high]], note {n}.")) for n in range(3)]


@pytest.fixture
def project(tmp_path):
    return make_disputed(tmp_path / "s.duckdb", RECORDS)


def first_shown(page: AppPage) -> int:
    """The number of the record that comes first: priorities decide that."""
    page.see("button:has-text('Decide so')")  # parts of Streamlit's page load by themselves: a key acts once its button is there
    page.see_text("[data-testid=stHtml]", "note ")
    return int("note 1." in page.page.locator("[data-testid=stHtml]").filter(has_text="note ").first.inner_text())


def at(page: AppPage, number: int) -> None:
    sync_api.expect(page.locator("[data-testid=stHtml]").filter(has_text=f"note {number}.").first).to_be_visible(timeout=PATIENCE_MS)
    page.drawn()


def follow_the_address(page: AppPage, one: int, other: int) -> None:
    page.page.reload()
    at(page, other)
    page.page.go_back()
    at(page, one)
    page.page.go_forward()
    at(page, other)


def test_keys_act_wherever_the_focus_is(browser, project):
    with served(project, "--snapshot-every", "0") as server:
        page = AppPage(browser, server, "judge")
        page.open("adjudicate")
        one = first_shown(page)
        other = 1 - one
        page.page.get_by_text("Choose span by span").click()
        page.press("n")
        at(page, other)
        follow_the_address(page, one, other)
        page.press("p")
        at(page, one)
        page.page.get_by_text("Ada · name · low (bo)").click()
        page.drawn()
        page.press("n")
        at(page, other)
        page.page.get_by_text("Reject this record").click()
        page.page.get_by_label("Why it is of no use").fill("dn1")  # letters, while somebody types
        at(page, other)
        page.page.get_by_text("Reject this record").click()
        page.press("d")
        page.see_text("[data-testid=stToast]", "Decided")
        at(page, one)
        page.page.get_by_text("History", exact=True).click()
        page.see_text("[data-testid=stText]", "accepted")
        page.press("1")
        page.see_text("[data-testid=stAlert]", "Nothing waits for a decision")
        page.open("work")
        page.at("note 2.")
        page.page.get_by_text("History", exact=True).click()
        page.see_text("details[open]", "History")
        page.press("r")
        page.see_text(".notice", "Select a span first")
        page.page.get_by_label("Your question").fill("rx")
        page.page.get_by_text("Ask about the guidelines").click()
        page.press("/")
        page.type("Grace")
        page.press("Escape")
        page.page.get_by_role("link", name="Annotate").focus()
        page.press("n")
        page.see(".highlight.draft")
        page.press("Escape")
        page.locator(".text.context").focus()
        page.press("Tab", "r")
        page.saved()
        page.context.close()
        assert server.stop()[0] == 0
    assert labels(documents_in(project)["r-2", "judge"])[0] == ("Ada", "name", "high")
