"""Spans by mouse and by keys: what goes out is exact code points, whatever stands before them in the text."""

from __future__ import annotations

import pytest
from editor_page import EditorPage, editors, units

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466"
TEXTS = {
    "mixed": f"{FAMILY} Cafe\u0301\r\nשלום\tAda Lovelace came from London to meet [[Grace|name|low]] here.",
    "plain": "Ada Lovelace came from London to meet [[Grace|name|low]] here.",
    "emoji": f"{FAMILY} \U0001f600 Ada Lovelace came from London to meet [[Grace|name|low]] here.",
    "combining": "Cafe\u0301 nai\u0308ve Ada Lovelace came from London to meet [[Grace|name|low]] here.",
    "crlf": "One\r\ntwo\rthree\r\n\r\nAda Lovelace came from London to meet [[Grace|name|low]] here.",
    "hebrew": "שלום לכולם Ada Lovelace came from London to meet [[Grace|name|low]] here.",
    "controls": "tab\there \u202eодин\u202c Ada Lovelace came from London to meet [[Grace|name|low]] here.",
}


# One text with all of it in the quick tests, each kind by itself in the long ones.
each_text = pytest.mark.parametrize("text", ["mixed", *(pytest.param(name, marks=pytest.mark.long) for name in TEXTS if name != "mixed")])


@pytest.fixture
def editor(browser):
    with editors(browser) as make:
        yield make


def shown(context: str, place: int) -> int:
    return units(context[:place].replace("\r\n", "\n"))


def select(page: EditorPage, value: str, *, cut: tuple[int, int] = (0, 0), alt: bool = False) -> None:
    context = page.server.document.context
    start = context.index(value) + cut[0]
    end = context.index(value) + len(value) - cut[1]
    page.drag(shown(context, start), shown(context, end), alt=alt)


@each_text
def test_a_mouse_selection_becomes_a_span_of_whole_words(editor, text):
    page = editor(TEXTS[text])
    select(page, "Ada Lovelace", cut=(1, 3))
    page.type("nam")
    page.press("Enter")
    context = page.server.document.context
    start = context.index("Ada")
    assert page.spans()[0] == (start, start + 12, "name", "low")
    assert page.values() == ["Ada Lovelace", "Grace"]
    assert page.sent[0]["span"]["id"].startswith("u-")


@pytest.mark.parametrize("held_ms", [0, 60])
def test_a_double_click_marks_a_word(editor, held_ms):
    page = editor(TEXTS["mixed"])
    context = page.server.document.context
    x, y = page.caret(shown(context, context.index("London") + 2))
    page.page.mouse.dblclick(x, y, delay=held_ms)
    page.settle()
    page.type("loc")
    page.press("Enter")
    assert page.values() == ["London", "Grace"]


def test_a_key_right_behind_a_click_acts_on_what_was_clicked(editor):
    page = editor("[[Ada|name|low]] met [[Grace|name|low]] and [[Kent|name|low]].")
    page.press("Tab")
    places = [page.caret(unit + 1) for unit in map(page.server.document.context.index, ("Grace", "Kent"))]
    for x, y in places:
        page.page.mouse.click(x, y)
        page.page.keyboard.press("Delete")
    page.settle()
    assert page.values() == ["Ada"]


@each_text
def test_alt_takes_exactly_what_was_selected(editor, text):
    page = editor(TEXTS[text])
    select(page, "Lovelace", cut=(2, 2), alt=True)
    page.press("Shift+Enter")
    assert page.values()[0] == "vela"
    assert page.spans()[0][3] == "high"


@each_text
def test_a_span_made_with_keys_alone(editor, text):
    page = editor(TEXTS[text])
    context = page.server.document.context
    onwards = "ArrowLeft" if text == "hebrew" else "ArrowRight"  # its first letters make the whole text run to the left
    page.press("n")
    for _ in range(12):
        if page.page.evaluate("window.shadow.querySelector('.said').textContent") == "Selected: London":
            break
        page.press(onwards)
    page.press("Enter")
    page.type("loc")
    page.press("Enter")
    start = context.index("London")
    assert (start, start + 6, "location", "low") in page.spans()


