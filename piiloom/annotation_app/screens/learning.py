"""The pages Guidelines and Training: reading and asking, publishing versions; practice with feedback, and the qualifying test."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

import streamlit as st

from piiloom.annotation_app.onboarding.exercises import Feedback
from piiloom.annotation_app.onboarding.guidelines import tour_video
from piiloom.annotation_app.people.accounts import AppUser
from piiloom.annotation_app.screens.editor import show_editor
from piiloom.annotation_app.screens.showing import escape_markdown, marked_html, show_table
from piiloom.annotation_app.screens.tab_state import BY_ADMIN, act, field_key, fields, this_tab, with_outcomes
from piiloom.annotation_app.serving.services import Services, get_services
from piiloom.annotation_app.sync.editor_data import EditorMode, colours, editor_data
from piiloom.annotation_app.sync.service import DocumentView
from piiloom.annotation_app.worklist.assigning import may_see_people, may_see_question
from piiloom.corpus.store.annotation_project import Guideline, GuidelineQuestion
from piiloom.foundation.errors import UsageError
from piiloom.foundation.words import counted

_BEGUN: Final = "guidelines_begun_from"


@with_outcomes()
def guidelines_page(person: AppUser) -> None:
    """Show the guidelines in force, the questions, the versions, and to admins the form that changes them."""
    services = get_services()
    current = services.guidelines.ensure()
    names = ["Guidelines", "Questions", "Versions", *(["Edit"] if person.may("admin") else [])]
    tabs = dict(zip(names, st.tabs(names), strict=True))
    with tabs["Guidelines"]:
        made = escape_markdown(f"{current.made_by}, {current.made_at[:10]}")
        st.caption(f"Version {current.version}, {made}. Each annotation notes the version it was made under.")
        if (video := tour_video()) is not None:
            with st.expander("Tour of the app (a video of about a minute, without sound)"):
                st.video(str(video), format="video/webm")
        with st.container(key="piiloom_guidelines"):
            st.markdown(current.markdown)
    with tabs["Questions"]:
        _show_questions(services, person)
    with tabs["Versions"]:
        _show_versions(services, person)
    if "Edit" in tabs:
        with tabs["Edit"]:
            _edit(services, current)


def _show_questions(services: Services, person: AppUser) -> None:
    by_name = may_see_people(person, services.settings.current())
    with st.form("ask", clear_on_submit=True):
        st.text_area("Ask something about the guidelines", max_chars=4000, height=80, key=field_key("ask", "text"))
        st.form_submit_button("Ask", on_click=act, args=("annotator", _ask))
    shown = [one for one in services.guidelines.questions() if may_see_question(person, one, by_name=by_name)]
    if not shown:
        st.text("Nobody has asked anything yet.")
    for question in reversed(shown):
        with st.container(border=True):
            _show_question(person, question, named=by_name or question.asked_by == person.name)


def _show_question(person: AppUser, question: GuidelineQuestion, *, named: bool) -> None:
    about = f" on record {question.record_id[:16]}" if question.record_id and named else ""
    st.caption(escape_markdown(f"{question.asked_by if named else 'Somebody'}, {question.asked_at[:16].replace('T', ' ')}{about}"))
    st.text(question.text)
    if question.answer:
        st.text(f"→ {question.answered_by}: {question.answer}")
    if not person.may("adjudicator"):
        return
    with st.form(f"answer-{question.question}", clear_on_submit=True, border=False):
        st.text_input("Answer", max_chars=4000, key=field_key(f"answer-{question.question}", "text"))
        label = "Replace the answer" if question.answer else "Answer"
        st.form_submit_button(label, on_click=act, args=("adjudicator", partial(_answer, question.question)))


def _ask(person: AppUser) -> None:
    if (text := fields("ask")["text"]).strip():
        get_services().guidelines.ask(person.name, text)


def _answer(question: int, person: AppUser) -> None:
    if (text := fields(f"answer-{question}")["text"]).strip():
        get_services().guidelines.answer(person.name, question, text)


def _show_versions(services: Services, person: AppUser) -> None:
    versions = services.guidelines.versions()
    rows = [{"version": row.version, "by": row.made_by, "on": row.made_at[:16].replace("T", " ")} for row in reversed(versions)]
    show_table(rows)
    if len(versions) < 2:
        return
    last = versions[-1].version
    old = st.selectbox("What changed since version", [row.version for row in reversed(versions[:-1])])
    st.code("\n".join(services.guidelines.changes(old, last)), language="diff")
    if person.may("admin"):
        st.button(f"Put version {old} in force again, as version {last + 1}", on_click=BY_ADMIN, args=(partial(_restore, old, last),))


def _restore(old: int, seen: int, admin: AppUser) -> str:
    guidelines = get_services().guidelines
    published = guidelines.publish(admin.name, guidelines.version(old).markdown, seen=seen)
    return f"Version {published.version} is in force."


def _edit(services: Services, current: Guideline) -> None:
    """Show the form that publishes a new version.

    A draft belongs to the version from which it was begun. What another admin publishes meanwhile does not replace the draft, and the draft
    cannot be published over it.
    """
    begun: int = st.session_state.setdefault(_BEGUN, current.version)
    st.write(
        "Markdown. What you publish is in force at once, as a new version; annotations made before keep the version they were made under."
    )
    if begun != current.version:
        st.warning(f"Version {current.version} came into force since you began with version {begun}. Copy what you want to keep.")
        st.button(f"Start anew from version {current.version}", on_click=_begin, args=(current.version,))
    with st.form("guidelines", border=False):
        st.text_area("Guidelines", services.guidelines.version(begun).markdown, height=500, key=field_key(f"guidelines-{begun}", "text"))
        label = "Publish as a new version"
        st.form_submit_button(label, type="primary", on_click=BY_ADMIN, args=(partial(_publish, begun),))


def _publish(begun: int, admin: AppUser) -> str:
    published = get_services().guidelines.publish(admin.name, fields(f"guidelines-{begun}")["text"], seen=begun)
    _begin(published.version)
    return f"Version {published.version} is in force."


def _begin(version: int) -> None:
    st.session_state[_BEGUN] = version


_PRACTICE: Final = "practice"
_TEST: Final = "test"
# Session state key of the last check in this tab: record, document version, feedback.
_FEEDBACK: Final = "practice_feedback"


@with_outcomes()
def training_page(person: AppUser) -> None:
    """Show practice or the test, as selected."""
    services = get_services()
    what = st.segmented_control("What", ["Practice", "Test"], default="Practice", label_visibility="collapsed", key="training_what")
    if what == "Test":
        _test(services, person)
    else:
        _practice(services, person)


def _practice(services: Services, person: AppUser) -> None:
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


def _test(services: Services, person: AppUser) -> None:
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


def _hand_in(services: Services, person: AppUser) -> tuple[str, bool]:
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


def _show(services: Services, person: AppUser, record_id: str, page: str, mode: EditorMode) -> DocumentView:
    """Mount the editor and return the document that it shows."""
    tab = this_tab()
    trail = tab.trail(page)
    opened = services.documents.open(person.name, record_id)
    data = editor_data(
        opened,
        person.name,
        services.shared.taxonomy,
        mode=mode,
        acknowledged=tab.acknowledged,
        notices=tab.notices,
        intents=tab.intents,
        position={"index": trail.place + 1, "total": len(trail.records)},
    )
    show_editor(data, page, _no_further)
    return opened


def _no_further(_services: Services, _person: AppUser, besides: Sequence[str]) -> str | None:
    """Stay at the last record."""
    return besides[-1] if besides else None


def _say(feedback: Feedback) -> None:
    if feedback.perfect:
        st.success(f"Right: {counted(feedback.expected, 'span')}. Nothing to remark.")
        return
    st.markdown(f"**{feedback.right} of {counted(feedback.expected, 'span')}** right; {feedback.score:.0%} of the points.")
    for remark in feedback.remarks:
        st.text(f"• {remark.sentence}" + (f"\n   {remark.why}" if remark.why else ""))


def _offer_answer(services: Services, person: AppUser, record_id: str) -> None:
    """Show the right answer in an expander, after the person has tried."""
    with st.expander("Show the right answer"):
        st.html(marked_html(services.practice.reference(person.name, record_id), colours(services.shared.taxonomy.types)))
