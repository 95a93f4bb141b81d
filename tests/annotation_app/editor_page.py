"""The editor without Streamlit: a page in headless Chromium, a shadow root, and the real History as its server."""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

import pytest

from piiloom.annotation_app.documents.document import EditedDocument, Refusal, SpanMark, parse_operation
from piiloom.annotation_app.documents.history import EditHistory
from piiloom.annotation_app.documents.live_checks import live_checks
from piiloom.annotation_app.sync.editor_data import colours, script, styles, suggestions_data
from piiloom.corpus.store.judgements import Suggestion
from piiloom.taxonomy.entity_types import Taxonomy, shipped_taxonomy

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
ORIGIN = "http://editor.test"
PAGE = """<!doctype html><html><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1"><title>editor</title><style>
body { margin: 0; padding: 20px 28px; } html.dark { color-scheme: dark; } .dark body { background: #14161b; }
</style></head><body><div id="host"></div><script type="module">
import mountEditor from "/editor.js";
const shadow = document.getElementById("host").attachShadow({mode: "open"});
const style = document.createElement("style");
style.textContent = await (await fetch("/editor.css")).text();
shadow.append(style);
window.hotKeys = [];
document.addEventListener("keydown", (event) => window.hotKeys.push(event.key));
window.dialogs = 0;
for (const name of ["alert", "confirm", "prompt"]) window[name] = () => { window.dialogs += 1; };
const send = (name, value) => window.heard(name, value);
window.mount = (data) => { window.cleanUp = mountEditor({data, parentElement: shadow, setStateValue: send}); };
window.shadow = shadow;
window.mount(await window.start());
window.ready = true;
</script></body></html>"""


class FakeServer:
    """What the document service and the pages do, for one person: histories by record, acknowledgements, intents. May be put on hold."""

    def __init__(self, documents: dict[str, EditedDocument], taxonomy: Taxonomy | None = None, **settings: Any) -> None:
        self.types = (taxonomy or shipped_taxonomy()).types
        self.histories = {name: EditHistory(document) for name, document in documents.items()}
        self.order = list(documents)
        self.suggestions: list[Suggestion] = []  # of each record
        self.at = 0
        self.settings = settings
        self.acknowledged: dict[str, int] = {}
        self.heard: list[tuple[str, Any]] = []
        self.applied: list[dict[str, Any]] = []
        self.notices: list[dict[str, Any]] = []
        self.intents: list[dict[str, Any]] = []
        self.holding = False
        self.deaf = False

    @property
    def record(self) -> str:
        return self.order[self.at]

    @property
    def history(self) -> EditHistory:
        return self.histories[self.record]

    @property
    def document(self) -> EditedDocument:
        return self.history.state.document

    def data(self) -> dict[str, Any]:
        types = self.types
        state = self.history.state
        found = live_checks(state.document, "en_GB", types) if len(state.document.context) < 5000 else []
        return {
            "record": self.record,
            "person": "ada",
            "version": self.history.version,
            "state": state.to_json(),
            "acknowledged": dict(self.acknowledged),
            "notices": self.notices,
            "types": [{"name": name, "colour": colour} for name, colour in colours(types).items()],
            "checks": [asdict(one) for one in found],
            "can_undo": self.history.can_undo,
            "can_redo": self.history.can_redo,
            "readonly": False,
            "mode": "annotate",
            "position": {"index": self.at + 1, "total": len(self.order)},
            "suggestions": suggestions_data(self.suggestions, self.history.base, state.document),
            "why": None,
            "locale": "en_GB",
            "direction": "auto",
            **self.settings,
        }

    def hear(self, name: str, value: dict[str, Any]) -> dict[str, Any] | None:
        """Take a state value as Streamlit would; the new data, or None while on hold."""
        if self.deaf:
            return None
        self.heard.append((name, json.loads(json.dumps(value))))
        if name == "outbox":
            for sent in value["operations"]:
                self._deliver(value["client"], sent)
        else:
            self.intents.append(value)
            step = {"next": 1, "skip": 1, "previous": -1}.get(value["go"], 0)
            self.at = max(0, min(len(self.order) - 1, self.at + step))
        return None if self.holding else self.data()

    def _deliver(self, client: str, sent: dict[str, Any]) -> None:
        if sent["sequence"] <= self.acknowledged.get(client, 0):
            return
        self.acknowledged[client] = sent["sequence"]
        history = self.histories[sent["record"]]
        if sent["base"] != history.version:
            self.notices.append({"sequence": sent["sequence"], "level": "warning", "text": "stale"})
            return
        try:
            history.do(parse_operation(sent["operation"]), self.types, self.suggestions)
            self.applied.append(sent["operation"])
        except Refusal as refusal:
            self.notices.append({"sequence": sent["sequence"], "level": "warning", "text": refusal.code})


