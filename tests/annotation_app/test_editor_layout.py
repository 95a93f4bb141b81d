"""What eyes and hands rely on: nothing jumps, what is selected can be seen, and the focus is where the keys act."""

from __future__ import annotations

import pytest
from editor_page import editors

TOP = "(selector) => window.shadow.querySelector(selector).getBoundingClientRect().top"
# [top of the selected span, its bottom, top of the bar with the buttons, whether its row can be seen in the list]
SELECTED = """() => {
    const [mark, bar, row, list] = ["mark.span.selected", ".bar.bottom", ".row.selected", ".spans .panel-body"]
        .map((selector) => window.shadow.querySelector(selector).getBoundingClientRect());
    return [mark.top, mark.bottom, bar.top, list.top - 1 <= row.top && row.bottom <= list.bottom + 1];
}"""
FOCUSED = "() => [window.shadow.activeElement?.tagName, window.shadow.activeElement?.className]"


@pytest.fixture
def editor(browser):
    with editors(browser, width=1366, height=768) as make:
        yield make


def test_what_is_selected_is_in_view_in_the_text_and_in_the_list(editor):
    words = " ".join(f"some other words [[value{number}|name|low]]" for number in range(90))
    page = editor(words)
    for key, times in (("Tab", 40), ("Shift+Tab", 15), ("Tab", 30)):
        for _ in range(times):
            page.page.keyboard.press(key)
        top, bottom, bar, listed = page.page.evaluate(SELECTED)
        assert 60 <= top < bottom <= bar
        assert listed
    assert page.page.locator("mark.span.selected").text_content() == "value54"


def test_a_message_or_a_check_moves_nothing(editor):
    page = editor("[[Ada|name|low]] met [[Grace|name|low]] plainly.")
    places = [page.page.evaluate(TOP, selector) for selector in (".text.context", ".row")]
    page.press("Tab", "]", "]")
    assert page.page.locator(".notice").is_visible()
    page.press("Shift+E")
    page.type(" Grace?")
    page.press("Escape")
    assert page.page.locator(".check").count() >= 1
    assert [page.page.evaluate(TOP, selector) for selector in (".text.context", ".row")] == places


def test_the_next_record_stands_where_the_last_one_stood(editor):
    page = editor("[[Ada|name|low]] met Grace, and Ada went.", "Nobody at all was there.")
    before = page.page.evaluate(TOP, ".text.context")
    page.press("Tab", "a")
    assert page.page.locator(".text.context").text_content() == "Nobody at all was there."
    assert page.page.evaluate(TOP, ".text.context") == before
    assert page.page.evaluate(FOCUSED) == ["DIV", "text context"]


def test_the_focus_is_where_the_keys_act(editor):
    page = editor("[[Ada|name|low]] met [[Grace|name|low]] plainly.")
    page.press("Tab")
    assert page.page.evaluate(FOCUSED) == ["MARK", "span low selected"]
    page.press("Escape")
    assert page.page.evaluate(FOCUSED) == ["DIV", "text context"]
    page.press("Tab", "n")
    assert page.page.evaluate(FOCUSED) == ["DIV", "text context"]
    page.press("Escape", "Shift+E")
    page.type("!")
    page.press("Escape", "Tab", "Tab")
    assert page.page.evaluate(FOCUSED) == ["MARK", "span low selected"]
    assert page.page.locator("mark.span.selected").text_content() == "Grace"


def test_the_focus_stays_with_a_span_that_is_made_anew(editor):
    page = editor("Here [[Ada|name|low]] met Grace plainly.")
    page.press("Tab")
    for key in ("]", "Alt+[", "{", "u"):
        page.press(key)
        assert page.page.evaluate(FOCUSED) == ["MARK", "span low selected"]


def test_closing_the_help_by_its_key_lets_go_of_nothing(editor):
    page = editor("[[Ada|name|low]] met [[Grace|name|low]] plainly.")
    page.press("Tab", "?", "Escape")
    assert page.page.locator("dialog").count() == 0
    assert page.page.evaluate(FOCUSED) == ["MARK", "span low selected"]


def test_editing_leaves_the_page_where_it_is(editor):
    page = editor("[[Ada|name|low]] met [[Grace|name|low]].\n" + "A long story follows. " * 200)
    page.press("Tab", "e")
    assert page.page.evaluate("window.scrollY") == 0
    page.type("x")
    page.press("Escape")
    assert page.values()[0] == "Ada"
    assert page.server.document.context.startswith("Adax met")


# The editor comes up beside an element that has the focus; whether it has it then, and the text of the editor.
COMES_UP = """async ([tag, data]) => {
    const editor = await import("/editor.js");
    const held = document.createElement(tag), host = document.createElement("div");
    document.body.prepend(held, host);
    held.focus();
    const shadow = host.attachShadow({mode: "open"});
    editor.default({data, parentElement: shadow, setStateValue() {}});
    return [document.activeElement === held, shadow.activeElement?.className ?? null];
}"""


@pytest.mark.parametrize(("tag", "found"), [("button", [False, "text context"]), ("input", [True, None]), ("textarea", [True, None])])
def test_it_takes_the_focus_from_the_button_that_brought_it_up_but_from_nobody_who_types(editor, tag, found):
    page = editor("[[Ada|name|low]] met [[Grace|name|low]].")
    assert page.page.evaluate(COMES_UP, [tag, page.server.data()]) == found


# For each stop of the Tab key: its accessible name, and whether a line round it or beside it shows the focus.
STOP = """() => {
    const held = window.shadow.activeElement;
    if (!held) return null;
    const line = (style) => style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2;
    const bar = getComputedStyle(held, "::before");
    const shown = line(getComputedStyle(held)) || (held.classList.contains("text") && parseFloat(bar.width) >= 3 && bar.content !== "none");
    return [held.getAttribute("aria-label") || held.textContent.trim(), shown];
}"""


def test_every_stop_of_the_tab_key_has_a_name_and_shows_the_focus(editor):
    page = editor("[[Ada|name|low]] met Ada and [[Grace|name|high]] plainly.", why={"rationale": "It matters."})
    stops = []
    for _ in range(60):
        page.page.keyboard.press("Tab")
        stop = page.page.evaluate(STOP)
        if stop is None:
            break
        stops.append(stop)
    names = [name for name, _ in stops]
    assert [name for name, shown in stops if not name or not shown] == []
    for part in (
        "Ada, name, low relevance",
        "Grace, name, high relevance",
        "Relevance low: change",
        "Accept",
        "Reject",
        "Why labelled so",
    ):
        assert any(part in name.replace("…", "") for name in names), (part, names)
