"""The page with the list of records: filters, search, paging, and actions on all records shown. A clicked record opens in the editor."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from textwrap import shorten
from typing import Any, Final, get_args

import streamlit as st

from piiloom.annotation_app.people.identity import AppRole, AppUser
from piiloom.annotation_app.screens.showing import file_size, show_error, show_files
from piiloom.annotation_app.screens.tab_state import act, field_key, fields, this_tab, with_outcomes
from piiloom.annotation_app.screens.work import WORK_PAGE
from piiloom.annotation_app.serving.routes import file_link
from piiloom.annotation_app.serving.services import Services, get_services
from piiloom.annotation_app.worklist.pool import OrderChoice, explained
from piiloom.annotation_app.worklist.project_settings import may_see_people
from piiloom.annotation_app.worklist.record_lists import ListQuery, RecordListing
from piiloom.corpus.formats.base import WriteOptions
from piiloom.corpus.formats.registry import FORMATS
from piiloom.corpus.store.annotation_items import OPEN_STATUSES, ItemStatus, ListedItem, OwnState, Sort, newest_records
from piiloom.foundation.errors import UsageError
from piiloom.foundation.words import counted
from piiloom.foundation.yaml_files import data_folder

_FOLDER: Final = data_folder("annotation_app") / "record_table"
_table = st.components.v2.component(
    "piiloom_record_table",
    js=(_FOLDER / "table.js").read_text(encoding="utf-8"),
    css=(_FOLDER / "table.css").read_text(encoding="utf-8"),
    isolate_styles=True,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordRow:
    """One record. ``name`` is what its link says (the question, or the beginning of the text); ``cells`` are by title of the column."""

    id: str
    name: str
    text: str
    cells: dict[str, str] = field(default_factory=dict)


def show_record_rows(rows: Sequence[RecordRow], columns: Sequence[str], *, key: str, on_open: Callable[[], None]) -> None:
    """Show *rows*. The id of a row that is opened arrives in ``st.session_state[key].open``; it comes from the browser, so check it."""
    _table(key=key, data={"rows": [asdict(row) for row in rows], "columns": list(columns)}, on_open_change=on_open)


_CHOICES: Final[dict[OrderChoice, str]] = {"first": "before all others", "usual": "where they belong", "last": "after all others"}
# Formats of several files, or that no text editor opens, are for releases (Admin, Export).
_FORMATS: Final = [name for name, one in FORMATS.items() if one.suffix not in {"", ".parquet", ".spacy"}]
_FILES_SHOWN: Final = 5
# Does something to the records and returns what it did, in words.
_Deed = Callable[[AppUser, tuple[ListedItem, ...]], str]


def show_actions(services: Services, person: AppUser, query: ListQuery, total: int) -> None:
    """Offer adjudicators and admins what can be done to the *total* records that *query* matches, on all pages."""
    if not person.may("adjudicator") or not total:
        return
    records = counted(total, "record")
    parts: dict[str, Callable[[Services, ListQuery, int], None]] = {"Reject": _reject}
    if person.may("admin"):
        parts = {"Assign": _assign, "Order": _order, **parts, "Write out": _write_out}
    with st.expander(f"Do something with {records} (all that the filters leave)", key="list_actions"):
        chosen = st.segmented_control("Do what", list(parts), default=next(iter(parts)), key="list_do", label_visibility="collapsed")
        if chosen:
            parts[chosen](services, query, total)


def _assign(services: Services, query: ListQuery, total: int) -> None:
    people = [account.name for account in services.accounts.list() if account.active]

    def deal(person: AppUser, lines: tuple[ListedItem, ...]) -> str:
        fit = [line.record_id for line in lines if line.status in OPEN_STATUSES and line.role == "work"]
        dealt = services.work.assign(person.name, fit, fields("list-assign")["people"])
        told = ", ".join(f"{who}: {count:,}" for who, count in dealt.items())
        return f"Assigned to {told}.{_left_out(len(lines) - len(fit))}"

    with st.form("list_assign"):
        st.multiselect("People", people, key=field_key("list-assign", "people"))
        _button(services, query, total, f"Deal {counted(total, 'record')} out", deal)


def _order(services: Services, query: ListQuery, total: int) -> None:
    def put(person: AppUser, lines: tuple[ListedItem, ...]) -> str:
        choice: OrderChoice = fields("list-order")["choice"]
        changed = services.pool.put(person.name, [line.record_id for line in lines], choice)
        return f"{_CHOICES[choice].capitalize()} now: {counted(changed, 'record')}. Whoever asks for the next record gets it so."

    with st.form("list_order"):
        st.radio("They come", list(_CHOICES), format_func=_CHOICES.__getitem__, horizontal=True, key=field_key("list-order", "choice"))
        _button(services, query, total, f"Order {counted(total, 'record')} so", put)


def _reject(services: Services, query: ListQuery, total: int) -> None:
    def reject(person: AppUser, lines: tuple[ListedItem, ...]) -> str:
        if not fields("list-reject")["sure"]:
            raise UsageError("nothing was rejected", remedy="Tick the box if you mean it")
        rejected = services.resolver.reject_all(person, [line.record_id for line in lines], fields("list-reject")["reason"])
        return f"Rejected: {counted(rejected, 'record')}.{_left_out(len(lines) - rejected)}"

    with st.form("list_reject"):
        st.text_input("Why they are of no use", max_chars=500, key=field_key("list-reject", "reason"))
        st.checkbox(f"Yes, reject {counted(total, 'record')}. Each can be reopened on its own.", key=field_key("list-reject", "sure"))
        _button(services, query, total, "Reject", reject, "adjudicator")


def _write_out(services: Services, query: ListQuery, total: int) -> None:
    def write(_: AppUser, lines: tuple[ListedItem, ...]) -> str:
        return _written(services, lines, fields("list-write")["format"])

    with st.form("list_write"):
        st.text("As they are stored now: validated ones as people left them, others as they came. Nothing is frozen; a release is.")
        st.selectbox("Format", _FORMATS, key=field_key("list-write", "format"))
        _button(services, query, total, f"Write {counted(total, 'record')} out", write)
    found = services.files.written("selections")[:_FILES_SHOWN]
    if found:
        show_files(("file", "size"), [(one.name, file_link("selections", one.name), (file_size(one.size),)) for one in found])


def _written(services: Services, lines: tuple[ListedItem, ...], file_format: str) -> str:
    writer = FORMATS[file_format]
    path = services.files.new_selection(services.log.clock(), file_format, writer.suffix)
    with services.shared.reading() as store:
        found = newest_records(store, record_ids=[line.record_id for line in lines])
        loss = writer.write((record for _, record in found), path, WriteOptions(taxonomy=services.shared.taxonomy))
    lost = f" What the format cannot say is left out of {counted(len(loss.entries), 'value')}." if loss.entries else ""
    return f"Written: {counted(len(lines), 'record')} to {path}.{lost} Download it under “Write out”."


def _button(services: Services, query: ListQuery, total: int, label: str, deed: _Deed, role: AppRole = "admin") -> None:
    """Show the button of a form, which does *deed* to what *query* matches when it is pressed, if that is still *total* records."""

    def do(person: AppUser) -> str:
        lines = services.lists.matching(person, query)
        if len(lines) != total:
            raise UsageError(f"the list has {counted(len(lines), 'record')} now", remedy="Look at it again")
        return deed(person, lines)

    st.form_submit_button(label, type="primary", on_click=act, args=(role, do))


def _left_out(count: int) -> str:
    return f" Left as they are, since they are decided already: {count:,}." if count else ""


_ANY = "any"
_SORTS: dict[Sort, str] = {
    "priority": "most urgent",
    "changed": "last changed",
    "record": "order of import",
    "words": "words",
    "spans": "spans",
    "done": "people who finished it",
}
_FILTERS = {
    "status": "Status",
    "own": "Mine",
    "flagged": "Flags",
    "pair": "Pair",
    "type": "Type",
    "locale": "Locale",
    "model": "Model",
    "annotator": "Worked on by",
}
_TABLE = "list_rows"
# Session state key of the ids that the page shows.
_SHOWN = "list_shown"
_LONGEST = 260
_FILTER_WIDTH = 145
_FLAGGED = {"flagged": True, "not flagged": False}


@with_outcomes()
def records_page(person: AppUser) -> None:
    """Show the records of the work list that *person* may see."""
    services = get_services()
    st.subheader("Records")
    try:
        query = _query(services, person)
        listing = services.lists.find(person, query)
    except UsageError as error:
        show_error(error)
        return
    st.caption(f"{counted(listing.total, 'record')} · page {listing.page:,} of {listing.pages:,} · click one to open it")
    show_actions(services, person, query, listing.total)
    _show(listing, person, people=may_see_people(person, services.settings.current()))


def _query(services: Services, person: AppUser) -> ListQuery:
    choices: dict[str, list[str]] = {"status": list(get_args(ItemStatus)), "own": list(get_args(OwnState)), "flagged": list(_FLAGGED)}
    found = services.lists.choices(person)
    choices |= {name: found[name] for name in ("pair", "type", "locale", "model") if found.get(name)}
    if may_see_people(person, services.settings.current()):
        choices["annotator"] = [account.name for account in services.accounts.list()]
    first = st.columns([2, 1])
    text = first[0].text_input(
        "Search", key="list_text", placeholder="words of the context or question, or an id", on_change=_turn, args=(1,)
    )
    sort = first[1].selectbox("Order", list(_SORTS), format_func=_SORTS.__getitem__, key="list_sort", on_change=_turn, args=(1,))
    chosen: dict[str, Any] = {}
    row = st.container(horizontal=True)  # wraps in a narrow window
    for name, options in choices.items():
        value = row.selectbox(_FILTERS[name], [_ANY, *options], key=f"list_{name}", on_change=_turn, args=(1,), width=_FILTER_WIDTH)
        chosen[name] = None if value == _ANY else _FLAGGED[value] if name == "flagged" else value
    return ListQuery(text=text, sort=sort, descending=sort != "record", page=st.session_state.get("list_page", 1), **chosen)


def _show(listing: RecordListing, person: AppUser, *, people: bool) -> None:
    rows = [_row(line, person, people=people) for line in listing.lines]
    st.session_state[_SHOWN] = [row.id for row in rows]
    if rows:
        show_record_rows(rows, _columns(rows), key=_TABLE, on_open=_open)
    if listing.pages > 1:
        back, on, _ = st.columns([2, 2, 6])
        back.button("Previous page", disabled=listing.page <= 1, on_click=_turn, args=(listing.page - 1,), width="stretch")
        on.button("Next page", disabled=listing.page >= listing.pages, on_click=_turn, args=(listing.page + 1,), width="stretch")


def _open() -> None:
    """Go to the record that was clicked, if it is one of those that the list showed."""
    wanted = getattr(st.session_state.get(_TABLE), "open", None)
    if wanted in st.session_state.get(_SHOWN, ()):
        this_tab().trail(WORK_PAGE).show(str(wanted))
        this_tab().leaving_for = WORK_PAGE


def _columns(rows: Sequence[RecordRow]) -> list[str]:
    """Return the titles of the columns in which any row says something."""
    return [title for title in rows[0].cells if any(row.cells[title] for row in rows)]


def _turn(page: int) -> None:
    st.session_state["list_page"] = page


def _row(line: ListedItem, person: AppUser, *, people: bool) -> RecordRow:
    facts = line.facts
    cells = {
        "status": line.status,
        "mine": line.own,
        "finished by": f"{line.finished} of {line.wanted}",
        "flags": str(line.flags or ""),
        "types": ", ".join(facts.get("types", [])),
        "words": str(facts.get("words", "")),
        "spans": str(facts.get("spans", "")),
        "locale": str(facts.get("locale") or ""),
        "pair": str(facts.get("pair") or ""),
        "why first": "; ".join(explained(reason) for reason in line.reasons),
        "worked on by": ", ".join(line.worked) if people else "",
        "with": ", ".join(line.holding) if people else "",
        "role": line.role if person.role == "admin" and line.role != "work" else "",
    }
    question, text = _excerpt(line.question), _excerpt(line.text)
    return RecordRow(id=line.record_id, name=question or text or line.record_id, text=text if question else "", cells=cells)


def _excerpt(text: str) -> str:
    """Return *text*, on one line, cut at the end of a word."""
    return shorten(text, width=_LONGEST, placeholder=" …")
