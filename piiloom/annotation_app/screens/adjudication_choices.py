"""Choosing context, question and each span from different versions of a record, with a preview of the result."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Final

import streamlit as st

from piiloom.annotation_app.adjudication.choosing import Choice, SpanChoices, assembled, most_common, overlaps, picked_spans, span_choices
from piiloom.annotation_app.adjudication.differing import Differing
from piiloom.annotation_app.adjudication.versions import SideBySide
from piiloom.annotation_app.documents.document import Document, Mark
from piiloom.annotation_app.editor.palette import colours
from piiloom.annotation_app.screens.adjudication_decisions import decide
from piiloom.annotation_app.screens.escaping import escape_markdown
from piiloom.annotation_app.screens.marked_text import marked_text
from piiloom.annotation_app.serving.services import get_services

_SHOWN: Final = 60
_BESIDE: Final = 24
_QUESTION_SHOWN: Final = 160


def show_span_by_span(sides: SideBySide, versions: Mapping[str, Document], apart: Mapping[str, Differing], following: str) -> None:
    """Show the choices and the preview. At first each choice is what most people have. *following* is the record to show next."""
    names, record_id = list(versions), sides.base.id
    if len(names) < 2:
        return
    # Always open: the key of its button acts only while the button is there.
    st.subheader("Choose span by span", anchor=False)
    with st.container(key="piiloom_choosing"):
        left, right = st.columns([3, 2])
    with left:
        contexts = {name: version.context for name, version in versions.items()}
        changed = {name: _changed_words(version.context, apart[name]) for name, version in versions.items()}
        text_from = _whose("Context", contexts, changed, f"text-{record_id}")
        questions = {name: version.question or "" for name, version in versions.items()}
        question_from = _whose("Question", questions, questions, f"question-{record_id}")
        among = span_choices(versions, text_from)
        picks = _picks(among, contexts[text_from], record_id)
        _tell_unfit(among)
    with right:
        clashes = overlaps(picked_spans(among, picks))
        for one, other in clashes:
            words = " and ".join(f"“{_short(contexts[text_from][mark.start : mark.end])}”" for mark in (one, other))
            st.warning(escape_markdown(f"{words} overlap. Choose one of the two, or none."))
        if clashes:
            return
        document = assembled(among, question_from=question_from, picks=picks)
        st.caption("What comes of it")
        with st.container(border=True):
            open_ones = {choice.number for choice in among.choices if not choice.agreed}
            chosen = _spans_of(document, among, picks, open_ones)
            shown = Differing(chosen, apart[text_from].context, apart[question_from].question, apart[text_from].lacking)
            st.html(marked_text(document, colours(get_services().shared.taxonomy.types), shown, folded=True))
        how = {"text": text_from, "question": question_from, "picks": {str(number): name for number, name in picks.items()}}
        arguments = (sides, document, how, following)
        st.button("Decide so", key=f"merge-{record_id}", type="primary", on_click=decide, args=arguments, shortcut="D")


def _whose(label: str, texts: Mapping[str, str], told: Mapping[str, str], key: str) -> str:
    """Ask whose text to take, if there are different ones, and return that person's name. Equal texts are offered once."""
    variants: dict[str, list[str]] = {}
    for name, text in texts.items():
        variants.setdefault(text, []).append(name)
    if len(variants) == 1:
        return next(iter(texts))
    people = {names[0]: names for names in variants.values()}
    chosen = st.radio(
        label,
        list(people),
        index=list(people).index(most_common(texts)),
        key=key,
        format_func=lambda one: escape_markdown(f"{_short(told[one], _QUESTION_SHOWN) or 'empty'} ({', '.join(people[one])})"),
    )
    return str(chosen)


def _changed_words(context: str, apart: Differing) -> str:
    """Return the words of *context* that differ in other versions, for a label."""
    return " … ".join(_short(context[start:end]) if end > start else "[…]" for start, end in apart.context)


def _picks(among: SpanChoices, text: str, record_id: str) -> dict[int, str | None]:
    picks: dict[int, str | None] = {}
    with st.container(gap="xsmall", key="piiloom_picks"):
        for choice in among.choices:
            if not choice.agreed:
                where, options = st.columns([2, 5], vertical_alignment="center")
                where.html(_surroundings(choice, text))
                with options:
                    picks[choice.number] = _picked(choice, text, f"{record_id}-{choice.key}")
    return picks


def _picked(choice: Choice, text: str, key: str) -> str | None:
    """Ask whose span to take, and return that person's name, or None for no span. Equal spans are offered once."""
    people = {names[0]: names for names in choice.variants.values()}
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
        return escape_markdown(f"no span ({who})")
    otherwise = " · its text reads otherwise here" if mark.doubt else ""
    return escape_markdown(
        f"{_short(text[mark.start : mark.end])} · {mark.entity_type} · {mark.relevance or 'no relevance'}{otherwise} ({who})"
    )


def _surroundings(choice: Choice, text: str) -> str:
    marks = [mark for mark in choice.options.values() if mark is not None]
    start, end = min(mark.start for mark in marks), max(mark.end for mark in marks)
    before, behind = text[max(0, start - _BESIDE) : start], text[end : end + _BESIDE]
    words = f"…{escape(before)}<b>{escape(_short(text[start:end]))}</b>{escape(behind)}…"
    return f'<div dir="auto" style="opacity: 0.85; font-size: 0.9em; overflow-wrap: anywhere">{words}</div>'


def _tell_unfit(among: SpanChoices) -> None:
    """List the spans for which the chosen context has no place, so that none is left out silently."""
    for name, marks in among.unfit.items():
        words = ", ".join(f"“{_short(among.versions[name].context[mark.start : mark.end])}”" for mark in marks)
        st.caption(escape_markdown(f"The chosen context has no place for these spans of {name}: {words}."))


def _spans_of(document: Document, among: SpanChoices, picks: Mapping[int, str | None], numbers: set[int]) -> set[str]:
    """Return the ids in *document* of the spans that were picked in the choices with these *numbers*."""
    places = set()
    for choice in among.choices:
        name = picks.get(choice.number)
        mark = choice.options[name] if choice.number in numbers and name is not None else None
        if mark is not None:
            places.add((mark.start, mark.end))
    return {mark.id for mark in document.marks if (mark.start, mark.end) in places}


def _short(words: str, most: int = _SHOWN) -> str:
    return words if len(words) <= most else words[: most - 1] + "…"