class EditorPage:
    """One page with the editor and its server."""

    def __init__(self, page: Any, server: FakeServer) -> None:
        self.page = page
        self.server = server
        page.on("dialog", lambda dialog: pytest.fail(f"a dialog opened: {dialog.message}"))
        self.errors: list[str] = []
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.expose_function("heard", self._heard)
        page.expose_function("start", server.data)
        page.expose_function("barrier", lambda: None)
        page.route(f"{ORIGIN}/**", self._serve)
        self.open()

    def open(self) -> None:
        self.page.goto(f"{ORIGIN}/")
        self.page.wait_for_function("window.ready")

    def _heard(self, name: str, value: dict[str, Any]) -> None:
        data = self.server.hear(name, value)
        if data is not None:
            self._later.append(data)

    _later: list[dict[str, Any]]

    def _serve(self, route: Any) -> None:
        path = route.request.url.removeprefix(ORIGIN)
        bodies = {"/": (PAGE, "text/html"), "/editor.js": (script(), "text/javascript"), "/editor.css": (styles(), "text/css")}
        body, kind = bodies.get(path, ("", "text/plain"))
        route.fulfill(body=body, content_type=f"{kind}; charset=utf-8")
        self._later = []

    def settle(self, rounds: int = 20) -> None:
        """Hand the server's answers to the page until there are none left."""
        for _ in range(rounds):
            self.page.wait_for_timeout(5)
            self.page.evaluate("window.barrier()")  # answered after all that was sent before it
            if not self._later:
                break
            newest, self._later = self._later[-1], []
            self.page.evaluate("(data) => window.mount(data)", newest)
        assert self.errors == []

    def push(self) -> None:
        """New data without anything having been sent."""
        self.page.evaluate("(data) => window.mount(data)", self.server.data())

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)
        self.settle()

    def type(self, text: str) -> None:
        self.page.keyboard.type(text)
        self.settle()

    def click(self, selector: str, **settings: Any) -> None:
        self.page.locator(selector).first.click(**settings)
        self.settle()

    def text(self, selector: str) -> str:
        return self.page.locator(selector).first.inner_text()

    def caret(self, shown_unit: int) -> tuple[float, float]:
        """Where on the page the shown UTF-16 unit of the context begins."""
        box = self.page.evaluate(
            """(unit) => {
                const walker = document.createTreeWalker(window.shadow.querySelector(".text.context"), NodeFilter.SHOW_TEXT);
                let left = unit, node = walker.nextNode();
                while (left >= node.data.length && walker.nextNode()) { left -= node.data.length; node = walker.currentNode; }
                const range = document.createRange();
                range.setStart(node, Math.min(left, node.data.length)); range.collapse(true);
                let box = range.getClientRects()[0];
                if (!box) { range.setEnd(node, Math.min(left + 1, node.data.length)); box = range.getBoundingClientRect(); }
                return [box.left, box.top + box.height / 2];
            }""",
            shown_unit,
        )
        return box[0], box[1]

    def drag(self, start: int, end: int, *, alt: bool = False) -> None:
        """Select with the mouse from one shown UTF-16 unit to another."""
        (x, y), (u, v) = self.caret(start), self.caret(end)
        if alt:
            self.page.keyboard.down("Alt")
        self.page.mouse.move(x + 1, y)
        self.page.mouse.down()
        self.page.mouse.move((x + u) / 2, (y + v) / 2)
        self.page.mouse.move(u + 0.5, v)
        self.page.mouse.up()
        if alt:
            self.page.keyboard.up("Alt")
        self.settle()

    def spans(self) -> list[tuple[int, int, str, str | None]]:
        return [(mark.start, mark.end, mark.entity_type, mark.relevance) for mark in self.server.document.marks]

    def values(self) -> list[str]:
        document = self.server.document
        return [document.context[mark.start : mark.end] for mark in document.marks]

    @property
    def sent(self) -> list[dict[str, Any]]:
        """The operations that the server did, in order."""
        return self.server.applied


def units(text: str) -> int:
    """How many UTF-16 units the text has as it is shown."""
    return len(text.replace("\r\n", "\n").encode("utf-16-le")) // 2


def marked(template: str, question: str | None = "What is it?") -> EditedDocument:
    """A document from a text in which ``[[value|type|relevance]]`` are its spans."""
    context, marks = "", []
    for number, part in enumerate(template.split("[[")):
        if number == 0:
            context += part
            continue
        inside, after = part.split("]]", 1)
        value, entity_type, relevance = inside.split("|")
        place = (len(context), len(context) + len(value))
        marks.append(SpanMark(id=f"s{number}", start=place[0], end=place[1], entity_type=entity_type, relevance=relevance or None))
        context += value + after
    return EditedDocument(context=context, question=question, marks=tuple(marks))


@contextmanager
def editors(browser: Any, *, width: int = 1280, height: int = 800):
    """Gives what opens an editor in a tab of its own, over the records r1, r2, … made from templates; closes the tabs at the end."""
    pages = []

    def make(*templates: str, question: str | None = "What is it?", **settings: Any) -> EditorPage:
        documents = {f"r{number}": marked(template, question) for number, template in enumerate(templates, start=1)}
        pages.append(browser.new_page(viewport={"width": width, "height": height}))
        return EditorPage(pages[-1], FakeServer(documents, **settings))

    yield make
    for page in pages:
        page.close()
