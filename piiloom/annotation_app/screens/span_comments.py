"""Comments on spans: written below the editor, read there and by those who decide."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

import streamlit as st

from piiloom.annotation_app.comments import LONGEST, Comment
from piiloom.annotation_app.people.identity import Person
from piiloom.annotation_app.screens.acting import act, field, fields
from piiloom.annotation_app.serving.services import Services
from piiloom.annotation_app.worklist.visibility import may_see_people

_RECORD: Final = "the whole record"
_LONGEST: Final = 50


def visible_comments(services: Services, person: Person, record_id: str) -> list[Comment]:
    """Return the comments on a record that *person* may see: everybody's, or their own."""
    everybody = may_see_people(person, services.settings.current())
    return services.comments.on(record_id, None if everybody else person.name)


def show_comments(services: Services, record_id: str, found: Sequence[Comment], document: Mapping[str, Any], *, is_open: bool) -> None:
    """Show the comments *found*, and a form for another one, about a span of *document* or the record."""
    with st.expander(f"Comments ({len(found)})" if found else "Comments", expanded=is_open, key=f"comments-{record_id}"):
        _show(found)
        spans = {span["id"]: _named(document["context"][span["start"] : span["end"]], span["type"]) for span in document["spans"]}
        with st.form(f"comment-{record_id}", clear_on_submit=True, border=False):
            form = f"comment-{record_id}"
            st.selectbox("About", [_RECORD, *spans], format_func=lambda name: spans.get(name, name), key=field(form, "about"))
            st.text_input("Your comment", max_chars=LONGEST, key=field(form, "text"))
            add = partial(_add, services, record_id, document)
            st.form_submit_button("Add the comment", on_click=act, args=("annotator", add))


def _add(services: Services, record_id: str, document: Mapping[str, Any], person: Person) -> None:
    written = fields(f"comment-{record_id}")
    if written["text"].strip():
        about = written["about"]
        services.comments.add(person.name, record_id, written["text"], document, None if about == _RECORD else about)


def show_all_comments(services: Services, record_id: str) -> None:
    """Show everybody's comments on a record to those who decide, if there are any."""
    if found := services.comments.on(record_id):
        with st.expander(f"Comments ({len(found)})", expanded=True):
            _show(found)


def _show(comments: Sequence[Comment]) -> None:
    for one in comments:
        about = f" on {_named(one.words, one.entity_type)}" if one.words else ""
        st.text(f"{one.author}{about}: {one.text}")


def _named(words: str, entity_type: str) -> str:
    shown = words if len(words) <= _LONGEST else f"{words[: _LONGEST - 1]}…"
    return f"“{' '.join(shown.split())}” ({entity_type})"
