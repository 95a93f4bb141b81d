"""The editor on a page: its component, and the callbacks that apply what the browser sent and then navigate.

Nothing from the browser is trusted: each callback determines the acting person again, and ``parse_outbox`` validates the input. The
components are registered once, when this module is imported.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import streamlit as st

from piiloom.annotation_app.editor_assets import loader
from piiloom.annotation_app.people.identity import AppUser
from piiloom.annotation_app.screens.tab_state import Tab, Trail, go_to_record, this_tab
from piiloom.annotation_app.serving.current_user import current_person
from piiloom.annotation_app.serving.services import Services, get_services
from piiloom.annotation_app.sync.batch import DeliveryResult, parse_outbox
from piiloom.foundation.errors import PiiloomError, UsageError

_editor = st.components.v2.component("piiloom_editor", js=loader(), isolate_styles=True)
_page = st.components.v2.component("piiloom_page", js=loader("mountPage"), isolate_styles=True)


def mount(data: Mapping[str, Any], *, key: str, on_outbox: Callable[[], None], on_intent: Callable[[], None]) -> None:
    """Show the editor with *data*. Edits arrive in ``st.session_state[key].outbox``, navigation in ``st.session_state[key].intent``.

    The browser sends both values together. Either callback may come first, but the outbox must be delivered before the intent is followed.
    """
    _editor(key=key, data=dict(data), on_outbox_change=on_outbox, on_intent_change=on_intent)


def mount_page() -> None:
    """Have the browser do on this page what Streamlit lacks (see ``js/page_main.js``). Nothing of it takes room."""
    _page(key="piiloom_page", height=0)


_EDITOR: Final = "editor"
_STALE: Final = (
    "Not done: this record was changed meanwhile, in another tab or by an adjudicator. You see it as it is now; "
    "your change is kept, and an adjudicator can take it up."
)
_LONGEST_NAME: Final = 200
# Returns the record to show after those of a trail, None if there is none.
NextRecord = Callable[[Services, AppUser, Sequence[str]], str | None]


def show_editor(data: Mapping[str, Any], page: str, next_record: NextRecord) -> None:
    """Mount the editor on *page*. *next_record* returns the next record when the trail of the page ends."""
    this_tab().unread.clear()  # the editor shows these
    mount(data, key=_EDITOR, on_outbox=_on_outbox, on_intent=lambda: _on_intent(page, next_record))


def show_without_record(person: AppUser, tab: Tab) -> None:
    """Mount the editor without a record, so that the browser delivers edits it may still hold (after a network failure or restart)."""
    data = {"person": person.name, "record": None, "acknowledged": dict(tab.acknowledged)}
    mount(data, key=_EDITOR, on_outbox=_on_outbox, on_intent=lambda: None)


def _on_outbox() -> None:
    person = current_person()
    if person is not None:
        receive_outbox(get_services(), person, this_tab())


def _on_intent(page: str, next_record: NextRecord) -> None:
    """Deliver the outbox, then go where the person wants to go."""
    person, intent = current_person(), _value("intent")
    if person is None or not isinstance(intent, Mapping):
        return
    services, tab = get_services(), this_tab()
    receive_outbox(services, person, tab)
    client, number, where = intent.get("client"), intent.get("number"), intent.get("go")
    if not isinstance(client, str) or len(client) > _LONGEST_NAME or not isinstance(number, int):
        return
    # A tab that has shown nothing yet reconnects after a restart. Its intent may be out of date, so it has to ask again (actions.js).
    if tab.trail(page).record is None:
        return
    if number <= tab.intents.get(client, 0):
        return
    tab.intents[client] = number
    if where == "list":
        tab.leaving_for = "records"
        return
    record = intent.get("record")
    try:
        if where == "record" and isinstance(record, str):
            go_to_record(services, person, tab, tab.trail(page), record)
        else:
            _go(services, person, tab.trail(page), where, next_record)
    except UsageError as error:
        tab.message = str(error)


def _value(name: str) -> Any:
    return getattr(st.session_state.get(_EDITOR), name, None)


def receive_outbox(services: Services, person: AppUser, tab: Tab) -> None:
    """Apply what the editor has sent, if the editor is on the page. An error goes to ``tab.message``."""
    outbox = _value("outbox")
    if not outbox:
        return
    try:
        sent = parse_outbox(outbox)
        result = services.documents.deliver(person.name, sent)
    except PiiloomError as error:
        # Not acknowledged: the browser keeps it and sends it again.
        tab.message = str(error)
        return
    tab.acknowledged |= result.acknowledged
    _tell(tab, result)


def _tell(tab: Tab, result: DeliveryResult) -> None:
    told = {(notice["client"], notice["sequence"]) for notice in tab.notices}
    refused = [(one.client, one.sequence, one.sentence) for one in result.refused]
    stale = [(one.client, one.sequence, _STALE) for one in result.stale]
    for client, sequence, text in refused + stale:
        if (client, sequence) not in told:
            tab.add_notice({"client": client, "sequence": sequence, "level": "warning", "text": text})


def _go(services: Services, person: AppUser, trail: Trail, where: object, next_record: NextRecord) -> None:
    if where == "previous":
        trail.place = max(0, trail.place - 1)
    elif where in {"next", "skip"}:
        if where == "skip" and trail.record is not None:
            services.work.leases.skip(person.name, trail.record)
        if trail.place + 1 < len(trail.records):
            trail.place += 1
            return
        # Records that this tab has shown and left open are offered again only if there are no others.
        found = next_record(services, person, trail.records) or next_record(services, person, trail.records[-1:])
        if found is None:
            trail.leave()
        else:
            trail.show(found)
