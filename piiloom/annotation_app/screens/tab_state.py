"""The state of one browser tab (where it is, what it has delivered, what its buttons did), and what all tabs share.

A reload, a second tab, a sent link, Back and Forward lead to the record in the address (``/work?record=…``, ``/adjudicate?record=…``).
What the browser says of its address may lag behind a quick step to the next record, or a message to it was lost with the connection. So
while the work page shows a record, its editor says when the person goes back or forward (``go: record``), and the address is obeyed only
when the page is entered or shows none.

A click has Streamlit draw the page anew, and the next click stops that drawing. What a page does when its drawing comes to the button is
lost if somebody is quick. So buttons act in their callbacks, before anything is drawn. There the fields of a form are read by their keys.
A callback is stopped too if it draws, or if it reads or writes an item of the session state; so ``act`` does neither once it has begun,
and ``fields`` reads all at once. The browser holds the next click until then (``page_clicks.js``).

All tabs share figures, background work that page views trigger, and libraries loaded beforehand. A figure is computed again when its
input has changed. One thread at a time imports the libraries for tables and charts, which takes seconds. Two threads that import parts of
one library at once can deadlock on import locks, after which the import fails for good. So call ``ready`` before drawing a chart.
"""

from __future__ import annotations

import importlib
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from typing import Any, Final, TypeVar
from urllib.parse import quote

import streamlit as st

from piiloom.annotation_app.adjudication.resolving import SettledRecords
from piiloom.annotation_app.figures.spans import FinishedRecord
from piiloom.annotation_app.people.accounts import AppRole, AppUser, require
from piiloom.annotation_app.screens.showing import escape_markdown
from piiloom.annotation_app.serving.current_user import current_person
from piiloom.annotation_app.serving.services import Services
from piiloom.annotation_app.worklist.assigning import has_qualified
from piiloom.corpus.store.annotation_items import base_records, find_item
from piiloom.foundation.errors import PiiloomError

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


PARAMETER: Final = "record"
# Everybody may open these; other records of the work list are for practice and tests, which have a page of their own.
_OPEN_ROLES: Final = frozenset({"work", "control"})
_NOT_THERE: Final = "The record of this address is not in the work list, so you get the next one."
_DELETED: Final = "The record of this address was deleted, so you get the next one."
_NOT_YET: Final = "You have not passed the qualifying test of this project yet, so the record of this address is not shown."


def addressed_record() -> str | None:
    """Return the record that the address names, or None."""
    found: str | None = st.query_params.get(PARAMETER)
    return found or None


def address_of(record_id: str | None) -> str:
    """Return what follows the path in an address that leads to *record_id*."""
    return f"?{PARAMETER}={quote(record_id, safe='')}" if record_id else ""


def write_address(record_id: str | None) -> None:
    """Have the address name *record_id*, or no record. A changed address is one more step for the browser's Back."""
    tab = this_tab()
    if tab.address == record_id:
        return
    if addressed_record() != record_id:
        if record_id is None:
            st.query_params.pop(PARAMETER, None)
        else:
            st.query_params[PARAMETER] = record_id
    tab.address = record_id


def follow_address(services: Services, person: AppUser, tab: Tab, trail: Trail) -> None:
    """Go to the record that the address names, if the page was just entered or *trail* shows nothing."""
    wanted = addressed_record()
    if wanted is None or wanted == tab.address or not (tab.address == UNSEEN or trail.record is None):
        return
    go_to_record(services, person, tab, trail, wanted)


def go_to_record(services: Services, person: AppUser, tab: Tab, trail: Trail, wanted: str) -> None:
    """Go to *wanted*, which the address names, if *person* may see it. Otherwise ``tab.message`` says why not."""
    tab.address = wanted
    if wanted == trail.record:
        return
    with services.shared.reading() as store:
        item = find_item(store, wanted)
        is_there = wanted in base_records(store, [wanted])
        barred = services.settings.current().qualifying_needed and not person.may("adjudicator") and not has_qualified(store, person.name)
    if item is None or not (item.role in _OPEN_ROLES or person.may("admin")):
        tab.message = _NOT_THERE
    elif not is_there:
        tab.message = _DELETED
    elif barred:
        tab.message = _NOT_YET
    else:
        trail.go_to(wanted)


# A sentence, or a sentence and whether all went well, or nothing.
DeedOutcome = str | tuple[str, bool] | None
_numbers = count()


def field_key(form: str, name: str) -> str:
    """Return the key of the field *name* of *form*."""
    return f"{form}:{name}"


def choice_field(form: str, name: str, options: Sequence[object]) -> str:
    """As ``field_key``, for a choice among *options*. Where there were none, the first ones begin a new field, with the first chosen."""
    return field_key(form, name if options else f"{name}, of none")


def fields(form: str) -> dict[str, Any]:
    """Return what the fields of *form* hold, by name; in a callback that is what was sent by the click."""
    start = field_key(form, "")
    return {str(key).removeprefix(start): value for key, value in st.session_state.to_dict().items() if str(key).startswith(start)}


