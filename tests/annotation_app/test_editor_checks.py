"""Checks in the page: the places that they are about, in the question as in the context, and fixes that never use what is out of date."""

from __future__ import annotations

import pytest
from editor_page import EditorPage, FakeServer, marked

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
# What the custom highlight of hints covers, as texts.
HINTS = "[...(CSS.highlights.get('piiloom-hint') ?? [])].map((at) => at.startContainer.data.slice(at.startOffset, at.endOffset))"
DRAWN = "getComputedStyle(window.shadow.querySelector('.text'), '::highlight(piiloom-hint)').textDecorationLine"
POINTED = """([field]) => {
    const surface = window.shadow.querySelector(`.text.${field}`);
    return [...surface.parentElement.querySelectorAll(".highlight.pointed")].map((piece) => {
        const box = piece.getBoundingClientRect();
        const place = document.caretPositionFromPoint(box.left + 2, box.top + box.height / 2, {shadowRoots: [window.shadow]});
        return place.offsetNode.data.slice(place.offset, place.offset + 5);
    });
}"""


@pytest.fixture
def editor(browser):
    pages = []

    def make(template: str, question: str | None = "What is it?", **settings) -> EditorPage:
        pages.append(browser.new_page(viewport={"width": 1280, "height": 800}))
        return EditorPage(pages[-1], FakeServer({"r1": marked(template, question), "r2": marked("Second")}, **settings))

    yield make
    for page in pages:
        page.close()


@pytest.mark.parametrize("before", ["", f"{FAMILY} e\u0301 שלום,\r\n"])
def test_the_place_in_the_question_that_gives_a_value_away(editor, before):
    page = editor("[[Grace|name|low]] plays.", question=f"{before}Does Grace play?")
    assert page.page.evaluate(HINTS) == ["Grace"]
    assert (
        page.page.evaluate("getComputedStyle(window.shadow.querySelector('.text'), '::highlight(piiloom-hint)').textDecorationLine")
        == "underline"
    )
    assert "“Grace”" in page.text(".check-text")
    page.page.locator(".check-text").first.hover()
    assert page.page.evaluate(POINTED, ["question"]) == ["Grace"]
    assert page.page.evaluate(POINTED, ["context"]) == []
    page.page.mouse.move(5, 5)
    assert page.page.evaluate(POINTED, ["question"]) == []
    page.page.locator(".check-text").first.focus()
    assert page.page.evaluate(POINTED, ["question"]) == ["Grace"]
    page.press("Enter")
    assert page.page.locator("mark.span.selected").text_content() == "Grace"


def test_a_mended_question_has_no_hint(editor):
    page = editor("[[Grace|name|low]] plays.", question="Does Grace play?")
    page.server.holding = True
    page.press("Shift+E", "Control+a")
    page.type("Does she play?")
    page.press("Escape")
    assert page.page.evaluate(HINTS) == []  # the place is that of another text
    page.page.locator(".check-text").first.hover()
    assert page.page.evaluate(POINTED, ["question"]) == []
    page.server.holding = False
    page.push()
    assert page.page.locator(".check").count() == 0
    page.press("u")
    page.page.locator(".check-text").first.hover()
    assert page.page.evaluate(POINTED, ["question"]) == ["Grace"]
    page.press("Shift+U")  # the row goes from under the mouse
    assert page.page.evaluate(POINTED, ["question"]) == []


def test_places_in_the_context_are_underlined_and_pointed_at(editor):
    page = editor(f"{FAMILY} [[Grace|name|low]] met Grace,\r\nand wrote to grace@example.org.")
    assert sorted(page.page.evaluate(HINTS)) == ["Grace", "grace@example.org"]
    page.page.locator(".check-text", has_text="“Grace”").hover()
    assert page.page.evaluate(POINTED, ["context"]) == ["Grace"]
    page.press("m", "m")
    assert page.page.evaluate(HINTS) == []
    assert page.values() == ["Grace", "Grace", "grace@example.org"]


def test_a_fix_waits_for_checks_that_know_of_the_last_edit(editor):
    page = editor("[[Grace|name|low]] met Grace.")
    page.server.holding = True
    page.press("Tab", "r", "m", "a")
    assert page.values() == ["Grace"]
    assert "on its way" in page.text(".notice")
    page.server.holding = False
    page.push()
    page.settle()
    assert [mark.relevance for mark in page.server.document.marks] == ["high", "high"]
    page.press("a")
    assert page.server.histories["r1"].state.verdict == "accepted"


def test_a_fix_that_was_asked_for_can_be_let_go(editor):
    page = editor("[[Grace|name|low]] met Grace.")
    page.server.holding = True
    page.press("Tab", "r")
    page.click(".check .button")
    page.press("Escape", "a")
    page.server.holding = False
    page.push()
    page.settle()
    assert page.server.histories["r1"].state.verdict == "accepted"
    assert len(page.server.histories["r1"].state.document.marks) == 1


def test_the_keys_work_at_once_but_not_while_somebody_types_elsewhere(editor):
    page = editor("[[Grace|name|low]] plays.")
    assert page.page.evaluate("window.shadow.activeElement.className") == "text context"
    page.page.evaluate(
        """(data) => {
            const field = document.body.appendChild(document.createElement("input"));
            field.focus();
            const root = document.body.appendChild(document.createElement("div")).attachShadow({mode: "open"});
            window.cleanUp();
        }""",
        page.server.data(),
    )
    page.push()
    page.type("rx")
    assert page.page.evaluate("document.querySelector('input').value") == "rx"
    assert page.sent == []