@each_text
def test_ends_move_by_words_and_by_graphemes(editor, text):
    page = editor(TEXTS[text])
    page.press("Tab")
    steps = [
        ("]", "Grace here"),
        ("[", "Grace"),
        ("{", "meet Grace"),
        ("}", "Grace"),
        ("Alt+[", "Grac"),
        ("Alt+]", "Grace"),
        ("Alt+Shift+]", "race"),
    ]
    for key, value in steps:
        page.press(key)
        assert page.values() == [value], key
    assert [operation["op"] for operation in page.sent] == ["move"] * len(steps)


def test_a_grapheme_is_not_cut(editor):
    page = editor(f"See [[you|name|low]]{FAMILY}e\u0301 now")
    page.press("Tab", "Alt+]")
    assert page.values() == [f"you{FAMILY}"]
    page.press("Alt+]")
    assert page.values() == [f"you{FAMILY}e\u0301"]
    page.press("Alt+[", "Alt+[")
    assert page.values() == ["you"]


def handle(page: EditorPage, side: str) -> tuple[float, float]:
    box = page.page.locator(f".handle.{side}").bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


@each_text
def test_dragging_an_end_by_words_and_exactly(editor, text):
    page = editor(TEXTS[text])
    page.click("mark.span")
    context = page.server.document.context
    for alt, target, value in ((False, context.rindex("here") + 3, "Grace here"), (True, context.index("Grace") + 3, "Gra")):
        x, y = handle(page, "end")
        page.page.mouse.move(x, y)
        page.page.mouse.down()
        if alt:
            page.page.keyboard.down("Alt")
        page.page.mouse.move(*page.caret(shown(context, target)), steps=3)
        page.page.mouse.up()
        if alt:
            page.page.keyboard.up("Alt")
        page.settle()
        assert page.values() == [value]
    page.page.mouse.move(*handle(page, "start"))
    page.page.mouse.down()
    page.page.mouse.move(*page.caret(shown(context, context.index("meet") + 1)), steps=3)
    page.page.mouse.up()
    page.settle()
    assert page.values() == ["meet Gra"]


def test_a_drag_stops_at_the_next_span(editor):
    page = editor("[[Ada|name|low]] and [[Grace|name|high]] met.")
    page.click("mark.span")
    page.page.mouse.move(*handle(page, "end"))
    page.page.mouse.down()
    page.page.mouse.move(*page.caret(16), steps=4)
    page.page.mouse.up()
    page.settle()
    assert page.values() == ["Ada and", "Grace"]


def test_overlap_is_refused_with_the_reason(editor):
    page = editor("[[Ada|name|low]] and [[Grace|name|high]] met.")
    page.press("Tab", "]", "]")
    assert page.values() == ["Ada and", "Grace"]
    assert "overlap" in page.text(".notice")
    page.drag(9, 18)
    assert "overlap" in page.text(".notice")
    assert page.page.locator(".picker").count() == 0
    assert len(page.sent) == 1


def test_type_relevance_removal_by_keys(editor):
    page = editor("[[Ada|name|low]] and [[Grace|name|]] met.")
    page.press("Tab", "r")
    assert page.spans()[0] == (0, 3, "name", "high")
    page.press("r", "t")
    page.type("occ")
    page.press("Enter")
    assert page.spans()[0] == (0, 3, "occupation", "low")
    page.press("Enter", "ArrowDown", "Escape", "Tab", "r")
    assert page.spans()[1] == (8, 13, "name", "high")
    page.press("Delete", "Delete")
    assert page.spans() == []


def test_type_relevance_removal_by_mouse(editor):
    page = editor("[[Ada|name|low]] and [[Grace|name|low]] met.")
    page.click("mark.span")
    page.click(".row.selected .relevance")
    page.click(".row.selected [data-act=type]")
    page.click(".picker-row:has-text('health')")
    assert page.spans()[0] == (0, 3, "health", "high")
    page.click(".row [data-act=choose] >> nth=1")
    page.click(".row.selected [data-act=remove]")
    assert page.values() == ["Ada"]
    page.click(".bottom button:has-text('Undo')")
    assert page.values() == ["Ada", "Grace"]
    page.click(".bottom button:has-text('Redo')")
    assert page.values() == ["Ada"]


