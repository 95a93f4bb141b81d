"""What could do harm in the real app: hostile texts are shown as text, nobody gets further than he may, and nothing is lost by a reload."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest
from editor_page import marked

from piiloom.annotation_app.documents.document import EditedDocument
from tests.annotation_app.app_driver import AppPage, documents_in, labels, make_project, record_of, sync_api
from tests.annotation_app.served_app import served

HOSTILE = (
    "<script>alert(1)</script> <img src=x onerror=alert(2)> [a](javascript:alert(3)) "
    "![b](http://evil.example/c.png) $x^2$ :red[d] =HYPERLINK(1) {{e}} </style><svg onload=alert(4)>"
)
EVIL = record_of("r-<b>evil</b>", EditedDocument(context=HOSTILE, question=HOSTILE, marks=()))
PLAIN = record_of("r-plain", marked("[[Ada|name|low]] met [[Grace|name|low]] in [[Kent|location|high]] plainly."))
PEOPLE = {"ana": "annotator", "bo": "annotator", "boss": "admin"}


@pytest.fixture
def project(tmp_path):
    return make_project(tmp_path / "s.duckdb", [EVIL, PLAIN], PEOPLE, wanted=5, assigned={"ana": [PLAIN.id], "bo": [EVIL.id]})


def test_hostile_texts_are_shown_as_they_are(browser, project):
    with served(project, "--snapshot-every", "0") as server:
        page = AppPage(browser, server, "bo")
        page.open()
        page.at(EVIL)
        assert page.shown() == HOSTILE
        assert page.locator(".text.question").text_content() == HOSTILE
        page.press("f")
        page.type(HOSTILE)
        page.press("Enter", "n", "Enter", "Enter")
        page.saved()
        page.page.get_by_label("Your question").fill(HOSTILE)
        page.page.get_by_role("button", name="Ask", exact=True).click()
        page.see_text("[data-testid=stText]", "<script>alert(1)</script>")
        page.press("Escape")
        for path, words in (("records", "Records"), ("guidelines", "Guidelines")):
            page.open(path)
            page.see_text("h3, h1, h2", words)
        page.page.get_by_role("tab", name="Questions").click()
        page.see_text("[data-testid=stText]", "<script>alert(1)</script>")
        # A link in a text must be no link, a picture no picture.
        assert page.locator("[href^='javascript:'], img[src*=evil], [onerror], [onload]").count() == 0
        assert page.dialogs == []
        assert {urlsplit(address).hostname for address in page.asked if address.startswith(("http", "ws"))} == {"127.0.0.1"}
        page.context.close()
        assert server.stop()[0] == 0
    state = documents_in(project)[EVIL.id, "bo"].state
    assert (state["flag"], state["document"]["context"]) == (HOSTILE, HOSTILE)


def test_a_reload_right_after_a_key_loses_nothing(browser, project):
    with served(project, "--snapshot-every", "0") as server:
        page = AppPage(browser, server, "ana")
        page.open()
        page.at(PLAIN)
        page.press("Tab", "r", "Tab", "Delete")
        page.page.reload()
        page.at(PLAIN)
        page.saved()
        assert page.values() == ["Ada", "Kent"]
        page.press("u")
        sync_api.expect(page.locator(".row .value")).to_have_text(["Ada", "Grace", "Kent"])
        page.press("e")
        page.type("Once ")
        page.page.reload()
        page.at("Once Ada met")
        page.saved()
        page.context.close()
        assert server.stop()[0] == 0
    found = documents_in(project)[PLAIN.id, "ana"]
    assert labels(found) == [("Ada", "name", "high"), ("Grace", "name", "low"), ("Kent", "location", "high")]


_FORGE = """(value) => {
    const sent = WebSocket.prototype.send;
    window.forged = 0;
    WebSocket.prototype.send = function (data) {
        // Another record's name of the same length in what the editor sends: the message stays well-formed.
        const bytes = ArrayBuffer.isView(data) ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength) : new Uint8Array(data);
        const text = new TextDecoder("latin1").decode(bytes);
        for (let at = text.indexOf(value.from); at >= 0; at = text.indexOf(value.from, at + 1)) {
            for (let i = 0; i < value.to.length; i += 1) bytes[at + i] = value.to.charCodeAt(i);
            window.forged += 1;
        }
        return sent.call(this, bytes);
    };
}"""


def test_an_annotator_gets_no_further_by_address_or_by_forged_messages(browser, project):
    with served(project, "--snapshot-every", "0") as server:
        page = AppPage(browser, server, "ana")
        page.open("admin")
        page.see(".editor")
        assert page.page.get_by_role("tab", name="Settings").count() == 0
        page.open("dashboard")
        page.see(".editor")
        page.page.keyboard.press("Escape")
        page.open()
        page.at(PLAIN)
        page.page.evaluate(_FORGE, {"from": "r-plain", "to": "r-xxxxx"})
        page.press("Tab", "r")
        page.see_text(".notice", "deleted")
        assert page.page.evaluate("window.forged") > 0
        page.context.close()
        assert server.stop()[0] == 0
    assert documents_in(project) == {}


def test_after_the_logout_the_tab_is_dead(browser, project):
    with served(project, "--snapshot-every", "0") as server:
        page = AppPage(browser, server, "ana")
        page.open()
        page.at(PLAIN)
        other = AppPage(browser, server, beside=page)
        other.open()
        other.at(PLAIN)
        other.page.get_by_role("button", name="Log out").click()
        other.page.wait_for_url(f"{server.url}/account/login")
        page.press("Tab", "r")
        page.see_text("h3", "You are not logged in")
        other.log_in("ana")
        other.open()
        other.at(PLAIN)
        page.context.close()
        assert server.stop()[0] == 0
    assert documents_in(project) == {}


@pytest.mark.long
def test_annotators_see_their_own_work_and_history_alone(browser, project):
    with served(project, "--snapshot-every", "0") as server:
        ana = AppPage(browser, server, "ana")
        ana.open()
        ana.at(PLAIN)
        ana.press("Tab", "Delete", "f")
        ana.type("ana was here")
        ana.press("Enter")
        ana.saved()
        bo = AppPage(browser, server, "bo")
        bo.open("records")
        bo.see_text("h3", "Records")
        bo.page.get_by_role("textbox", name="Search").fill("plainly")
        bo.page.keyboard.press("Enter")
        bo.see_text("[data-testid=stCaptionContainer]", "1 record ·")
        assert "ana" not in bo.page.get_by_role("table", name="Records").inner_text()
        bo.open()
        bo.at(EVIL)
        bo.press("j")
        bo.at(PLAIN)
        assert bo.values() == ["Ada", "Grace", "Kent"]
        bo.see_text("[data-testid=stText]", "Nothing has been changed yet.")
        bo.press("Escape")
        bo.locator(".text.context").focus()
        bo.press("Tab", "r")
        bo.saved()
        bo.see_text("[data-testid=stText]", "relevance: name")
        assert "ana" not in bo.page.locator("body").inner_text().replace("Banana", "")
        ana.page.reload()
        ana.at(PLAIN)
        assert ana.values() == ["Grace", "Kent"]
        for page in (ana, bo):
            page.context.close()
        assert server.stop()[0] == 0


@pytest.mark.long
def test_what_was_pending_in_a_tab_is_nobodys_after_the_logout(browser, project):
    with served(project, "--snapshot-every", "0") as server:
        page = AppPage(browser, server, "ana")
        page.open()
        page.at(PLAIN)
        other = AppPage(browser, server, beside=page)
        other.open()
        other.at(PLAIN)
        page.page.evaluate("WebSocket.prototype.send = () => {}")  # nothing that is done from now on gets to the server
        page.press("Tab", "Delete")
        other.page.get_by_role("button", name="Log out").click()
        other.page.wait_for_url(f"{server.url}/account/login")
        page.log_in("bo")
        page.open()
        page.at(EVIL)
        page.page.wait_for_timeout(3_000)
        page.context.close()
        assert server.stop()[0] == 0
    assert documents_in(project) == {}
