"""The decisions of adjudicators on a record: take a version, reject the record, reopen a decided record."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

import streamlit as st

from piiloom.annotation_app.adjudication.versions import SideBySide
from piiloom.annotation_app.documents.document import Document
from piiloom.annotation_app.people.identity import Person
from piiloom.annotation_app.screens.acting import act, field, fields
from piiloom.annotation_app.screens.escaping import escape_markdown
from piiloom.annotation_app.screens.record_address import write_address
from piiloom.annotation_app.serving.current_user import current_person
from piiloom.annotation_app.serving.services import Services, get_services
from piiloom.corpus.store.adjudications import last_decisions
from piiloom.foundation.errors import UsageError

# Session state key of the record that the page shows.
RECORD: Final = "adjudicated_record"
_KEYS: Final = 9
_DECIDED: Final = ("validated", "rejected")


def turn_to(record_id: str) -> None:
    """Show *record_id* next, and have the address name it."""
    st.session_state[RECORD] = record_id
    write_address(record_id)


def take_button(sides: SideBySide, versions: Mapping[str, Document], name: str, following: str) -> None:
    """Show a button that takes the whole version of *name*. The first nine have keyboard shortcuts."""
    number = list(versions).index(name) + 1
    st.button(
        f"Take {escape_markdown(name)}",
        key=f"take-{sides.base.id}-{name}",
        on_click=decide,
        args=(sides, versions[name], {"whole": name}, following),
        width="stretch",
        wrap=True,
        shortcut=str(number) if number <= _KEYS else None,
    )


def decide(sides: SideBySide, document: Document, how: dict[str, Any], following: str) -> None:
    """Decide for *document* and go on to the record *following*. An error is shown as a toast.

    *sides* are the versions that the person saw: the decision is refused if one has changed since. *how* says for the log what was chosen
    from whom.
    """
    seen = {version.annotator: version.version for version in sides.versions}
    try:
        get_services().resolver.adjudicate(current_person(), sides.base.id, document, seen=seen, how=how)
    except UsageError as error:
        st.toast(escape_markdown(str(error)))
    else:
        turn_to(following)
        st.toast("Decided: the record is validated.")


def show_reject(sides: SideBySide, following: str) -> None:
    """Show a form that rejects the record, with a reason."""
    with st.expander("Reject this record"):
        reason = st.text_input("Why it is of no use", max_chars=1000, key=f"reason-{sides.base.id}")
        st.button("Reject", key=f"reject-{sides.base.id}", disabled=not reason.strip(), on_click=_reject, args=(sides.base.id, following))


def _reject(record_id: str, following: str) -> None:
    try:
        get_services().resolver.reject(current_person(), record_id, st.session_state.get(f"reason-{record_id}", ""))
    except UsageError as error:
        st.toast(escape_markdown(str(error)))
    else:
        turn_to(following)
        st.toast("Rejected.")


def show_reopen(services: Services) -> None:
    """Show a form that takes back the decision on a record."""
    with st.expander("Reopen a record that was decided"), st.form("reopen", border=False, clear_on_submit=True):
        with services.shared.reading() as store:
            decided = sorted(name for name, outcome in last_decisions(store).items() if outcome in _DECIDED)
        if not decided:
            st.text("Nothing has been decided yet.")
        st.selectbox("Record", decided, index=None, placeholder="an id, as the page Records shows it", key=field("reopen", "record"))
        st.text_input("Why", max_chars=1000, key=field("reopen", "reason"))
        st.form_submit_button("Reopen", on_click=act, args=("adjudicator", partial(_reopen, services)))


def _reopen(services: Services, person: Person) -> str | None:
    asked = fields("reopen")
    if asked["record"] is None:
        return None
    services.resolver.reopen(person, asked["record"], asked["reason"])
    return "Its annotators may edit it again; it stays out of releases until it is decided anew."
