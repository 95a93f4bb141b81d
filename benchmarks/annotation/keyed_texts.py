"""Hands on a keyboard: they press, type, and edit a text in the app's field by keys alone, and count what that took."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from piiloom.annotation_app.documents.merging import TextEdit, edits_between
from tests.annotation_app.app_driver import AppPage

# Edits nearer to each other than this many characters are made in one go: nobody would move the caret that often.
_NEAR = 12


@dataclass
class Keyed:
    """What correcting one record took. A chord is one press; ``strokes`` count its modifiers too.

    ``letters`` are text that was typed; ``found`` counts the new spans that were found by their letters.
    """

    presses: int = 0
    strokes: int = 0
    letters: int = 0
    seconds: float = 0.0
    found: int = 0
    done: Counter[str] = field(default_factory=Counter)


class Hands:
    """One pair of hands."""

    def __init__(self, page: AppPage) -> None:
        self._page = page
        self.keyed = Keyed()

    def press(self, key: str, times: int = 1) -> None:
        """Press *key*; only the time until the browser has dealt with it counts."""
        begun = time.perf_counter()
        for _ in range(times):
            self._page.page.keyboard.press(key)
        self.keyed.seconds += time.perf_counter() - begun
        self.keyed.presses += times
        self.keyed.strokes += times * (key.count("+") + 1)

    def type(self, text: str, *, letters: bool) -> None:
        """Type *text*; capitals take a second stroke."""
        begun = time.perf_counter()
        self._page.page.keyboard.type(text)
        self.keyed.seconds += time.perf_counter() - begun
        self.keyed.presses += len(text)
        self.keyed.strokes += len(text) + sum(letter.isupper() or letter in '!"()?:' for letter in text)
        self.keyed.letters += len(text) if letters else 0

    def write(self, key: str, name: str, before: str, after: str) -> None:
        """Open the field *name* by *key*, make its text *after* of *before*, and leave it."""
        if before == after:
            return
        edits = _merged(edits_between(before, after), before)
        changed = sum(edit.end - edit.start + len(edit.inserted) for edit in edits)
        self.press(key)
        if changed > 0.6 * len(after):
            edits = [TextEdit(0, len(before), after)]
            self.press("Control+a")
            self.type(after, letters=True)
        else:
            grown = 0
            for edit in edits:
                self._walk(name, edit.start + grown)
                self._delete(edit.end - edit.start, before[edit.start : edit.end])
                self.type(edit.inserted, letters=True)
                grown += edit.growth
        area = self._page.locator(f".area.{name}").input_value()
        assert area == after, f"the {name} became something else"
        self.press("Escape")
        self.keyed.done[name] += len(edits)

    def _walk(self, name: str, target: int) -> None:
        """Move the caret by lines, then by words, then by letters, as long as each brings it nearer."""
        area = self._page.locator(f".area.{name}")
        steps = ("ArrowDown", "ArrowUp", "Control+ArrowRight", "Control+ArrowLeft", "ArrowRight", "ArrowLeft")
        gains = {"ArrowDown": 60, "ArrowUp": 60, "Control+ArrowRight": 4, "Control+ArrowLeft": 4}
        refused: set[str] = set()
        while (at := _caret(area)) != target:
            forwards = target > at
            key = next(
                key
                for key in steps
                if key not in refused and forwards == (key.endswith(("Down", "Right"))) and abs(target - at) >= gains.get(key, 1)
            )
            self.press(key)
            if abs(target - _caret(area)) >= abs(target - at):
                refused.add(key)

    def _delete(self, count: int, text: str) -> None:
        if count > 8:
            # Shift with the arrows selects; words first, and letters for the rest.
            left = count
            for word in text.split(" ")[:-1]:
                self.press("Control+Shift+ArrowRight")
                left -= len(word) + 1
                selected = self._page.page.evaluate(_SELECTED)
                if selected > count:
                    self.press("Shift+ArrowLeft", selected - count)
                    break
            selected = self._page.page.evaluate(_SELECTED)
            self.press("Shift+ArrowRight" if selected < count else "Shift+ArrowLeft", abs(count - selected))
            self.press("Delete")
        else:
            self.press("Delete", count)


def _caret(area: Any) -> int:
    """The caret of a text field in code points."""
    return int(area.evaluate("(area) => [...area.value.slice(0, area.selectionStart)].length"))


_SELECTED = """() => {
    for (const host of document.querySelectorAll("*")) {
        const area = host.shadowRoot?.activeElement;
        if (area?.tagName === "TEXTAREA") return [...area.value.slice(area.selectionStart, area.selectionEnd)].length;
    }
    return 0;
}"""


def _merged(edits: list[TextEdit], text: str) -> list[TextEdit]:
    found: list[TextEdit] = []
    for edit in edits:
        if found and edit.start - found[-1].end < _NEAR:
            last = found.pop()
            found.append(TextEdit(last.start, edit.end, f"{last.inserted}{text[last.end : edit.start]}{edit.inserted}"))
        else:
            found.append(edit)
    return found
