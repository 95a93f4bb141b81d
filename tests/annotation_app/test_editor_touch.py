"""A tablet: the selection that fingers make becomes a span by a button, ends are pulled by their handles, types are tapped."""

from __future__ import annotations

import pytest
from editor_page import EditorPage, FakeServer, marked

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
TEXT = f"{FAMILY} Ada Lovelace came from London to meet [[Grace|name|low]] here."
# What the system does on a long press and while its handles are pulled.
SELECT = """([from, to]) => {
    const surface = window.shadow.querySelector(".text.context");
    const node = [...surface.childNodes].find((one) => one.data?.includes(from) && one.data.includes(to));
    const range = document.createRange();
    range.setStart(node, node.data.indexOf(from));
    range.setEnd(node, node.data.indexOf(to) + to.length);
    const selection = window.shadow.getSelection();
    selection.removeAllRanges();
    selection.addRange(range);
}"""


@pytest.fixture
def tablet(browser):
    context = browser.new_context(viewport={"width": 820, "height": 1180}, has_touch=True, is_mobile=True)

    def make(template: str, **settings) -> EditorPage:
        return EditorPage(context.new_page(), FakeServer({"r1": marked(template), "r2": marked("Second")}, **settings))

    yield make
    context.close()


def tap(page: EditorPage, selector: str) -> None:
    page.page.locator(selector).first.tap()
    page.settle()


def pull(page: EditorPage, side: str, unit: int) -> None:
    """One finger from a handle to a place in the text, as the browser tells of it."""
    box = page.page.locator(f".handle.{side}").bounding_box()
    x, y = page.caret(unit)
    client = page.page.context.new_cdp_session(page.page)
    grip = {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"]}
    down = grip["y"] - (box["y"] + box["height"] / 2)
    client.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [grip]})
    for share in (0.5, 1.0):
        point = {"x": grip["x"] + (x - grip["x"]) * share, "y": grip["y"] + (y + down - grip["y"]) * share}
        client.send("Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": [point]})
    client.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    page.settle()


def test_a_touched_selection_becomes_a_span_when_the_button_is_tapped(tablet):
    page = tablet(TEXT)
    assert page.page.locator(".offer").count() == 0
    tap(page, ".text.context")
    page.page.evaluate(SELECT, ["London", "London"])
    page.page.locator(".offer").wait_for()
    page.page.evaluate(SELECT, ["da Love", "Love"])  # the handles are pulled on: nothing is made before the button is tapped
    page.page.wait_for_timeout(200)
    assert page.sent == []
    tap(page, ".offer")
    assert page.page.locator(".offer").count() == 0
    assert page.page.locator(".picker-input").get_attribute("inputmode") == "none"
    tap(page, ".picker-row:has-text('occupation')")
    start = page.server.document.context.index("Ada")
    assert page.spans()[0] == (start, start + 12, "occupation", "low")
    assert page.values() == ["Ada Lovelace", "Grace"]


def test_the_button_goes_with_the_selection(tablet):
    page = tablet(TEXT)
    tap(page, ".text.context")
    page.page.evaluate(SELECT, ["London", "London"])
    page.page.locator(".offer").wait_for()
    page.page.evaluate("window.shadow.getSelection().removeAllRanges()")
    page.page.locator(".offer").wait_for(state="detached")
    assert page.page.locator(".picker").count() == 0


def test_a_record_that_can_only_be_read_offers_nothing(tablet):
    page = tablet(TEXT, readonly=True)
    tap(page, ".text.context")
    page.page.evaluate(SELECT, ["London", "London"])
    page.page.wait_for_timeout(300)
    assert page.page.locator(".offer").count() == 0


def test_tapping_selects_and_a_finger_pulls_the_ends(tablet):
    page = tablet(TEXT)
    tap(page, "mark.span")
    assert page.page.locator("mark.span.selected").text_content() == "Grace"
    shown = page.page.locator(".text.context").text_content()
    unit = len(shown[: shown.index("here") + 3].encode("utf-16-le")) // 2
    pull(page, "end", unit)
    assert page.values() == ["Grace here"]
    tap(page, ".row.selected .relevance")
    tap(page, ".bottom button:has-text('Undo')")
    tap(page, ".span-acts button:has-text('Relevance: low')")  # beside the text, where the list is far below
    assert page.server.document.marks[0].relevance == "high"
    tap(page, ".span-acts button:has-text('Relevance: high')")
    tap(page, ".span-acts button:has-text('name')")
    tap(page, ".picker-row:has-text('occupation')")
    assert [(mark.entity_type, mark.relevance) for mark in page.server.document.marks] == [("occupation", "low")]
    tap(page, ".bottom button:has-text('Accept')")
    assert page.server.histories["r1"].state.verdict == "accepted"


def test_what_is_tapped_is_as_large_as_a_finger(tablet):
    page = tablet("[[Grace|name|low]] met Grace.")
    tap(page, "mark.span")
    for selector in (".bottom .button", ".row .choose", ".row .relevance", ".check .button"):
        box = page.page.locator(selector).first.bounding_box()
        assert box["height"] >= 36, selector
    assert page.page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
