"""Session state of one browser tab, kept between page runs: where it is, what it has delivered, what to tell the person."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any, Final

import streamlit as st

_KEY: Final = "piiloom_tab"
# How many notices of refused operations are kept; older ones have been read or never will be.
_MOST_NOTICES: Final = 20
# Seconds for which a renewed lease needs no check; a lease lasts a minute at least.
_SURE_FOR_S: Final = 20.0


UNSEEN: Final = ""


@dataclass(slots=True)
class Trail:
    """The records that one page has shown, in order. ``place`` is the index of the current one."""

    records: list[str] = field(default_factory=list)
    place: int = -1

    @property
    def record(self) -> str | None:
        """The current record, or None."""
        return self.records[self.place] if 0 <= self.place < len(self.records) else None

    def show(self, record_id: str) -> None:
        """Go to *record_id*, which becomes the last record of the trail."""
        if record_id in self.records:
            self.records.remove(record_id)
        self.records.append(record_id)
        self.place = len(self.records) - 1

    def go_to(self, record_id: str) -> None:
        """Go back or forward to *record_id* if the trail has it; otherwise it becomes the last record."""
        if record_id in self.records:
            self.place = self.records.index(record_id)
        else:
            self.show(record_id)

    def drop(self, record_id: str) -> None:
        """Remove *record_id* from the trail and show nothing."""
        self.records.remove(record_id)
        self.leave()

    def leave(self) -> None:
        """Show nothing, so that the next run of the page looks for a new record."""
        self.place = len(self.records)


@dataclass(slots=True)
class Tab:
    """The state of one browser tab.

    ``trails`` are by page. ``acknowledged`` and ``intents`` are, by client, the last delivered edit and the highest intent handled.
    ``notices`` are for the editor; ``unread`` are the texts of those that no editor has shown yet. ``message`` is a message to show once.
    ``outcomes`` are sentences on what buttons did, and whether that went well, until they are shown (``acting``);
    ``reports`` are longer ones, by what they are on.
    ``page`` is the page that is drawn, ``address`` the record that its address named when it was last looked at or written; ``UNSEEN``
    since the page was entered. ``leaving_for`` is the page that a callback wants shown next, ``pages``
    are Streamlit's pages by path. ``drawn`` is the record that the work page drew last, and its version. ``position`` is how far the person
    is, with the record and verdict that it was counted at.
    ``held`` is the record whose lease was renewed last, ``held_at`` the monotonic time of that.
    """

    trails: dict[str, Trail] = field(default_factory=dict)
    acknowledged: dict[str, int] = field(default_factory=dict)
    notices: list[dict[str, Any]] = field(default_factory=list)
    intents: dict[str, int] = field(default_factory=dict)
    unread: list[str] = field(default_factory=list)
    message: str = ""
    outcomes: dict[int, tuple[str, bool]] = field(default_factory=dict)
    reports: dict[str, object] = field(default_factory=dict)
    leaving_for: str = ""
    page: str = ""
    address: str | None = UNSEEN
    pages: dict[str, Any] = field(default_factory=dict)
    drawn: tuple[str, int] | None = None
    position: tuple[tuple[str, str], dict[str, int]] | None = None
    held: str = ""
    held_at: float = 0.0

    def enter(self, page: str) -> None:
        """Note that *page* is drawn; its address counts if the page before was another one."""
        if self.page != page:
            self.page, self.address = page, UNSEEN

    def trail(self, page: str) -> Trail:
        """The trail of *page*."""
        return self.trails.setdefault(page, Trail())

    def hold(self, record_id: str) -> None:
        """Note that the lease of *record_id* was renewed just now."""
        self.held, self.held_at = record_id, time.monotonic()

    def is_held(self, record_id: str) -> bool:
        """Return whether the lease of *record_id* was renewed so recently that it needs no check. Each edit checks it anyway."""
        return self.held == record_id and time.monotonic() - self.held_at < _SURE_FOR_S

    def add_notice(self, notice: dict[str, Any]) -> None:
        """Queue *notice* for the editor."""
        self.notices = [*self.notices, notice][-_MOST_NOTICES:]
        self.unread = [*self.unread, str(notice["text"])][-_MOST_NOTICES:]

    def pop_message(self) -> str:
        """Return ``message`` and clear it."""
        message, self.message = self.message, ""
        return message

    def pop_messages(self) -> list[str]:
        """Return all messages and unread notices and clear them, for a page without an editor."""
        unread, self.unread = self.unread, []
        return [*unread, *filter(None, [self.pop_message()])]


def this_tab() -> Tab:
    """Return the state of the current tab, making it if there is none."""
    if _KEY not in st.session_state:
        st.session_state[_KEY] = Tab()
    tab: Tab = st.session_state[_KEY]
    return tab
