"""`/` finds letters in the context and begins a span there: in any script, however accents are written, without a key going astray."""

from __future__ import annotations

import unicodedata

import pytest
from editor_page import EditorPage, FakeServer, marked

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466"
FOCUSED = "window.shadow.activeElement?.dataset?.id ?? window.shadow.activeElement?.className ?? null"
LIT = "[...(CSS.highlights.get('piiloom-found') ?? [])].map((range) => range.startContainer.data.slice(range.startOffset, range.endOffset))"
GERMAN_SLASH = """window.shadow.activeElement.dispatchEvent(
    new KeyboardEvent("keydown", {key: "/", code: "Digit7", shiftKey: true, bubbles: true, composed: true, cancelable: true}))"""


@pytest.fixture
def editor(browser):
    pages = []

    def make(template: str, **settings) -> EditorPage:
        pages.append(browser.new_page(viewport={"width": 1280, "height": 800}))
        return EditorPage(pages[-1], FakeServer({"r1": marked(template), "r2": marked("Another one.")}, **settings))

    yield make
    for page in pages:
        page.close()


def find(page: EditorPage, letters: str, *keys: str) -> str:
    """Type *letters* into the field, then press *keys*; what screen readers are told."""
    page.press("/")
    page.type(letters)
    page.press(*keys)
    return str(page.page.locator("[role=status]").text_content())


def frame_holds(page: EditorPage, text: str) -> bool:
    """Whether the frame of the current match stands over *text*."""
    box, place = page.page.locator(".highlight.found").bounding_box(), page.caret(page.text(".text.context").index(text))
    return bool(abs(box["x"] - place[0]) < 2)


def test_every_sort_of_text(editor):
    page = editor(
        f"{FAMILY} Cafe\u0301\r\nשלום קָפֶה\r\nزُرتُ بيروت [[Rene\u0301e|name|low]] ate naïve\r\npie in Zürich\U0001f600. \U0001f469 x"
    )
    context = page.server.document.context
    for typed, value in {
        "cafe\u0301": "Cafe\u0301",
        "CAFÉ": "Cafe\u0301",
        "cafe": "Cafe\u0301",  # nobody has to know how to type an accent
        "nai\u0308ve pie": "naïve\r\npie",  # a blank is any, line ends too
        "קפה": "קָפֶה",
        "زرت": "زُرتُ",
        "zu\u0308r": "Zürich",  # grown to the word
    }.items():
        assert find(page, typed) == "1 of 1", typed
        assert value.replace("\r\n", "\n").startswith(page.page.evaluate(LIT)[0]), typed
        page.press("Enter")
        assert page.text(".said") == f"Selected: {' '.join(value.split())}"
    find(page, "pie in", "Enter", "[", "Enter")
    page.type("loc")
    page.press("Enter")
    assert page.sent[-1]["span"]["start"] == context.index("pie")
    assert page.values() == ["Rene\u0301e", "pie"]
    assert find(page, "\U0001f469") == "2 of 2"
    page.press("ArrowUp")
    assert FAMILY in page.page.evaluate(LIT), "inside a sign of several the whole of it is meant"
    page.press("Escape")
    assert page.page.evaluate(LIT) == []


def test_exactly_the_letters(editor):
    page = editor("He wrote to ada.lovelace@home and (2+2).")
    assert find(page, "(2+", "Alt+Enter") == "Selected: (2+"
    assert find(page, "lovelace", "Alt+Enter") == "Selected: lovelace"
    page.press("]", "Alt+[", "Enter")
    page.type("name")
    page.press("Shift+Enter")
    [(start, end, kind, relevance)] = page.spans()
    assert (page.server.document.context[start:end], kind, relevance) == (page.values()[0], "name", "high")


def test_through_the_matches_from_the_selected_span_on(editor):
    page = editor("Kim saw Kim, and [[Ada|name|low]] saw Kim, then Kim, kim.")
    assert find(page, "kim") == "1 of 5"
    page.press("Escape", "Tab")
    assert find(page, "kim") == "3 of 5"
    assert page.page.evaluate(LIT) == ["Kim"] * 4 + ["kim"]
    page.press("ArrowDown", "ArrowDown")
    assert page.text(".find-count") == "5 of 5"
    page.press("ArrowDown", "ArrowUp", "ArrowUp")
    assert page.text(".find-count") == "4 of 5"
    assert frame_holds(page, "Kim, kim")
    page.press("Backspace")
    assert page.text(".find-count") == "4 of 5", "what is shown does not jump while letters change"
    page.type("zzz")
    assert page.text(".find-count") == "Not found"
    page.press("Enter")
    assert page.page.locator(".find").count() == 1


def test_a_match_in_a_span_selects_it(editor):
    page = editor("Ada met [[Grace Hopper|name|low]] twice.")
    find(page, "hopp", "Enter")
    assert page.page.evaluate(FOCUSED) == "s1"
    find(page, "met gr", "Enter")
    assert "overlap" in page.text(".notice")
    assert page.page.locator(".draft, .picker").count() == 0
    assert page.sent == []
    find(page, "twice", "Enter", "e")
    assert page.page.evaluate("window.shadow.activeElement.selectionStart") == len("Ada met Grace Hopper twice"), "to edit there"


def test_the_focus_goes_back_and_no_key_goes_astray(editor):
    page = editor("Ada met [[Grace|name|low]] and read news.")
    page.press("Tab")
    page.page.evaluate(GERMAN_SLASH)
    assert page.page.evaluate(FOCUSED) == "find-input"
    page.type("a/?nrx")
    page.press("Escape")
    assert (page.page.evaluate(FOCUSED), page.page.locator(".find, dialog").count()) == ("s1", 0)
    assert not set(page.page.evaluate("window.hotKeys")) & set("/anrx?")
    page.press("e", "/")
    assert page.page.locator(".find").count() == 0, "in a field it is a letter"
    page.press("Backspace", "Escape", "?")
    assert page.page.locator("dialog dt:has-text('/') + dd").first.inner_text().startswith("find letters")
    page.press("Escape", "/", "Escape", "/")
    page.type("read")
    page.server.at = 1
    page.push()
    assert page.page.locator(".find, .found").count() == 0, "another record"


def test_the_current_match_is_scrolled_into_view(editor):
    page = editor(" ".join(f"word{number} and" for number in range(900)) + " needle, [[Ada|name|low]] and word5 again.")
    find(page, "NEEDLE")
    box = page.page.locator(".highlight.found").bounding_box()
    assert 0 < box["y"] < 700
    page.press("Escape")
    assert find(page, "word5 ") == "2 of 2", "from the first line in view on"
    page.press("ArrowDown")
    assert page.page.locator(".highlight.found").bounding_box()["y"] > 0


def test_reading_only(editor):
    page = editor("Ada met Grace.", readonly=True)
    assert find(page, "grace", "Enter") == "1 of 1"
    assert page.page.locator(".find, .draft").count() == 0
    assert page.page.evaluate(FOCUSED) == "text context"


def test_a_long_text_with_many_matches_stays_quick(editor):
    page = editor("e\u0301 " * 8_000)
    page.press("/")
    page.type("e e e é")
    assert page.text(".find-count") == "1 of 2000"
    assert len(page.page.evaluate(LIT)) == 250
    assert unicodedata.normalize("NFC", page.page.evaluate(LIT)[0]) == "é é é é"
