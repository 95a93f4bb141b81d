"""The page with the list of records: filters, search and paging. A record that is clicked opens in the editor."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import shorten
from typing import Any, get_args

import streamlit as st

from piiloom.annotation_app.people.identity import Person
from piiloom.annotation_app.record_table.component import TableRow, show_table
from piiloom.annotation_app.screens.acting import with_outcomes
from piiloom.annotation_app.screens.escaping import show_error
from piiloom.annotation_app.screens.record_actions import show_actions
from piiloom.annotation_app.screens.tab_state import this_tab
from piiloom.annotation_app.screens.work import PAGE
from piiloom.annotation_app.serving.services import Services, get_services
from piiloom.annotation_app.worklist.priorities import explained
from piiloom.annotation_app.worklist.record_lists import Listing, ListQuery
from piiloom.annotation_app.worklist.visibility import may_see_people
from piiloom.corpus.store.annotation_items import ItemStatus, ListedItem, OwnState, Sort
from piiloom.foundation.errors import UsageError
from piiloom.foundation.words import counted

_ANY = "any"
_SORTS: dict[Sort, str] = {
    "priority": "most urgent",
    "changed": "last changed",
    "record": "order of import",
    "words": "words",
    "spans": "spans",
    "done": "people who finished it",
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
_TABLE = "list_rows"
# Session state key of the ids that the page shows.
_SHOWN = "list_shown"
_LONGEST = 260
_FILTER_WIDTH = 145
_FLAGGED = {"flagged": True, "not flagged": False}


@with_outcomes()
def records_page(person: Person) -> None:
    """Show the records of the work list that *person* may see."""
    services = get_services()
    st.subheader("Records")
    try:
        query = _query(services, person)
        listing = services.lists.find(person, query)
    except UsageError as error:
        show_error(error)
        return
    st.caption(f"{counted(listing.total, 'record')} · page {listing.page:,} of {listing.pages:,} · click one to open it")
    show_actions(services, person, query, listing.total)
    _show(listing, person, people=may_see_people(person, services.settings.current()))


def _query(services: Services, person: Person) -> ListQuery:
    choices: dict[str, list[str]] = {"status": list(get_args(ItemStatus)), "own": list(get_args(OwnState)), "flagged": list(_FLAGGED)}
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
    st.session_state[_SHOWN] = [row.id for row in rows]
    if rows:
        show_table(rows, _columns(rows), key=_TABLE, on_open=_open)
    if listing.pages > 1:
        back, on, _ = st.columns([2, 2, 6])
        back.button("Previous page", disabled=listing.page <= 1, on_click=_turn, args=(listing.page - 1,), width="stretch")
        on.button("Next page", disabled=listing.page >= listing.pages, on_click=_turn, args=(listing.page + 1,), width="stretch")


def _open() -> None:
    """Go to the record that was clicked, if it is one of those that the list showed."""
    wanted = getattr(st.session_state.get(_TABLE), "open", None)
    if wanted in st.session_state.get(_SHOWN, ()):
        this_tab().trail(PAGE).show(str(wanted))
        this_tab().leaving_for = PAGE


def _columns(rows: Sequence[TableRow]) -> list[str]:
    """Return the titles of the columns in which any row says something."""
    return [title for title in rows[0].cells if any(row.cells[title] for row in rows)]


def _turn(page: int) -> None:
    st.session_state["list_page"] = page


def _row(line: ListedItem, person: Person, *, people: bool) -> TableRow:
    facts = line.facts
    cells = {
        "status": line.status,
        "mine": line.own,
        "finished by": f"{line.finished} of {line.wanted}",
        "flags": str(line.flags or ""),
        "types": ", ".join(facts.get("types", [])),
        "words": str(facts.get("words", "")),
        "spans": str(facts.get("spans", "")),
        "locale": str(facts.get("locale") or ""),
        "pair": str(facts.get("pair") or ""),
        "why first": "; ".join(explained(reason) for reason in line.reasons),
        "worked on by": ", ".join(line.worked) if people else "",
        "with": ", ".join(line.holding) if people else "",
        "role": line.role if person.role == "admin" and line.role != "work" else "",
    }
    question, text = _excerpt(line.question), _excerpt(line.text)
    return TableRow(id=line.record_id, name=question or text or line.record_id, text=text if question else "", cells=cells)


def _excerpt(text: str) -> str:
    """Return *text*, on one line, cut at the end of a word."""
    return shorten(text, width=_LONGEST, placeholder=" …")