def act(role: AppRole, deed: Callable[[AppUser], DeedOutcome]) -> None:
    """Do *deed* for the current person; a callback. ``with_outcomes`` then says what *deed* returned, or the error that it raised.

    The role is checked anew: a page may be older than the person's role.
    """
    outcomes = this_tab().outcomes
    try:
        said = deed(require(current_person(), role))
    except PiiloomError as error:
        said = str(error), False
    if said:
        sentence, went_well = (said, True) if isinstance(said, str) else said
        outcomes[next(_numbers)] = sentence, went_well


# ``act`` for the buttons of admins.
BY_ADMIN: Final = partial(act, "admin")


@contextmanager
def with_outcomes() -> Iterator[None]:
    """Say what the last clicks did, above what is drawn in this context; a decorator of pages and fragments.

    What was said is forgotten when all is drawn: a drawing that another click stops may never have been seen.
    """
    outcomes = this_tab().outcomes
    shown = dict(outcomes)
    with st.container():  # always drawn, so that what follows keeps its place (tabs that move jump back to the first)
        for sentence, went_well in shown.values():
            (st.success if went_well else st.warning)(escape_markdown(sentence))
    yield
    for number in shown:
        outcomes.pop(number, None)


CHARTS: Final = ("pandas", "altair")
# Delay in seconds, so that the page that was just opened is served first.
_AFTER_S: Final = 5.0
_loading = threading.Lock()
_loaded: set[str] = set()
_beside: list[threading.Timer] = []


def ready(*names: str) -> None:
    """Import the libraries *names* if that has not been done."""
    if _loaded.issuperset(names):
        return
    with _loading:
        for name in names:
            importlib.import_module(name)
            _loaded.add(name)


def load_beside(and_then: Callable[[], None], after_s: float = _AFTER_S) -> None:
    """Import all libraries in a background thread, *after_s* seconds from now, then call *and_then*.

    Only the first call in the life of the process has an effect.
    """
    with _loading:
        if _beside:
            return
        timer = threading.Timer(after_s, _beside_the_pages, [and_then])
        timer.daemon = True
        _beside.append(timer)
    timer.start()


def load_all() -> None:
    """Import all libraries in this thread."""
    ready(*CHARTS)


def _beside_the_pages(and_then: Callable[[], None]) -> None:
    load_all()
    and_then()


_Made = TypeVar("_Made")
_EVERY_S: Final = 60.0
# Seconds to wait for the end: mostly there is little to settle, and then the page shows it at once.
_WAIT_S: Final = 0.4


class PeriodicSettling:
    """Runs *settle* in a background thread, one at a time and at most once in *every_s* seconds. ``fault`` is its last error."""

    def __init__(self, settle: Callable[[], SettledRecords], every_s: float = _EVERY_S) -> None:
        self._settle = settle
        self._every_s = every_s
        self._lock = threading.Lock()
        self._began: float | None = None
        self._worker: threading.Thread | None = None
        self.fault: PiiloomError | None = None

    def run_if_due(self) -> None:
        """Start *settle* if it is due, and wait a moment for its end."""
        with self._lock:
            busy = self._worker is not None and self._worker.is_alive()
            if not busy and (self._began is None or time.monotonic() - self._began >= self._every_s):
                self._began = time.monotonic()
                self._worker = threading.Thread(target=self._run, name="settling")
                self._worker.start()
            worker = self._worker
        if worker is not None:
            worker.join(_WAIT_S)

    def _run(self) -> None:
        try:
            self._settle()
        except PiiloomError as error:
            self.fault = error
        else:
            self.fault = None


@dataclass(slots=True)
class AppCache:
    """What the pages over one store share: cached figures and background settling."""

    services: Services
    settling: PeriodicSettling
    kept: dict[str, tuple[Sequence[FinishedRecord], Any]] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def figures(self, name: str, finished_records: Sequence[FinishedRecord], make: Callable[[], _Made]) -> _Made:
        """Return the figures *name*: from the cache if *finished_records* have not changed since, else from *make()*."""
        with self.lock:  # two tabs that open at once compute the figures only once
            found = self.kept.get(name)
            if found is None or not _same(found[0], finished_records):
                found = self.kept[name] = finished_records, make()
        value: _Made = found[1]
        return value


_caches: list[AppCache] = []


def app_cache(services: Services) -> AppCache:
    """Return the ``AppCache`` of *services*. A new one is made when the process has opened another store."""
    if not _caches or _caches[0].services is not services:
        _caches[:] = [AppCache(services, PeriodicSettling(services.resolver.settle_due))]
    return _caches[0]


def finished_records_of(services: Services) -> list[FinishedRecord]:
    """Return the finished records, from which all figures but the progress are computed."""
    with services.shared.reading() as store:
        return services.finished_records.load(store)


def _same(one: Sequence[FinishedRecord], other: Sequence[FinishedRecord]) -> bool:
    """Return whether nothing changed: a record that did not change is the same object."""
    return len(one) == len(other) and all(left is right for left, right in zip(one, other, strict=True))
