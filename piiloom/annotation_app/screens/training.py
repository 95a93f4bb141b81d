"""The training page: practice records with feedback, and the qualifying test that a project may require before work."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

import streamlit as st

from piiloom.annotation_app.editor.palette import colours
from piiloom.annotation_app.onboarding.feedback import Feedback
from piiloom.annotation_app.people.identity import Person
from piiloom.annotation_app.screens.acting import act, with_outcomes
from piiloom.annotation_app.screens.editor_callbacks import show_editor
from piiloom.annotation_app.screens.escaping import escape_markdown
from piiloom.annotation_app.screens.marked_text import marked_text
from piiloom.annotation_app.screens.tab_state import this_tab
from piiloom.annotation_app.serving.services import Services, get_services
from piiloom.annotation_app.sync.editor_data import EditorOptions, Mode, editor_data
from piiloom.annotation_app.sync.open_documents import DocumentView
from piiloom.foundation.errors import UsageError
from piiloom.foundation.words import counted

_PRACTICE: Final = "practice"
_TEST: Final = "test"
# Session state key of the last check in this tab: record, document version, feedback.
_FEEDBACK: Final = "practice_feedback"


@with_outcomes()
def training_page(person: Person) -> None:
    """Show practice or the test, as selected."""
    services = get_services()
    what = st.segmented_control("What", ["Practice", "Test"], default="Practice", label_visibility="collapsed", key="training_what")
    if what == "Test":
        _test(services, person)
    else:
        _practice(services, person)


def _practice(services: Services, person: Person) -> None:
    exercises = services.practice.exercises(person.name)
    if not exercises:
        st.info("This project has no practice records yet. An admin can add them on the page Admin.")
        return
    done = sum(exercise.perfect for exercise in exercises)
    st.caption(
        f"You have {done} of {counted(len(exercises), 'practice record')} right. Correct each as the guidelines say; Accept checks it."
    )
    record_id = _chosen(_PRACTICE, [(exercise.record_id, exercise.perfect) for exercise in exercises])
    above = st.container()  # what is wrong stands where it is seen at once, whatever the length of the record
    opened = _show(services, person, record_id, _PRACTICE, "practice")
    if opened.state.verdict == "open":
        st.caption("Accept (or reject) the record when you are done: that checks your answer.")
        return
    checked, at, feedback = st.session_state.get(_FEEDBACK, (None, None, None))
    if (checked, at) != (record_id, opened.version):
        feedback = services.practice.check(person.name, record_id)
        st.session_state[_FEEDBACK] = record_id, opened.version, feedback
        st.rerun()  # the number of right ones stands above
    with above:
        _say(feedback)
        _offer_answer(services, person, record_id)


def _test(services: Services, person: Person) -> None:
    for attempt in services.test.attempts(person.name):
        outcome = "passed" if attempt.passed else "not passed"
        st.caption(f"Attempt {attempt.number}: {attempt.score:.0%}, {outcome} (needed: {attempt.threshold:.0%})")
    try:
        task = services.test.task(person.name)
    except UsageError as error:
        st.info(escape_markdown(str(error)))
        return
    left = sum(not finished for _, finished in task.records)
    st.caption(
        f"{counted(len(task.records), 'record')}, {left} not finished. "
        "Accept or reject each; then hand in. There is no feedback before that."
    )
    _show(services, person, _chosen(_TEST, task.records), _TEST, "annotate")
    st.button("Hand in", type="primary", disabled=left > 0, on_click=act, args=("annotator", partial(_hand_in, services)))


def _hand_in(services: Services, person: Person) -> tuple[str, bool]:
    trail = this_tab().trail(_TEST)
    attempt = services.test.hand_in(person.name)
    trail.records.clear()
    trail.leave()
    return f"{attempt.score:.0%}: {'passed' if attempt.passed else 'not passed this time'}", attempt.passed


def _chosen(page: str, records: Sequence[tuple[str, bool]]) -> str:
    """Return the record that *page* shows: the current one, else the first that is not done."""
    trail = this_tab().trail(page)
    ids = [record_id for record_id, _ in records]
    if trail.records != ids:
        trail.records = ids
        trail.place = next((place for place, (_, done) in enumerate(records) if not done), 0)
    trail.place = min(max(trail.place, 0), len(ids) - 1)
    return ids[trail.place]


def _show(services: Services, person: Person, record_id: str, page: str, mode: Mode) -> DocumentView:
    """Mount the editor and return the document that it shows."""
    tab = this_tab()
    trail = tab.trail(page)
    opened = services.documents.open(person.name, record_id)
    position = {"index": trail.place + 1, "total": len(trail.records)}
    options = EditorOptions(mode=mode, acknowledged=tab.acknowledged, notices=tab.notices, intents=tab.intents, position=position)
    show_editor(editor_data(opened, person.name, options, services.shared.taxonomy), page, _no_further)
    return opened


def _no_further(_services: Services, _person: Person, besides: Sequence[str]) -> str | None:
    """Stay at the last record."""
    return besides[-1] if besides else None


def _say(feedback: Feedback) -> None:
    if feedback.perfect:
        st.success(f"Right: {counted(feedback.expected, 'span')}. Nothing to remark.")
        return
    st.markdown(f"**{feedback.right} of {counted(feedback.expected, 'span')}** right; {feedback.score:.0%} of the points.")
    for remark in feedback.remarks:
        st.text(f"• {remark.sentence}" + (f"\n   {remark.why}" if remark.why else ""))


def _offer_answer(services: Services, person: Person, record_id: str) -> None:
    """Show the right answer in an expander, after the person has tried."""
    with st.expander("Show the right answer"):
        st.html(marked_text(services.practice.reference(person.name, record_id), colours(services.shared.taxonomy.types)))
