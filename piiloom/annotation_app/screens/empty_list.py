"""What the work page shows while the work list is empty: an admin puts all records into it, for so many people each."""

from __future__ import annotations

from typing import Final

import streamlit as st

from piiloom.annotation_app.people.identity import Person, require
from piiloom.annotation_app.screens.tab_state import this_tab
from piiloom.annotation_app.serving.current_user import current_person
from piiloom.annotation_app.serving.services import get_services
from piiloom.annotation_app.worklist.project_settings import MOST_PEOPLE
from piiloom.corpus.store.annotation_items import newest_ids
from piiloom.foundation.errors import UsageError

_PEOPLE: Final = "first_people"


def show_empty_list(person: Person) -> None:
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
