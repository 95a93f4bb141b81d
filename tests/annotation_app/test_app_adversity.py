"""Two tabs of one person, a network that is cut, a server that is killed, a record deleted under someone's hands, very long texts."""

from __future__ import annotations

import signal

import pytest
from editor_page import marked

from piiloom.annotation_app.documents.document import EditedDocument, SpanMark
from piiloom.corpus.store.annotation_events import read_events
from piiloom.corpus.store.database import Store
from tests.annotation_app.app_driver import AppPage, documents_in, labels, make_project, record_of, sync_api
from tests.annotation_app.served_app import served

pytestmark = pytest.mark.long
PLAIN = record_of("r-plain", marked("[[Ada|name|low]] met [[Grace|name|low]] in [[Kent|location|high]] plainly."))
PEOPLE = {"ana": "annotator", "boss": "admin", "judge": "adjudicator"}
QUIET = ("--snapshot-every", "0")


@pytest.fixture
def project(tmp_path):
    return make_project(tmp_path / "s.duckdb", [PLAIN], PEOPLE)


def opened(browser, server, record=PLAIN) -> AppPage:
    page = AppPage(browser, server, "ana")
    page.open()
    page.at(record)
    sync_api.expect(page.locator(".why")).to_be_hidden()  # a project is blind unless somebody says otherwise
    return page


def kinds(path):
    with Store.open(path, create=False) as store:
        return [event.kind for event in read_events(store, kinds=["edit", "stale", "refused"])]


def test_two_tabs_of_one_person(browser, tmp_path):
    project = make_project(tmp_path / "s.duckdb", [PLAIN], {**PEOPLE, "bob": "annotator"}, wanted=2)
    with served(project, *QUIET) as server:
        first = opened(browser, server)
        second = AppPage(browser, server, beside=first)
        hold = second.held_back()
        second.open()
        second.at(PLAIN)
        with hold():
            first.press("Tab", "r")
            first.saved()
            second.page.bring_to_front()
            second.press("Tab", "Tab", "Delete")
        second.see_text(".notice", "changed meanwhile, in another tab")
        second.saved()
        assert second.values() == ["Ada", "Grace", "Kent"]
        second.press("Escape", "a")
        second.see_text("h3", "Nothing left to do")
        bob = AppPage(browser, server, "bob")  # agrees with neither tab, so that an adjudicator is asked
        bob.at(PLAIN)
        bob.press("a")
        bob.see_text("h3", "Nothing left to do")
        bob.context.close()
        judge = AppPage(browser, server, "judge")
        judge.open("adjudicate")
        judge.page.get_by_role("button", name="Take ana, other tab").click()
        judge.see_text("[data-testid=stAlert]", "Nothing waits")
        judge.context.close()
        first.context.close()
        assert server.stop()[0] == 0
    assert kinds(project) == ["edit", "stale", "edit", "edit"]
    with Store.open(project, create=False) as store:
        [span] = store.rows("SELECT count(*) FROM spans s JOIN records r USING (record_order) WHERE r.status = 'validated'")
    assert span == (2,)


def test_the_network_is_cut_in_the_middle(browser, project):
    with served(project, *QUIET) as server:
        page = opened(browser, server)
        page.press("Tab", "r")
        page.saved()
        page.context.set_offline(True)
        page.press("Tab", "Delete", "Shift+Tab")
        page.see_offline(".saved", "1")
        page.context.set_offline(False)
        page.saved()
        page.context.close()
        assert server.stop()[0] == 0
    assert labels(documents_in(project)["r-plain", "ana"]) == [("Ada", "name", "high"), ("Kent", "location", "high")]
    assert kinds(project) == ["edit", "edit"]


def test_the_server_is_killed_with_edits_on_their_way(browser, project):
    with served(project, *QUIET) as server:
        port = server.host.rpartition(":")[2]
        page = opened(browser, server)
        page.press("Tab", "r")
        page.saved()
        server.process.send_signal(signal.SIGKILL)
        server.process.wait(timeout=30)
        page.press("Tab", "r", "Delete")
        assert page.values() == ["Ada", "Kent"]
    with served(project, *QUIET, "--port", port) as server:
        page.saved()
        assert page.values() == ["Ada", "Kent"]
        page.context.close()
        assert server.stop()[0] == 0
    assert labels(documents_in(project)["r-plain", "ana"]) == [("Ada", "name", "high"), ("Kent", "location", "high")]
    assert kinds(project) == ["edit"] * 3


