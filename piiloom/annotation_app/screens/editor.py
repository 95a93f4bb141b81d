"""The editor on a page, the callbacks that apply what the browser sent and then navigate, and the panels below the editor.

Nothing from the browser is trusted: each callback determines the acting person again, and ``parse_outbox`` validates the input. The
components are registered once, when this module is imported.

The panels show other questions on the text, types by the guidelines, comments, and the history of the record. A short record leaves most
of a screen empty. Then the panels stand there open, side by side; below a long one they are closed, one below the other, so that nothing
is read for them at each edit.

Records of one text with several questions are a contrast group. Its table has a row for each span and a column for each question, with
the person's own labels where they have begun a record, and those that it came with elsewhere: what is of high relevance to one question
may be of low relevance to the next.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from html import escape
from typing import Any, Final

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from piiloom.annotation_app.adjudication.resolving import ANNOTATED, OUTCOMES, revert_step
from piiloom.annotation_app.documents.document import EditedDocument
from piiloom.annotation_app.documents.history import EDITS
from piiloom.annotation_app.event_log import ASSIGNMENT_KINDS, LONGEST_COMMENT, Comment
from piiloom.annotation_app.people.accounts import AppUser
from piiloom.annotation_app.screens.showing import escape_markdown
from piiloom.annotation_app.screens.tab_state import Tab, Trail, act, field_key, fields, go_to_record, this_tab
from piiloom.annotation_app.serving.current_user import current_person
from piiloom.annotation_app.serving.services import Services, get_services
from piiloom.annotation_app.sync.editor_data import line_of, loader, without_renewals
from piiloom.annotation_app.sync.service import REFUSED, STALE, DeliveryResult, DocumentView, parse_outbox
from piiloom.annotation_app.worklist.assigning import may_see_people
from piiloom.corpus.store.annotation_events import AnnotationEvent
from piiloom.corpus.store.annotation_items import other_questions
from piiloom.foundation.errors import PiiloomError, UsageError
from piiloom.foundation.words import counted
from piiloom.taxonomy.entity_types import EntityType

_editor = st.components.v2.component("piiloom_editor", js=loader(), isolate_styles=True)
_page = st.components.v2.component("piiloom_page", js=loader("mountPage"), isolate_styles=True)


def mount(data: Mapping[str, Any], *, key: str, on_outbox: Callable[[], None], on_intent: Callable[[], None]) -> None:
    """Show the editor with *data*. Edits arrive in ``st.session_state[key].outbox``, navigation in ``st.session_state[key].intent``.

    The browser sends both values together. Either callback may come first, but the outbox must be delivered before the intent is followed.
    """
    _editor(key=key, data=dict(data), on_outbox_change=on_outbox, on_intent_change=on_intent)


def mount_page() -> None:
    """Have the browser do on this page what Streamlit lacks (see ``js/page_main.js``). Nothing of it takes room."""
    _page(key="piiloom_page", height=0)


_EDITOR: Final = "editor"
_STALE: Final = (
    "Not done: this record was changed meanwhile, in another tab or by an adjudicator. You see it as it is now; "
    "your change is kept, and an adjudicator can take it up."
)
_LONGEST_NAME: Final = 200
# Returns the record to show after those of a trail, None if there is none.
NextRecord = Callable[[Services, AppUser, Sequence[str]], str | None]


def show_editor(data: Mapping[str, Any], page: str, next_record: NextRecord) -> None:
    """Mount the editor on *page*. *next_record* returns the next record when the trail of the page ends."""
    this_tab().unread.clear()  # the editor shows these
    mount(data, key=_EDITOR, on_outbox=_on_outbox, on_intent=lambda: _on_intent(page, next_record))


def show_without_record(person: AppUser, tab: Tab) -> None:
    """Mount the editor without a record, so that the browser delivers edits it may still hold (after a network failure or restart)."""
    data = {"person": person.name, "record": None, "acknowledged": dict(tab.acknowledged)}
    mount(data, key=_EDITOR, on_outbox=_on_outbox, on_intent=lambda: None)


def _on_outbox() -> None:
    person = current_person()
    if person is not None:
        receive_outbox(get_services(), person, this_tab())


def _on_intent(page: str, next_record: NextRecord) -> None:
    """Deliver the outbox, then go where the person wants to go."""
    person, intent = current_person(), _value("intent")
    if person is None or not isinstance(intent, Mapping):
        return
    services, tab = get_services(), this_tab()
    receive_outbox(services, person, tab)
    client, number, where = intent.get("client"), intent.get("number"), intent.get("go")
    if not isinstance(client, str) or len(client) > _LONGEST_NAME or not isinstance(number, int):
        return
    # A tab that has shown nothing yet reconnects after a restart. Its intent may be out of date, so it has to ask again (actions.js).
    if tab.trail(page).record is None:
        return
    if number <= tab.intents.get(client, 0):
        return
    tab.intents[client] = number
    if where == "list":
        tab.leaving_for = "records"
        return
    record = intent.get("record")
    try:
        if where == "record" and isinstance(record, str):
            go_to_record(services, person, tab, tab.trail(page), record)
        else:
            _go(services, person, tab.trail(page), where, next_record)
    except UsageError as error:
        tab.message = str(error)


def _value(name: str) -> Any:
    return getattr(st.session_state.get(_EDITOR), name, None)


def receive_outbox(services: Services, person: AppUser, tab: Tab) -> None:
    """Apply what the editor has sent, if the editor is on the page. An error goes to ``tab.message``."""
    outbox = _value("outbox")
    if not outbox:
        return
    try:
        sent = parse_outbox(outbox)
        result = services.documents.deliver(person.name, sent)
    except PiiloomError as error:
        # Not acknowledged: the browser keeps it and sends it again.
        tab.message = str(error)
        return
    tab.acknowledged |= result.acknowledged
    _tell(tab, result)


def _tell(tab: Tab, result: DeliveryResult) -> None:
    told = {(notice["client"], notice["sequence"]) for notice in tab.notices}
    refused = [(one.client, one.sequence, one.sentence) for one in result.refused]
    stale = [(one.client, one.sequence, _STALE) for one in result.stale]
    for client, sequence, text in refused + stale:
        if (client, sequence) not in told:
            tab.add_notice({"client": client, "sequence": sequence, "level": "warning", "text": text})


def _go(services: Services, person: AppUser, trail: Trail, where: object, next_record: NextRecord) -> None:
    if where == "previous":
        trail.place = max(0, trail.place - 1)
    elif where in {"next", "skip"}:
        if where == "skip" and trail.record is not None:
            services.work.leases.skip(person.name, trail.record)
        if trail.place + 1 < len(trail.records):
            trail.place += 1
            return
        # Records that this tab has shown and left open are offered again only if there are no others.
        found = next_record(services, person, trail.records) or next_record(services, person, trail.records[-1:])
        if found is None:
            trail.leave()
        else:
            trail.show(found)


_MOST: Final = 6
_LONGEST_WORDS: Final = 60
_QUESTIONS_STYLE: Final = """<style>
.piiloom-questions { border-collapse: collapse; font-size: 0.88rem; }
.piiloom-questions th, .piiloom-questions td { text-align: start; vertical-align: top; padding: 0.25rem 0.7rem; font-weight: 400;
  border-bottom: 1px solid color-mix(in srgb, currentColor 15%, transparent); }
