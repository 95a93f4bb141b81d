"""The work page: one record at a time in the editor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import streamlit as st

from annotation_app.checks.why import why
from annotation_app.desk.editor_view import Surroundings, editor_data
from annotation_app.people.identity import Person
from annotation_app.screens.receiving import show_editor
from annotation_app.screens.session import Tab, Trail, this_tab
from annotation_app.serving.opening import Workplace
from annotation_app.serving.workplace_holder import get_workplace
from annotation_app.worklist.visibility import Viewer, may_see_why
from corpus.store.annotation_counts import own_standing
from foundation.errors import UsageError

PAGE: Final = "work"


def work_page(person: Person) -> None:
    """Show the record that *person* is at, or the next one."""
    workplace, tab = get_workplace(), this_tab()
    trail = tab.trail(PAGE)
    if said := tab.hear():
        st.warning(said)
    record_id = _record(workplace, person, trail)
    if record_id is None:
        _show_nothing_left()
        return
    try:
        data = _data(workplace, person, tab, record_id)
    except UsageError as error:
        st.warning(str(error))
        trail.drop(record_id)
        st.button("Go on", type="primary")
        return
    show_editor(data, PAGE, onward)
    _ask(workplace, person, record_id)


def onward(workplace: Workplace, person: Person, besides: Sequence[str]) -> str | None:
    """The next record that the work list gives *person*."""
    offer = workplace.work.next_for(person.name, besides)
    return None if offer is None else offer.record_id


def _record(workplace: Workplace, person: Person, trail: Trail) -> str | None:
    if trail.record is None:
        try:
            found = onward(workplace, person, ())
        except UsageError as error:
            st.info(str(error))
            return None
        if found is not None:
            trail.show(found)
    return trail.record


def _data(workplace: Workplace, person: Person, tab: Tab, record_id: str) -> dict[str, Any]:
    opened = workplace.desk.open(person.name, record_id)
    readonly = False
    try:
        workplace.work.leases.renew(person.name, record_id)
    except UsageError as error:
        readonly = True
        st.info(str(error))
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
    """Questions about the guidelines that this record raises, and a place for one more."""
    asked = workplace.guidelines.questions(record_id=record_id)
    with st.expander(f"Questions on this record ({len(asked)})" if asked else "Ask about the guidelines", expanded=False):
        for question in asked:
            st.text(f"{question.asked_by}: {question.text}")
            if question.answer:
                st.text(f"→ {question.answered_by}: {question.answer}")
        with st.form(f"ask-{record_id}", clear_on_submit=True, border=False):
            text = st.text_input("Your question", max_chars=4000)
            if st.form_submit_button("Ask") and text.strip():
                workplace.guidelines.ask(person.name, text, record_id)
                st.rerun()


def _show_nothing_left() -> None:
    st.subheader("Nothing left to do")
    st.write("Every record that you could work on is finished or in somebody's hands. Those that you put off come back when they are free.")
    st.button("Look again", type="primary")
