"""The guidelines page: everybody reads the guidelines and asks questions; admins publish new versions."""

from __future__ import annotations

from functools import partial
from typing import Final

import streamlit as st

from piiloom.annotation_app.onboarding.guidelines import tour_video
from piiloom.annotation_app.people.identity import Person
from piiloom.annotation_app.screens.acting import BY_ADMIN, act, field, fields, with_outcomes
from piiloom.annotation_app.screens.escaping import escape_markdown
from piiloom.annotation_app.screens.tables import show_table
from piiloom.annotation_app.serving.services import Services, get_services
from piiloom.annotation_app.worklist.visibility import may_see_people, may_see_question
from piiloom.corpus.store.annotation_project import Guideline, GuidelineQuestion

_BEGUN: Final = "guidelines_begun_from"


@with_outcomes()
def guidelines_page(person: Person) -> None:
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


def _show_questions(services: Services, person: Person) -> None:
    by_name = may_see_people(person, services.settings.current())
    with st.form("ask", clear_on_submit=True):
        st.text_area("Ask something about the guidelines", max_chars=4000, height=80, key=field("ask", "text"))
        st.form_submit_button("Ask", on_click=act, args=("annotator", _ask))
    shown = [one for one in services.guidelines.questions() if may_see_question(person, one, by_name=by_name)]
    if not shown:
        st.text("Nobody has asked anything yet.")
    for question in reversed(shown):
        with st.container(border=True):
            _show_question(person, question, named=by_name or question.asked_by == person.name)


def _show_question(person: Person, question: GuidelineQuestion, *, named: bool) -> None:
    about = f" on record {question.record_id[:16]}" if question.record_id and named else ""
    st.caption(escape_markdown(f"{question.asked_by if named else 'Somebody'}, {question.asked_at[:16].replace('T', ' ')}{about}"))
    st.text(question.text)
    if question.answer:
        st.text(f"→ {question.answered_by}: {question.answer}")
    if not person.may("adjudicator"):
        return
    with st.form(f"answer-{question.question}", clear_on_submit=True, border=False):
        st.text_input("Answer", max_chars=4000, key=field(f"answer-{question.question}", "text"))
        label = "Replace the answer" if question.answer else "Answer"
        st.form_submit_button(label, on_click=act, args=("adjudicator", partial(_answer, question.question)))


def _ask(person: Person) -> None:
    if (text := fields("ask")["text"]).strip():
        get_services().guidelines.ask(person.name, text)


def _answer(question: int, person: Person) -> None:
    if (text := fields(f"answer-{question}")["text"]).strip():
        get_services().guidelines.answer(person.name, question, text)


def _show_versions(services: Services, person: Person) -> None:
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


def _restore(old: int, seen: int, admin: Person) -> str:
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
        st.text_area("Guidelines", services.guidelines.version(begun).markdown, height=500, key=field(f"guidelines-{begun}", "text"))
        label = "Publish as a new version"
        st.form_submit_button(label, type="primary", on_click=BY_ADMIN, args=(partial(_publish, begun),))


def _publish(begun: int, admin: Person) -> str:
    published = get_services().guidelines.publish(admin.name, fields(f"guidelines-{begun}")["text"], seen=begun)
    _begin(published.version)
    return f"Version {published.version} is in force."


def _begin(version: int) -> None:
    st.session_state[_BEGUN] = version