def test_tab_goes_through_the_spans_and_leaves_at_the_end(editor):
    page = editor("[[Ada|name|low]] and [[Grace|name|low]] met.")
    focused = "window.shadow.activeElement?.dataset?.id ?? window.shadow.activeElement?.className ?? null"
    page.press("Tab")
    assert page.page.evaluate(focused) == "s1"
    page.press("Tab")
    assert page.page.evaluate(focused) == "s2"
    page.press("Tab")
    assert page.page.evaluate(focused) not in {"s1", "s2"}
    page.click("mark.span >> nth=1")
    page.press("Shift+Tab")
    assert page.page.evaluate(focused) == "s1"


def test_escape_leaves_a_draft_without_a_span(editor):
    page = editor("Ada and Grace met.")
    page.drag(0, 3)
    assert page.page.locator(".picker").count() == 1
    page.press("Escape")
    assert page.page.locator(".picker, .draft").count() == 0
    assert page.server.heard == []


def test_spans_are_listed_in_text_order(editor):
    page = editor("[[Ada|name|low]] saw [[Kent|location|high]] at [[nine|datetime|low]].")
    assert page.page.locator(".row .value").all_inner_texts() == ["Ada", "Kent", "nine"]


def test_relevance_is_never_shown_by_colour_alone(editor):
    page = editor("[[Ada|name|low]] saw [[Kent|location|high]].")
    style = """(i) => {
        const style = getComputedStyle(window.shadow.querySelectorAll("mark.span")[i]);
        return [style.borderBottomStyle, style.backgroundImage !== "none"];
    }"""
    assert page.page.evaluate(style, 0) == ["dotted", True]
    assert page.page.evaluate(style, 1) == ["solid", False]
    labels = page.page.evaluate("[...window.shadow.querySelectorAll('mark.span')].map((mark) => mark.getAttribute('aria-label'))")
    assert labels == ["Ada, name, low relevance", "Kent, location, high relevance"]
    assert page.text(".row .relevance") == "low"


def test_right_to_left_text(editor):
    page = editor("קוראים לי [[דנה כהן|name|low]] ואני גרה בחיפה מאז 1999.", direction="rtl")
    assert page.page.evaluate("getComputedStyle(window.shadow.querySelector('.text.context')).direction") == "rtl"
    context = page.server.document.context
    start = context.index("בחיפה")
    page.drag(start, start + 5)
    page.type("loc")
    page.press("Enter")
    assert page.values() == ["דנה כהן", "בחיפה"]
    page.click("mark.span")
    x, y = handle(page, "end")
    page.page.mouse.move(x, y)
    page.page.mouse.down()
    page.page.mouse.move(*page.caret(context.index("ואני") + 3), steps=3)
    page.page.mouse.up()
    page.settle()
    assert page.values()[0] == "דנה כהן ואני"


_PLACES = """() => [...window.shadow.querySelectorAll("mark.span")].map((mark) => {
    const range = document.createRange();
    range.selectNodeContents(mark);
    const [whole, text] = [mark.getClientRects(), range.getClientRects()];
    return [whole.length, text.length, text[0].left - whole[0].left, whole[0].right - text[0].right];
})"""


def test_a_label_stays_beside_its_span_whatever_the_direction(editor):
    page = editor("פגשתי את [[Ada Lovelace|name|low]] בחיפה, אצל [[דנה|name|low]], בטלפון [[+49 170 123|code|low]] שלה.", direction="rtl")
    latin, hebrew, number = page.page.evaluate(_PLACES)
    assert [pieces[:2] for pieces in (latin, hebrew, number)] == [[1, 1]] * 3  # none is torn
    assert (latin[3] > 20, latin[2] < 8) == (True, True)  # the label is on the right of what runs to the right
    assert (hebrew[2] > 20, hebrew[3] < 8) == (True, True)
    assert (number[3] > 20, number[2] < 8) == (True, True)
