"""The history of a record under the editor, a step taken back from it, and an admin's first minute with an empty work list."""

from __future__ import annotations

from editor_page import marked

from piiloom.annotation_app.serving.services import open_services
from piiloom.annotation_app.sync.editor_data import event_words
from piiloom.corpus.store.annotation_events import AnnotationEvent
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.records import add_records
from tests.annotation_app.app_driver import PATIENCE_MS, AppPage, documents_in, labels, record_of, sync_api
from tests.annotation_app.people_tools import GOOD
from tests.annotation_app.served_app import served
from tests.longer import case_by_case

RECORD = record_of("r-1", marked("[[Ada|name|low]] met [[Grace|name|low]] plainly."))


def test_from_an_empty_list_to_a_step_taken_back(browser, tmp_path):
    path = tmp_path / "s.duckdb"
    with Store.open(path) as store:
        add_records(store, None, [(None, RECORD)])
    services = open_services(path)
    services.accounts.add("boss", "admin", password=GOOD)
    services.close()
    with served(path, "--snapshot-every", "0") as server:
        page = AppPage(browser, server, "boss")
        page.page.get_by_role("button", name="Put all records into the work list").click()
        page.at(RECORD)
        page.press("Tab", "r", "Tab", "Delete")
        page.saved()
        page.see_text("[data-testid=stText]", "span removed: name, low relevance, 8–13")
        page.see_text("[data-testid=stText]", "relevance: name, low relevance, 0–3 → name, high relevance, 0–3")
        page.page.get_by_role("button", name="Take this step back").click()
        sync_api.expect(page.locator(".row .value")).to_have_text(["Ada", "Grace"], timeout=PATIENCE_MS)
        page.see_text("[data-testid=stText]", "taken back")
        page.context.close()
        assert server.stop()[0] == 0
    assert labels(documents_in(path)["r-1", "boss"]) == [("Ada", "name", "high"), ("Grace", "name", "low")]


@case_by_case(
    ("operation", "words"),
    [
        ({"op": "text", "field": "context", "removed": "a\nb", "inserted": "c" * 50}, f"context: “a b” → “{'c' * 39}…”"),
        ({"op": "reject", "reason": "<b>no</b>"}, "rejected: <b>no</b>"),
        ({"op": "many", "operations": []}, "several changes at once"),
        ({"op": "revert", "event": 7}, "step 7 taken back"),
        ({"op": "relevance", "id": "gone"}, "relevance"),
        ("nonsense", "something unknown"),
    ],
)
def test_events_in_words(operation, words):
    event = AnnotationEvent(actor="ana", kind="edit", entry={"operation": operation}, event=1, at="2026-11-22T09:00:00.000Z")
    assert event_words(event) == words
