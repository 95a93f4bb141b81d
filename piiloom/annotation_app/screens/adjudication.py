"""The adjudication page: disputed records one at a time; take a version, choose span by span, reject, or reopen a decided record."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from html import escape
from typing import Any, Final

import streamlit as st

from piiloom.annotation_app.adjudication.versions import (
    Differing,
    SideBySide,
    SpanChoice,
    SpanChoices,
    assembled,
    differing,
    most_common_owner,
    overlaps,
    picked_spans,
    span_choices,
)
from piiloom.annotation_app.documents.document import EditedDocument, SpanMark, document_of
from piiloom.annotation_app.documents.merging import Difference, differences_between
from piiloom.annotation_app.people.accounts import AppUser
from piiloom.annotation_app.screens.editor import show_all_comments, show_whole_history
from piiloom.annotation_app.screens.showing import escape_markdown, marked_html, show_error, show_table
from piiloom.annotation_app.screens.tab_state import (
    act,
    addressed_record,
    app_cache,
    field_key,
    fields,
    this_tab,
    with_outcomes,
    write_address,
)
from piiloom.annotation_app.serving.current_user import current_person
from piiloom.annotation_app.serving.services import Services, get_services
from piiloom.annotation_app.sync.editor_data import colours, label_origin
from piiloom.corpus.store.annotation_events import last_decisions
from piiloom.foundation.errors import UsageError
from piiloom.foundation.words import counted

# Session state key of the record that the page shows.
RECORD: Final = "adjudicated_record"
_KEYS: Final = 9
_DECIDED: Final = ("validated", "rejected")


def turn_to(record_id: str) -> None:
    """Show *record_id* next, and have the address name it."""
    st.session_state[RECORD] = record_id
    write_address(record_id)


def take_button(sides: SideBySide, versions: Mapping[str, EditedDocument], name: str, following: str) -> None:
    """Show a button that takes the whole version of *name*. The first nine have keyboard shortcuts."""
    number = list(versions).index(name) + 1
    st.button(
        f"Take {escape_markdown(name)}",
        key=f"take-{sides.base.id}-{name}",
        on_click=decide,
        args=(sides, versions[name], {"whole": name}, following),
        width="stretch",
        wrap=True,
        shortcut=str(number) if number <= _KEYS else None,
    )


def decide(sides: SideBySide, document: EditedDocument, how: dict[str, Any], following: str) -> None:
    """Decide for *document* and go on to the record *following*. An error is shown as a toast.

    *sides* are the versions that the person saw: the decision is refused if one has changed since. *how* says for the log what was chosen
    from whom.
    """
    seen = {version.annotator: version.version for version in sides.versions}
    resolver, person = get_services().resolver, current_person()
    _do(lambda: resolver.adjudicate(person, sides.base.id, document, seen=seen, how=how), following, "Decided: the record is validated.")


def _do(deed: Callable[[], object], following: str, said: str) -> None:
    """Do *deed*, go on to the record *following*, and say *said* in a toast; a refusal is said in one, too."""
    try:
        deed()
    except UsageError as error:
        st.toast(escape_markdown(str(error)))
    else:
        turn_to(following)
        st.toast(said)


def show_reject(sides: SideBySide, following: str) -> None:
    """Show a form that rejects the record, with a reason."""
    with st.expander("Reject this record"):
        reason = st.text_input("Why it is of no use", max_chars=1000, key=f"reason-{sides.base.id}")
        st.button("Reject", key=f"reject-{sides.base.id}", disabled=not reason.strip(), on_click=_reject, args=(sides.base.id, following))


def _reject(record_id: str, following: str) -> None:
    resolver, person, reason = get_services().resolver, current_person(), st.session_state.get(f"reason-{record_id}", "")
    _do(lambda: resolver.reject(person, record_id, reason), following, "Rejected.")


def show_reopen(services: Services) -> None:
    """Show a form that takes back the decision on a record."""
    with st.expander("Reopen a record that was decided"), st.form("reopen", border=False, clear_on_submit=True):
        with services.shared.reading() as store:
            decided = sorted(name for name, outcome in last_decisions(store).items() if outcome in _DECIDED)
        if not decided:
            st.text("Nothing has been decided yet.")
        st.selectbox("Record", decided, index=None, placeholder="an id, as the page Records shows it", key=field_key("reopen", "record"))
        st.text_input("Why", max_chars=1000, key=field_key("reopen", "reason"))
        st.form_submit_button("Reopen", on_click=act, args=("adjudicator", partial(_reopen, services)))


def _reopen(services: Services, person: AppUser) -> str | None:
    asked = fields("reopen")
    if asked["record"] is None:
        return None
    services.resolver.reopen(person, asked["record"], asked["reason"])
    return "Its annotators may edit it again; it stays out of releases until it is decided anew."


_SHOWN: Final = 60
_BESIDE: Final = 24
_QUESTION_SHOWN: Final = 160


def show_span_by_span(sides: SideBySide, versions: Mapping[str, EditedDocument], apart: Mapping[str, Differing], following: str) -> None:
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
            st.html(marked_html(document, colours(get_services().shared.taxonomy.types), shown, folded=True))
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
        index=list(people).index(most_common_owner(texts)),
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


def _picked(choice: SpanChoice, text: str, key: str) -> str | None:
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


def _label(mark: SpanMark | None, text: str, names: list[str]) -> str:
    who = ", ".join(names)
    if mark is None:
        return escape_markdown(f"no span ({who})")
    otherwise = " · its text reads otherwise here" if mark.doubt else ""
    return escape_markdown(
        f"{_short(text[mark.start : mark.end])} · {mark.entity_type} · {mark.relevance or 'no relevance'}{otherwise} ({who})"
    )


def _surroundings(choice: SpanChoice, text: str) -> str:
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


def _spans_of(document: EditedDocument, among: SpanChoices, picks: Mapping[int, str | None], numbers: set[int]) -> set[str]:
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


_ABREAST: Final = 3
_NOT_WAITING: Final = "The record of this address does not wait for a decision (any more), so you get the most urgent one."
# Columns that would be too narrow to read wrap below each other.
_STYLE: Final = """<style>
.st-key-piiloom_versions [data-testid="stColumn"], .st-key-piiloom_choosing [data-testid="stColumn"] { min-width: 21rem; }
.st-key-piiloom_choosing .st-key-piiloom_picks [data-testid="stColumn"] { min-width: 0; }
</style>"""


@with_outcomes()
def adjudication_page(person: AppUser) -> None:
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
        on_change=lambda: turn_to(st.session_state[RECORD]),
        label_visibility="collapsed",
    )
    count.caption(f"{counted(len(waiting), 'record')} to be decided, the most urgent first.")
    record_id: str = st.session_state[RECORD]
    return record_id


def _show(services: Services, person: AppUser, record_id: str, waiting: list[str]) -> None:
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


def _versions(sides: SideBySide) -> dict[str, EditedDocument]:
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


def _show_versions(sides: SideBySide, versions: dict[str, EditedDocument], apart: dict[str, Differing], following: str) -> None:
    tints, start = colours(get_services().shared.taxonomy.types), document_of(sides.base)
    names = list(versions)
    abreast = 2 if len(names) == 4 else min(len(names), _ABREAST)
    st.html(_STYLE)
    with st.container(key="piiloom_versions"):
        for row in range(0, len(names), abreast):
            for column, name in zip(st.columns(abreast), names[row : row + abreast], strict=False):
                with column.container(border=True):
                    take_button(sides, versions, name, following)
                    st.caption(_summary(differences_between(start, versions[name])))
                    st.html(marked_html(versions[name], tints, apart[name], folded=True))


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
