"""Suggestions in the real app: found while it runs, uploaded, then accepted, changed and refused; nothing is lost, nothing leaks."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from editor_page import marked
from suggestion_stories import native_rows

from piiloom.corpus.store.annotation_events import read_events
from piiloom.corpus.store.database import Store
from tests.annotation_app.app_driver import AppPage, documents_in, labels, make_project, record_of, sync_api
from tests.annotation_app.served_app import served

PEOPLE = {"ana": "annotator", "boss": "admin"}
QUIET = ("--snapshot-every", "0")
HOSTILE = "<img src=x onerror=alert(1)> **bold** [x](javascript:alert(1))"
FIRST = record_of("r-1", marked("\U0001f600 [[Ada|name|low]] is 34, has asthma, and lives in Kent, plainly."))
SECOND = record_of("r-2", marked("Write to ada.stone@example.org, says [[Grace|name|low]] in the other one."))


def places(*values: tuple[str, str, float | None], record=FIRST):
    return [(record.context.index(value), record.context.index(value) + len(value), kind, score) for value, kind, score in values]


FOUND = places(("34", "age", 0.95), ("asthma", "health", 0.55), ("Kent", "location", 0.7), ("plainly", "belief", 0.2))


@pytest.fixture
def project(tmp_path):
    return make_project(tmp_path / "s.duckdb", [FIRST, SECOND], PEOPLE, assigned={"ana": [FIRST.id]})


@pytest.fixture
def rows(tmp_path):
    return native_rows(tmp_path / "found.jsonl", [FIRST], {FIRST.id: FOUND})


def upload(browser, server, rows: Path, detector: str = "") -> AppPage:
    """Have the admin offer *rows* as suggestions, and see that they are told about."""
    page = AppPage(browser, server, "boss")
    page.open("admin")
    page.page.get_by_role("tab", name="Suggestions", exact=True).click()
    panel = page.page.get_by_role("tabpanel").filter(visible=True)
    panel.locator("input[type=file]").set_input_files(str(rows))
    sync_api.expect(panel.get_by_role("button", name=f"Remove {rows.name}")).to_be_visible(timeout=45_000)
    panel.get_by_role("textbox", name="Detector").fill(detector)
    panel.get_by_role("button", name="Offer as suggestions").click()
    return page


def opened(browser, server) -> AppPage:
    page = AppPage(browser, server, "ana")
    page.open()
    page.at(FIRST)
    return page


def rows_shown(page: AppPage) -> list[str]:
    return list(page.locator(".suggestion .value").all_inner_texts())


def outcomes(project: Path) -> dict[str, int]:
    counts: dict[str, int] = {}
    for one in documents_in(project)["r-1", "ana"].state.get("decided", []):
        counts[one["how"]] = counts.get(one["how"], 0) + 1
    return counts


def test_accept_change_and_refuse_by_keys_survive_reload_and_a_killed_server(browser, project, rows):
    with served(project, *QUIET) as server:
        port = server.host.rpartition(":")[2]
        upload(browser, server, rows).see_text("[data-testid=stAlert]", "4 new suggestions by patterns for 1 record")
        page = opened(browser, server)
        page.see(".ghost")
        assert rows_shown(page) == ["34", "asthma", "Kent", "plainly"]
        page.press("g", "y")  # 34: accepted
        page.press("t")  # asthma: with another type
        page.type("occup")
        page.press("Enter")
        page.saved()
        page.page.reload()
        page.at(FIRST)
        assert rows_shown(page) == ["Kent", "plainly"]
        assert page.values() == ["Ada", "34", "asthma"]
        server.process.send_signal(signal.SIGKILL)
        server.process.wait(timeout=30)
        page.press("g", "]")  # Kent: with another end, while nobody listens
        page.press("g", "d")  # plainly: refused
        assert rows_shown(page) == []
    with served(project, *QUIET, "--port", port) as server:
        page.saved()
        page.press("u", "Shift+U")
        page.saved()
        assert rows_shown(page) == []
        page.press("a")
        page.at(SECOND)
        boss = AppPage(browser, server, "boss")
        boss.open("dashboard")
        boss.page.get_by_text("Suggestions", exact=True).click()
        boss.see_text("[data-testid=stCaptionContainer]", "Each suggestion counts once")
        assert server.stop()[0] == 0
    assert labels(documents_in(project)["r-1", "ana"]) == [
        ("Ada", "name", "low"),
        ("34", "age", "low"),
        ("asthma", "occupation", "low"),
        ("Kent,", "location", "low"),
    ]
    assert outcomes(project) == {"accepted": 1, "changed": 2, "refused": 1}
    with Store.open(project, create=False) as store:
        told = [event.entry["operation"]["op"] for event in read_events(store, kinds=["edit"])]
        suggested = read_events(store, kinds=["suggested"])
    assert told == ["take", "take", "take", "refuse", "undo", "redo", "accept"]
    assert [(one.actor, one.entry["added"]) for one in suggested] == [("boss", 4)]


@pytest.mark.long
def test_two_tabs_decide_on_one_suggestion(browser, project, rows):
    with served(project, *QUIET) as server:
        upload(browser, server, rows).see_text("[data-testid=stAlert]", "4 new suggestions")
        first = opened(browser, server)
        second = AppPage(browser, server, beside=first)
        hold = second.held_back()
        second.open()
        second.at(FIRST)
        second.see(".ghost")
        with hold():
            first.press("g", "y")
            first.saved()
            second.page.bring_to_front()
            second.press("g", "d")
        second.see_text(".notice", "changed meanwhile, in another tab")
        second.saved()
        assert rows_shown(second) == ["asthma", "Kent", "plainly"]
        assert server.stop()[0] == 0
    assert outcomes(project) == {"accepted": 1}


@pytest.mark.long
def test_suggestions_move_with_an_edited_text_and_all_above_a_score_are_taken_at_once(browser, project, rows):
    with served(project, *QUIET) as server:
        upload(browser, server, rows).see_text("[data-testid=stAlert]", "4 new suggestions")
        page = opened(browser, server)
        page.see(".ghost")
        page.press("e")
        page.locator(".area.context").evaluate("(area) => area.setSelectionRange(0, 0)")
        page.type("Hello there. ")
        page.press("Escape")
        page.saved()
        page.see(".ghost")
        page.press("Shift+Y")
        page.locator("dialog input").fill("0.5")
        page.press("Enter")
        page.saved()
        assert page.values() == ["Ada", "34", "asthma", "Kent"]
        assert rows_shown(page) == ["plainly"]
        assert server.stop()[0] == 0
    found = labels(documents_in(project)["r-1", "ana"])
    assert [value for value, *_ in found] == ["Ada", "34", "asthma", "Kent"]


@pytest.mark.long
def test_what_a_file_says_is_shown_as_it_is(browser, project, tmp_path):
    rows = native_rows(tmp_path / "found.jsonl", [FIRST], {FIRST.id: FOUND}, detector=HOSTILE)
    with rows.open("a", encoding="utf-8") as fh:
        fh.write('{"id": "r-9", "context": "x", "spans": []}\n')
    with served(project, *QUIET) as server:
        boss = upload(browser, server, rows, detector=HOSTILE)
        boss.see_text("[data-testid=stAlert]", HOSTILE)
        boss.see_text("[data-testid=stAlert]", "Rows that were rejected: 1")
        page = opened(browser, server)
        page.see(".ghost")
        page.press("g")
        assert HOSTILE in page.locator(".suggestion .sources").first.inner_text()
        boss.open("dashboard")
        boss.page.get_by_text("Suggestions", exact=True).click()
        boss.see_text("[data-testid=stCaptionContainer]", "Each suggestion counts once")
        for one in (page, boss):
            assert (one.dialogs, [url for url in one.asked if url.endswith("/x")]) == ([], [])
        assert server.stop()[0] == 0


def test_the_command_finds_while_the_app_has_the_store_and_says_what_to_upload(browser, project):
    command = [sys.executable, "-m", "piiloom", "detect", "--store", str(project), "--to", "annotation"]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    with served(project, *QUIET) as server:
        done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120, check=False)
        assert (done.returncode, done.stdout) == (1, "")
        assert "upload it in the app (Admin, Suggestions)" in done.stderr
        assert str(server.process.pid) in done.stderr
        found = project.with_name("s.duckdb.detecting") / "patterns.jsonl"
        assert found.is_file()
        upload(browser, server, found).see_text("[data-testid=stAlert]", "1 new suggestion by patterns for 2 records")
        assert server.stop()[0] == 0
    done = subprocess.run([*command, "--resume"], capture_output=True, text=True, env=environment, timeout=120, check=True)
    assert "0 new suggestions by patterns for 2 records; 1 were there before" in done.stdout
    assert not found.parent.exists()
