"""Records of any length in the editor, and what a key press does to the page: nodes and letters, and milliseconds for benchmarks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from piiloom.annotation_app.documents.document import EditedDocument, SpanMark
from tests.annotation_app.editor_page import EditorPage, FakeServer

# Each changes one span, or what is selected. The first press of Tab selects the first span.
KEYS = ("Tab", "r", "r", "]", "[", "Tab", "r", "Delete", "u", "t", "Escape", "f", "Escape", "a")
_WORD, _WORDS_A_SPAN = 9, 100
_WATCH = """() => {
    const nodesIn = (node) => 1 + [...node.childNodes].reduce((sum, child) => sum + nodesIn(child), 0);
    window.work = {added: 0, removed: 0, letters: 0};
    const note = (records) => {
        for (const record of records) {
            for (const node of record.addedNodes) { work.added += nodesIn(node); work.letters += node.textContent.length; }
            for (const node of record.removedNodes) work.removed += nodesIn(node);
            if (record.type === "characterData") work.letters += record.target.data.length;
        }
    };
    const observer = new MutationObserver(note);
    observer.observe(window.shadow, {childList: true, subtree: true, characterData: true});
    window.takeWork = () => {
        note(observer.takeRecords());
        const found = window.work;
        window.work = {added: 0, removed: 0, letters: 0};
        return found;
    };
}"""
_TIME = """(key) => {
    const target = window.shadow.activeElement || document.body;
    const begun = performance.now();
    target.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true, composed: true, cancelable: true}));
    window.shadow.querySelector(".text").getBoundingClientRect();
    return performance.now() - begun;
}"""


def long_document(words: int) -> EditedDocument:
    """A text of *words* words of one length; each hundredth, from the first on, is a span."""
    context = " ".join(f"word{number:0{_WORD - 4}}" for number in range(words))
    starts = range(0, words * (_WORD + 1), _WORDS_A_SPAN * (_WORD + 1))
    marks = tuple(SpanMark(id=f"s{at:06}", start=at, end=at + _WORD, entity_type="name", relevance="low") for at in starts)
    return EditedDocument(context=context, question="Why?", marks=marks)


def open_long(page: Any, words: int) -> EditorPage:
    """The editor over ``long_document`` of *words* words. *page* is a new page of a browser."""
    return EditorPage(page, FakeServer({"long": long_document(words)}, checks=[]))


def watch(editor: EditorPage) -> None:
    """Begin to count what ``work_of`` tells."""
    editor.page.evaluate(_WATCH)


def work_of(editor: EditorPage, act: Callable[[], None]) -> dict[str, int]:
    """Do *act* and return what it and the answers of the server did to the page: nodes ``added`` and ``removed``, ``letters`` put in."""
    editor.page.evaluate("window.takeWork()")
    act()
    found: dict[str, int] = editor.page.evaluate("window.takeWork()")
    return found


def milliseconds_of(editor: EditorPage, key: str) -> float:
    """Press *key* and return the milliseconds until the text is laid out again."""
    taken: float = editor.page.evaluate(_TIME, key)
    editor.settle()
    return taken
