"""Corrects one record in the app by keys alone until it equals another one, and counts the keys; used by ``annotation_pass``.

It knows what the record is to become, and reads the page as quickly as a program can: what it lacks is the person's reading.
"""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.annotation.keyed_finding import WORD, Search, cheapest_search
from benchmarks.annotation.keyed_texts import Hands, Keyed
from piiloom.annotation_app.documents.document import EditedDocument, SpanMark

_SPANS = """(surface) => {
    let at = 0;
    const found = [];
    for (const node of surface.childNodes) {
        const length = [...node.textContent].length;
        if (node.nodeType === Node.ELEMENT_NODE) {
            const relevance = ["high", "low"].find((name) => node.classList.contains(name)) ?? null;
            const type = node.dataset.label.replace(/ \\?$/, "");
            found.push([at, at + length, type, relevance, node.classList.contains("doubt"), node.classList.contains("selected")]);
        }
        at += length;
    }
    return found;
}"""
_DRAFT = "(said) => said.textContent.replace(/^Selected: /, '')"


@dataclass(frozen=True)
class Shown:
    """A span on the screen."""

    start: int
    end: int
    entity_type: str
    relevance: str | None
    doubt: bool
    selected: bool


class KeyWorker(Hands):
    """Mends one record after the other."""

    def correct(self, target: EditedDocument, before: EditedDocument) -> Keyed:
        """Make the record on the screen, which is *before*, equal to *target*."""
        self.keyed = Keyed()
        self.write("e", "context", before.context, target.context)
        self.write("Shift+E", "question", before.question or "", target.question or "")
        for _ in range(400):
            if not self._next_span(target):
                return self.keyed
        raise AssertionError("the spans never became what they are to be")

    def _next_span(self, target: EditedDocument) -> bool:
        """Mend the first span in text order that is not as it should be; False when all are."""
        shown = self._spans()
        for wanted in target.marks:
            mine = next((one for one in shown if (one.start, one.end) == (wanted.start, wanted.end)), None)
            if mine is not None and not _differs(mine, wanted):
                continue
            touching = [one for one in shown if one.start < wanted.end and wanted.start < one.end]
            if mine is not None or touching:
                at = mine or touching[0]
                self._select(shown, at)
                self._mend(at, wanted, alone=len(touching) == 1)
            else:
                self._add(shown, wanted, target)
            return True
        surplus = next((one for one in shown if not any(_same_place(one, wanted) for wanted in target.marks)), None)
        if surplus is None:
            return False
        self._select(shown, surplus)
        self.press("Delete")
        self.keyed.done["removed"] += 1
        return True

    def _select(self, shown: list[Shown], wanted: Shown) -> None:
        place = shown.index(wanted)
        at = next((i for i, one in enumerate(shown) if one.selected), -1)
        self.press("Tab" if place > at else "Shift+Tab", abs(place - at))

    def _mend(self, mine: Shown, wanted: SpanMark, *, alone: bool) -> None:
        if (mine.start, mine.end) != (wanted.start, wanted.end):
            if not alone or not self._pull(wanted):
                self.press("Delete")
                self.keyed.done["removed"] += 1
                return
            self.keyed.done["ends"] += 1
        if mine.entity_type != _readable(wanted.entity_type):
            self.press("t")
            self._pick(wanted.entity_type, "Enter")
            self.keyed.done["type"] += 1
        if mine.relevance != wanted.relevance:
            self.press("r")
            self.keyed.done["relevance"] += 1
        if self._selected().doubt:
            self.press("c")
            self.keyed.done["confirmed"] += 1

    def _pull(self, wanted: SpanMark) -> bool:
        """Move the ends of the selected span by words, then by letters; False when that leads nowhere."""
        for _ in range(60):
            now = self._selected()
            if (now.start, now.end) == (wanted.start, wanted.end):
                return True
            exact = "Alt+" if abs(now.start - wanted.start) + abs(now.end - wanted.end) < 3 else ""
            if now.end != wanted.end:
                self.press(f"{exact}]" if now.end < wanted.end else f"{exact}[")
            else:
                key = ("Shift+]" if exact else "}") if now.start < wanted.start else ("Shift+[" if exact else "{")
                self.press(f"{exact}{key}")
            if self._selected() == now:
                return False
        return False

    def _add(self, shown: list[Shown], wanted: SpanMark, target: EditedDocument) -> None:
        """A new span: to its first word by the cheaper way, on to its last one, a type, a relevance."""
        value = target.context[wanted.start : wanted.end]
        before = next((one for one in reversed(shown) if one.end <= wanted.start), None)
        begin = next((one.start for one in shown if one.selected), 0)
        search = cheapest_search(target.context, wanted, begin)
        if search is not None and search.presses < _presses_on_foot(shown, before, wanted, target.context):
            self._find(search)
        else:
            self._go_on_foot(shown, before, wanted, target.context)
        for _ in range(60):
            if len(self._draft()) >= len(" ".join(value.split())) or self._draft().endswith("…"):
                break
            self.press("]")
        self.press("Enter")
        self._pick(wanted.entity_type, "Shift+Enter" if wanted.relevance == "high" else "Enter")
        self.keyed.done["added"] += 1

    def _find(self, search: Search) -> None:
        self.press("/")
        self.type(search.letters, letters=False)
        shown = int(self._page.locator(".find-count").inner_text().partition(" of ")[0]) - 1
        steps = search.steps(shown)
        self.press("ArrowDown" if steps > 0 else "ArrowUp", abs(steps))
        self.press("Enter")
        self.keyed.found += 1

    def _go_on_foot(self, shown: list[Shown], before: Shown | None, wanted: SpanMark, context: str) -> None:
        """From the span before to the first word, by tens and by single words."""
        if before is not None:
            self._select(shown, before)
        self.press("n")
        self.press("ArrowDown", max(0, _words_between(before, wanted, context) - 1) // 10)
        for _ in range(30):
            if context[wanted.start : wanted.end].startswith(self._draft().rstrip("…")):
                break
            self.press("ArrowRight")

    def _pick(self, entity_type: str, key: str) -> None:
        """Letters of the type's name until it stands first, then *key*."""
        name = _readable(entity_type)
        for letter in name:
            self.type(letter, letters=False)
            if self._page.locator(".picker-row").first.inner_text() == name:
                break
        self.press(key)

    def _spans(self) -> list[Shown]:
        return [Shown(*values) for values in self._page.locator(".text.context").evaluate(_SPANS)]

    def _selected(self) -> Shown:
        return next(one for one in self._spans() if one.selected)

    def _draft(self) -> str:
        return str(self._page.locator(".said").evaluate(_DRAFT))


def _words_between(before: Shown | None, wanted: SpanMark, context: str) -> int:
    return len(WORD.findall(context[before.end if before else 0 : wanted.start]))


def _presses_on_foot(shown: list[Shown], before: Shown | None, wanted: SpanMark, context: str) -> int:
    """What `n` and arrows take until the span has its ends."""
    at = next((i for i, one in enumerate(shown) if one.selected), -1)
    tabs = abs(shown.index(before) - at) if before is not None else 0
    words = _words_between(before, wanted, context)
    tens = max(0, words - 1) // 10
    return tabs + 1 + tens + (words - 10 * tens) + len(WORD.findall(context[wanted.start : wanted.end])) - 1


def _differs(mine: Shown, wanted: SpanMark) -> bool:
    return mine.doubt or (mine.entity_type, mine.relevance) != (_readable(wanted.entity_type), wanted.relevance)


def _readable(entity_type: str) -> str:
    """The name of a type as the page writes it."""
    return entity_type.replace("_", " ")


def _same_place(mine: Shown, wanted: SpanMark) -> bool:
    return (mine.start, mine.end) == (wanted.start, wanted.end)
