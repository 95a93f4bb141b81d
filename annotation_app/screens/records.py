"""The list of records: filters, search, pages; a chosen one opens in the editor."""

from __future__ import annotations

from typing import Any, get_args

import streamlit as st

from annotation_app.people.identity import Person
from annotation_app.screens.session import this_tab
from annotation_app.screens.work import PAGE
from annotation_app.serving.opening import Workplace
from annotation_app.serving.workplace_holder import get_workplace
from annotation_app.worklist.filters import Listing, ListQuery
from annotation_app.worklist.visibility import Viewer, may_see_people
from corpus.store.annotation_items import Status
from corpus.store.annotation_lists import ListedItem, Own, Sort
from foundation.errors import UsageError

_ANY = "any"
_SORTS: dict[Sort, str] = {
    "priority": "most urgent",
    "changed": "last changed",
    "record": "order of import",
    "words": "words",
    "spans": "spans",
    "done": "done",
}


def records_page(person: Person) -> None:
    """Show what *person* may see of the work list."""
    workplace = get_workplace()
    viewer = Viewer(name=person.name, role=person.role)
    st.subheader("Records")
    try:
        listing = workplace.lists.look(viewer, _query(workplace, viewer))
    except UsageError as error:
        st.warning(str(error))
        return
    st.caption(f"{listing.total:,} records · page {listing.page:,} of {listing.pages:,}")
    _show(listing, viewer, people=may_see_people(viewer, workplace.settings.current()))


def _query(workplace: Workplace, viewer: Viewer) -> ListQuery:
    choices = workplace.lists.choices(viewer)
    first, second = st.columns([2, 1]), st.columns(5)
    text = first[0].text_input("Search", key="list_text", placeholder="words of the context or question, or an id")
    sort = first[1].selectbox("Order", list(_SORTS), format_func=_SORTS.__getitem__, key="list_sort")
    status = second[0].selectbox("Status", [_ANY, *get_args(Status)], key="list_status")
    own = second[1].selectbox("Mine", [_ANY, *get_args(Own)], key="list_own")
    chosen = {
        name: column.selectbox(name.capitalize(), [_ANY, *choices.get(name, [])], key=f"list_{name}")
        for name, column in zip(("pair", "type", "locale"), second[2:], strict=True)
    }
    page = st.session_state.get("list_page", 1)
    filters: dict[str, Any] = {name: None if value == _ANY else value for name, value in chosen.items()}
    return ListQuery(
        status=None if status == _ANY else status,
        own=None if own == _ANY else own,
        text=text,
        sort=sort,
        descending=sort != "record",
        page=page,
        **filters,
    )


def _show(listing: Listing, viewer: Viewer, *, people: bool) -> None:
    rows = [_row(line, viewer, people=people) for line in listing.lines]
    shown = st.dataframe(rows, hide_index=True, width="stretch", on_select="rerun", selection_mode="single-row", key="list_rows")
    chosen = shown.selection.rows
    back, on, opened, _ = st.columns([1, 1, 2, 4])
    back.button("Previous page", disabled=listing.page <= 1, on_click=_turn, args=(listing.page - 1,), width="stretch")
    on.button("Next page", disabled=listing.page >= listing.pages, on_click=_turn, args=(listing.page + 1,), width="stretch")
    if chosen and opened.button("Open in the editor", type="primary", width="stretch"):
        this_tab().trail(PAGE).show(listing.lines[chosen[0]].record_id)
        st.switch_page(this_tab().pages[PAGE])


def _turn(page: int) -> None:
    st.session_state["list_page"] = page


def _row(line: ListedItem, viewer: Viewer, *, people: bool) -> dict[str, Any]:
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
        row["why first"] = ", ".join(line.reasons)
    if people:
        row["worked on by"] = ", ".join(line.worked)
        row["with"] = ", ".join(line.holding)
    if viewer.role == "admin" and line.role != "work":
        row["role"] = line.role
    return row
