"""What goes over the wire: everything once, in order, also after reloads, while the server is away, and between records."""

from __future__ import annotations

import pytest
from editor_page import EditorPage, editors

from piiloom.annotation_app.documents.document import EditedDocument, parse_operation
from piiloom.taxonomy.entity_types import shipped_taxonomy

TEXT = "[[Ada|name|low]] met [[Grace|name|low]] in [[Kent|location|high]]."


@pytest.fixture
def editor(browser):
    with editors(browser) as make:
        yield lambda *templates, **settings: make(*(templates or (TEXT,)), **settings)


def relevances(page: EditorPage) -> list[str | None]:
    return [mark.relevance for mark in page.server.document.marks]


def shown_relevances(page: EditorPage) -> list[str]:
    return page.page.locator(".row .relevance").all_inner_texts()


def test_the_outbox_grows_until_it_is_acknowledged(editor):
    page = editor()
    page.server.holding = True
    page.press("Tab", "r", "Tab", "r", "Tab", "r")
    values = [value for name, value in page.server.heard if name == "outbox"]
    assert [[sent["sequence"] for sent in value["operations"]] for value in values] == [[1], [1, 2], [1, 2, 3]]
    assert [sent["base"] for sent in values[-1]["operations"]] == [0, 1, 2]
    assert {value["client"] for value in values} == {values[0]["client"]}
    assert values[0]["operations"][0] == {
        "sequence": 1,
        "record": "r1",
        "base": 0,
        "operation": {"op": "relevance", "id": "s1", "relevance": "high"},
    }
    assert shown_relevances(page) == ["high", "high", "low"]
    assert "Saving 3" in page.text(".saved")
    page.server.holding = False
    page.push()
    page.settle()
    assert page.text(".saved") == "Saved"
    page.press("u")
    assert [sent["sequence"] for sent in page.server.heard[-1][1]["operations"]] == [4]
    assert page.page.evaluate("sessionStorage.length") == 0


def test_a_reload_right_after_a_key_delivers(editor):
    page = editor()
    page.server.deaf = True
    page.press("Tab", "r")
    page.server.deaf = False
    page.open()
    page.settle()
    page.press("Tab", "Tab", "r")
    assert relevances(page) == ["high", "high", "high"]
    clients = {value["client"] for _, value in page.server.heard}
    assert len(clients) == 2  # what the first page left behind keeps its own name
    assert page.server.notices == []


def test_work_after_a_reload_waits_for_what_was_left_behind(editor):
    page = editor()
    page.server.deaf = True
    page.press("Tab", "r", "Tab", "r")
    page.open()
    page.press("Tab", "Tab", "Tab", "r")
    assert shown_relevances(page) == ["high", "high", "low"]
    page.server.deaf = False
    page.page.evaluate("window.dispatchEvent(new Event('online'))")
    page.settle()
    assert relevances(page) == ["high", "high", "low"]
    assert page.server.notices == []


def test_delivered_twice_is_done_once(editor):
    page = editor()
    page.server.holding = True
    page.press("Tab", "r")
    page.page.evaluate("window.dispatchEvent(new Event('online'))")
    page.page.wait_for_timeout(20)
    assert len(page.server.heard) == 2
    assert len(page.sent) == 1


def test_a_value_that_got_lost_is_sent_again(editor):
    page = editor()
    page.page.clock.install()
    page.open()
    page.server.deaf = True
    page.press("Tab", "r")
    page.page.clock.run_for(4200)
    assert "Not saved yet" in page.text(".saved")
    page.server.deaf = False
    page.page.clock.run_for(9000)
    page.settle()
    assert relevances(page)[0] == "high"
    assert page.text(".saved") == "Saved"


def test_nothing_goes_out_under_another_name(editor):
    page = editor()
    page.server.deaf = True
    page.press("Tab", "r")
    page.server.deaf = False
    page.server.settings["person"] = "bob"
    page.push()
    page.settle()
    page.open()
    page.settle()
    assert page.server.heard == []
    page.server.settings["person"] = "ada"
    page.open()
    page.settle()
    assert relevances(page)[0] == "high"


