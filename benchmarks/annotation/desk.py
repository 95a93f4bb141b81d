"""What the tools of ``annotation_peers`` have in common: server, page, where a word stands on it, waiting until something is seen."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.annotation.material import Change, Mark, Story

PATIENCE_S = 45.0
# Value, type and relevance of a span, as a page shows it; line ends are left out, since pages change them.
Seen = tuple[str, str, str | None]

_POINT = """(root, [lead, words, end]) => {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    const places = [];
    let text = "";
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        for (let i = 0; i < node.data.length; i += 1) {
            if (node.data[i] === "\\r" || node.data[i] === "\\n") continue;
            text += node.data[i];
            places.push([node, i]);
        }
    }
    const found = text.indexOf(lead + words);
    if (found < 0) return null;
    const [node, i] = places[found + lead.length + (end ? words.length - 1 : Math.floor(words.length / 2))];
    const range = document.createRange();
    range.setStart(node, i);
    range.setEnd(node, i + 1);
    let box = range.getBoundingClientRect();
    if (box.top < 120 || box.bottom > window.innerHeight - 200) {  // bars may lie over the ends of the page
        let pane = root;
        while (pane && !(pane.scrollHeight > pane.clientHeight && /auto|scroll/.test(getComputedStyle(pane).overflowY))) {
            pane = pane.parentElement ?? pane.getRootNode().host;
        }
        (pane ?? window).scrollBy({top: box.top - window.innerHeight / 2, behavior: "instant"});
        box = range.getBoundingClientRect();
    }
    return [end ? box.right - 0.5 : box.left + box.width / 2, box.top + box.height / 2];
}"""


@dataclass
class Effort:
    """What hands did: chords pressed, clicks (a double click is one gesture, counted as two), and drags."""

    keys: int = 0
    clicks: int = 0
    drags: int = 0

    def __str__(self) -> str:
        parts = [(self.keys, "key"), (self.clicks, "click"), (self.drags, "drag")]
        return " + ".join(f"{count} {what}{'s' * (count != 1)}" for count, what in parts if count)


class Desk(ABC):
    """One person's tab in one tool."""

    context: Any
    page: Any
    surface: str  # a selector of what holds the text

    def __init__(self) -> None:
        self.effort = Effort()

    @abstractmethod
    def open(self) -> None:
        """Go to the next record of the work list."""

    @abstractmethod
    def marks(self) -> list[Seen]:
        """The spans on the page."""

    @abstractmethod
    def do(self, story: Story, change: Change) -> None:
        """Make one edit the shortest way; ``effort`` says what it took."""

    @abstractmethod
    def finish(self) -> None:
        """Accept the record that is shown."""

    @abstractmethod
    def saving(self) -> AbstractContextManager[None]:
        """At its end the server has what was done within."""

    @abstractmethod
    def nothing_left(self) -> bool:
        """Whether the tool says that there is no other record."""

    @abstractmethod
    def write_into_text(self, story: Story, word: str) -> str:
        """Put *word* before the text, save it and accept the record; gives in words how, or why it cannot be done."""

    def press(self, *keys: str) -> None:
        """Press each of *keys*; a chord is one."""
        for key in keys:
            self.page.keyboard.press(key)
        self.effort.keys += len(keys)

    def click(self, story: Story, mark: Mark, *, double: bool = False) -> None:
        """Click on the middle of what *mark* marks."""
        x, y = self.point(story, mark)
        self.page.mouse.dblclick(x, y) if double else self.page.mouse.click(x, y)
        self.effort.clicks += 1 + double

    def point(self, story: Story, mark: Mark, *, end: bool = False) -> tuple[float, float]:
        """Where the middle (or the end) of what *mark* marks is on the screen."""
        lead = story.context[max(0, mark.start - 25) : mark.start]
        found = self.page.locator(self.surface).evaluate(_POINT, [bare(lead), bare(story.text(mark)), end])
        assert found, f"{story.text(mark)!r} is not on the page"
        return found[0], found[1]

    def here(self, stories: Sequence[Story]) -> Story | None:
        """The record that is shown with all its spans; None while there is none."""
        surface = self.page.locator(self.surface)
        shown = bare(surface.first.text_content() or "") if surface.count() else ""
        found = next((one for one in stories if bare(one.context) == shown), None)
        return found if found and self.marks() else None

    def arrive(self, stories: Sequence[Story], *, after: Story | None = None) -> Story | None:
        """Wait for a record other than *after*; None when the tool says that nothing is left."""
        found: list[Story | None] = []

        def arrived() -> bool:
            one = self.here(stories)
            if one is not None and one != after:
                found.append(one)
            elif self.nothing_left():
                found.append(None)
            return bool(found)

        self.until(arrived, "another record comes")
        return found[0]

    def until(self, seen: Callable[[], bool], what: str, patience: float = PATIENCE_S) -> float:
        """Seconds until *seen*; raises when that takes longer than *patience*."""
        begun = time.perf_counter()
        while not seen():
            if time.perf_counter() - begun > patience:
                raise TimeoutError(f"{type(self).__name__}: waited in vain until {what}")
            self.page.wait_for_timeout(10)
        return time.perf_counter() - begun

    def timed(self, story: Story, change: Change) -> tuple[float, Effort]:
        """Make one edit; gives the seconds until it is on the page, and what it took."""
        wanted = seen_after(self.marks(), story, change)
        self.effort = Effort()
        begun = time.perf_counter()
        self.do(story, change)
        try:
            self.until(lambda: sorted(self.marks(), key=str) == wanted, f"{change.kind} is seen", 15)
        except TimeoutError as error:
            raise TimeoutError(f"{error}: {story.name}: wanted {wanted}, shown {self.marks()}") from error
        return time.perf_counter() - begun, self.effort


class Tool(ABC):
    """A tool with a server and a store of its own; people are called ana and bob."""

    @abstractmethod
    def serving(self, folder: Path, stories: Sequence[Story]) -> AbstractContextManager[None]:
        """Serve *stories* to both, one person for each."""

    @abstractmethod
    def desk(self, browser: Any, person: str) -> Desk:
        """A tab of *person*, logged in."""

    @abstractmethod
    def kill(self) -> None:
        """SIGKILL the server and start it again over the same store and port."""

    @abstractmethod
    def stored(self) -> dict[str, list[tuple[str, list[Mark]]]]:
        """After ``serving``: for each record the texts that offsets belong to and the spans, a pair for each finished version."""


def bare(text: str) -> str:
    """*text* without line ends."""
    return text.replace("\r", "").replace("\n", "")


def seen_of(story: Story, mark: Mark) -> Seen:
    """How a page shows *mark*."""
    return bare(story.text(mark)), mark.entity_type, mark.relevance


def seen_after(before: Sequence[Seen], story: Story, change: Change) -> list[Seen]:
    """What a page that showed *before* shows after *change*; raises ``ValueError`` when the span was not there."""
    after = list(before)
    if change.before:
        after.remove(seen_of(story, change.before))
    if change.after:
        after.append(seen_of(story, change.after))
    return sorted(after, key=str)


@contextmanager
def closing(desk: Desk) -> Iterator[Desk]:
    """*desk*, closed at the end."""
    try:
        yield desk
    finally:
        desk.context.close()
