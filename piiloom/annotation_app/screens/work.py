"""The work page: one record at a time in the editor, or an empty work list that an admin can fill."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from datetime import timedelta
from functools import partial
from typing import Any, Final

import streamlit as st

from piiloom.annotation_app.event_log import Comment, stamp
from piiloom.annotation_app.people.identity import AppUser, require
from piiloom.annotation_app.screens.editor import show_editor, show_without_record
from piiloom.annotation_app.screens.record_panels import (
    room_below,
    show_comments,
    show_history,
    show_other_questions,
    show_types,
    visible_comments,
)
from piiloom.annotation_app.screens.showing import escape_markdown, show_error
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
from piiloom.annotation_app.serving.current_user import current_person
from piiloom.annotation_app.serving.services import Services, get_services
from piiloom.annotation_app.sync.editor_data import EditorOptions, editor_data, label_origin
from piiloom.annotation_app.worklist.project_settings import MOST_PEOPLE, may_see_people, may_see_question, may_see_why
from piiloom.corpus.store.annotation_assignments import own_standing
from piiloom.corpus.store.annotation_events import list_heads
from piiloom.corpus.store.annotation_items import newest_ids
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.suggestions import suggestions_for
from piiloom.foundation.errors import UsageError

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
    room = room_below(shown)
    with room.types:
        show_types(services, record_id, shown, is_open=room.is_open)
    with room.questions:
        show_comments(services, record_id, comments, shown, is_open=room.is_open)
        _ask(services, person, record_id, is_open=room.is_open)
    with room.history:
        show_history(services, person, record_id, is_open=room.is_open)


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
    options = EditorOptions(
        readonly=readonly,
        acknowledged=tab.acknowledged,
        notices=tab.notices,
        intents=tab.intents,
        position=position,
        why=told,
        suggestions=suggestions,
        commented=Counter(one.span_id for one in comments if one.span_id),
    )
    return editor_data(opened, person.name, options, services.shared.taxonomy)


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
