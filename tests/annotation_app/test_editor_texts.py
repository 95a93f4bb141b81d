"""Editing question and context in the page: small exact operations, no hot key while typing, nothing typed is lost."""

from __future__ import annotations

import pytest
from editor_page import EditorPage, editors

from piiloom.annotation_app.documents.document import parse_operation
from piiloom.taxonomy.entity_types import shipped_taxonomy

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"


@pytest.fixture
def editor(browser):
    with editors(browser) as make:
        yield make


def pause(page: EditorPage) -> None:
    """Until what was typed has gone out; the page does that by itself a moment after the last key."""
    page.page.wait_for_function("!sessionStorage.getItem('piiloom-typing:ada')")
    page.settle()


def caret_at(page: EditorPage, value: str, field: str = "context") -> None:
    page.page.evaluate(
        """([field, value]) => {
            const area = window.shadow.querySelector(`.area.${field}`);
            const at = area.value.indexOf(value) + value.length;
            area.setSelectionRange(at, at);
        }""",
        [field, value],
    )


TEXTS = {
    "mixed": f"{FAMILY} Cafe\u0301! שלום\r\nI am [[Ada|name|low]]\r\nand live in [[Kent|location|high]] now.",
    "plain": "I am [[Ada|name|low]] and live in [[Kent|location|high]] now.",
    "emoji": f"{FAMILY} I am [[Ada|name|low]] and live in [[Kent|location|high]] now.",
    "crlf": "Hello\r\nI am [[Ada|name|low]]\r\nand live in [[Kent|location|high]] now.\r\n",
    "cr": "Hello\rI am [[Ada|name|low]] and live in [[Kent|location|high]] now.",
    "combining": "Cafe\u0301! I am [[Ada|name|low]] and live in [[Kent|location|high]] now.",
    "hebrew": "שלום! I am [[Ada|name|low]] and live in [[Kent|location|high]] now.",
}


@pytest.mark.parametrize("text", ["mixed", *(pytest.param(name, marks=pytest.mark.long) for name in TEXTS if name != "mixed")])
def test_typing_keeps_the_spans_where_they_belong(editor, text):
    page = editor(TEXTS[text])
    before = page.server.document.context
    page.press("e")
    caret_at(page, "and live")
    page.type(f" {FAMILY}rajkfu")
    pause(page)
    assert page.server.document.context == before.replace("and live", f"and live {FAMILY}rajkfu")
    assert page.values() == ["Ada", "Kent"]
    assert not any(mark.doubt for mark in page.server.document.marks)
    assert all(operation["op"] == "text" and len(operation["inserted"]) < 20 for operation in page.sent)
    assert page.page.evaluate("window.hotKeys") == []


@pytest.mark.parametrize("text", ["plain", "crlf"])
def test_new_lines_follow_the_text(editor, text):
    page = editor(TEXTS[text])
    before = page.server.document.context
    page.press("e")
    caret_at(page, "now.")
    page.press("Enter")
    pause(page)
    end = "\r\n" if text == "crlf" else "\n"
    assert page.server.document.context == before.replace("now.", f"now.{end}", 1)


def test_a_span_whose_text_changed_must_be_confirmed(editor):
    page = editor(TEXTS["emoji"])
    page.press("e")
    caret_at(page, "Ad")
    page.type("d")
    page.press("Escape")
    assert page.values() == ["Adda", "Kent"]
    assert page.server.document.marks[0].doubt
    page.press("a")
    assert page.server.intents == []
    assert "confirm" in page.text(".notice")
    page.click("mark.span.doubt")
    page.press("c")
    assert not page.server.document.marks[0].doubt
    page.press("a")
    assert page.server.history.state.verdict == "accepted"
    assert [intent["go"] for intent in page.server.intents] == ["next"]


def test_the_question_by_key_and_by_button(editor):
    page = editor("I am [[Ada|name|low]].", question="Who\r\nis it?")
    page.press("Shift+E")
    page.press("Control+a")
    page.type("Who was it then?")
    page.press("Control+Enter")
    assert page.server.document.question == "Who was it then?"
    page.click(".question-block button:has-text('Edit')")
    page.type(" Really?")
    page.press("Escape", "u")
    assert page.server.document.question == "Who was it then?"


