"""Every action of the editor inside a record, each by keys and by mouse, with what it leaves: one table for both ways."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from dataclasses import dataclass

from tests.annotation_app.app_driver import PATIENCE_MS, AppPage, sync_api
from tests.annotation_app.hard_texts import HardText

Label = tuple[str, str, str]


@dataclass(frozen=True)
class Step:
    """One action; ``leaves`` gives the spans after it, None where it changes none."""

    name: str
    keys: Callable[[AppPage, HardText], None]
    mouse: Callable[[AppPage, HardText], None]
    leaves: Callable[[HardText], list[Label]] | None = None


def press(*names: str) -> Callable[[AppPage, HardText], None]:
    return lambda page, _: page.press(*names)


def click(selector: str, *, then: str = "") -> Callable[[AppPage, HardText], None]:
    def act(page: AppPage, _: HardText) -> None:
        page.click(selector)
        if then:
            page.click(then)

    return act


def in_row(act: str, value: Callable[[HardText], str], then: str = "") -> Callable[[AppPage, HardText], None]:
    def done(page: AppPage, text: HardText) -> None:
        page.row(value(text), act)
        if then:
            page.click(then)

    return done


def pull(side: str, words: Callable[[HardText], str], *, after: bool = False, alt: bool = False) -> Callable[[AppPage, HardText], None]:
    def done(page: AppPage, text: HardText) -> None:
        page.pull(side, words(text), after=after, alt=alt)

    return done


def typed(key: str, words: str, *ends: str) -> Callable[[AppPage, HardText], None]:
    def act(page: AppPage, _: HardText) -> None:
        page.press(key)
        page.type(words)
        page.press(*ends)

    return act


def draft_on_fresh(page: AppPage, text: HardText) -> None:
    page.press("Escape", "Escape", "n")
    for _ in range(14):
        if page.locator(".said").text_content() == f"Selected: {text.fresh}":
            return
        page.press("ArrowLeft" if text.runs_left else "ArrowRight")
    raise AssertionError(f"{text.fresh!r} was not reached: {page.locator('.said').text_content()!r}")


def exact_span_by_keys(page: AppPage, text: HardText) -> None:
    draft_on_fresh(page, text)
    page.press("Alt+[", "Enter")
    page.type("loc")
    page.press("Shift+Enter")


def exact_span_by_mouse(page: AppPage, text: HardText) -> None:
    page.select(text.fresh, text.fresh[:-1], alt=True)
    page.click(".picker-row:has-text('location')", modifiers=["Shift"])


def span_by_keys(page: AppPage, text: HardText) -> None:
    """Found by its letters; how their accents are written does not matter."""
    page.press("/")
    page.type(unicodedata.normalize("NFC", text.fresh))
    page.press("Enter", "Enter")
    page.type("loc")
    page.press("Enter")


def span_by_mouse(page: AppPage, text: HardText) -> None:
    page.select(text.fresh[1:-1], text.fresh[1:-1])  # within a word: the whole of it is meant
    page.click(".picker-row:has-text('location')")


def reach_value(page: AppPage, text: HardText) -> None:
    """Tab from the first span to the one that is looked at."""
    for _ in range(9):
        if page.chosen() == text.fresh:
            break
        page.press("Shift+Tab" if page.chosen() else "Tab")
    page.press("Tab")


def into_the_value(page: AppPage, text: HardText) -> None:
    """The caret stands behind the value; one letter back, and type."""
    page.press("ArrowRight" if text.runs_left else "ArrowLeft")
    page.type("x")


def text_by_keys(page: AppPage, text: HardText) -> None:
    reach_value(page, text)
    page.press("e")
    into_the_value(page, text)
    page.press("Escape")


def text_by_mouse(page: AppPage, text: HardText) -> None:
    page.click(f"mark.span:has-text('{text.value}')")
    page.click(".context-block button:has-text('Edit')")
    into_the_value(page, text)
    page.click(".context-block button:has-text('Done')")


def question_by_mouse(page: AppPage, _: HardText) -> None:
    page.click(".question-block button:has-text('Edit')")
    page.type(" Now?")
    page.click(".question-block button:has-text('Done')")


def question_by_keys(page: AppPage, _: HardText) -> None:
    page.press("Shift+E")
    page.type(" Now?")
    page.press("Control+Enter")


def flag_by_mouse(page: AppPage, _: HardText) -> None:
    page.button("Flag")
    page.type("look")
    page.click("dialog button:has-text('Flag')")


def looked(key: str, button: str, shown: str, away_key: str, away_button: str) -> Step:
    """Something that is shown and put away again."""

    def by_keys(page: AppPage, _: HardText) -> None:
        page.press(key)
        page.see(shown)
        page.press(away_key)

    def by_mouse(page: AppPage, _: HardText) -> None:
        page.click(button)
        page.see(shown)
        page.click(away_button)

    return Step(f"look at {shown}", by_keys, by_mouse)


def disclosed(summary: str, words: str) -> Step:
    """Open what is closed, and close first what is open: below a short record there is room to show it from the beginning."""

    def each_time(page: AppPage, act: Callable[[], None]) -> None:
        panel = page.locator(summary).first.locator("..")
        if panel.get_attribute("open") is not None:
            act()
            sync_api.expect(panel).to_have_js_property("open", False, timeout=PATIENCE_MS)
            page.drawn()
        act()
        page.page.get_by_text(words).first.wait_for()
        sync_api.expect(panel).to_have_js_property("open", True, timeout=PATIENCE_MS)

    def by_keys(page: AppPage, _: HardText) -> None:
        def enter() -> None:
            page.tab_to(summary)
            page.press("Enter")

        each_time(page, enter)
        page.locator(".text.context").focus()

    def by_mouse(page: AppPage, _: HardText) -> None:
        each_time(page, lambda: page.click(summary))

    return Step(f"disclose {summary}", by_keys, by_mouse)


def cut(text: HardText) -> str:
    """The value without its last letter (of one code point in each text)."""
    return text.value[:-1]


def _fresh(text: HardText) -> str:
    return text.fresh


def _value(text: HardText) -> str:
    return text.value


def _twice(text: HardText, value: str = "") -> list[Label]:
    return [(text.fresh, "location", "low"), (value or text.value, "occupation", "high")]


def _four(text: HardText, value: str = "") -> list[Label]:
    return [*_twice(text, value), *[(text.value, "occupation", "high")] * 2]


UNDO, REDO = (press("u"), click(".bottom button:has-text('Undo')")), (press("Shift+U"), click(".bottom button:has-text('Redo')"))
MARK_ALL = ".check .button:has-text('Mark all 2')"


def mark_all_by_keys(page: AppPage, _: HardText) -> None:
    """``m`` does the first fix: an older check may stand before this one until the server has answered."""
    page.saved()  # else the checks may be about a state some steps back, and the key does the first fix of those
    page.see(f"{MARK_ALL}:has(kbd)")
    page.press("m")


STEPS = (
    Step(
        "a new span, exact, high",
        exact_span_by_keys,
        exact_span_by_mouse,
        lambda t: [(t.fresh[:-1], "location", "high"), (t.value, "name", "low")],
    ),
    Step("remove", press("Delete"), in_row("remove", lambda t: t.fresh[:-1]), lambda t: [(t.value, "name", "low")]),
    Step("a new span of whole words", span_by_keys, span_by_mouse, lambda t: [(t.fresh, "location", "low"), (t.value, "name", "low")]),
    Step("select the next", press("Tab"), click(".row [data-act=choose] >> nth=1")),
    Step("relevance", press("r"), in_row("relevance", _value), lambda t: [(t.fresh, "location", "low"), (t.value, "name", "high")]),
    Step("type", typed("t", "occ", "Enter"), in_row("type", _value, ".picker-row:has-text('occupation')"), _twice),
    Step("end further", press("]"), pull("end", lambda t: t.after, after=True), lambda t: _twice(t, f"{t.value} {t.after}")),
    Step("end back", press("["), pull("end", _value, after=True), _twice),
    Step("start back", press("{"), pull("start", lambda t: t.before), lambda t: _twice(t, f"{t.before} {t.value}")),
    Step("start further", press("}"), pull("start", _value), _twice),
    Step("end back by one", press("Alt+["), pull("end", cut, after=True, alt=True), lambda t: _twice(t, cut(t))),
    Step("end further by one", press("Alt+]"), pull("end", _value, after=True, alt=True), _twice),
    Step("start further by one", press("Alt+Shift+]"), pull("start", lambda t: t.value[1:], alt=True), lambda t: _twice(t, t.value[1:])),
    Step("start back by one", press("Alt+Shift+["), pull("start", _value, alt=True), _twice),
    Step("undo", *UNDO, lambda t: _twice(t, t.value[1:])),
    Step("redo", *REDO, _twice),
    Step("select the one before", press("Shift+Tab"), click("mark.span >> nth=0")),
    Step("remove another", press("Backspace"), in_row("remove", _fresh), lambda t: _twice(t)[1:]),
    Step("take it back", *UNDO, _twice),
    Step("mark all 2", mark_all_by_keys, click(MARK_ALL), _four),
    Step("undo all of it at once", *UNDO, _twice),
    Step("redo all of it at once", *REDO, _four),
    Step("edit the context", text_by_keys, text_by_mouse, lambda t: _four(t, f"{cut(t)}x{t.value[-1]}")),
    Step("confirm", press("c"), in_row("confirm", lambda t: f"{cut(t)}x{t.value[-1]}")),
    Step("edit the question", question_by_keys, question_by_mouse),
    Step("flag", typed("f", "look", "Enter"), flag_by_mouse),
    Step("unflag", press("f", "Tab", "Enter"), click(".bottom button:has-text('Flag')", then="dialog button:has-text('Remove the flag')")),
    Step("flag again", typed("f", "look", "Enter"), flag_by_mouse),
    looked("p", ".bottom button:has-text('Preview')", ".text.preview .masked", "p", ".bottom button:has-text('Preview')"),
    looked("?", ".top button:has-text('Keys')", "dialog .keys", "Escape", "dialog button:has-text('Close')"),
    disclosed(".why summary", "Where they met matters."),
    disclosed("summary:has-text('History')", "span removed"),
)
