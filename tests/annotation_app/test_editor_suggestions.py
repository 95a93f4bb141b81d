"""Suggestions in the page: shown apart from spans, gone through by keys or mouse, and never out of step with the text."""

from __future__ import annotations

import pytest
from editor_page import EditorPage, FakeServer, marked
from suggestion_stories import suggestion

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
HOSTILE = "<img src=x onerror=alert(1)>"
TEMPLATE = f"{FAMILY} [[Ann|name|low]] is 34 and has asthma; she lives in Leeds."
TEXT = marked(TEMPLATE).context
GHOSTS = """() => [...window.shadow.querySelectorAll(".ghost")].map((piece) => {
    const box = piece.getBoundingClientRect();
    const place = document.caretPositionFromPoint(box.left + 2, box.top + box.height / 2, {shadowRoots: [window.shadow]});
    return place.offsetNode.data.slice(place.offset, place.offset + 4);
})"""


def at(words: str, entity_type: str, score: float | None = 0.8, **fields):
    start = TEXT.index(words)
    return suggestion(start, start + len(words), entity_type, score=score, **fields)


AGE, ASTHMA, LEEDS = at("34", "age", 0.95), at("asthma", "health", 0.6), at("Leeds", "location", None)


@pytest.fixture
def editor(browser):
    pages = []

    def make(*suggestions, template: str = TEMPLATE, question: str | None = "Why?", **settings) -> EditorPage:
        server = FakeServer({"r1": marked(template, question), "r2": marked(template, question)}, **settings)
        server.suggestions = list(suggestions or (AGE, ASTHMA, LEEDS))
        pages.append(browser.new_page(viewport={"width": 1280, "height": 800}))
        return EditorPage(pages[-1], server)

    yield make
    for page in pages:
        page.close()


def rows(editor: EditorPage) -> list[str]:
    return editor.page.locator(".suggestion .value").all_inner_texts()


def selected(editor: EditorPage) -> list[str]:
    return editor.page.locator(".suggestion.selected .value").all_inner_texts()


def decided(editor: EditorPage) -> dict[str, str]:
    return {one.suggestion: one.how for one in editor.server.history.state.decided}


def test_they_are_shown_apart_from_spans(editor):
    page = editor()
    assert rows(page) == ["34", "asthma", "Leeds"]
    assert page.page.evaluate(GHOSTS) == ["34 a", "asth", "Leed"]
    assert page.page.locator("mark.span").count() == 1
    assert page.page.locator(".ghost").first.evaluate("(one) => getComputedStyle(one).borderTopStyle") == "dashed"
    assert page.page.locator(".suggestion .score").all_inner_texts() == ["0.95", "0.60", "–"]
    page.page.mouse.move(*page.caret(page.page.evaluate("(t) => t.indexOf('34')", TEXT) + 1))
    assert page.page.locator(".context-block .frame").get_attribute("title") == "Suggested: age, by patterns, 0.95"


def test_one_key_each(editor):
    page = editor()
    page.press("y")  # none is selected: it shows the first
    assert (selected(page), decided(page)) == (["34"], {})
    page.press("y", "d")
    assert decided(page) == {AGE.id: "accepted", ASTHMA.id: "refused"}
    assert (page.values(), selected(page)) == (["Ann", "34"], ["Leeds"])
    page.press("y", "y")
    assert page.values() == ["Ann", "34", "Leeds"]
    assert rows(page) == []
    page.press("u", "u")
    assert (rows(page), page.values()) == (["asthma", "Leeds"], ["Ann", "34"])
    assert [one["op"] for one in page.sent] == ["take", "refuse", "take", "undo", "undo"]


def test_going_through_them(editor):
    page = editor()
    page.press("g", "g")
    assert selected(page) == ["asthma"]
    page.press("Shift+G")
    assert selected(page) == ["34"]
    page.press("Escape", "y", "Shift+G")
    assert selected(page) == ["Leeds"]
    assert page.sent == []