.piiloom-questions thead th { font-weight: 600; max-width: 22rem; }
.piiloom-questions .high { font-weight: 700; }
</style>"""
_NONE: Final = "–"


def show_other_questions(services: Services, person: AppUser, page: str, record_id: str) -> None:
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
        st.html(f"{_QUESTIONS_STYLE}{table_of([here.state.document, *(one.state.document for one in others)])}")
        with st.container(horizontal=True):
            for number, one in enumerate(others, start=2):
                st.button(
                    f"Open question {number}",
                    on_click=_open_question,
                    args=(page, one.record.id),
                    help=_help(one),
                    key=f"other-{one.record.id}",
                )


def _help(one: DocumentView) -> str:
    verdict = {"open": "not finished", "accepted": "accepted", "rejected": "rejected"}[one.state.verdict]
    return f"{escape_markdown(one.state.document.question or '')} ({verdict} by you)"


def _open_question(page: str, record_id: str) -> None:
    this_tab().trail(page).show(record_id)


def table_of(documents: Sequence[EditedDocument]) -> str:
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


def _labels(document: EditedDocument) -> dict[tuple[int, str], tuple[str, str]]:
    """Return (type, relevance) by the words of a span and how often these have been marked before it: offsets differ in edited texts."""
    seen: dict[str, int] = {}
    found: dict[tuple[int, str], tuple[str, str]] = {}
    for mark in document.marks:
        words = document.context[mark.start : mark.end]
        shown = words if len(words) <= _LONGEST_WORDS else f"{words[: _LONGEST_WORDS - 1]}…"
        found[seen.get(words, 0), shown] = mark.entity_type, mark.relevance or _NONE
        seen[words] = seen.get(words, 0) + 1
    return found


def _cell(label: tuple[str, str] | None) -> str:
    if label is None:
        return f"<td>{_NONE}</td>"
    kind, relevance = label
    return f'<td class="{escape(relevance)}">{escape(relevance)} · {escape(kind)}</td>'


# Characters of question and context up to which a record is short: about twelve lines.
_SHORT: Final = 1_200
# Types to tell of, and passages of the guidelines for each of them.
_MOST_TYPES, _MOST_PASSAGES = 8, 2
_BELOW_STYLE: Final = """<style>
.st-key-piiloom_below [data-testid="stHorizontalBlock"] { flex-wrap: wrap; }
.st-key-piiloom_below [data-testid="stColumn"] { min-width: min(22rem, 100%); }
.st-key-piiloom_below [data-testid="stMarkdownContainer"] p, .st-key-piiloom_below [data-testid="stText"] { font-size: 0.88rem; }
</style>"""


def room_below(document: Mapping[str, Any]) -> tuple[list[DeltaGenerator], bool]:
    """Return the places below the editor for types, questions and history, and whether there is room to show all at once.

    The editor shows *document* (in its JSON form).
    """
    if len(document["context"]) + len(document.get("question") or "") > _SHORT:
        return [st.container(), st.container(), st.container()], False
    with st.container(key="piiloom_below"):
        st.html(_BELOW_STYLE)
        return st.columns([4, 3, 4], gap="medium"), True


def show_types(services: Services, record_id: str, document: Mapping[str, Any], *, is_open: bool) -> None:
    """Say of each type in *document* what counts as it, and what the guidelines say of it, in text order."""
    kinds = services.shared.taxonomy.types
    names = [name for name in dict.fromkeys(span["type"] for span in document["spans"]) if name in kinds][:_MOST_TYPES]
    if not names:
        return
    said = services.guidelines.passages(names)
    with st.expander("Guidelines of its types", expanded=is_open, key=f"types-{record_id}"):
        for name in names:
            st.markdown(_told(kinds[name], said[name][:_MOST_PASSAGES]))


def _told(kind: EntityType, passages: Sequence[str]) -> str:
    counts, others = ("; ".join(map(escape_markdown, some)) for some in (kind.counts, kind.does_not_count))
    lines = [f"**{escape_markdown(kind.name)}**: {escape_markdown(kind.definition)}"]
    lines += [f"Counts: {counts}."] if counts else []
    lines += [f"Does not count: {others}."] if others else []
    return "  \n".join([*lines, *passages])


_RECORD: Final = "the whole record"
_LONGEST_NAMED: Final = 50


def visible_comments(services: Services, person: AppUser, record_id: str) -> list[Comment]:
    """Return the comments on a record that *person* may see: everybody's, or their own."""
    everybody = may_see_people(person, services.settings.current())
    return services.comments.on(record_id, None if everybody else person.name)


