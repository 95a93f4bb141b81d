"""What can be done at once to all records that the list shows: assign, order, reject, write out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import streamlit as st

from piiloom.annotation_app.people.identity import Person, Role
from piiloom.annotation_app.project_files import ProjectFiles
from piiloom.annotation_app.screens.acting import act, field, fields
from piiloom.annotation_app.screens.file_lists import show_files, size_of
from piiloom.annotation_app.serving.download_routes import selection_link
from piiloom.annotation_app.serving.services import Services
from piiloom.annotation_app.worklist.priorities import Choice
from piiloom.annotation_app.worklist.record_lists import ListQuery
from piiloom.corpus.formats.base import WriteOptions
from piiloom.corpus.formats.registry import FORMATS
from piiloom.corpus.store.annotation_items import OPEN_STATUSES, ListedItem, newest_records
from piiloom.foundation.errors import UsageError
from piiloom.foundation.words import counted

_CHOICES: Final[dict[Choice, str]] = {"first": "before all others", "usual": "where they belong", "last": "after all others"}
# Formats of several files, or that no text editor opens, are for releases (Admin, Export).
_FORMATS: Final = [name for name, one in FORMATS.items() if one.suffix not in {"", ".parquet", ".spacy"}]
_FILES_SHOWN: Final = 5
# Does something to the records and returns what it did, in words.
_Deed = Callable[[Person, tuple[ListedItem, ...]], str]


def show_actions(services: Services, person: Person, query: ListQuery, total: int) -> None:
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

    def deal(person: Person, lines: tuple[ListedItem, ...]) -> str:
        fit = [line.record_id for line in lines if line.status in OPEN_STATUSES and line.role == "work"]
        dealt = services.work.assign(person.name, fit, fields("list-assign")["people"])
        told = ", ".join(f"{who}: {count:,}" for who, count in dealt.items())
        return f"Assigned to {told}.{_left_out(len(lines) - len(fit))}"

    with st.form("list_assign"):
        st.multiselect("People", people, key=field("list-assign", "people"))
        _button(services, query, total, f"Deal {counted(total, 'record')} out", deal)


def _order(services: Services, query: ListQuery, total: int) -> None:
    def put(person: Person, lines: tuple[ListedItem, ...]) -> str:
        choice: Choice = fields("list-order")["choice"]
        changed = services.pool.put(person.name, [line.record_id for line in lines], choice)
        return f"{_CHOICES[choice].capitalize()} now: {counted(changed, 'record')}. Whoever asks for the next record gets it so."

    with st.form("list_order"):
        st.radio("They come", list(_CHOICES), format_func=_CHOICES.__getitem__, horizontal=True, key=field("list-order", "choice"))
        _button(services, query, total, f"Order {counted(total, 'record')} so", put)


def _reject(services: Services, query: ListQuery, total: int) -> None:
    def reject(person: Person, lines: tuple[ListedItem, ...]) -> str:
        if not fields("list-reject")["sure"]:
            raise UsageError("nothing was rejected", remedy="Tick the box if you mean it")
        rejected = services.resolver.reject_all(person, [line.record_id for line in lines], fields("list-reject")["reason"])
        return f"Rejected: {counted(rejected, 'record')}.{_left_out(len(lines) - rejected)}"

    with st.form("list_reject"):
        st.text_input("Why they are of no use", max_chars=500, key=field("list-reject", "reason"))
        st.checkbox(f"Yes, reject {counted(total, 'record')}. Each can be reopened on its own.", key=field("list-reject", "sure"))
        _button(services, query, total, "Reject", reject, "adjudicator")


def _write_out(services: Services, query: ListQuery, total: int) -> None:
    def write(_: Person, lines: tuple[ListedItem, ...]) -> str:
        return _written(services, lines, fields("list-write")["format"])

    with st.form("list_write"):
        st.text("As they are stored now: validated ones as people left them, others as they came. Nothing is frozen; a release is.")
        st.selectbox("Format", _FORMATS, key=field("list-write", "format"))
        _button(services, query, total, f"Write {counted(total, 'record')} out", write)
    found = ProjectFiles(services.path).selections()[:_FILES_SHOWN]
    if found:
        show_files(("file", "size"), [(one.name, selection_link(one.name), (size_of(one.size),)) for one in found])


def _written(services: Services, lines: tuple[ListedItem, ...], file_format: str) -> str:
    writer = FORMATS[file_format]
    path = ProjectFiles(services.path).new_selection(services.log.clock(), file_format, writer.suffix)
    with services.shared.reading() as store:
        found = newest_records(store, record_ids=[line.record_id for line in lines])
        loss = writer.write((record for _, record in found), path, WriteOptions(taxonomy=services.shared.taxonomy))
    lost = f" What the format cannot say is left out of {counted(len(loss.entries), 'value')}." if loss.entries else ""
    return f"Written: {counted(len(lines), 'record')} to {path}.{lost} Download it under “Write out”."


def _button(services: Services, query: ListQuery, total: int, label: str, deed: _Deed, role: Role = "admin") -> None:
    """Show the button of a form, which does *deed* to what *query* matches when it is pressed, if that is still *total* records."""

    def do(person: Person) -> str:
        lines = services.lists.matching(person, query)
        if len(lines) != total:
            raise UsageError(f"the list has {counted(len(lines), 'record')} now", remedy="Look at it again")
        return deed(person, lines)

    st.form_submit_button(label, type="primary", on_click=act, args=(role, do))


def _left_out(count: int) -> str:
    return f" Left as they are, since they are decided already: {count:,}." if count else ""