def test_changing_its_ends_or_type_accepts_it_with_a_change(editor):
    page = editor()
    page.press("g", "]")
    assert (page.values(), decided(page)) == (["Ann", "34 and"], {AGE.id: "changed"})
    page.press("[", "]", "]")  # what came of it is selected
    assert page.values() == ["Ann", "34 and has"]
    page.press("g", "t")
    page.type("belief")
    page.press("Enter")
    assert decided(page) == {AGE.id: "changed", ASTHMA.id: "changed"}
    assert [span[2] for span in page.spans()] == ["name", "age", "belief"]
    page.press("u")
    assert decided(page) == {AGE.id: "changed"}


def test_a_span_changed_or_removed_afterwards(editor):
    page = editor()
    page.press("g", "y", "y")
    page.press("Escape")
    page.click(".row .choose:has-text('34')")
    page.press("]")
    assert decided(page) == {AGE.id: "changed", ASTHMA.id: "accepted"}
    page.press("Delete")
    assert decided(page) == {AGE.id: "refused", ASTHMA.id: "accepted"}


def test_all_from_a_score_on(editor):
    page = editor()
    page.press("Shift+Y")
    assert page.text("dialog p") == "1 of 3 would be accepted."
    page.page.locator("dialog input").fill("0.5")
    assert page.text("dialog p") == "2 of 3 would be accepted."
    page.press("Enter")
    assert page.values() == ["Ann", "34", "asthma"]
    assert len(page.sent) == 1
    page.press("u")
    assert (page.values(), rows(page)) == (["Ann"], ["34", "asthma", "Leeds"])
    page.press("Shift+Y")
    page.page.locator("dialog input").fill("7")
    page.press("Enter")
    assert page.page.locator("dialog input").get_attribute("aria-invalid") == "true"
    page.press("Escape")
    page.click("button:has-text('Refuse the rest')")
    assert set(decided(page).values()) == {"refused"}


def test_overlapping_ones_are_not_accepted_together(editor):
    wide = at("asthma; she", "belief", 0.7)
    page = editor(ASTHMA, wide, at("Ann is", "name", 0.9))
    page.press("Shift+Y")
    page.page.locator("dialog input").fill("0")
    page.press("Enter")
    assert page.values() == ["Ann", "asthma; she"]
    assert page.page.locator(".suggestion .doubt-note").all_inner_texts() == ["overlaps a span", "overlaps a span"]
    page.press("g", "y")
    assert "in the way" in page.text(".notice")
    page.press("d")
    assert len(page.sent) == 2


def test_detectors_that_agree_are_one_row_and_a_span_that_is_there_is_no_new_one(editor):
    page = editor(AGE, at("34", "age", 0.5, detector="probe"), at("Ann", "name", 0.9))
    assert rows(page) == ["Ann", "34"]
    assert page.page.evaluate(GHOSTS) == ["34 a"]
    assert "is a span already" in page.text(".suggestion")
    page.press("g", "y", "y")
    assert page.values() == ["Ann", "34"]
    assert list(decided(page).values()) == ["accepted"] * 3
    assert page.spans()[0][3] == "low"


def test_by_mouse(editor):
    page = editor()
    page.page.mouse.click(*page.caret(page.page.evaluate("(t) => t.indexOf('asthma')", TEXT) + 2))
    page.page.locator(".suggestion.selected").wait_for()
    assert selected(page) == ["asthma"]
    page.click(".suggestion.selected [data-act=accept]")
    assert decided(page) == {ASTHMA.id: "accepted"}
    start = page.page.evaluate("(t) => t.indexOf('Leeds')", TEXT)
    page.drag(start, start + 5)  # marking what is suggested is accepting it
    page.page.locator(".picker-input").wait_for()
    page.type("location")
    page.press("Enter")
    assert decided(page) == {ASTHMA.id: "accepted", LEEDS.id: "accepted"}


