"""piiloom's annotation app, of this checkout."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from benchmarks.annotation.desk import PATIENCE_S, Desk, Seen, Tool, bare
from benchmarks.annotation.material import Change, Mark, Story
from piiloom.corpus.record import Record, Span
from tests.annotation_app.app_driver import AppPage, documents_in, make_project
from tests.annotation_app.served_app import Served, served

TITLE = "piiloom"
PACKAGE = "piiloom"
REQUIREMENTS = ()
_QUIET = ("--snapshot-every", "0")
_MARKS = """(surface) => [...surface.querySelectorAll("mark.span")].map((mark) => [
    mark.textContent,
    mark.dataset.label.replace(/ \\?$/, ""),
    ["high", "low"].find((name) => mark.classList.contains(name)) ?? null,
])"""


class PiiloomDesk(Desk):
    """Spans are selected by a click; what is done to them is done by keys."""

    surface = ".editor[aria-busy=false] .text.context"

    def __init__(self, browser: Any, server: Served, person: str) -> None:
        super().__init__()
        self.app = AppPage(browser, server, person)
        self.context, self.page = self.app.context, self.app.page

    def open(self) -> None:
        """The page Annotate."""
        self.page.goto(f"{self.app.server.url}/")

    def marks(self) -> list[Seen]:
        """The spans on the page."""
        surface = self.page.locator(self.surface)
        found = surface.first.evaluate(_MARKS) if surface.count() else []
        return [(bare(text), kind, relevance) for text, kind, relevance in found]

    def do(self, story: Story, change: Change) -> None:
        """A click and `r`, `t`, `]` or `Del`; a new one by a drag within the word and the picker."""
        if change.before is not None:
            self.click(story, change.before)
            wanted = bare(story.text(change.before))
            self.until(lambda: bare(self.app.chosen() or "") == wanted, "the span is selected", 5)
        if change.kind == "flip":
            self.press("r")
        elif change.kind == "end":
            self.press("]")
        elif change.kind == "remove":
            self.press("Delete")
        elif change.after and change.kind == "type":
            self.press("t")
            self._pick(change.after, "Enter")
        elif change.after:
            self._select(self.point(story, change.after))
            self._pick(change.after, "Shift+Enter" if change.after.relevance == "high" else "Enter")

    def _select(self, at: tuple[float, float]) -> None:
        """A part of the word is enough."""
        self.page.mouse.move(at[0] - 6, at[1])
        self.page.mouse.down()
        self.page.mouse.move(at[0] + 6, at[1], steps=3)
        self.page.mouse.up()
        self.effort.drags += 1

    def _pick(self, mark: Mark, key: str) -> None:
        rows = self.page.locator(".picker-row")
        rows.first.wait_for()
        for letter in mark.entity_type:
            self.press(letter)
            if rows.first.inner_text() == mark.entity_type:
                break
        self.press(key)

    def finish(self) -> None:
        """Press `a`."""
        self.press("a")

    @contextmanager
    def saving(self) -> Iterator[None]:
        """Until the page says that the server has acknowledged everything."""
        yield
        self.until(lambda: self.page.locator(".saved").text_content() == "Saved", "it is saved")

    def nothing_left(self) -> bool:
        """What the page says when the work list is empty."""
        return bool(self.page.get_by_text("Nothing left to do").count())

    def write_into_text(self, story: Story, word: str) -> str:  # noqa: ARG002 - other tools look for its text
        """By `e`; accepted by `a`."""
        with self.saving():
            self.press("e", "Control+Home")
            self.page.keyboard.type(word)
            self.press("Escape")
        self.finish()
        self.until(self.nothing_left, "it is accepted")
        return "in the field that `e` opens"


class AnnotationTool(Tool):
    """The app of this checkout."""

    def __init__(self, _environment: Path | None) -> None:
        self._stack = ExitStack()

    @contextmanager
    def serving(self, folder: Path, stories: Sequence[Story]) -> Iterator[None]:
        """A store of its own for these records."""
        self._path = make_project(folder / "store.duckdb", [_record(one) for one in stories], {"ana": "annotator", "bob": "annotator"})
        with ExitStack() as self._stack:
            self._server = self._stack.enter_context(served(self._path, *_QUIET))
            yield
            self._server.stop()

    def desk(self, browser: Any, person: str) -> Desk:
        """A tab of *person*."""
        return PiiloomDesk(browser, self._server, person)

    def kill(self) -> None:
        """SIGKILL, and again on the same port."""
        port = self._server.host.rpartition(":")[2]
        self._server.process.send_signal(signal.SIGKILL)
        self._server.process.wait(timeout=PATIENCE_S)
        self._server = self._stack.enter_context(served(self._path, *_QUIET, "--port", port))

    def stored(self) -> dict[str, list[tuple[str, list[Mark]]]]:
        """What people finished, by record."""
        found: dict[str, list[tuple[str, list[Mark]]]] = {}
        for (record, _), one in documents_in(self._path).items():
            document = one.state["document"]
            marks = [Mark(span["start"], span["end"], span["type"], span["relevance"]) for span in document["spans"]]
            if one.verdict == "accepted":
                found.setdefault(record, []).append((document["context"], marks))
        return found


def _record(story: Story) -> Record:
    spans = tuple(
        Span(id=f"s{i}", start=mark.start, end=mark.end, entity_type=mark.entity_type, relevance=mark.relevance)
        for i, mark in enumerate(story.marks)
    )
    return Record(id=story.name, context=story.context, question=story.question, spans=spans)
