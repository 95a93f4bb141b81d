"""What one tab remembers between two runs of the page: where it is, how far its browser was heard, what it has to be told."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any, Final

import streamlit as st

_KEY: Final = "piiloom_tab"
# Notices of operations that were not done; older ones have been read or never will be.
_MOST_NOTICES: Final = 20
# How long a lease that was renewed needs no further look; a lease lasts a minute at least.
_SURE_FOR_S: Final = 20.0


@dataclass(slots=True)
class Trail:
    """The records that one page has shown, in order, and ``place``: which of them it shows now."""

    records: list[str] = field(default_factory=list)
    place: int = -1

    @property
    def record(self) -> str | None:
        """The record that is shown."""
        return self.records[self.place] if 0 <= self.place < len(self.records) else None

    def show(self, record_id: str) -> None:
        """Go to *record_id*, which becomes the end of the trail: what comes after it is new."""
        if record_id in self.records:
            self.records.remove(record_id)
        self.records.append(record_id)
        self.place = len(self.records) - 1

    def drop(self, record_id: str) -> None:
        """Take *record_id* off the trail, and show nothing."""
        self.records.remove(record_id)
        self.leave()

    def leave(self) -> None:
        """Show nothing: the next run of the page looks for something anew."""
        self.place = len(self.records)


@dataclass(slots=True)
class Tab:
    """One tab. ``trails`` by page; ``intents`` is the highest number of an intent that was dealt with, by client.

    ``leaving_for`` is the page that a callback wants shown next, ``pages`` are those of Streamlit by address. ``held`` is the record
    whose lease was renewed last, ``held_at`` when that was. ``unread`` are the texts of notices that no editor has been given yet.
    """

    trails: dict[str, Trail] = field(default_factory=dict)
    acknowledged: dict[str, int] = field(default_factory=dict)
    notices: list[dict[str, Any]] = field(default_factory=list)
    intents: dict[str, int] = field(default_factory=dict)
    unread: list[str] = field(default_factory=list)
    said: str = ""
    leaving_for: str = ""
    pages: dict[str, Any] = field(default_factory=dict)
    held: str = ""
    held_at: float = 0.0

    def trail(self, page: str) -> Trail:
        """The trail of *page*."""
        return self.trails.setdefault(page, Trail())

    def hold(self, record_id: str) -> None:
        """Note that the lease of *record_id* was renewed just now."""
        self.held, self.held_at = record_id, time.monotonic()

    def is_held(self, record_id: str) -> bool:
        """Whether that was so recently that nobody needs to look again. Each edit looks for itself."""
        return self.held == record_id and time.monotonic() - self.held_at < _SURE_FOR_S

    def tell(self, notice: dict[str, Any]) -> None:
        """Have the editor show *notice*."""
        self.notices = [*self.notices, notice][-_MOST_NOTICES:]
        self.unread = [*self.unread, str(notice["text"])][-_MOST_NOTICES:]

    def hear(self) -> str:
        """What there is to say, once."""
        said, self.said = self.said, ""
        return said

    def hear_all(self) -> list[str]:
        """The same on a page without an editor, and what that would have told."""
        told, self.unread = self.unread, []
        return [*told, *filter(None, [self.hear()])]


def this_tab() -> Tab:
    """The memory of this tab."""
    if _KEY not in st.session_state:
        st.session_state[_KEY] = Tab()
    tab: Tab = st.session_state[_KEY]
    return tab