def test_marking_other_words_as_what_is_suggested_there_changes_it(editor):
    page = editor()
    start = page.page.evaluate("(t) => t.indexOf('has asthma')", TEXT)
    page.drag(start, start + len("has asthma"))
    page.page.locator(".picker-input").wait_for()
    page.type("health")
    page.press("Enter")
    assert (page.values(), decided(page)) == (["Ann", "has asthma"], {ASTHMA.id: "changed"})
    lives = page.page.evaluate("(t) => t.indexOf('lives')", TEXT)
    page.drag(lives, lives + len("lives in Leeds"))
    page.page.locator(".picker-input").wait_for()
    page.type("belief")
    page.press("Enter")
    assert (page.values()[-1], decided(page)) == ("lives in Leeds", {ASTHMA.id: "changed"})  # something else was meant


def test_on_a_narrow_screen_the_lower_bar_has_what_can_be_done(browser):
    page = browser.new_page(viewport={"width": 600, "height": 800})
    server = FakeServer({"r1": marked(TEMPLATE)})
    server.suggestions = [AGE, ASTHMA]
    editor = EditorPage(page, server)
    assert not page.locator(".suggested-acts").is_visible()
    page.mouse.click(*editor.caret(page.evaluate("(t) => t.indexOf('asthma')", TEXT) + 2))
    editor.settle()
    editor.click(".suggested-acts button:has-text('Accept')")
    editor.click(".suggested-acts button:has-text('Refuse')")
    assert decided(editor) == {ASTHMA.id: "accepted", AGE.id: "refused"}
    page.close()


def test_no_suggestion_acts_on_a_text_that_it_is_not_for(editor):
    page = editor()
    page.server.holding = True
    page.press("e")
    page.page.locator(".area.context").evaluate("(area) => area.setSelectionRange(0, 0)")
    page.type("Oh ")
    page.press("Escape")
    assert page.page.locator(".ghost").count() == 0
    assert "move with it" in page.text(".suggestions")
    page.press("y")
    assert page.sent[-1]["op"] == "text"
    page.server.holding = False
    page.push()
    page.settle()
    assert page.page.evaluate(GHOSTS) == ["34 a", "asth", "Leed"]
    page.press("g", "y")
    assert page.values() == ["Ann", "34"]


def test_an_edit_of_its_words_withdraws_it_and_says_so(editor):
    page = editor()
    page.press("e")
    unit = page.page.evaluate("(t) => t.indexOf('34')", TEXT)
    page.page.locator(".area.context").evaluate("(area, at) => area.setSelectionRange(at, at + 2)", unit)
    page.type("35")
    page.press("Escape")
    assert rows(page) == ["asthma", "Leeds"]
    assert "Withdrawn: age by patterns, since its words were edited" in page.text(".suggestions")
    page.press("u")
    assert rows(page) == ["34", "asthma", "Leeds"]


def test_decisions_of_a_reloaded_page_are_sent_and_kept(editor):
    page = editor()
    page.server.deaf = True
    page.press("g", "y", "d")
    page.server.deaf = False
    page.open()
    page.settle()
    assert decided(page) == {AGE.id: "accepted", ASTHMA.id: "refused"}
    assert rows(page) == ["Leeds"]


def test_names_of_detectors_are_text(editor):
    page = editor(at("34", "age", 0.9, detector=HOSTILE, found_by=HOSTILE, model=HOSTILE))
    page.press("g")
    assert HOSTILE in page.text(".suggestion .sources")
    assert page.page.locator(".editor img").count() == 0
    page.press("y")
    assert decided(page)


def test_without_a_question_nothing_is_relevant(editor):
    page = editor(at("34", "age"), template=TEMPLATE.replace("|low", "|"), question=None)
    page.press("g", "y")
    assert page.spans()[1][3] is None


def test_read_only(editor):
    page = editor(readonly=True)
    assert rows(page) == ["34", "asthma", "Leeds"]
    page.press("g", "y", "d", "Shift+Y")
    assert page.sent == []
    assert page.page.locator(".suggestion [data-act=accept]").count() == 0


def test_without_suggestions_there_is_no_panel(editor):
    page = editor()
    page.server.suggestions = []
    page.push()
    assert not page.page.locator(".suggestions").is_visible()
    page.press("y", "d", "g", "Shift+Y")
    assert "no suggestion left" in page.text(".notice")
