"""The other questions on a text, side by side: what is of high relevance to one may be of low relevance to the next.

Records of one text with several questions are a contrast group. The table has a row for each span and a column for each question, with
the person's own labels where they have begun a record, and those that it came with elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Final

import streamlit as st

from piiloom.annotation_app.documents.document import Document
from piiloom.annotation_app.people.identity import Person
from piiloom.annotation_app.screens.escaping import escape_markdown
from piiloom.annotation_app.screens.tab_state import this_tab
from piiloom.annotation_app.serving.services import Services
from piiloom.annotation_app.sync.open_documents import DocumentView
from piiloom.corpus.store.annotation_items import other_questions
from piiloom.foundation.words import counted

_MOST: Final = 6
_LONGEST: Final = 60
_STYLE: Final = """<style>
.piiloom-questions { border-collapse: collapse; font-size: 0.88rem; }
.piiloom-questions th, .piiloom-questions td { text-align: start; vertical-align: top; padding: 0.25rem 0.7rem; font-weight: 400;
  border-bottom: 1px solid color-mix(in srgb, currentColor 15%, transparent); }
.piiloom-questions thead th { font-weight: 600; max-width: 22rem; }
.piiloom-questions .high { font-weight: 700; }
</style>"""
_NONE: Final = "–"


def show_other_questions(services: Services, person: Person, page: str, record_id: str) -> None:
    """Show the other questions on the text of *record_id*, if there are any, and offer to go to one of them."""
    here = services.documents.open(person.name, record_id)
    key = here.record.contrast_group
    if key is None:
        return
    with services.shared.reading() as store:
        ids = [name for name in other_questions(store, key, here.record.question) if name != record_id][:_MOST]
    if not ids:
        return
    others = [services.documents.open(person.name, name) for name in ids]
    with st.expander(f"{counted(len(others), 'other question')} on this text", expanded=True, key=f"others-{record_id}"):
        st.html(f"{_STYLE}{table_of([here.state.document, *(one.state.document for one in others)])}")
        with st.container(horizontal=True):
            for number, one in enumerate(others, start=2):
                st.button(
                    f"Open question {number}", on_click=_go, args=(page, one.record.id), help=_help(one), key=f"other-{one.record.id}"
                )


def _help(one: DocumentView) -> str:
    verdict = {"open": "not finished", "accepted": "accepted", "rejected": "rejected"}[one.state.verdict]
    return f"{escape_markdown(one.state.document.question or '')} ({verdict} by you)"


def _go(page: str, record_id: str) -> None:
    this_tab().trail(page).show(record_id)


def table_of(documents: Sequence[Document]) -> str:
    """Return the HTML table of *documents*, which have one text, or texts that were one: the first is the record on the screen."""
    titles = [f"{number}. {document.question or 'no question'}" for number, document in enumerate(documents, start=1)]
    head = "".join(f'<th scope="col" dir="auto">{escape(title)}</th>' for title in ("Span", *titles))
    labels = [_labels(document) for document in documents]
    rows = dict.fromkeys(place for some in labels for place in some)
    body = "".join(
        f'<tr><th scope="row" dir="auto">{escape(words)}</th>{"".join(_cell(some.get((number, words))) for some in labels)}</tr>'
        for number, words in rows
    )
    return f'<table class="piiloom-questions"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'


def _labels(document: Document) -> dict[tuple[int, str], tuple[str, str]]:
    """Return (type, relevance) by the words of a span and how often these have been marked before it: offsets differ in edited texts."""
    seen: dict[str, int] = {}
    found: dict[tuple[int, str], tuple[str, str]] = {}
    for mark in document.marks:
        words = document.context[mark.start : mark.end]
        shown = words if len(words) <= _LONGEST else f"{words[: _LONGEST - 1]}…"
        found[seen.get(words, 0), shown] = mark.entity_type, mark.relevance or _NONE
        seen[words] = seen.get(words, 0) + 1
    return found


def _cell(label: tuple[str, str] | None) -> str:
    if label is None:
        return f"<td>{_NONE}</td>"
    kind, relevance = label
    return f'<td class="{escape(relevance)}">{escape(relevance)} · {escape(kind)}</td>'