def test_an_empty_question_is_not_accepted(editor):
    page = editor("I am [[Ada|name|low]].")
    page.press("Shift+E", "Control+a", "Delete", "Escape", "a")
    assert page.server.document.question == ""
    assert page.server.history.state.verdict == "open"
    assert "question is empty" in page.text(".notice")


def test_a_record_without_question(editor):
    page = editor("I am [[Ada|name|low]].", question=None)
    assert "no question" in page.text(".question-block")
    page.press("Shift+E", "a")
    assert page.server.history.state.verdict == "accepted"


def test_no_hot_key_acts_while_someone_types(editor):
    page = editor("I am [[Ada|name|low]].", "Second")
    page.press("e")
    page.type("axfjkrtu[]{}?pm")
    page.press("Tab", "Shift+Tab")
    pause(page)
    assert {name for name, _ in page.server.heard} == {"outbox"}
    assert {operation["op"] for operation in page.sent} == {"text"}
    page.page.evaluate("window.shadow.activeElement.blur()")
    page.page.evaluate("window.hotKeys.length = 0")
    page.press("x")
    page.type("jka?")
    assert page.page.evaluate("window.shadow.querySelector('.dialog-text').value") == "jka?"
    page.press("Enter")
    assert page.server.histories["r1"].state.reason == "jka?"
    assert page.page.evaluate("window.hotKeys") == []


def test_shortcuts_of_the_browser_are_left_alone(editor):
    page = editor("I am [[Ada|name|low]].")
    page.press("Tab", "Control+r", "Control+a", "Meta+u", "Control+Delete")
    page.page.wait_for_function("window.ready")
    assert page.server.heard == []


def test_handled_keys_do_not_reach_streamlit(editor):
    page = editor("I am [[Ada|name|low]].")
    page.press("r", "Tab", "r", "c")
    assert page.page.evaluate("window.hotKeys") == []
    page.press("z")
    assert page.page.evaluate("window.hotKeys") == ["z"]


def test_typing_survives_a_reload_at_once(editor):
    page = editor(TEXTS["crlf"])
    before = page.server.document.context
    page.press("e")
    caret_at(page, "and live")
    page.page.keyboard.type(" happily")
    page.open()
    page.settle()
    assert page.server.document.context == before.replace("and live", "and live happily")
    assert page.values() == ["Ada", "Kent"]


def test_typing_whose_page_died_is_restored(editor):
    page = editor(TEXTS["plain"])
    before = page.server.document.context
    page.page.evaluate(
        """([before, after]) => {
            const typed = {record: "r1", field: "context", before, after};
            sessionStorage.setItem("piiloom-typing:ada", JSON.stringify(typed));
        }""",
        [before, before.replace("Kent", "Kent and York")],
    )
    page.open()
    page.settle()
    assert page.server.document.context == before.replace("Kent", "Kent and York")
    assert page.values() == ["Ada", "Kent"]


def test_another_tab_changes_the_text_under_the_typing(editor):
    page = editor(TEXTS["plain"])
    page.press("e")
    caret_at(page, "now")
    page.page.keyboard.type("adays")
    page.server.history.do(
        parse_operation({"op": "text", "field": "context", "at": 0, "removed": "I am", "inserted": "Here is"}), shipped_taxonomy().types
    )
    page.push()
    pause(page)
    assert page.server.document.context == "Here is Ada and live in Kent nowadays."
    assert page.page.evaluate("window.shadow.querySelector('.area.context').value") == page.server.document.context


def test_typing_that_fits_nowhere_is_shown_not_dropped(editor):
    page = editor(TEXTS["plain"])
    page.press("e")
    caret_at(page, "now")
    page.page.keyboard.type("adays")
    before = page.server.document.context
    page.server.history.do(
        parse_operation({"op": "text", "field": "context", "at": 0, "removed": before, "inserted": "All new."}), shipped_taxonomy().types
    )
    page.push()
    page.settle()
    assert page.server.document.context == "All new."
    assert "nowadays" in page.text(".notice")