def test_undo_and_redo_across_everything(editor):
    page = editor()
    page.press("Tab", "r", "Delete", "Shift+E")
    page.type("Now: ")
    page.press("Escape", "f")
    page.type("look")
    page.press("Enter")
    state = page.server.history.state
    page.press("u", "u", "u", "u")
    assert page.server.history.state.document == page.server.history.base
    assert page.page.locator(".bottom button:has-text('Undo')").is_disabled()
    page.press("u", "Shift+U", "Shift+U", "Shift+U", "Shift+U")
    assert page.server.history.state == state
    assert page.server.notices == []


def test_undo_after_a_reload(editor):
    page = editor()
    page.press("Tab", "r", "Tab", "r")
    page.open()
    # Only the server knows what these bring back; the key behind them waits for it.
    page.press("u")
    assert relevances(page) == ["high", "low", "high"]
    page.server.holding = True
    page.press("u", "Tab", "r")
    assert len(page.server.heard[-1][1]["operations"]) == 1
    page.server.holding = False
    page.push()
    page.settle()
    assert shown_relevances(page) == ["high", "low", "high"]
    assert relevances(page) == ["high", "low", "high"]
    assert page.server.notices == []


def test_an_undo_before_the_answer_shows_at_once(editor):
    page = editor()
    page.server.holding = True
    page.press("Tab", "r", "u")
    assert shown_relevances(page) == ["low", "low", "high"]
    page.server.holding = False
    page.push()
    assert relevances(page) == ["low", "low", "high"]


def test_another_tab_was_quicker(editor):
    page = editor()
    page.server.history.do(parse_operation({"op": "remove", "id": "s2"}), shipped_taxonomy().types)
    page.press("Tab", "r")
    assert shown_relevances(page) == ["low", "high"]
    assert page.text(".notice").startswith("stale")
    assert page.text(".saved") == "Saved"
    page.press("r")
    assert page.text(".notice").startswith("stale")  # until the person closes it
    page.press("Escape")
    assert not page.page.locator(".notice").is_visible()


def test_accept_reject_and_the_way_through_the_records(editor):
    page = editor(TEXT, "Second", "Third", "Fourth")
    page.press("a")
    assert page.server.histories["r1"].state.verdict == "accepted"
    assert page.text(".position") == "Record 2 of 4"
    page.press("x")
    page.type("not a text")
    page.press("Enter")
    assert page.server.histories["r2"].state.reason == "not a text"
    for key in "kkjs":
        page.press(key)
    assert page.text(".position") == "Record 3 of 4"
    assert [intent["go"] for intent in page.server.intents] == ["next", "next", "previous", "previous", "next", "skip"]
    assert [intent["number"] for intent in page.server.intents] == [1, 2, 3, 4, 5, 6]
    page.press("l")
    assert page.server.intents[-1]["go"] == "list"


def test_a_key_for_a_record_not_yet_seen_does_nothing(editor):
    page = editor(TEXT, "Second", "Third")
    page.page.keyboard.press("a")
    page.page.keyboard.press("a")
    page.page.keyboard.press("Delete")
    page.settle()
    assert page.text(".position") == "Record 2 of 3"
    assert [operation["op"] for operation in page.sent] == ["accept"]


def test_accept_by_mouse_and_a_reason_is_needed(editor):
    page = editor(TEXT, "Second")
    page.click(".bottom button:has-text('Reject')")
    page.press("Enter")
    assert page.page.locator("dialog").count() == 1
    page.press("Escape")
    assert page.page.locator("dialog").count() == 0
    assert page.server.heard == []
    page.click(".bottom button:has-text('Flag')")
    page.type("who?")
    page.click("dialog button:has-text('Flag')")
    assert page.server.history.state.flag == "who?"
    page.click(".bottom button:has-text('Flag')")
    page.click("dialog button:has-text('Remove the flag')")
    assert page.server.history.state.flag == ""
    page.click(".bottom button:has-text('Accept')")
    assert page.server.histories["r1"].state.verdict == "accepted"


