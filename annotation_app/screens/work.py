"""The work page: one record at a time in the editor."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any, Final

import streamlit as st

from piiloom.annotation_app.checks.why import why
from piiloom.annotation_app.desk.editor_view import Surroundings, editor_data
from piiloom.annotation_app.people.identity import Person, require
from piiloom.annotation_app.screens.plain_words import plain
from piiloom.annotation_app.screens.receiving import show_courier, show_editor
from piiloom.annotation_app.screens.record_history import show_history
from piiloom.annotation_app.screens.session import Tab, Trail, this_tab
from piiloom.annotation_app.serving.current import current_person
from piiloom.annotation_app.serving.opening import Workplace
from piiloom.annotation_app.serving.workplace_holder import get_workplace
from piiloom.annotation_app.worklist.visibility import Viewer, may_see_people, may_see_why
from piiloom.corpus.store.annotation_counts import own_standing
from piiloom.corpus.store.records import iter_records
from piiloom.foundation.errors import UsageError

PAGE: Final = "work"


def work_page(person: Person) -> None:
    """Show the current record of *person* or the next one, or a message if there is none."""
    workplace, tab = get_workplace(), this_tab()
    if _record(workplace, person, tab.trail(PAGE)) is None:
        for said in tab.hear_all():
            st.warning(plain(said))
        _show_nothing_left(workplace, person)
        show_courier(person, tab)
        return
    _at_work()
    _come_back_whole()


@st.fragment(run_every=timedelta(days=1))
def _come_back_whole() -> None:
    """An empty fragment. While a fragment runs on a timer, a browser that reconnects asks for the whole page.

    Otherwise it would send an edit to a fragment that a restarted server has never drawn, and get no answer.
    """


@st.fragment
def _at_work() -> None:
    """The fragment with the record: an edit reruns only this, and the whole page only if something else has to be shown."""
    person, workplace, tab = current_person(), get_workplace(), this_tab()
    trail = tab.trail(PAGE)
    record_id = trail.record
    if person is None or tab.leaving_for or record_id is None:
        st.rerun()
    if said := tab.hear():
        st.warning(plain(said))
    try:
        data = _data(workplace, person, tab, record_id)
    except UsageError as error:
        st.warning(plain(str(error)))
        trail.drop(record_id)
        st.button("Go on", type="primary")
        return
    show_editor(data, PAGE, onward)
    _ask(workplace, person, record_id)
    show_history(workplace, person, record_id)


def onward(workplace: Workplace, person: Person, besides: Sequence[str]) -> str | None:
    """Return the next record that the work list offers *person*, skipping *besides* (see ``next_for``), or None."""
    offer = workplace.work.next_for(person.name, besides)
    return None if offer is None else offer.record_id


def _record(workplace: Workplace, person: Person, trail: Trail) -> str | None:
    if trail.record is None:
        try:
            found = onward(workplace, person, ())
        except UsageError as error:
            st.info(plain(str(error)))
            return None
        if found is not None:
            trail.show(found)
    return trail.record


def _data(workplace: Workplace, person: Person, tab: Tab, record_id: str) -> dict[str, Any]:
    opened = workplace.desk.open(person.name, record_id)
    readonly = False
    try:
        if not tab.is_held(record_id):
            workplace.work.leases.renew(person.name, record_id)
            tab.hold(record_id)
    except UsageError as error:
        readonly = True
        st.info(plain(str(error)))
    viewer = Viewer(name=person.name, role=person.role)
    with workplace.shared.reading() as store:
        told = why(store, opened.record) if may_see_why(viewer, workplace.settings.current()) else None
        done, total = own_standing(store, person.name)
    around = Surroundings(
        readonly=readonly,
        acknowledged=tab.acknowledged,
        notices=tab.notices,
        intents=tab.intents,
        position={"index": done, "total": total},
        why=told,
    )
    return editor_data(opened, person.name, around)


def _ask(workplace: Workplace, person: Person, record_id: str) -> None:
    """Show the questions about the guidelines on this record, and a form for another one."""
    viewer = Viewer(name=person.name, role=person.role)
    by_name = may_see_people(viewer, workplace.settings.current())
    # Other people's unanswered questions are hidden: they could bias those who still have to annotate the record.
    asked = [one for one in workplace.guidelines.questions(record_id=record_id) if by_name or one.answer or one.asked_by == person.name]
    title = f"Questions on this record ({len(asked)})" if asked else "Ask about the guidelines"
    with st.expander(title, key=f"questions-{record_id}"):
        for question in asked:
            named = by_name or question.asked_by == person.name
            st.text(f"{question.asked_by if named else 'Somebody'}: {question.text}")
            if question.answer:
                st.text(f"→ {question.answered_by}: {question.answer}")
        with st.form(f"ask-{record_id}", clear_on_submit=True, border=False):
            text = st.text_input("Your question", max_chars=4000)
            if st.form_submit_button("Ask") and text.strip():
                workplace.guidelines.ask(person.name, text, record_id)
                st.rerun()


def _show_nothing_left(workplace: Workplace, person: Person) -> None:
    if not workplace.lists.counts():
        _show_empty_list(person)
        return
    st.subheader("Nothing left to do")
    st.write("Every record that you could work on is finished or in somebody's hands. Those that you put off come back when they are free.")
    st.button("Look again", type="primary")


def _show_empty_list(person: Person) -> None:
    st.subheader("The work list is empty")
    if person.may("admin"):
        st.write("Put all records of the store into it, or choose some on the admin page.")
        st.button("Put all records into the work list", type="primary", on_click=_pool_all)
    else:
        st.write("An admin has to put records into it first.")
        st.button("Look again", type="primary")


def _pool_all() -> None:
    try:
        admin, workplace = require(current_person(), "admin"), get_workplace()
        with workplace.shared.reading() as store:
            record_ids = {record.id for record in iter_records(store)}
        report = workplace.pool.add(admin.name, record_ids=record_ids)
        if not report.added:
            this_tab().said = "The store has no records: import some on the admin page, or generate them."
    except UsageError as error:
        this_tab().said = str(error)
