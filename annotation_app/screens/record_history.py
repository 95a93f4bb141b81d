"""The history of the record in the editor: who did what and when, and a step of one's own taken back as a new one."""

from __future__ import annotations

import secrets

import streamlit as st

from annotation_app.desk.deliveries import APPLIED
from annotation_app.desk.history_words import told
from annotation_app.desk.outbox import Sent
from annotation_app.people.identity import Person
from annotation_app.screens.receiving import take_in
from annotation_app.screens.session import this_tab
from annotation_app.serving.current import current_person
from annotation_app.serving.opening import Workplace
from annotation_app.serving.workplace_holder import get_workplace
from corpus.store.annotation_events import AnnotationEvent
from foundation.errors import UsageError

_MOST_SHOWN = 100


def show_history(workplace: Workplace, person: Person, record_id: str) -> None:
    """An expander that is read only once it is open: each edit draws the page anew. Annotators see their own steps alone.

    For a control record it says the same as for any other: nothing of where it comes from.
    """
    box = st.expander("History", key=f"history-{record_id}", on_change="rerun")
    if not box.open:
        return
    with box:
        events = workplace.desk.history(record_id, None if person.may("adjudicator") else person.name)
        if not events:
            st.text("Nothing has been changed yet.")
            return
        lines = [f"{_line(event)}" for event in reversed(events[-_MOST_SHOWN:])]
        st.text("\n".join(lines))
        own = {event.event: _line(event) for event in reversed(events) if event.kind == APPLIED and event.actor == person.name}
        if own:
            st.selectbox("A step of yours", list(own), format_func=own.__getitem__, key=f"step-{record_id}")
            st.button("Take this step back", on_click=_take_back, args=(record_id,), key=f"back-{record_id}")


def _line(event: AnnotationEvent) -> str:
    return f"{event.event} · {event.at[:19].replace('T', ' ')} · {event.actor} · {told(event)}"


def _take_back(record_id: str) -> None:
    """Deliver the step as the editor would, under a name that no browser uses; later steps stay."""
    person, step = current_person(), st.session_state.get(f"step-{record_id}")
    if person is None or not isinstance(step, int):
        return
    workplace, tab = get_workplace(), this_tab()
    take_in(workplace, person, tab)
    try:
        opened = workplace.desk.open(person.name, record_id)
        operation = {"op": "revert", "event": step}
        sent = Sent(client=f"s-{secrets.token_hex(12)}", sequence=1, record_id=record_id, base=opened.version, operation=operation)
        delivery = workplace.desk.deliver(person.name, [sent])
    except UsageError as error:
        tab.said = str(error)
        return
    if delivery.refused:
        tab.said = delivery.refused[0].sentence
    elif delivery.stale:
        tab.said = "Not done: the record was changed at the same moment. Please look at it and try again."
