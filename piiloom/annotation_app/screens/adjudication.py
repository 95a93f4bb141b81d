"""The adjudication page: shows disputed records one at a time, with all there is to read, and goes on to the next."""

from __future__ import annotations

from typing import Final

import streamlit as st

from piiloom.annotation_app.adjudication.differing import Differing, differing
from piiloom.annotation_app.adjudication.versions import SideBySide
from piiloom.annotation_app.checks.label_origin import label_origin
from piiloom.annotation_app.documents.differences import Difference, compare
from piiloom.annotation_app.documents.document import Document, document_of
from piiloom.annotation_app.editor.palette import colours
from piiloom.annotation_app.people.identity import Person
from piiloom.annotation_app.screens.acting import with_outcomes
from piiloom.annotation_app.screens.adjudication_choices import show_span_by_span
from piiloom.annotation_app.screens.adjudication_decisions import RECORD, show_reject, show_reopen, take_button, turn_to
from piiloom.annotation_app.screens.app_cache import app_cache
from piiloom.annotation_app.screens.escaping import show_error
from piiloom.annotation_app.screens.marked_text import marked_text
from piiloom.annotation_app.screens.record_address import addressed_record, write_address
from piiloom.annotation_app.screens.record_history import show_whole_history
from piiloom.annotation_app.screens.span_comments import show_all_comments
from piiloom.annotation_app.screens.tab_state import this_tab
from piiloom.annotation_app.screens.tables import show_table
from piiloom.annotation_app.serving.services import Services, get_services
from piiloom.foundation.errors import UsageError
from piiloom.foundation.words import counted

_ABREAST: Final = 3
_NOT_WAITING: Final = "The record of this address does not wait for a decision (any more), so you get the most urgent one."
# Columns that would be too narrow to read wrap below each other.
_STYLE: Final = """<style>
.st-key-piiloom_versions [data-testid="stColumn"], .st-key-piiloom_choosing [data-testid="stColumn"] { min-width: 21rem; }
.st-key-piiloom_choosing .st-key-piiloom_picks [data-testid="stColumn"] { min-width: 0; }
</style>"""


@with_outcomes()
def adjudication_page(person: Person) -> None:
    """Show the records that people disagree on, one at a time."""
    services = get_services()
    app_cache(services).settling.run_if_due()
    waiting = services.resolver.disputes()
    if not waiting:
        write_address(None)
        st.info("Nothing waits for a decision: where people agree, records are validated by themselves some minutes after.")
    else:
        _show(services, person, _chosen(waiting), waiting)
    show_reopen(services)


def _chosen(waiting: list[str]) -> str:
    wanted, shown = addressed_record(), st.session_state.get(RECORD)
    if wanted in waiting and wanted != this_tab().address:
        shown = wanted
    elif wanted is not None and shown is None:
        st.info(_NOT_WAITING)
    turn_to(shown if shown in waiting else waiting[0])
    back, on, pick, count = st.columns([1, 1, 3, 3], vertical_alignment="center")
    place = waiting.index(st.session_state[RECORD])
    back.button("Previous", disabled=place == 0, on_click=turn_to, args=(waiting[place - 1],), width="stretch", shortcut="P")
    on.button(
        "Next",
        disabled=place + 1 == len(waiting),
        on_click=turn_to,
        args=(waiting[min(place + 1, len(waiting) - 1)],),
        width="stretch",
        shortcut="N",
    )
    numbers = {record_id: number for number, record_id in enumerate(waiting, 1)}
    pick.selectbox(
        "Record",
        waiting,
        format_func=lambda one: f"{numbers[one]}: {one[:16]}",
        key=RECORD,
        on_change=_turn_to_picked,
        label_visibility="collapsed",
    )
    count.caption(f"{counted(len(waiting), 'record')} to be decided, the most urgent first.")
    record_id: str = st.session_state[RECORD]
    return record_id


def _turn_to_picked() -> None:
    turn_to(st.session_state[RECORD])


def _show(services: Services, person: Person, record_id: str, waiting: list[str]) -> None:
    try:
        sides = services.resolver.open(record_id)
    except UsageError as error:
        show_error(error)
        return
    place = waiting.index(record_id)
    following = (waiting[place + 1 :] + waiting[:place] + [record_id])[0]
    versions = _versions(sides)
    _show_remarks(sides)
    if versions:
        apart = differing(versions)
        _show_versions(sides, versions, apart, following)
        show_span_by_span(sides, versions, apart, following)
    else:
        st.info("No version of this record has been accepted; it can only be rejected, or its annotators may take it up again.")
    _show_why(services, sides)
    show_all_comments(services, record_id)
    show_whole_history(services, person, record_id)
    show_reject(sides, following)


def _versions(sides: SideBySide) -> dict[str, Document]:
    """Return the documents to choose from by name: accepted versions, and edits from a tab that was out of date."""
    found = {version.annotator: version.state.document for version in sides.accepted}
    for number, offer in enumerate(sides.stale):
        name = f"{offer.annotator}, other tab"
        if found.get(offer.annotator) != offer.merged:  # equal documents: that tab differs only in verdict or flag
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
        if offer.verdict != "open":
            told += f" There the record was {offer.verdict}{f': {offer.reason}' if offer.reason else ''}."
        if offer.flag:
            told += f" There it was flagged: {offer.flag}"
        st.text(told)


def _show_versions(sides: SideBySide, versions: dict[str, Document], apart: dict[str, Differing], following: str) -> None:
    tints, start = colours(get_services().shared.taxonomy.types), document_of(sides.base)
    names = list(versions)
    abreast = 2 if len(names) == 4 else min(len(names), _ABREAST)
    st.html(_STYLE)
    with st.container(key="piiloom_versions"):
        for row in range(0, len(names), abreast):
            for column, name in zip(st.columns(abreast), names[row : row + abreast], strict=False):
                with column.container(border=True):
                    take_button(sides, versions, name, following)
                    st.caption(_summary(compare(start, versions[name])))
                    st.html(marked_text(versions[name], tints, apart[name], folded=True))


def _summary(changes: list[Difference]) -> str:
    """Summarize in a few words what was changed in the original record."""
    spans = {mark.id for change in changes if (mark := change.left or change.right) is not None}
    told = [word for kind, word in (("question", "the question"), ("text", "the context")) if any(c.kind == kind for c in changes)]
    told += [counted(len(spans), "span")] if spans else []
    return f"Changed {', '.join(told)} of the record as it was." if told else "The record as it was, nothing changed."


def _show_why(services: Services, sides: SideBySide) -> None:
    with st.expander("Why it was labelled so"):
        with services.shared.reading() as store:
            told = label_origin(store, sides.base)
        facts = {name: told[name] for name in ("topic", "subtopic", "scenario", "rationale", "stage", "provider", "model") if told[name]}
        if told["pair"]:
            facts = {"pair": " × ".join(told["pair"]), **facts}
        if not facts and not told["judges"]:
            st.text("Nothing is known of how this record came about.")
        for name, value in facts.items():
            st.text(f"{name}: {value}")
        if told["judges"]:
            st.text(f"Judges: {len(told['judges'])} verdicts, {told['disagreements']} against the plan")
            show_table(told["judges"])
        for decision in sides.decisions:
            st.text(f"{decision.outcome} by {decision.adjudicator}, {decision.made_at[:16].replace('T', ' ')}")
