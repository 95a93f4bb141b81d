"""The guidelines: read by all, changed by admins as a new version, with the questions that people asked."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from annotation_app.people.identity import Person
from annotation_app.screens.plain_words import plain, tell
from annotation_app.serving.opening import Workplace
from annotation_app.serving.workplace_holder import get_workplace
from annotation_app.worklist.visibility import Viewer, may_see_people
from corpus.store.guidelines import Guideline, GuidelineQuestion
from foundation.errors import UsageError


def guide_page(person: Person) -> None:
    """Show the guidelines in force, the questions, and to admins the way to change them."""
    workplace = get_workplace()
    current = workplace.guidelines.ensure()
    names = ["Guidelines", "Questions", "Versions", *(["Edit"] if person.may("admin") else [])]
    tabs = dict(zip(names, st.tabs(names), strict=True))
    with tabs["Guidelines"]:
        made = plain(f"{current.made_by}, {current.made_at[:10]}")
        st.caption(f"Version {current.version}, {made}. Each annotation notes the version it was made under.")
        with st.container(key="piiloom_guidelines"):
            st.markdown(current.markdown)
    with tabs["Questions"]:
        _show_questions(workplace, person)
    with tabs["Versions"]:
        _show_versions(workplace)
    if "Edit" in tabs:
        with tabs["Edit"]:
            _edit(workplace, person, current)


def _show_questions(workplace: Workplace, person: Person) -> None:
    viewer = Viewer(name=person.name, role=person.role)
    by_name = may_see_people(viewer, workplace.settings.current())
    with st.form("ask", clear_on_submit=True):
        text = st.text_area("Ask something about the guidelines", max_chars=4000, height=80)
        if st.form_submit_button("Ask") and text.strip():
            _do(lambda: workplace.guidelines.ask(person.name, text))
    # What others ask on a record, and nobody has answered yet, could lead those who still have it before them.
    shown = [one for one in workplace.guidelines.questions() if by_name or one.answer or one.asked_by == person.name]
    if not shown:
        st.text("Nobody has asked anything yet.")
    for question in reversed(shown):
        with st.container(border=True):
            _show_question(workplace, person, question, named=by_name or question.asked_by == person.name)


def _show_question(workplace: Workplace, person: Person, question: GuidelineQuestion, *, named: bool) -> None:
    about = f" on record {question.record_id[:16]}" if question.record_id and named else ""
    st.caption(plain(f"{question.asked_by if named else 'Somebody'}, {question.asked_at[:16].replace('T', ' ')}{about}"))
    st.text(question.text)
    if question.answer:
        st.text(f"→ {question.answered_by}: {question.answer}")
    if not person.may("adjudicator"):
        return
    with st.form(f"answer-{question.question}", clear_on_submit=True, border=False):
        text = st.text_input("Answer", max_chars=4000)
        if st.form_submit_button("Replace the answer" if question.answer else "Answer") and text.strip():
            _do(lambda: workplace.guidelines.answer(person.name, question.question, text))


def _do(act: Callable[[], object]) -> None:
    try:
        act()
    except UsageError as error:
        tell(error)
    else:
        st.rerun()


def _show_versions(workplace: Workplace) -> None:
    versions = workplace.guidelines.versions()
    rows = [{"version": row.version, "by": row.made_by, "on": row.made_at[:16].replace("T", " ")} for row in reversed(versions)]
    st.dataframe(rows, hide_index=True, width="stretch")
    if len(versions) > 1:
        last = versions[-1].version
        old = st.selectbox("What changed since version", [row.version for row in reversed(versions[:-1])])
        st.code("\n".join(workplace.guidelines.changes(old, last)), language="diff")


def _edit(workplace: Workplace, person: Person, current: Guideline) -> None:
    st.write(
        "Markdown. What you publish is in force at once, as a new version; annotations made before keep the version they were made under."
    )
    with st.form("guidelines", border=False):
        text = st.text_area("Guidelines", current.markdown, height=500)
        if st.form_submit_button("Publish as a new version", type="primary"):
            try:
                published = workplace.guidelines.publish(person.name, text, seen=current.version)
            except UsageError as error:
                tell(error)
            else:
                st.success(f"Version {published.version} is in force.")
