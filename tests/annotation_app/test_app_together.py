"""Five browsers at once until everything is done, then adjudication and export: what comes out is what was clicked."""

from __future__ import annotations

import json
import re
import time

import pytest
from editor_page import marked

from tests.annotation_app.app_driver import PATIENCE_MS, AppPage, documents_in, labels, make_project, record_of, sync_api
from tests.annotation_app.served_app import served
from tests.longer import EXPLORE

pytestmark = [pytest.mark.long, pytest.mark.alone]
NUMBERS = range(60 if EXPLORE else 18)
RECORDS = [
    record_of(f"r-{n:03d}", marked(f"\U0001f600 [[Ada|name|low]] met [[Grace|name|low]] in [[Kent|location|high]] as note {n}, plainly."))
    for n in NUMBERS
]
PEOPLE = ("ana", "bob", "cy", "dee", "eve")
_NOTE = re.compile(r"note (\d+),")
_UNTOUCHED = [("Ada", "name", "low"), ("Grace", "name", "low"), ("Kent", "location", "high")]


def arrive(page: AppPage, last: int | None) -> int | None:
    """The number of the next record on the screen; None when nothing is left."""
    end = time.monotonic() + PATIENCE_MS / 1000
    while time.monotonic() < end:
        found = page.page.evaluate(
            """() => {
                for (const host of document.querySelectorAll("*")) {
                    const editor = host.shadowRoot && host.shadowRoot.querySelector(".editor");
                    if (!editor) continue;
                    return editor.getAttribute("aria-busy") === "false" ? editor.querySelector(".text.context").textContent : "";
                }
                return document.body.innerText.includes("Nothing left to do") ? "nothing" : "";
            }"""
        )
        if found == "nothing":
            return None
        note = _NOTE.search(found)
        if note and int(note[1]) != last:
            return int(note[1])
        page.page.wait_for_timeout(30)
    raise AssertionError(f"no other record came after {last}")


def annotate(page: AppPage, number: int, *, first: bool) -> list[tuple[str, str, str]]:
    """Do to a record what its number asks for, accept it, and say what it should be now."""
    expected = list(_UNTOUCHED)
    page.locator(".text.context").focus()
    if number % 6 == 0 and first:  # these end in disagreement
        page.press("Tab", "r")
        expected[0] = ("Ada", "name", "high")
    elif number % 3 == 1:
        page.press("Tab", "Tab", "Delete")
        del expected[1]
    elif number % 3 == 2:
        page.press("Tab", "]", "Shift+Tab")
        expected[0] = ("Ada met", "name", "low")
    page.press("a")
    return expected


def work_until_done(pages: dict[str, AppPage]) -> dict[tuple[int, str], list[tuple[str, str, str]]]:
    clicked: dict[tuple[int, str], list[tuple[str, str, str]]] = {}
    last: dict[str, int | None] = dict.fromkeys(pages)
    while pages:
        for name, page in list(pages.items()):
            number = arrive(page, last[name])
            if number is None:
                del pages[name]
                continue
            assert (number, name) not in clicked
            clicked[number, name] = annotate(page, number, first=not any(done == number for done, _ in clicked))
            last[name] = number
    return clicked


def test_five_browsers_until_all_is_done(browser, tmp_path):
    people = dict.fromkeys(PEOPLE, "annotator") | {"judge": "adjudicator", "boss": "admin"}
    path = make_project(tmp_path / "s.duckdb", RECORDS, people, wanted=2)
    with served(path, "--snapshot-every", "0") as server:
        pages = {name: AppPage(browser, server, name) for name in PEOPLE}
        contexts = [page.context for page in pages.values()]
        for page in pages.values():
            page.open()
        clicked = work_until_done(pages)
        for context in contexts:
            context.close()
        assert sorted(number for number, _ in clicked) == sorted([*NUMBERS, *NUMBERS])
        judge = AppPage(browser, server, "judge")
        decided = decide_all(judge, clicked)
        assert sorted(decided) == [number for number in NUMBERS if number % 6 == 0]
        judge.context.close()
        boss = AppPage(browser, server, "boss")
        boss.open("admin")
        boss.page.get_by_role("tab", name="Export").click()
        boss.page.get_by_label("Test records").fill("0.1")
        boss.page.get_by_role("button", name="Export", exact=True).click()
        boss.see_text("[data-testid=stAlert]", "Written to")
        boss.context.close()
        assert server.stop()[0] == 0
    found = documents_in(path)
    assert {(f"r-{number:03d}", name): spans for (number, name), spans in clicked.items()} == {
        key: labels(one) for key, one in found.items()
    }
    wanted = {number: spans for (number, _), spans in clicked.items()} | decided
    assert exported(path.parent / "exports") == wanted


def decide_all(judge: AppPage, clicked) -> dict[int, list[tuple[str, str, str]]]:
    """Take the version of the first by name wherever two people differ, through the page."""
    decided: dict[int, list[tuple[str, str, str]]] = {}
    judge.open("adjudicate")
    while True:
        take, none = judge.page.get_by_role("button", name=re.compile("^Take ")), judge.page.get_by_text("Nothing waits for a decision")
        sync_api.expect(take.or_(none).first).to_be_visible(timeout=PATIENCE_MS)
        if none.count():
            return decided
        texts = [
            text
            for text in judge.page.locator("[data-testid=stMarkdownContainer], [data-testid=stHtml]").all_inner_texts()
            if "note" in text
        ]
        found = _NOTE.search(" ".join(texts))
        if found is None or int(found[1]) in decided or take.count() != 2:
            judge.page.wait_for_timeout(50)
            continue
        number = int(found[1])
        names = sorted(name for done, name in clicked if done == number)
        judge.page.get_by_role("button", name=re.compile(rf"^Take {names[0]}\b")).click()
        decided[number] = clicked[number, names[0]]


def exported(folder) -> dict[int, list[tuple[str, str, str]]]:
    rows = [json.loads(line) for file in folder.rglob("*.jsonl") for line in file.read_text(encoding="utf-8").splitlines()]
    return {
        int(_NOTE.search(row["context"])[1]): [
            (row["context"][span["start"] : span["end"]], span["type"], span["relevance"]) for span in row["spans"]
        ]
        for row in rows
    }