def test_a_record_is_deleted_under_the_hands(browser, tmp_path):
    other = record_of("r-other", marked("Nothing but [[Kent|location|high]] in the other one."))
    project = make_project(tmp_path / "s.duckdb", [PLAIN, other], PEOPLE, assigned={"ana": [PLAIN.id]})
    with served(project, *QUIET) as server:
        port = server.host.rpartition(":")[2]
        page = opened(browser, server)
        assert server.stop()[0] == 0
        with Store.open(project, create=False) as store, store.writing():
            store.change("DELETE FROM spans WHERE record_order = (SELECT record_order FROM records WHERE id = 'r-plain')")
            store.change("DELETE FROM records WHERE id = 'r-plain'")
        page.press("Tab", "r")
    with served(project, *QUIET, "--port", port) as server:
        page.at(other)
        page.see_text(".notice", "This record was deleted while you had it open. What you did is kept in the log")
        page.saved()
        page.press("Escape", "a")
        page.see_text("h3", "Nothing left to do")
        page.context.close()
        assert server.stop()[0] == 0
    assert kinds(project) == ["refused", "edit"]


def test_edits_are_delivered_also_when_no_record_is_left_to_show(browser, tmp_path):
    project = make_project(tmp_path / "s.duckdb", [PLAIN], PEOPLE, assigned={"ana": [PLAIN.id]})
    with served(project, *QUIET) as server:
        port = server.host.rpartition(":")[2]
        page = opened(browser, server)
        assert server.stop()[0] == 0
        with Store.open(project, create=False) as store, store.writing():
            store.change("DELETE FROM spans")
            store.change("DELETE FROM records")
        page.press("Tab", "r")
    with served(project, *QUIET, "--port", port) as server:
        page.see_text("[data-testid=stAlert]", "This record was deleted while you had it open. What you did is kept in the log")
        page.see_text("h3", "Nothing left to do")
        page.context.close()
        assert server.stop()[0] == 0
    assert kinds(project) == ["refused"]


def test_an_empty_question_is_told_and_nothing_is_accepted(browser, project):
    with served(project, *QUIET) as server:
        page = opened(browser, server)
        page.press("Shift+E", "Control+a", "Delete", "Escape", "a")
        page.see_text(".notice", "The question is empty. Write one, or reject the record.")
        page.see_text(".check-text", "The question is empty.")
        page.saved()
        page.press("Escape", "Shift+E")
        page.type("Who?")
        page.press("Escape", "a")
        page.see_text("h3", "Nothing left to do")
        page.context.close()
        assert server.stop()[0] == 0
    found = documents_in(project)["r-plain", "ana"]
    assert (found.verdict, found.state["document"]["question"]) == ("accepted", "Who?")


def test_a_text_that_is_typed_while_the_network_is_cut(browser, project):
    with served(project, *QUIET) as server:
        page = opened(browser, server)
        page.context.set_offline(True)
        page.press("e")
        page.type("Once ")
        page.press("Escape", "Tab", "r")
        page.see_offline(".saved", "waiting for the server")  # two edits or three: slow typing is saved on the way
        page.context.set_offline(False)
        page.saved()
        assert page.shown().startswith("Once Ada")
        page.context.close()
        assert server.stop()[0] == 0
    found = documents_in(project)["r-plain", "ana"]
    assert labels(found) == [("Ada", "name", "high"), ("Grace", "name", "low"), ("Kent", "location", "high")]
    assert found.state["document"]["context"] == f"Once {PLAIN.context}"


def test_a_very_long_text_with_200_spans(browser, tmp_path):
    words = [f"word{n}" for n in range(20_000)]
    starts = [sum(len(word) + 1 for word in words[:n]) for n in range(0, 20_000, 100)]
    marks = tuple(
        SpanMark(id=f"s{n}", start=at, end=at + len(words[n * 100]), entity_type="name", relevance="low") for n, at in enumerate(starts)
    )
    long = record_of("r-long", EditedDocument(context=" ".join(words), question="", marks=marks))
    path = make_project(tmp_path / "s.duckdb", [long], PEOPLE)
    with served(path, *QUIET) as server:
        page = opened(browser, server, "word19999")
        assert len(page.values()) == 200
        page.press("Tab", "r", "Tab", "r", "Tab", "Delete", "e")
        page.type("Hello ")
        page.press("Escape")
        page.saved()
        page.press("a")  # the question was empty from the beginning
        page.see_text("h3", "Nothing left to do")
        page.context.close()
        assert server.stop()[0] == 0
    found = documents_in(path)["r-long", "ana"]
    spans = labels(found)
    assert len(spans) == 199
    assert [relevance for _, _, relevance in spans[:3]] == ["high", "high", "low"]
    assert all(value == "word0" or (value.startswith("word") and value.endswith("00")) for value, _, _ in spans)
    assert found.verdict == "accepted"