def test_read_only(editor):
    page = editor(TEXT, "Second", readonly=True, mode="view")
    page.press("Tab", "r", "Delete", "e", "a", "x", "n")
    page.drag(4, 7)
    assert page.server.heard == []
    page.press("j")
    assert page.text(".position") == "Record 2 of 2"


def test_a_fix_of_the_checks_by_key_and_by_mouse(editor):
    page = editor("[[Grace|name|low]] met Grace, and Grace wrote to grace@example.org.")
    fixes = page.page.locator(".check .button").count()
    assert fixes >= 2
    page.press("m")
    assert page.values().count("Grace") == 3
    assert page.sent[0]["op"] == "many"
    page.click(".check .button")
    assert page.values()[-1] == "grace@example.org"
    assert page.page.locator(".check").count() == fixes - 2


def masked(document: EditedDocument) -> str:
    text = document.context
    for mark in reversed(document.marks):
        if mark.relevance == "low":
            text = f"{text[: mark.start]}[{mark.entity_type.upper()}]{text[mark.end :]}"
    return text


def test_the_preview_masks_low_relevance(editor):
    page = editor(f"\U0001f600 {TEXT}")
    page.press("p")
    assert page.page.locator(".text.preview").inner_text() == masked(page.server.document)
    page.press("Tab", "r")
    assert page.page.locator(".text.preview").inner_text() == masked(page.server.document)
    assert "Ada" in page.text(".text.preview")


def test_the_help_shows_every_key_and_closes(editor):
    page = editor()
    page.press("?")
    words = page.text("dialog")
    for key in "axfjksluUtrcmpen?[]{}":
        assert key in words
    page.press("Escape")
    assert page.page.locator("dialog").count() == 0


def test_why_is_hidden_in_blind_mode(editor):
    page = editor(why={"rationale": "It matters.", "judges": [{"verdict": "high"}]})
    assert not page.page.locator(".facts").first.is_visible()
    page.click(".why summary")
    assert "It matters." in page.text(".why")
    page.server.settings["why"] = None
    page.push()
    assert not page.page.locator(".why").is_visible()


def test_an_overtaken_clean_up_leaves_the_editor_alive(editor):
    page = editor()
    page.page.evaluate("(data) => { const old = window.cleanUp; window.mount(data); old(); }", page.server.data())
    page.press("Tab", "r")
    assert relevances(page)[0] == "high"


def test_a_key_between_a_clean_up_and_the_data_that_overtook_it_is_not_lost(editor):
    page = editor()
    page.press("Tab", "r")
    page.page.evaluate("window.cleanUp()")
    page.page.keyboard.press("r")
    page.push()
    page.settle()
    assert relevances(page)[0] == "low"
    page.press("/")
    page.type("met")
    page.page.evaluate("window.cleanUp()")
    page.push()
    assert page.page.locator(".find").is_visible()


def test_a_value_that_got_lost_is_sent_again_though_its_call_was_overtaken(editor):
    page = editor()
    page.page.clock.install()
    page.open()
    page.server.deaf = True
    page.press("Tab", "r")
    page.page.evaluate("window.cleanUp()")
    page.push()
    page.server.deaf = False
    page.page.clock.run_for(4200)
    page.settle()
    assert relevances(page)[0] == "high"


def test_an_editor_that_has_left_the_page_takes_no_keys(editor):
    page = editor()
    page.press("Tab", "r")
    page.page.evaluate("const host = document.getElementById('host'); host.remove(); window.cleanUp(); document.body.append(host);")
    page.press("r", "u")
    assert relevances(page)[0] == "high"
