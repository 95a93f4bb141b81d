"""The real app in headless Chromium: a person logs in, reads, clicks and types; every wait is for something to be seen."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest

from piiloom.annotation_app.documents.document import EditedDocument
from piiloom.annotation_app.serving.services import open_services
from piiloom.corpus.record import Record, Span
from piiloom.corpus.store.annotation_events import AnnotationDocument, load_documents
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.records import add_records
from tests.annotation_app.people_tools import GOOD

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
# Two cores may be shared with much else; nothing waits longer than it has to.
PATIENCE_MS = 45_000
_DRAWN = "() => document.querySelector('[data-testid=stApp]')?.dataset.testScriptState === 'notRunning'"
FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466"


def record_of(record_id: str, document: EditedDocument, locale: str = "en_US") -> Record:
    """A record with the text and spans of *document*."""
    spans = [Span(id=m.id, start=m.start, end=m.end, entity_type=m.entity_type, relevance=m.relevance) for m in document.marks]
    return Record(id=record_id, context=document.context, question=document.question, spans=tuple(spans), locale=locale)


def make_project(
    path: Path,
    records: list[Record],
    people: Mapping[str, str],
    *,
    wanted: int = 1,
    assigned: Mapping[str, list[str]] | None = None,
    **settings: Any,
) -> Path:
    """A store of *records*, all in the work list for *wanted* people each, and accounts of *people* (roles by name)."""
    with Store.open(path) as store:
        add_records(store, None, [(None, record) for record in records])
    services = open_services(path)
    try:
        for name, role in people.items():
            services.accounts.add(name, role, password=GOOD)
        for name, value in settings.items():
            services.settings.change("boss", name, value)
        services.pool.add("boss", record_ids=[record.id for record in records], wanted=wanted)
        for name, ids in (assigned or {}).items():
            services.work.assign("boss", ids, [name])
    finally:
        services.close()
    return path


def documents_in(path: Path) -> dict[tuple[str, str], AnnotationDocument]:
    """The documents of the store at *path*, which nobody serves any more, by record and person."""
    with Store.open(path, create=False) as store:
        return {(one.record_id, one.annotator): one for one in load_documents(store)}


def labels(found: AnnotationDocument) -> list[tuple[str, str, str | None]]:
    """Value, type and relevance of each span; the value is what the stored offsets cut out of the stored text."""
    return labels_of(found.state["document"])


def labels_of(document: Mapping[str, Any]) -> list[tuple[str, str, str | None]]:
    """As ``labels``, of a document in its JSON form."""
    return [(document["context"][span["start"] : span["end"]], span["type"], span["relevance"]) for span in document["spans"]]


class AppPage:
    """One tab of one person; ``asked`` are the addresses that the browser has ever asked for, ``dialogs`` those that opened."""

    def __init__(self, browser: Any, server: Any, name: str | None = None, *, beside: AppPage | None = None, **device: Any) -> None:
        self.server = server
        self.context = beside.context if beside else browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **device})
        self.context.set_default_timeout(PATIENCE_MS)
        self.page = self.context.new_page()
        self.asked: list[str] = []
        self.dialogs: list[str] = []
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.on("dialog", self._dismiss)
        self._comes_from_login = False
        if name is not None:
            self.log_in(name)

    def held_back(self) -> Callable[[], AbstractContextManager[None]]:
        """Call this before ``open``. In the context that it returns, the tab hears nothing from the server; it hears all of it afterwards.

        Otherwise a tab asks every few seconds whether its record was changed elsewhere, and so may know of that sooner than a test edits.
        """
        held: list[bytes | str] | None = None
        tabs: list[Any] = []

        def between(tab: Any) -> None:
            tabs.append(tab)
            tab.connect_to_server().on_message(lambda message: tab.send(message) if held is None else held.append(message))

        @contextmanager
        def hold() -> Iterator[None]:
            nonlocal held
            held = []
            yield
            late, held = held, None
            for message in late:
                tabs[-1].send(message)

        self.page.route_web_socket("**/_stcore/stream", between)
        return hold

    def _dismiss(self, dialog: Any) -> None:
        self.dialogs.append(dialog.message)
        dialog.dismiss()

    def log_in(self, name: str) -> None:
        self.page.goto(f"{self.server.url}/account/login")
        self.page.fill("input[name=name]", name)
        self.page.fill("input[name=password]", GOOD)
        self.page.keyboard.press("Enter")
        self.page.wait_for_url(f"{self.server.url}/")
        self._comes_from_login = True

    def open(self, path: str = "") -> None:
        """Load a page of the app; the work page, if none is named, where the login leads by itself."""
        if path or not self._comes_from_login:
            self.page.goto(f"{self.server.url}/{path}")
        self._comes_from_login = False
        if not path:
            self.see(".editor")

    def locator(self, selector: str) -> Any:
        return self.page.locator(selector)

    def see(self, selector: str) -> None:
        sync_api.expect(self.page.locator(selector).first).to_be_visible(timeout=PATIENCE_MS)

    def see_text(self, selector: str, text: str) -> None:
        """Wait until some element has *text* somewhere in it, and the page is drawn to its end."""
        self.see_offline(selector, text)
        self.drawn()

    def see_offline(self, selector: str, text: str) -> None:
        """Wait until some element has *text* somewhere in it. Without a network no page that is being drawn comes to its end."""
        sync_api.expect(self.page.locator(selector).filter(has_text=text).first).to_be_visible(timeout=PATIENCE_MS)

    def drawn(self) -> None:
        """Wait until Streamlit has drawn the whole page. Until then buttons of the page before may stand, and do nothing."""
        self.page.wait_for_function(_DRAWN, timeout=PATIENCE_MS)

    def at(self, record: Record | str) -> None:
        """Wait until the editor shows *record* (or a text with these words) and takes keys."""
        words = record if isinstance(record, str) else record.context.splitlines()[-1]
        sync_api.expect(self.page.locator(".text.context")).to_contain_text(words, timeout=PATIENCE_MS)
        self.rested()

    def rested(self) -> None:
        """Wait until no other record is on its way."""
        sync_api.expect(self.page.locator(".editor")).to_have_attribute("aria-busy", "false", timeout=PATIENCE_MS)

    def saved(self) -> None:
        """Wait until the server has acknowledged everything."""
        sync_api.expect(self.page.locator(".saved")).to_have_text("Saved", timeout=PATIENCE_MS)

    def shown(self) -> str:
        """The context on the screen."""
        return str(self.page.locator(".text.context").evaluate("(surface) => surface.textContent"))

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def type(self, text: str) -> None:
        self.page.keyboard.type(text)

    def described(self) -> str:
        """What stands on the page besides the record, for the message of a test that failed."""
        bars = [self.page.locator(selector).all_inner_texts() for selector in (".top", ".notice", ".said", ".bottom", "dialog[open]")]
        return f"bars: {bars}\nfocus: {self.page.evaluate(_FOCUSED)}"

    def click(self, selector: str, **settings: Any) -> None:
        self.page.locator(selector).first.click(**settings)

    def button(self, words: str) -> None:
        """A button of the editor's lower bar."""
        self.click(f".bottom button:has-text('{words}')")

    def row(self, value: str, act: str) -> None:
        """A button in the row of the span that reads *value*."""
        row = self.page.locator(".span-list .row").filter(has=self.page.locator(".value", has_text=value)).first
        if act != "relevance":
            row.locator("[data-act=choose]").click()  # the other buttons are those of the chosen row
        row.locator(f"[data-act={act}]").click()

    def values(self) -> list[str]:
        """The values in the list of spans."""
        return list(self.page.locator(".span-list .value").all_inner_texts())

    def chosen(self) -> str | None:
        """The text of the selected span."""
        found = self.page.locator("mark.span.selected")
        return str(found.first.text_content()) if found.count() else None

    def tab_to(self, selector: str) -> None:
        """Press Tab until what *selector* means has the focus."""
        wanted = self.page.locator(selector).first
        for _ in range(60):
            if wanted.evaluate("(target) => target.getRootNode().activeElement === target"):
                return
            self.press("Tab")
        raise AssertionError(f"Tab never led to {selector}")

    def caret(self, before: str, *, after: bool = False) -> tuple[float, float]:
        """The place on the screen where the words *before* begin in the context (or end, when *after*)."""
        unit = _units(self.shown(), before, after=after)
        self.page.locator(".text.context").scroll_into_view_if_needed()
        x, y = self.page.locator(".text.context").evaluate(_CARET, unit)
        return x, y

    def select(self, first: str, last: str, *, alt: bool = False) -> None:
        """Select with the mouse from the beginning of *first* to the end of *last*."""
        (x, y), (u, v) = self.caret(first), self.caret(last, after=True)
        inwards = -1 if unicodedata.bidirectional(first[0]) in {"R", "AL"} else 1
        with self._alt(alt):
            self.page.mouse.move(x + inwards, y)
            self.page.mouse.down()
            self.page.mouse.move((x + u) / 2, (y + v) / 2)
            self.page.mouse.move(u + 0.5 * inwards, v)
            self.page.mouse.up()

    def pull(self, side: str, words: str, *, after: bool = False, alt: bool = False) -> None:
        """Drag one end of the selected span to where *words* begin, or end."""
        box = self.page.locator(f".handle.{side}").bounding_box()
        self.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        with self._alt(alt):
            self.page.mouse.down()
            self.page.mouse.move(*self.caret(words, after=after), steps=4)
            self.page.mouse.up()

    @contextmanager
    def _alt(self, held: bool) -> Iterator[None]:
        if held:
            self.page.keyboard.down("Alt")
        yield
        if held:
            self.page.keyboard.up("Alt")


_FOCUSED = """() => {
    let one = document.activeElement;
    while (one?.shadowRoot?.activeElement) one = one.shadowRoot.activeElement;
    return one?.outerHTML.slice(0, 200);
}"""
_CARET = """(surface, unit) => {
    const walker = document.createTreeWalker(surface, NodeFilter.SHOW_TEXT);
    let left = unit, node = walker.nextNode();
    while (left >= node.data.length && walker.nextNode()) { left -= node.data.length; node = walker.currentNode; }
    const range = document.createRange();
    range.setStart(node, Math.min(left, node.data.length)); range.collapse(true);
    let box = range.getClientRects()[0];
    if (!box) { range.setEnd(node, Math.min(left + 1, node.data.length)); box = range.getBoundingClientRect(); }
    return [box.left, box.top + box.height / 2];
}"""


def _units(shown: str, words: str, *, after: bool) -> int:
    place = shown.index(words) + (len(words) if after else 0)
    return len(shown[:place].encode("utf-16-le")) // 2
