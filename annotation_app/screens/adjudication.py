"""Deciding on records that people disagree on, one at a time: what there is to read, and the record that comes next."""

from __future__ import annotations

from itertools import combinations
from typing import Final

import streamlit as st

from annotation_app.adjudication.versions import SideBySide
from annotation_app.checks.why import why
from annotation_app.documents.differences import compare
from annotation_app.documents.document import Document
from annotation_app.editor.palette import colours
from annotation_app.people.identity import Person
from annotation_app.screens.adjudication_choices import show_reject, show_reopen, show_span_by_span, take_button
from annotation_app.screens.kept_figures import office_of
from annotation_app.screens.marked_text import marked_text
from annotation_app.screens.plain_words import plain, tell
from annotation_app.serving.opening import Workplace
from annotation_app.serving.workplace_holder import get_workplace
from foundation.errors import UsageError
from taxonomy.entity_types import load_taxonomy

_RECORD: Final = "adjudicated_record"
_ABREAST: Final = 3


def adjudication_page(_person: Person) -> None:
    """Show the records that people disagree on, one at a time."""
    workplace = get_workplace()
    office_of(workplace).upkeep.look_in()
    waiting = workplace.resolver.disputes()
    if not waiting:
        st.info("Nothing waits for a decision: where people agree, records are validated by themselves some minutes after.")
    else:
        _show(workplace, _chosen(waiting), waiting)
    show_reopen(workplace)


def _chosen(waiting: list[str]) -> str:
    if st.session_state.get(_RECORD) not in waiting:
        st.session_state[_RECORD] = waiting[0]
    back, on, pick, count = st.columns([1, 1, 3, 3], vertical_alignment="center")
    place = waiting.index(st.session_state[_RECORD])
    back.button("Previous", disabled=place == 0, on_click=_go, args=(waiting[place - 1],), width="stretch")
    on.button("Next", disabled=place + 1 == len(waiting), on_click=_go, args=(waiting[min(place + 1, len(waiting) - 1)],), width="stretch")
    numbers = {record_id: number for number, record_id in enumerate(waiting, 1)}
    pick.selectbox("Record", waiting, format_func=lambda one: f"{numbers[one]}: {one[:16]}", key=_RECORD, label_visibility="collapsed")
    count.caption(f"{len(waiting):,} records wait for a decision, the most urgent first.")
    record_id: str = st.session_state[_RECORD]
    return record_id


def _go(record_id: str) -> None:
    st.session_state[_RECORD] = record_id


def _show(workplace: Workplace, record_id: str, waiting: list[str]) -> None:
    try:
        sides = workplace.resolver.open(record_id)
    except UsageError as error:
        tell(error)
        return
    place = waiting.index(record_id)
    following = (waiting[place + 1 :] + waiting[:place] + [record_id])[0]
    versions = _versions(sides)
    _show_remarks(sides)
    if versions:
        _show_versions(sides, versions, following)
        show_span_by_span(sides, versions, following)
    else:
        st.info("No version of this record has been accepted; it can only be rejected, or its annotators may take it up again.")
    _show_why(workplace, sides)
    show_reject(sides, following)


def _versions(sides: SideBySide) -> dict[str, Document]:
    """What can be chosen from: accepted versions, and edits from a tab that had fallen behind, by name."""
    found = {version.annotator: version.state.document for version in sides.accepted}
    for number, offer in enumerate(sides.stale):
        name = f"{offer.annotator}, other tab"
        found[name if name not in found else f"{name} {number + 1}"] = offer.merged
    return found


def _show_remarks(sides: SideBySide) -> None:
    for version in sides.versions:
        if version.state.verdict == "rejected":
            st.text(f"{version.annotator} rejected it: {version.state.reason}")
        if version.state.flag:
            st.text(f"{version.annotator} flagged it: {version.state.flag}")
        if not version.finished:
            st.text(f"{version.annotator} has begun it and not finished.")
    for offer in sides.stale:
        at = offer.at[:16].replace("T", " ")
        told = f"{offer.annotator} also worked in a tab that had fallen behind (edits: {len(offer.events)}, {at})."
        if offer.conflicts:
            told += f" Clashes with newer edits, which are kept: {len(offer.conflicts)}."
        if offer.left_out:
            told += f" Edits that could not be done any more: {offer.left_out}."
        st.text(told)


def _show_versions(sides: SideBySide, versions: dict[str, Document], following: str) -> None:
    tints = colours(load_taxonomy().types)
    differing = _differing(versions)
    names = list(versions)
    for row in range(0, len(names), _ABREAST):
        some = names[row : row + _ABREAST]
        for column, name in zip(st.columns(min(len(names), _ABREAST)), some, strict=False):
            with column.container(border=True):
                title, button = st.columns([2, 1], vertical_alignment="center")
                title.markdown(f"**{plain(name)}**")
                with button:
                    take_button(sides, versions, name, following)
                st.html(marked_text(versions[name], tints, differing[name]))


def _differing(versions: dict[str, Document]) -> dict[str, set[str]]:
    """The ids of the spans of each version that some other version has not got just so."""
    found: dict[str, set[str]] = {name: set() for name in versions}
    for one, other in combinations(versions, 2):
        for difference in compare(versions[one], versions[other]):
            found[one] |= {difference.left.id} if difference.left is not None else set()
            found[other] |= {difference.right.id} if difference.right is not None else set()
    return found


def _show_why(workplace: Workplace, sides: SideBySide) -> None:
    with st.expander("Why it was labelled so"):
        with workplace.shared.reading() as store:
            told = why(store, sides.base)
        facts = {name: told[name] for name in ("topic", "subtopic", "scenario", "rationale", "stage", "provider", "model") if told[name]}
        if told["pair"]:
            facts = {"pair": " × ".join(told["pair"]), **facts}
        if not facts and not told["judges"]:
            st.text("Nothing is known of how this record came about.")
        for name, value in facts.items():
            st.text(f"{name}: {value}")
        if told["judges"]:
            st.text(f"Judges: {len(told['judges'])} verdicts, {told['disagreements']} against the plan")
            st.dataframe(told["judges"], hide_index=True, width="stretch")
        for decision in sides.decisions:
            st.text(f"{decision.outcome} by {decision.adjudicator}, {decision.made_at[:16].replace('T', ' ')}")
