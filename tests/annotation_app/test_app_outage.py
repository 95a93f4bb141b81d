"""A server that is away for a while: the editor stays in sight and takes keys, says how many edits it keeps, and then goes on."""

from __future__ import annotations

import re
import signal

import pytest
from editor_page import marked

from tests.annotation_app.app_driver import PATIENCE_MS, AppPage, documents_in, labels, make_project, record_of, sync_api
from tests.annotation_app.served_app import served

RECORDS = [record_of(f"r-{n}", marked(f"[[Ada|name|low]] came to [[Kent|location|high]], note {n}.")) for n in range(2)]
QUIET = ("--snapshot-every", "0")
LOST = "#piiloom-lost"


@pytest.fixture
def project(tmp_path):
    return make_project(tmp_path / "s.duckdb", RECORDS, {"ana": "annotator"}, assigned={"ana": [RECORDS[0].id]})


def test_accept_during_an_outage(browser, project):
    with served(project, *QUIET) as server:
        port = server.host.rpartition(":")[2]
        page = AppPage(browser, server, "ana")
        page.open()
        page.at(RECORDS[0])
        sync_api.expect(page.locator(LOST)).to_be_hidden()
        server.process.send_signal(signal.SIGKILL)
        server.process.wait(timeout=30)
        page.press("Tab", "r", "Escape", "e")
        page.type("Once ")
        page.see_offline(LOST, "kept in this tab")
        page.page.wait_for_timeout(3_000)  # Streamlit would have opened its dialog by now
        assert page.locator("[role=dialog]").count() == 0
        page.type("more ")
        page.press("Escape", "a")
        page.see(".badge.accepted")
        told = re.compile(r"No connection to the server\. \d edits are kept in this tab and are sent when it is back\.")
        sync_api.expect(page.locator(LOST)).to_have_text(told)
        page.rested()
    with served(project, *QUIET, "--port", port) as server:
        page.at(RECORDS[1])
        page.saved()
        sync_api.expect(page.locator(LOST)).to_be_hidden(timeout=PATIENCE_MS)
        page.press("a")
        page.see_text("h3", "Nothing left to do")
        page.context.close()
        assert server.stop()[0] == 0
    found = documents_in(project)
    assert [found[one.id, "ana"].verdict for one in RECORDS] == ["accepted", "accepted"]
    assert found["r-0", "ana"].state["document"]["context"].startswith("Once more Ada came")
    assert labels(found["r-0", "ana"])[0] == ("Ada", "name", "high")