def show_comments(services: Services, record_id: str, found: Sequence[Comment], document: Mapping[str, Any], *, is_open: bool) -> None:
    """Show the comments *found*, and a form for another one, about a span of *document* or the record."""
    with st.expander(f"Comments ({len(found)})" if found else "Comments", expanded=is_open, key=f"comments-{record_id}"):
        _show_list(found)
        spans = {span["id"]: _named(document["context"][span["start"] : span["end"]], span["type"]) for span in document["spans"]}
        with st.form(f"comment-{record_id}", clear_on_submit=True, border=False):
            form = f"comment-{record_id}"
            st.selectbox("About", [_RECORD, *spans], format_func=lambda name: spans.get(name, name), key=field_key(form, "about"))
            st.text_input("Your comment", max_chars=LONGEST_COMMENT, key=field_key(form, "text"))
            add = partial(_add, services, record_id, document)
            st.form_submit_button("Add the comment", on_click=act, args=("annotator", add))


def _add(services: Services, record_id: str, document: Mapping[str, Any], person: AppUser) -> None:
    written = fields(f"comment-{record_id}")
    if written["text"].strip():
        about = written["about"]
        services.comments.add(person.name, record_id, written["text"], document, None if about == _RECORD else about)


def show_all_comments(services: Services, record_id: str) -> None:
    """Show everybody's comments on a record to those who decide, if there are any."""
    if found := services.comments.on(record_id):
        with st.expander(f"Comments ({len(found)})", expanded=True):
            _show_list(found)


