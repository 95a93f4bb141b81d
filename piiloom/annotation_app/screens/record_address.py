"""The record in the address (``/work?record=…``, ``/adjudicate?record=…``): reload, a second tab, a sent link, Back and Forward lead to it.

What the browser says of its address may lag behind a quick step to the next record, or a message to it was lost with the connection. So
while the work page shows a record, its editor says when the person goes back or forward (``go: record``), and the address is obeyed only
when the page is entered or shows none.
"""

from __future__ import annotations

from typing import Final
from urllib.parse import quote

import streamlit as st

from piiloom.annotation_app.people.identity import Person
from piiloom.annotation_app.screens.tab_state import UNSEEN, Tab, Trail, this_tab
from piiloom.annotation_app.serving.services import Services
from piiloom.annotation_app.worklist.assigning import has_qualified
from piiloom.corpus.store.annotation_items import base_records, find_item

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


def follow_address(services: Services, person: Person, tab: Tab, trail: Trail) -> None:
    """Go to the record that the address names, if the page was just entered or *trail* shows nothing."""
    wanted = addressed_record()
    if wanted is None or wanted == tab.address or not (tab.address == UNSEEN or trail.record is None):
        return
    go_to_record(services, person, tab, trail, wanted)


def go_to_record(services: Services, person: Person, tab: Tab, trail: Trail, wanted: str) -> None:
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
