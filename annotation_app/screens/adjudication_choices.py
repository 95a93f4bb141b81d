"""The ways to decide on a record: one version whole, span by span, rejecting it; and taking a decision back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from annotation_app.adjudication.versions import Choice, SideBySide, assembled, choices
from annotation_app.documents.document import Document, Mark
from annotation_app.editor.palette import colours
from annotation_app.screens.marked_text import marked_text
from annotation_app.screens.plain_words import plain, tell
from annotation_app.serving.current import current_person
from annotation_app.serving.opening import Workplace
from annotation_app.serving.workplace_holder import get_workplace
from corpus.store.adjudications import last_decisions
from foundation.errors import UsageError
from taxonomy.entity_types import load_taxonomy

_NONE = "no span"
_SHOWN = 60
_DECIDED = ("validated", "rejected")


def take_button(sides: SideBySide, versions: Mapping[str, Document], name: str, following: str) -> None:
    """A button that decides for the whole version of *name*."""
    arguments = (sides.base.id, versions[name], _seen(sides), {"whole": name}, following)
    label = f"Take {plain(name)}"
    st.button(label, key=f"take-{sides.base.id}-{name}", type="primary", on_click=_adjudicate, args=arguments, width="stretch")


def show_span_by_span(sides: SideBySide, versions: Mapping[str, Document], following: str) -> None:
    """Let the person choose text, question and each span that differs, and see what would come of it."""
    names, record_id = list(versions), sides.base.id
    if len(names) < 2:
        return
    with st.expander("Choose span by span", expanded=True):
        text_from = _whose("Context of", names, {one.context for one in versions.values()}, f"text-{record_id}")
        question_from = _whose("Question of", names, {one.question for one in versions.values()}, f"question-{record_id}")
        text = versions[text_from].context
        picks: dict[int, str | None] = {}
        for choice in choices(versions, text_from):
            if not choice.agreed:
                picks[choice.number] = _picked(choice, text, f"{record_id}-{choice.number}")
        try:
            document = assembled(versions, text_from=text_from, question_from=question_from, picks=picks)
        except UsageError as error:
            tell(error)
            return
        st.caption("What comes of it")
        with st.container(border=True):
            st.html(marked_text(document, colours(load_taxonomy().types)))
        how = {"text": text_from, "question": question_from, "picks": {str(number): name for number, name in picks.items()}}
        arguments = (record_id, document, _seen(sides), how, following)
        st.button("Decide so", key=f"merge-{record_id}", type="primary", on_click=_adjudicate, args=arguments)


def _seen(sides: SideBySide) -> dict[str, int]:
    return {version.annotator: version.version for version in sides.versions}


def _whose(label: str, names: list[str], ways: set[Any], key: str) -> str:
    if len(ways) == 1:
        return names[0]
    return st.selectbox(label, names, key=key)


def _picked(choice: Choice, text: str, key: str) -> str | None:
    """Ask whose span it is to be; what several people have alike is offered once."""
    ways: dict[tuple[Any, ...] | None, list[str]] = {}
    for name, mark in choice.options.items():
        ways.setdefault(None if mark is None else (mark.start, mark.end, mark.entity_type, mark.relevance), []).append(name)
    people = {names[0]: names for names in ways.values()}
    name = st.radio(
        "Span",
        list(people),
        key=f"pick-{key}",
        horizontal=True,
        label_visibility="collapsed",
        format_func=lambda one: _label(choice.options[one], text, people[one]),
    )
    return None if name is None or choice.options[name] is None else name


def _label(mark: Mark | None, text: str, names: list[str]) -> str:
    who = ", ".join(names)
    if mark is None:
        return plain(f"{_NONE} ({who})")
    words = text[mark.start : mark.end]
    short = words if len(words) <= _SHOWN else words[: _SHOWN - 1] + "…"
    return plain(f"{short} · {mark.entity_type} · {mark.relevance or 'no relevance'} ({who})")


def _adjudicate(record_id: str, document: Document, seen: dict[str, int], how: dict[str, Any], following: str) -> None:
    try:
        get_workplace().resolver.adjudicate(current_person(), record_id, document, seen=seen, how=how)
    except UsageError as error:
        st.toast(plain(str(error)))
    else:
        st.session_state["adjudicated_record"] = following
        st.toast("Decided: the record is validated.")


def show_reject(sides: SideBySide, following: str) -> None:
    """Let the person throw the record out."""
    with st.expander("Reject this record"):
        reason = st.text_input("Why it is of no use", max_chars=1000, key=f"reason-{sides.base.id}")
        st.button("Reject", key=f"reject-{sides.base.id}", disabled=not reason.strip(), on_click=_reject, args=(sides.base.id, following))


def _reject(record_id: str, following: str) -> None:
    try:
        get_workplace().resolver.reject(current_person(), record_id, st.session_state.get(f"reason-{record_id}", ""))
    except UsageError as error:
        st.toast(plain(str(error)))
    else:
        st.session_state["adjudicated_record"] = following
        st.toast("Rejected.")


def show_reopen(workplace: Workplace) -> None:
    """Let the person take a decision back."""
    with st.expander("Reopen a record that was decided"), st.form("reopen", border=False, clear_on_submit=True):
        with workplace.shared.reading() as store:
            decided = sorted(name for name, outcome in last_decisions(store).items() if outcome in _DECIDED)
        if not decided:
            st.text("Nothing has been decided yet.")
        record_id = st.selectbox("Record", decided, index=None, placeholder="an id, as the page Records shows it")
        reason = st.text_input("Why", max_chars=1000)
        if st.form_submit_button("Reopen") and record_id is not None:
            try:
                workplace.resolver.reopen(current_person(), record_id, reason)
            except UsageError as error:
                tell(error)
            else:
                st.success("Its annotators may edit it again; it stays out of releases until it is decided anew.")
