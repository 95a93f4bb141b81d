"""The history of a record: who did what and when. Any step can be undone by a new one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Final

import streamlit as st

from piiloom.annotation_app.adjudication.decisions import ANNOTATED, OUTCOMES
from piiloom.annotation_app.adjudication.step_reverting import revert_step
from piiloom.annotation_app.documents.history import EDITS
from piiloom.annotation_app.people.identity import Person
from piiloom.annotation_app.screens.editor_callbacks import receive_outbox
from piiloom.annotation_app.screens.escaping import escape_markdown
from piiloom.annotation_app.screens.tab_state import this_tab
from piiloom.annotation_app.serving.current_user import current_person
from piiloom.annotation_app.serving.services import Services, get_services
from piiloom.annotation_app.sync.event_descriptions import line_of, without_renewals
from piiloom.annotation_app.sync.results import REFUSED, STALE
from piiloom.annotation_app.worklist.work_events import ASSIGNMENT_KINDS
from piiloom.corpus.store.annotation_events import AnnotationEvent
from piiloom.foundation.errors import UsageError

_MOST_SHOWN: Final = 200
_HEIGHT: Final = 300
_FEW: Final = 12
_STEPS: Final = (*EDITS, STALE, REFUSED)
# The event of a first finish is written for real work only. It is hidden during work, since it would reveal the control records.
_WHILE_WORKING: Final = (*_STEPS, *ASSIGNMENT_KINDS, *OUTCOMES)
_ALL: Final = (*_WHILE_WORKING, ANNOTATED)


def show_history(services: Services, person: Person, record_id: str, *, is_open: bool = False) -> None:
    """Show the history in an expander under the editor, open from the beginning if *is_open*.

    Annotators see only what was done to their own version.
    A control record looks like any other here: nothing says where it comes from.
    """
    if person.may("adjudicator"):
        _show(services, person, record_id, None, _WHILE_WORKING, _revert_here, is_open=is_open)
    else:
        _show(services, person, record_id, person.name, _STEPS, _revert_here, is_open=is_open)


def show_whole_history(services: Services, person: Person, record_id: str) -> None:
    """Show in an expander everything that anybody did to a record of the work list, for adjudicators."""
    _show(services, person, record_id, None, _ALL, _revert_there)


def _show(
    services: Services,
    person: Person,
    record_id: str,
    owner: str | None,
    kinds: Collection[str],
    act: Callable[[str, str], None],
    *,
    is_open: bool = False,
) -> None:
    """Show the expander. Events are read only while it is open, since each edit reruns the page."""
    box = st.expander("History", expanded=is_open, key=f"history-{record_id}", on_change="rerun")
    if not box.open:
        return
    with box:
        events = without_renewals(services.documents.history(record_id, owner, kinds))
        if not events:
            st.text("Nothing has been changed yet.")
            return
        shown = events[-_MOST_SHOWN:]
        with st.container(height=_HEIGHT if len(shown) > _FEW else "content", border=False):
            st.text("\n".join(line_of(event) for event in reversed(shown)))
        if len(events) > len(shown):
            st.caption(f"The newest {len(shown)} of {len(events):,}.")
        _offer(person, record_id, events, act)


def _offer(person: Person, record_id: str, events: Sequence[AnnotationEvent], act: Callable[[str, str], None]) -> None:
    oversees = person.may("adjudicator")
    steps = {event.event: line_of(event) for event in reversed(events) if event.kind in EDITS and (oversees or event.owner == person.name)}
    if not steps:
        return
    key = f"step-{record_id}-{max(steps)}"  # a further step makes another choice, which begins with that step
    st.selectbox("A step" if oversees else "A step of yours", list(steps), format_func=steps.__getitem__, key=key)
    st.button("Take this step back", on_click=act, args=(record_id, key), key=f"back-{record_id}")
    if oversees:
        st.caption("A step of somebody else is taken back in that person's version. If it was finished, it goes back to its annotator.")


def _revert_here(record_id: str, key: str) -> None:
    """Undo the chosen step, after delivering the edits that the editor has sent."""
    person, services, tab = current_person(), get_services(), this_tab()
    if person is None:
        return
    receive_outbox(services, person, tab)
    try:
        _revert(services, person, record_id, key)
    except UsageError as error:
        tab.message = str(error)


def _revert_there(record_id: str, key: str) -> None:
    try:
        _revert(get_services(), current_person(), record_id, key)
    except UsageError as error:
        st.toast(escape_markdown(str(error)))
    else:
        st.toast("The step is taken back.")


def _revert(services: Services, person: Person | None, record_id: str, key: str) -> None:
    step = st.session_state.get(key)
    if isinstance(step, int):
        revert_step(services.shared, services.documents, person, record_id, step)
