"""What comes in with hostile files and what goes out with tables: file names, rows, guidelines and people's names, tried in the browser."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from editor_page import marked

from tests.annotation_app.app_driver import PATIENCE_MS, AppPage, make_project, record_of, sync_api
from tests.annotation_app.people_tools import GOOD
from tests.annotation_app.served_app import served
from tests.annotation_app.test_app_hostile_texts import Looker

pytestmark = pytest.mark.long
RECORD = record_of("r-1", marked("[[Ada|name|low]] met [[Grace|name|low]] plainly."))
FORMULAS = ("=cmd|' /C calc'!A0", "+1+2;=2+3", "@SUM(A1)", "-2+3", "＝1+1")
FILE = "<img src=x onerror=alert(1)> **zap5** :red[zap9] [zap2](javascript:alert(3)) $zap8$.jsonl"
TYPE = "<b>zap1</b> ![zap3](http:evil.example) `zap6`"
MARKDOWN = """# Rules

<script>alert(1)</script> <img src=x onerror=alert(2)> <b>zap1</b> <svg onload=alert(4)> [zap2](javascript:alert(3))
[data](data:text/html,<script>alert(5)</script>) $\\href{javascript:alert(6)}{zap8}$ ![pixel](http://evil.example/c.png)

<iframe src="http://evil.example"></iframe> <form action="http://evil.example"><input name=a></form> {{ 7 * 7 }}
"""
# What would run; a link to a data: address stays, which no browser opens from a link.
_LEADS = """() => [...document.querySelectorAll("a, img, iframe, form, script, svg, input")].flatMap((one) =>
    one.getAttributeNames().filter((name) => name.startsWith("on") || /^\\s*javascript:/i.test(one.getAttribute(name)))
        .map((name) => one.outerHTML)
)"""


def rows() -> bytes:
    """One row that can be taken, and five that cannot, each with something hostile in it."""
    piis = {"Bob Stone": {"type": "name", "relevance": "low"}, "Kent": {"type": "location", "relevance": "high"}}
    good = {"context": "I am Bob Stone of Kent.", "question": "Who?", "piis": piis}
    bad = [
        {**good, "piis": {"Kent": {"type": TYPE, "relevance": "high"}}},
        {**good, "piis": {FORMULAS[0]: "no"}},
        {**good, "context": None},
        {**good, TYPE: 1, "piis": [TYPE]},
    ]
    return "\n".join([json.dumps(one) for one in (good, *bad)] + [f'{{"{FORMULAS[0]}']).encode()


def test_hostile_files_names_and_guidelines(browser, tmp_path):
    path = make_project(tmp_path / "s.duckdb", [RECORD], {"boss": "admin"})
    with served(path, "--snapshot-every", "0") as server:
        look = Looker(AppPage(browser, server, "boss"))
        _import(look)
        _add_people(look)
        for row in _saved_table(look.page):
            assert not any(cell[:1] in {"=", "+", "-", "@", "\t", "＝"} or ";=" in cell for cell in row), row
        _publish(look)
        assert look.page.dialogs == []
        look.page.context.close()
        assert server.stop()[0] == 0


def _import(look: Looker) -> None:
    page = look.page
    # Else Streamlit asks the system where to save a file, which nobody answers here.
    page.page.add_init_script("delete window.showSaveFilePicker; delete Window.prototype.showSaveFilePicker")
    page.open("admin")
    look.tab("Import")
    panel = page.page.get_by_role("tabpanel").filter(visible=True)
    panel.locator("input[type=file]").set_input_files({"name": FILE, "mimeType": "application/json", "buffer": rows()})
    sync_api.expect(panel.get_by_role("button", name=re.compile("^Remove "))).to_be_visible(timeout=PATIENCE_MS)
    look.at()
    panel.get_by_role("combobox", name="Format").click()
    page.page.get_by_role("option", name="capid", exact=True).click()
    panel.get_by_role("button", name="Import", exact=True).click()
    page.see_text("[data-testid=stAlert]", "**zap5** :red[zap9]")
    look.at("Rows that were rejected: 5")


def _add_people(look: Looker) -> None:
    """Add them one upon the other, as fast as the browser can: each click is kept, though it stops the drawing after the one before."""
    look.tab("People")
    page = look.page.page
    for name in FORMULAS:
        page.get_by_label("Name", exact=True).fill(name)
        page.get_by_label("Password", exact=True).fill(GOOD)
        page.get_by_role("button", name="Add", exact=True).click()
    look.at(f"{FORMULAS[-1]} can log in.")


def _saved_table(page: AppPage) -> list[list[str]]:
    """What the browser saves of the table of people, as rows of cells."""
    table = page.page.get_by_role("tabpanel").filter(visible=True).locator("[data-testid=stDataFrame]").first
    saved: list[list[str]] = []
    for _ in range(10):  # the last of them may not be drawn yet
        table.hover()
        with page.page.expect_download() as caught:
            page.page.get_by_role("button", name="Download as CSV").filter(visible=True).first.click()
        saved = list(csv.reader(Path(caught.value.path()).read_text(encoding="utf-8-sig").splitlines()))
        if len(saved) == len(FORMULAS) + 2:
            break
        page.page.wait_for_timeout(300)
    assert len(saved) == len(FORMULAS) + 2
    assert ["'" + name.replace(";=", ";'=") for name in FORMULAS] == sorted(
        (row[0] for row in saved if row[0].startswith("'")), key=lambda one: [one[1:2] == name[0] for name in FORMULAS], reverse=True
    )
    return saved


def _publish(look: Looker) -> None:
    refused: dict[str, str] = {}
    page = look.page.page
    page.on("requestfailed", lambda request: refused.update({request.url: request.failure}))
    look.page.open("guidelines")
    look.tab("Edit")
    page.get_by_role("textbox", name="Guidelines").fill(MARKDOWN)
    page.get_by_role("button", name="Publish as a new version").click()
    look.page.see_text("[data-testid=stAlert]", "Version 2 is in force")
    page.get_by_role("tab", name="Guidelines", exact=True).click()
    sync_api.expect(page.locator(".st-key-piiloom_guidelines h1")).to_have_text("Rules", timeout=PATIENCE_MS)
    look.page.drawn()
    assert page.evaluate(_LEADS) == []
    assert page.locator(".st-key-piiloom_guidelines").locator("script, iframe, form, input, b").count() == 0
    # The browser would load the image of the Markdown; what the app says about its pages (img-src) keeps it from asking anybody.
    outside = {one for one in look.page.asked if one.startswith(("http", "ws")) and urlsplit(one).hostname != "127.0.0.1"}
    assert {one: refused.get(one) for one in outside} == {"http://evil.example/c.png": "csp"}