def _show_list(comments: Sequence[Comment]) -> None:
    for one in comments:
        about = f" on {_named(one.words, one.entity_type)}" if one.words else ""
        st.text(f"{one.author}{about}: {one.text}")


def _named(words: str, entity_type: str) -> str:
    shown = words if len(words) <= _LONGEST_NAMED else f"{words[: _LONGEST_NAMED - 1]}…"
    return f"“{' '.join(shown.split())}” ({entity_type})"


_MOST_SHOWN: Final = 200
_HEIGHT: Final = 300
_FEW: Final = 12
_STEPS: Final = (*EDITS, STALE, REFUSED)
# The event of a first finish is written for real work only. It is hidden during work, since it would reveal the control records.
_WHILE_WORKING: Final = (*_STEPS, *ASSIGNMENT_KINDS, *OUTCOMES)
_ALL: Final = (*_WHILE_WORKING, ANNOTATED)


def show_history(services: Services, person: AppUser, record_id: str, *, is_open: bool = False) -> None:
    """Show the history in an expander under the editor, open from the beginning if *is_open*.

    Annotators see only what was done to their own version.
    A control record looks like any other here: nothing says where it comes from.
    """
    if person.may("adjudicator"):
        _show_box(services, person, record_id, None, _WHILE_WORKING, _revert_here, is_open=is_open)
    else:
        _show_box(services, person, record_id, person.name, _STEPS, _revert_here, is_open=is_open)


def show_whole_history(services: Services, person: AppUser, record_id: str) -> None:
    """Show in an expander everything that anybody did to a record of the work list, for adjudicators."""
    _show_box(services, person, record_id, None, _ALL, _revert_there)


def _show_box(
    services: Services,
    person: AppUser,
    record_id: str,
    owner: str | None,
    kinds: Collection[str],
    act: Callable[[str, str], None],
    *,
    is_open: bool = False,
) -> None:
    """Show the expander. Events are read only while it is open, since each edit reruns the page."""
    box = st.expander("History", expanded=is_open, key=f"history-{record_id}", on_change="rerun")
    if not box.open:
        return
    with box:
        events = without_renewals(services.documents.history(record_id, owner, kinds))
        if not events:
            st.text("Nothing has been changed yet.")
            return
        shown = events[-_MOST_SHOWN:]
        with st.container(height=_HEIGHT if len(shown) > _FEW else "content", border=False):
            st.text("\n".join(line_of(event) for event in reversed(shown)))
        if len(events) > len(shown):
            st.caption(f"The newest {len(shown)} of {len(events):,}.")
        _offer(person, record_id, events, act)


def _offer(person: AppUser, record_id: str, events: Sequence[AnnotationEvent], act: Callable[[str, str], None]) -> None:
    oversees = person.may("adjudicator")
    steps = {event.event: line_of(event) for event in reversed(events) if event.kind in EDITS and (oversees or event.owner == person.name)}
    if not steps:
        return
    key = f"step-{record_id}-{max(steps)}"  # a further step makes another choice, which begins with that step
    st.selectbox("A step" if oversees else "A step of yours", list(steps), format_func=steps.__getitem__, key=key)
    st.button("Take this step back", on_click=act, args=(record_id, key), key=f"back-{record_id}")
    if oversees:
        st.caption("A step of somebody else is taken back in that person's version. If it was finished, it goes back to its annotator.")


def _revert_here(record_id: str, key: str) -> None:
    """Undo the chosen step, after delivering the edits that the editor has sent."""
    person, services, tab = current_person(), get_services(), this_tab()
    if person is None:
        return
    receive_outbox(services, person, tab)
    try:
        _revert(services, person, record_id, key)
    except UsageError as error:
        tab.message = str(error)


def _revert_there(record_id: str, key: str) -> None:
    try:
        _revert(get_services(), current_person(), record_id, key)
    except UsageError as error:
        st.toast(escape_markdown(str(error)))
    else:
        st.toast("The step is taken back.")


def _revert(services: Services, person: AppUser | None, record_id: str, key: str) -> None:
    step = st.session_state.get(key)
    if isinstance(step, int):
        revert_step(services.shared, services.documents, person, record_id, step)
