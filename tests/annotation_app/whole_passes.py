"""One pass through the real app, by keys or by mouse: each action on each text, the ways between records, all verdicts; then the store."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, Literal

from piiloom.annotation_app.documents.document import document_of
from piiloom.annotation_app.documents.history import replayed_history
from piiloom.corpus.record import Record
from piiloom.corpus.store.annotation_events import load_documents, read_events
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.records import iter_records
from tests.annotation_app.app_driver import PATIENCE_MS, AppPage, labels_of, make_project, sync_api
from tests.annotation_app.editing_steps import STEPS, Label
from tests.annotation_app.hard_texts import SPARE, HardText
from tests.annotation_app.served_app import served

Way = Literal["keys", "mouse"]
# What the mouse does where a key goes somewhere else.
_BUTTONS = {
    "j": ".top button[aria-label='Next record']",
    "k": ".top button[aria-label='Previous record']",
    "s": ".bottom button:has-text('Skip')",
    "l": ".top button:has-text('List')",
    "a": ".bottom button:has-text('Accept')",
    "r": ".row .relevance",
}


def pass_through(browser: Any, folder: Path, way: Way, texts: Sequence[HardText]) -> None:
    """Do everything to *texts* in the app, then hold each state of each record in the store against the table."""
    records = [text.record for text in texts]
    path = make_project(folder / "s.duckdb", [*records, SPARE], {"ana": "annotator"}, blind=False)
    with served(path, "--snapshot-every", "0") as server:
        page = AppPage(browser, server, "ana")
        page.open()
        page.see(".text.context")
        _Pass(page, way, texts).run()
        assert page.dialogs == []
        page.context.close()
        assert server.stop()[0] == 0
    for text, record in zip(texts, records, strict=True):
        _hold(path, text, record)
    with Store.open(path, create=False) as store:
        [spare] = load_documents(store, record_ids=[SPARE.id])
    assert (spare.verdict, spare.state["reason"]) == ("rejected", "not a text")


class _Pass:
    def __init__(self, page: AppPage, way: Way, texts: Iterable[HardText]) -> None:
        self._page = page
        self._way = way
        self._left = {text.record.id: text for text in texts}
        self._ends = {record.context.rpartition(" ")[2]: record for record in [SPARE, *(text.record for text in texts)]}

    def run(self) -> None:
        page = self._page
        self._go("s")
        while self._left:
            text = self._left.pop(self._here().id, None)
            if text is None:
                self._go("s")
                continue
            self._edit(text)
            self._go("j")
            self._go("k")
            assert self._here().id == text.record.id
            self._list_and_back()
            self._go("a")
            self._accept_again(text)
        if self._here() != SPARE:
            self._go("j")
        if self._way == "keys":
            page.press("x")
            page.type("not a text")
            page.press("Enter")
        else:
            page.button("Reject")
            page.type("not a text")
            page.click("dialog button:has-text('Reject')")
        page.see_text("h3", "Nothing left to do")

    def _edit(self, text: HardText) -> None:
        for step in STEPS:
            try:
                (step.keys if self._way == "keys" else step.mouse)(self._page, text)
                if step.leaves is not None:
                    wanted = [value.replace("\r\n", "\n") for value, _, _ in step.leaves(text)]
                    sync_api.expect(self._page.locator("mark.span")).to_have_text(wanted, timeout=PATIENCE_MS)
            except Exception as error:
                raise AssertionError(f"{text.name}: {step.name}: {error}\n{self._page.described()}") from error
        self._page.saved()

    def _here(self) -> Record:
        self._page.rested()
        return self._ends[self._page.shown().rpartition(" ")[2]]

    def _act(self, key: str) -> None:
        if self._way == "keys":
            self._page.press(key)
        else:
            self._page.click(_BUTTONS[key])

    def _go(self, key: str) -> None:
        """Press what leads to another record, and wait for that."""
        here = self._here().context.rpartition(" ")[2]
        self._act(key)
        sync_api.expect(self._page.locator(".text.context")).not_to_contain_text(here, timeout=PATIENCE_MS)
        self._page.rested()

    def _list_and_back(self) -> None:
        here = self._here()
        self._act("l")
        self._page.see_text("h3", "Records")
        link = self._page.page.get_by_role("link", name="Annotate")
        link.click() if self._way == "mouse" else link.press("Enter")
        self._page.at(here.context.rpartition(" ")[2])

    def _accept_again(self, text: HardText) -> None:
        """Back to what was accepted: it says so, any change reopens it, and it is accepted once more."""
        self._go("k")
        assert self._here().id == text.record.id
        self._page.see(".badge.accepted")
        if self._way == "keys":
            self._page.press("Tab")
        self._act("r")
        sync_api.expect(self._page.locator(".badge.accepted")).to_have_count(0, timeout=PATIENCE_MS)
        self._act("r")
        self._go("a")


def _hold(path: Path, text: HardText, record: Record) -> None:
    with Store.open(path, create=False) as store:
        [base] = [one for one in iter_records(store) if one.id == record.id]
        events = read_events(store, record_ids=[record.id], actor="ana", kinds=["edit"])
        assert read_events(store, record_ids=[record.id], actor="ana", kinds=["stale", "refused"]) == []
        [found] = load_documents(store, record_ids=[record.id])
    first = document_of(base)
    passed = [labels_of(replayed_history(first, events[:count]).state.document.to_json()) for count in range(len(events) + 1)]
    wanted: list[list[Label]] = [[(text.value, "name", "low")], *(step.leaves(text) for step in STEPS if step.leaves)]
    last = wanted[-1]
    turned = [(last[0][0], last[0][1], "high"), *last[1:]]
    assert _changes(passed) == _changes([*wanted, turned, last])
    state = replayed_history(first, events).state
    assert state.to_json() == found.state
    assert (found.verdict, found.state["flag"], found.state["document"]["question"]) == ("accepted", "look", "What is it? Now?")
    at = record.context.index(text.value) + len(text.value) - 1
    assert found.state["document"]["context"] == f"{record.context[:at]}x{record.context[at:]}"
    assert not any(span["doubt"] for span in found.state["document"]["spans"])


def _changes(states: Iterable[Sequence[Label]]) -> list[list[tuple[Any, ...]]]:
    return [[tuple(one) for one in state] for state, _ in groupby(states)]
