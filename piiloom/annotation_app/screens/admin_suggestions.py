"""The suggestions tab: upload what ``piiloom detect`` found in records of this store, to be offered to the annotators."""

from __future__ import annotations

import shlex
import tempfile
from functools import partial
from pathlib import Path
from typing import Final

import streamlit as st

from piiloom.annotation_app.people.identity import Person
from piiloom.annotation_app.project_files import ProjectFiles
from piiloom.annotation_app.screens.acting import BY_ADMIN, field, fields
from piiloom.annotation_app.screens.admin_detection import show_detection, suggested
from piiloom.annotation_app.screens.escaping import escape_markdown
from piiloom.annotation_app.screens.tab_state import this_tab
from piiloom.annotation_app.screens.tables import show_table
from piiloom.annotation_app.serving.services import Services
from piiloom.annotation_app.serving.streamlit_settings import MOST_UPLOADED_MB
from piiloom.corpus.store.suggestions import suggestion_runs
from piiloom.corpus.suggesting import SuggestionReport
from piiloom.foundation.errors import DataError, UsageError

_LAST: Final = "suggestions_last"
_SHOWN: Final = 50


def suggestions_tab(services: Services, _person: Person) -> None:
    """Have a detector look, take an uploaded file of native rows as suggestions, and list the runs that gave some."""
    show_detection(services)
    st.text(f"What a detector found in records of this store: native rows, as piiloom detect writes them, up to {MOST_UPLOADED_MB} MB.")
    with st.form("suggestions", clear_on_submit=True):
        st.file_uploader("A file of found spans", type=["jsonl", "json"], key=field("suggestions", "file"))
        st.text_input(
            "Detector",
            max_chars=100,
            placeholder="as the spans say",
            help="Another run of it replaces what it suggested.",
            key=field("suggestions", "detector"),
        )
        st.text_input("Model", max_chars=200, placeholder="none, or which one was asked", key=field("suggestions", "model"))
        st.caption("The others can go on while a file is read.")
        st.form_submit_button("Offer as suggestions", type="primary", on_click=BY_ADMIN, args=(partial(_offer, services),))
    if isinstance(last := this_tab().reports.pop(_LAST, None), SuggestionReport):
        _told(last)
    _runs(services)


def _offer(services: Services, admin: Person) -> None:
    asked, reports = fields("suggestions"), this_tab().reports
    if asked["file"] is None:
        raise UsageError("no file is chosen", remedy="Choose a file first")
    content, detector, model = asked["file"].getvalue(), asked["detector"].strip(), asked["model"].strip()
    reports[_LAST] = _take_in(services, admin.name, content, detector, model)


def _take_in(services: Services, admin: str, content: bytes, detector: str, model: str) -> SuggestionReport:
    with tempfile.TemporaryDirectory(prefix="piiloom-suggestions-") as scratch:
        file = Path(scratch) / "upload.jsonl"
        file.write_bytes(content)
        rejects = ProjectFiles(services.path).new_rejects(services.log.clock())
        try:
            return services.suggestions.add(admin, file, detector=detector or None, model=model or None, rejects=rejects)
        except DataError as error:
            line = error.where.rpartition(":")[2] if error.where and ":" in error.where else ""
            raise DataError(error.message, where=f"line {line}" if line.isdigit() else None, remedy=error.remedy) from error


def _told(report: SuggestionReport) -> None:
    st.success(escape_markdown(suggested(report)))
    st.text("People see them on records of the work list, also on those that they have begun.")
    if report.unknown_types:
        names = ", ".join(f"{name} {count:,}" for name, count in sorted(report.unknown_types.items()))
        st.text(f"Left out, since their types are not ours: {names}")
    if report.rejected:
        st.warning(f"Rows that were rejected: {len(report.rejected):,}. The tab Import has them to download.")
        show_table([{"line": line, "why": why} for line, why in report.rejected[:_SHOWN]])


def _runs(services: Services) -> None:
    with services.shared.reading() as store:
        runs = suggestion_runs(store)
    if runs:
        rows = [
            {"when": run.made_at[:16].replace("T", " "), "detector": run.detector, "model": run.model or "", "stored by": run.made_by}
            for run in reversed(runs)
        ]
        show_table(rows)
    st.caption("By hand, while the app runs (it reads a copy of the store, and says which file to upload here):")
    st.code(f"piiloom detect --store {shlex.quote(str(services.path))} --to annotation --detector patterns", language="console")
