"""The page with the list of records: filters, search and paging. A selected record opens in the editor."""

from __future__ import annotations

from typing import Any, get_args

import streamlit as st

from piiloom.annotation_app.people.identity import Person
from piiloom.annotation_app.screens.escaping import show_error
from piiloom.annotation_app.screens.tab_state import this_tab
from piiloom.annotation_app.screens.work import PAGE
from piiloom.annotation_app.serving.services import Services, get_services
from piiloom.annotation_app.worklist.priorities import explained
from piiloom.annotation_app.worklist.record_lists import Listing, ListQuery
from piiloom.annotation_app.worklist.visibility import may_see_people
from piiloom.corpus.store.annotation_items import Status
from piiloom.corpus.store.annotation_lists import ListedItem, Own, Sort
from piiloom.foundation.counting import counted
from piiloom.foundation.errors import UsageError

_ANY = "any"
_SORTS: dict[Sort, str] = {
    "priority": "most urgent",
    "changed": "last changed",
    "record": "order of import",
    "words": "words",
    "spans": "spans",
    "done": "done",
}
_FILTERS = {
    "status": "Status",
    "own": "Mine",
    "flagged": "Flags",
    "pair": "Pair",
    "type": "Type",
    "locale": "Locale",
    "model": "Model",
    "annotator": "Worked on by",
}
# Fixed widths: long lists of types or reasons would push the other columns out of sight.
_WIDTHS = {"types": st.column_config.Column(width="medium"), "why first": st.column_config.Column(width="medium")}
_FILTER_WIDTH = 145
_FLAGGED = {"flagged": True, "not flagged": False}


def records_page(person: Person) -> None:
    """Show the records of the work list that *person* may see."""
    services = get_services()
    st.subheader("Records")
    try:
        listing = services.lists.find(person, _query(services, person))
    except UsageError as error:
        show_error(error)
        return
    st.caption(f"{counted(listing.total, 'record')} · page {listing.page:,} of {listing.pages:,}")
    _show(listing, person, people=may_see_people(person, services.settings.current()))


def _query(services: Services, person: Person) -> ListQuery:
    choices: dict[str, list[str]] = {"status": list(get_args(Status)), "own": list(get_args(Own)), "flagged": list(_FLAGGED)}
    found = services.lists.choices(person)
    choices |= {name: found[name] for name in ("pair", "type", "locale", "model") if found.get(name)}
    if may_see_people(person, services.settings.current()):
        choices["annotator"] = [account.name for account in services.accounts.list()]
    first = st.columns([2, 1])
    text = first[0].text_input(
        "Search", key="list_text", placeholder="words of the context or question, or an id", on_change=_turn, args=(1,)
    )
    sort = first[1].selectbox("Order", list(_SORTS), format_func=_SORTS.__getitem__, key="list_sort", on_change=_turn, args=(1,))
    chosen: dict[str, Any] = {}
    row = st.container(horizontal=True)  # wraps in a narrow window
    for name, options in choices.items():
        value = row.selectbox(_FILTERS[name], [_ANY, *options], key=f"list_{name}", on_change=_turn, args=(1,), width=_FILTER_WIDTH)
        chosen[name] = None if value == _ANY else _FLAGGED[value] if name == "flagged" else value
    return ListQuery(text=text, sort=sort, descending=sort != "record", page=st.session_state.get("list_page", 1), **chosen)


def _show(listing: Listing, person: Person, *, people: bool) -> None:
    rows = [_row(line, person, people=people) for line in listing.lines]
    shown = st.dataframe(
        rows, hide_index=True, width="stretch", on_select="rerun", selection_mode="single-row", key="list_rows", column_config=_WIDTHS
    )
    chosen = shown.selection.rows
    back, on, opened, _ = st.columns([2, 2, 3, 3])
    back.button("Previous page", disabled=listing.page <= 1, on_click=_turn, args=(listing.page - 1,), width="stretch")
    on.button("Next page", disabled=listing.page >= listing.pages, on_click=_turn, args=(listing.page + 1,), width="stretch")
    if chosen and opened.button("Open in the editor", type="primary", width="stretch"):
        this_tab().trail(PAGE).show(listing.lines[chosen[0]].record_id)
        st.switch_page(this_tab().pages[PAGE])


def _turn(page: int) -> None:
    st.session_state["list_page"] = page


def _row(line: ListedItem, person: Person, *, people: bool) -> dict[str, Any]:
    facts = line.facts
    row = {
        "record": line.record_id[:12],
        "status": line.status,
        "mine": line.own,
        "done": f"{line.finished} of {line.wanted}",
        "flags": line.flags,
        "types": ", ".join(facts.get("types", [])),
        "words": facts.get("words"),
        "spans": facts.get("spans"),
        "locale": facts.get("locale"),
    }
    if facts.get("pair"):
        row["pair"] = facts["pair"]
    if line.reasons:
        row["why first"] = "; ".join(explained(reason) for reason in line.reasons)
    if people:
        row["worked on by"] = ", ".join(line.worked)
        row["with"] = ", ".join(line.holding)
    if person.role == "admin" and line.role != "work":
        row["role"] = line.role
    return row
