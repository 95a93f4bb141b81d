"""The work page (one record at a time in the editor, or an empty list that an admin can fill), and the page with the list of records.

The list has filters, search, paging, and actions on all records shown. A clicked record opens in the editor.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict
from datetime import timedelta
from functools import partial
from textwrap import shorten
from typing import Any, Final, get_args

import streamlit as st

from piiloom.annotation_app.event_log import Comment, stamp
from piiloom.annotation_app.people.accounts import AppRole, AppUser, require
from piiloom.annotation_app.screens.editor import (
    room_below,
    show_comments,
    show_editor,
    show_history,
    show_other_questions,
    show_types,
    show_without_record,
    visible_comments,
)
from piiloom.annotation_app.screens.showing import escape_markdown, file_size, show_error, show_files
from piiloom.annotation_app.screens.tab_state import (
    Tab,
    Trail,
    act,
    field_key,
    fields,
    follow_address,
    this_tab,
    with_outcomes,
    write_address,
)
from piiloom.annotation_app.serving.current_user import current_person, file_link
from piiloom.annotation_app.serving.services import Services, get_services
from piiloom.annotation_app.sync.editor_data import editor_data, label_origin
from piiloom.annotation_app.worklist.assigning import MOST_PEOPLE, may_see_people, may_see_question, may_see_why
from piiloom.annotation_app.worklist.pool import ListQuery, OrderChoice, RecordListing, explained
from piiloom.corpus.formats.base import WriteOptions
from piiloom.corpus.formats.registry import FORMATS
from piiloom.corpus.store.annotation_events import list_heads
from piiloom.corpus.store.annotation_items import OPEN_STATUSES, ItemStatus, ListedItem, OwnState, Sort, newest_ids, newest_records
from piiloom.corpus.store.annotation_project import own_standing
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.judgements import suggestions_for
from piiloom.foundation.errors import UsageError
from piiloom.foundation.words import counted
from piiloom.foundation.yaml_files import data_folder

_PEOPLE: Final = "first_people"


def show_empty_list(person: AppUser) -> None:
    """Say that the list is empty, and offer an admin to fill it."""
    st.subheader("The work list is empty")
    if not person.may("admin"):
        st.write("An admin has to put records into it first.")
        st.button("Look again", type="primary")
        return
    st.write("Put all records of the store into it, or choose some on the admin page.")
    overlap = get_services().settings.current().overlap
    st.number_input(
        "People for each record",
        1,
        MOST_PEOPLE,
        overlap,
        key=_PEOPLE,
        width=220,
        help="With two or more, what they disagree about is decided on the page Adjudicate. The number can be changed later (Admin).",
    )
    st.button("Put all records into the work list", type="primary", on_click=_pool_all)


def _pool_all() -> None:
    try:
        admin, services = require(current_person(), "admin"), get_services()
        with services.shared.reading() as store:
            record_ids = newest_ids(store)
        wanted = st.session_state.get(_PEOPLE)
        report = services.pool.add(admin.name, record_ids=record_ids, wanted=wanted if isinstance(wanted, int) else None)
        if not report.added:
            this_tab().message = "The store has no records: import some on the admin page, or generate them."
    except UsageError as error:
        this_tab().message = str(error)


WORK_PAGE: Final = "work"
_FOLLOW_EVERY: Final = timedelta(seconds=3)


def work_page(person: AppUser) -> None:
    """Show the current record of *person* or the next one, or a message if there is none."""
    services, tab = get_services(), this_tab()
    follow_address(services, person, tab, tab.trail(WORK_PAGE))
    if _record(services, person, tab.trail(WORK_PAGE)) is None:
        write_address(None)
        for said in tab.pop_messages():
            st.warning(escape_markdown(said))
        _show_nothing_left(services, person)
        show_without_record(person, tab)
        return
    _at_work()
    _follow()


@st.fragment(run_every=_FOLLOW_EVERY)
def _follow() -> None:
    """Look every few seconds whether the record was changed elsewhere, in another tab or by an adjudicator, and draw it anew if so.

    While a fragment runs on a timer, a browser that reconnects asks for the whole page. Otherwise it would send an edit to a fragment that
    a restarted server has never drawn, and get no answer.
    """
    person, tab = current_person(), this_tab()
    if person is None or tab.drawn is None:
        return
    record_id, version = tab.drawn
    with get_services().shared.reading() as store:
        found = list_heads(store, record_ids=[record_id], annotator=person.name)
    if found and found[0].version != version and tab.trail(WORK_PAGE).record == record_id:
        st.rerun()


@st.fragment
@with_outcomes()
def _at_work() -> None:
    """The fragment with the record: an edit reruns only this, and the whole page only if something else has to be shown."""
    person, services, tab = current_person(), get_services(), this_tab()
    trail = tab.trail(WORK_PAGE)
    record_id = trail.record
    if person is None or tab.leaving_for:
        st.rerun()
    if record_id is None:
        write_address(None)
        st.rerun()
    write_address(record_id)
    if said := tab.pop_message():
        st.warning(escape_markdown(said))
    try:
        comments = visible_comments(services, person, record_id)
        data = _data(services, person, tab, record_id, comments)
    except UsageError as error:
        show_error(error)
        trail.drop(record_id)
        write_address(None)
        st.button("Go on", type="primary")
        return
    show_editor(data, WORK_PAGE, next_record)
    show_other_questions(services, person, WORK_PAGE, record_id)
    shown = data["state"]["document"]
    (types, questions, history), is_open = room_below(shown)
    with types:
        show_types(services, record_id, shown, is_open=is_open)
    with questions:
        show_comments(services, record_id, comments, shown, is_open=is_open)
        _ask(services, person, record_id, is_open=is_open)
    with history:
        show_history(services, person, record_id, is_open=is_open)


def next_record(services: Services, person: AppUser, besides: Sequence[str]) -> str | None:
    """Return the next record that the work list offers *person*, skipping *besides* (see ``next_for``), or None."""
    offer = services.work.next_for(person.name, besides)
    return None if offer is None else offer.record_id


def _record(services: Services, person: AppUser, trail: Trail) -> str | None:
    if trail.record is None:
        try:
            found = next_record(services, person, ())
        except UsageError as error:
            st.info(escape_markdown(str(error)))
            return None
        if found is not None:
            trail.show(found)
    return trail.record


def _data(services: Services, person: AppUser, tab: Tab, record_id: str, comments: Sequence[Comment]) -> dict[str, Any]:
    opened = services.documents.open(person.name, record_id)
    tab.drawn = record_id, opened.version
    readonly = False
    try:
        if not tab.is_held(record_id):
            services.work.leases.renew(person.name, record_id)
            tab.hold(record_id)
    except UsageError as error:
        readonly = True
        st.info(escape_markdown(str(error)))
    with services.shared.reading() as store:
        told = label_origin(store, opened.record) if may_see_why(person, services.settings.current()) else None
        position = _position(store, services, person, tab, (record_id, opened.state.verdict))
        suggestions = suggestions_for(store, [record_id]).get(record_id, [])
    return editor_data(
        opened,
        person.name,
        services.shared.taxonomy,
        readonly=readonly,
        acknowledged=tab.acknowledged,
        notices=tab.notices,
        intents=tab.intents,
        position=position,
        why=told,
        suggestions=suggestions,
        commented=Counter(one.span_id for one in comments if one.span_id),
    )


def _position(store: Store, services: Services, person: AppUser, tab: Tab, seen: tuple[str, str]) -> dict[str, int]:
    """Return how far the person is. It is counted anew when another record is shown or this one finished (*seen*), not at each edit."""
    if tab.position is None or tab.position[0] != seen:
        tab.position = seen, asdict(own_standing(store, person.name, stamp(services.log.clock())))
    return tab.position[1]


def _ask(services: Services, person: AppUser, record_id: str, *, is_open: bool) -> None:
    """Show the questions about the guidelines on this record, and a form for another one."""
    by_name = may_see_people(person, services.settings.current())
    asked = [one for one in services.guidelines.questions(record_id=record_id) if may_see_question(person, one, by_name=by_name)]
    title = f"Questions on this record ({len(asked)})" if asked else "Ask about the guidelines"
    with st.expander(title, expanded=is_open, key=f"questions-{record_id}"):
        for question in asked:
            named = by_name or question.asked_by == person.name
            st.text(f"{question.asked_by if named else 'Somebody'}: {question.text}")
            if question.answer:
                st.text(f"→ {question.answered_by}: {question.answer}")
        with st.form(f"ask-{record_id}", clear_on_submit=True, border=False):
            st.text_input("Your question", max_chars=4000, key=field_key(f"ask-{record_id}", "text"))
            st.form_submit_button("Ask", on_click=act, args=("annotator", partial(_send_question, services, record_id)))


def _send_question(services: Services, record_id: str, person: AppUser) -> None:
    if (text := fields(f"ask-{record_id}")["text"]).strip():
        services.guidelines.ask(person.name, text, record_id)


def _show_nothing_left(services: Services, person: AppUser) -> None:
    if not services.lists.counts():
        show_empty_list(person)
        return
    st.subheader("Nothing left to do")
    st.write("Every record that you could work on is finished or in somebody's hands. Those that you put off come back when they are free.")
    st.button("Look again", type="primary")


_FOLDER: Final = data_folder("annotation_app") / "record_table"
_table = st.components.v2.component(
    "piiloom_record_table",
    js=(_FOLDER / "table.js").read_text(encoding="utf-8"),
    css=(_FOLDER / "table.css").read_text(encoding="utf-8"),
    isolate_styles=True,
)


_CHOICES: Final[dict[OrderChoice, str]] = {"first": "before all others", "usual": "where they belong", "last": "after all others"}
# Formats of several files, or that no text editor opens, are for releases (Admin, Export).
_FORMATS: Final = [name for name, one in FORMATS.items() if one.suffix not in {"", ".parquet", ".spacy"}]
_FILES_SHOWN: Final = 5
# Does something to the records and returns what it did, in words.
_Deed = Callable[[AppUser, tuple[ListedItem, ...]], str]


def show_actions(services: Services, person: AppUser, query: ListQuery, total: int) -> None:
    """Offer adjudicators and admins what can be done to the *total* records that *query* matches, on all pages."""
    if not person.may("adjudicator") or not total:
        return
    records = counted(total, "record")
    parts: dict[str, Callable[[Services, ListQuery, int], None]] = {"Reject": _reject}
    if person.may("admin"):
        parts = {"Assign": _assign, "Order": _order, **parts, "Write out": _write_out}
    with st.expander(f"Do something with {records} (all that the filters leave)", key="list_actions"):
        chosen = st.segmented_control("Do what", list(parts), default=next(iter(parts)), key="list_do", label_visibility="collapsed")
        if chosen:
            parts[chosen](services, query, total)


def _assign(services: Services, query: ListQuery, total: int) -> None:
    people = [account.name for account in services.accounts.list() if account.active]

    def deal(person: AppUser, lines: tuple[ListedItem, ...]) -> str:
        fit = [line.record_id for line in lines if line.status in OPEN_STATUSES and line.role == "work"]
        dealt = services.work.assign(person.name, fit, fields("list-assign")["people"])
        told = ", ".join(f"{who}: {count:,}" for who, count in dealt.items())
        return f"Assigned to {told}.{_left_out(len(lines) - len(fit))}"

    with st.form("list_assign"):
        st.multiselect("People", people, key=field_key("list-assign", "people"))
        _button(services, query, total, f"Deal {counted(total, 'record')} out", deal)


def _order(services: Services, query: ListQuery, total: int) -> None:
    def put(person: AppUser, lines: tuple[ListedItem, ...]) -> str:
        choice: OrderChoice = fields("list-order")["choice"]
        changed = services.pool.put(person.name, [line.record_id for line in lines], choice)
        return f"{_CHOICES[choice].capitalize()} now: {counted(changed, 'record')}. Whoever asks for the next record gets it so."

    with st.form("list_order"):
        st.radio("They come", list(_CHOICES), format_func=_CHOICES.__getitem__, horizontal=True, key=field_key("list-order", "choice"))
        _button(services, query, total, f"Order {counted(total, 'record')} so", put)


def _reject(services: Services, query: ListQuery, total: int) -> None:
    def reject(person: AppUser, lines: tuple[ListedItem, ...]) -> str:
        if not fields("list-reject")["sure"]:
            raise UsageError("nothing was rejected", remedy="Tick the box if you mean it")
        rejected = services.resolver.reject_all(person, [line.record_id for line in lines], fields("list-reject")["reason"])
        return f"Rejected: {counted(rejected, 'record')}.{_left_out(len(lines) - rejected)}"

    with st.form("list_reject"):
        st.text_input("Why they are of no use", max_chars=500, key=field_key("list-reject", "reason"))
        st.checkbox(f"Yes, reject {counted(total, 'record')}. Each can be reopened on its own.", key=field_key("list-reject", "sure"))
        _button(services, query, total, "Reject", reject, "adjudicator")


def _write_out(services: Services, query: ListQuery, total: int) -> None:
    def write(_: AppUser, lines: tuple[ListedItem, ...]) -> str:
        return _written(services, lines, fields("list-write")["format"])

    with st.form("list_write"):
        st.text("As they are stored now: validated ones as people left them, others as they came. Nothing is frozen; a release is.")
        st.selectbox("Format", _FORMATS, key=field_key("list-write", "format"))
        _button(services, query, total, f"Write {counted(total, 'record')} out", write)
    found = services.files.written("selections")[:_FILES_SHOWN]
    if found:
        show_files(("file", "size"), [(one.name, file_link("selections", one.name), (file_size(one.size),)) for one in found])


def _written(services: Services, lines: tuple[ListedItem, ...], file_format: str) -> str:
    writer = FORMATS[file_format]
    path = services.files.new_selection(services.log.clock(), file_format, writer.suffix)
    with services.shared.reading() as store:
        found = newest_records(store, record_ids=[line.record_id for line in lines])
        loss = writer.write((record for _, record in found), path, WriteOptions(taxonomy=services.shared.taxonomy))
    lost = f" What the format cannot say is left out of {counted(len(loss.entries), 'value')}." if loss.entries else ""
    return f"Written: {counted(len(lines), 'record')} to {path}.{lost} Download it under “Write out”."


def _button(services: Services, query: ListQuery, total: int, label: str, deed: _Deed, role: AppRole = "admin") -> None:
    """Show the button of a form, which does *deed* to what *query* matches when it is pressed, if that is still *total* records."""

    def do(person: AppUser) -> str:
        lines = services.lists.matching(person, query)
        if len(lines) != total:
            raise UsageError(f"the list has {counted(len(lines), 'record')} now", remedy="Look at it again")
        return deed(person, lines)

    st.form_submit_button(label, type="primary", on_click=act, args=(role, do))


def _left_out(count: int) -> str:
    return f" Left as they are, since they are decided already: {count:,}." if count else ""


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
def records_page(person: AppUser) -> None:
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


def _query(services: Services, person: AppUser) -> ListQuery:
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


def _show(listing: RecordListing, person: AppUser, *, people: bool) -> None:
    rows = [_row(line, person, people=people) for line in listing.lines]
    st.session_state[_SHOWN] = [row["id"] for row in rows]
    if rows:
        told = [title for title in rows[0]["cells"] if any(row["cells"][title] for row in rows)]  # columns in which any row says something
        # The id of a row that is opened arrives in ``st.session_state[_TABLE].open``; it comes from the browser, so ``_open`` checks it.
        _table(key=_TABLE, data={"rows": rows, "columns": told}, on_open_change=_open)
    if listing.pages > 1:
        back, on, _ = st.columns([2, 2, 6])
        back.button("Previous page", disabled=listing.page <= 1, on_click=_turn, args=(listing.page - 1,), width="stretch")
        on.button("Next page", disabled=listing.page >= listing.pages, on_click=_turn, args=(listing.page + 1,), width="stretch")


def _open() -> None:
    """Go to the record that was clicked, if it is one of those that the list showed."""
    wanted = getattr(st.session_state.get(_TABLE), "open", None)
    if wanted in st.session_state.get(_SHOWN, ()):
        this_tab().trail(WORK_PAGE).show(str(wanted))
        this_tab().leaving_for = WORK_PAGE


def _turn(page: int) -> None:
    st.session_state["list_page"] = page


def _row(line: ListedItem, person: AppUser, *, people: bool) -> dict[str, Any]:
    """Return a row of the table. Its name is what its link says: the question, or how the text begins."""
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
    return {"id": line.record_id, "name": question or text or line.record_id, "text": text if question else "", "cells": cells}


def _excerpt(text: str) -> str:
    """Return *text*, on one line, cut at the end of a word."""
    return shorten(text, width=_LONGEST, placeholder=" …")
