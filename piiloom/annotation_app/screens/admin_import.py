"""The import tab: upload a file of records, see its rejected rows and download them."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

import streamlit as st

from piiloom.annotation_app.people.identity import Person
from piiloom.annotation_app.project_files import ProjectFiles
from piiloom.annotation_app.screens.acting import BY_ADMIN, field, fields
from piiloom.annotation_app.screens.escaping import escape_markdown
from piiloom.annotation_app.screens.file_lists import show_files, size_of
from piiloom.annotation_app.screens.tab_state import this_tab
from piiloom.annotation_app.screens.tables import show_table
from piiloom.annotation_app.serving.download_routes import rejects_link
from piiloom.annotation_app.serving.services import Services
from piiloom.annotation_app.serving.streamlit_settings import MOST_UPLOADED_MB
from piiloom.corpus.formats.base import ReadOptions
from piiloom.corpus.formats.registry import READABLE
from piiloom.corpus.importing import ImportConflict, ImportReport, OnConflict, import_file_among
from piiloom.foundation.errors import DataError, UsageError
from piiloom.foundation.words import counted
from piiloom.taxonomy.locales import resolve_locale, shipped_locales

# Labels of what happens to a row that has the id of a stored record and differs from it.
_CONFLICTS: Final[dict[OnConflict, str]] = {
    "fail": "Import nothing, and name them",
    "update": "Store them as new revisions",
    "new": "Store them as records of their own",
    "skip": "Leave them out",
}
# Suffixes of formats that are no single text file; a folder has none.
_NO_TEXT: Final = {"", ".parquet", ".spacy"}
# The formats that are offered: their suffixes by name.
_FORMATS: Final = {name: one.suffix for name, one in READABLE.items() if one.suffix not in _NO_TEXT}
_LAST: Final = "import_last"
# How many rejected rows are shown; the file has all of them.
_SHOWN: Final = 50


@dataclass(frozen=True, slots=True)
class _Imported:
    name: str
    report: ImportReport
    rejects: str


def import_tab(services: Services, _person: Person) -> None:
    """Import an uploaded file of records and show the result."""
    st.text(f"A text file, UTF-8, up to {MOST_UPLOADED_MB} MB. What is in the store already is skipped.")
    with st.form("import", clear_on_submit=True):
        suffixes = sorted({"json", *(suffix.removeprefix(".") for suffix in _FORMATS.values())})
        st.file_uploader("A file of records", type=suffixes, key=field("import", "file"))
        st.selectbox("Format", list(_FORMATS), key=field("import", "format"))
        st.selectbox(
            "Locale of the texts that name none: one of these, or any other, as es_ES",
            shipped_locales(),
            key=field("import", "locale"),
            accept_new_options=True,
        )
        st.selectbox(
            "Rows that differ from the stored record of their id",
            list(_CONFLICTS),
            format_func=_CONFLICTS.__getitem__,
            key=field("import", "conflict"),
        )
        st.caption("The others can go on while a file is read.")
        st.form_submit_button("Import", type="primary", on_click=BY_ADMIN, args=(partial(_take_in, services),))
    if isinstance(last := this_tab().reports.pop(_LAST, None), _Imported):
        _told(last)
    _rejects(services)


def _take_in(services: Services, _admin: Person) -> None:
    asked, reports = fields("import"), this_tab().reports
    uploaded = asked["file"]
    if uploaded is None:
        raise UsageError("no file is chosen", remedy="Choose a file first")
    content = uploaded.getvalue()
    reports[_LAST] = _import(services, uploaded.name, content, asked["format"], asked["locale"], asked["conflict"])


def _import(services: Services, name: str, content: bytes, file_format: str, locale: str, on_conflict: OnConflict) -> _Imported:
    with tempfile.TemporaryDirectory(prefix="piiloom-import-") as scratch:
        # A file name of our own: the one that the browser sends could be any path.
        file = Path(scratch) / f"upload{_FORMATS[file_format]}"
        file.write_bytes(content)
        rejects = ProjectFiles(services.path).new_rejects(services.log.clock())
        try:
            options = ReadOptions(taxonomy=services.shared.taxonomy, locale=resolve_locale(locale))
            report = import_file_among(services.shared, file, file_format, rejects_path=rejects, on_conflict=on_conflict, options=options)
        except ImportConflict as error:
            raise DataError(error.message, remedy=f"{error.kept}. Choose what to do with such rows, and import again") from error
        except DataError as error:
            # The error names the scratch file and a command-line option. Keep only the line number.
            line = error.where.rpartition(":")[2] if error.where and ":" in error.where else ""
            where = f"line {line}" if line.isdigit() else None
            raise DataError(error.message, where=where, remedy="Is it in the format that was chosen?") from error
    return _Imported(name, report, rejects.name)


def _told(last: _Imported) -> None:
    report = last.report
    verb = "is" if report.records == 1 else "are"
    added = f"{counted(report.records, 'record')} with {counted(report.spans, 'span')} {verb} in the store"
    st.success(escape_markdown(f"{last.name}: {added}; {report.already_stored:,} were there before."))
    if report.updated or report.skipped_changed:
        st.text(
            f"Rows that differ from the record of their id: {report.updated:,} stored as revisions, {report.skipped_changed:,} left out."
        )
    if report.begun:
        st.warning(
            escape_markdown(
                f"{len(report.begun):,} of them are in work: what people decide on the earlier text will take precedence over the update."
            )
        )
    if report.overruled:
        st.warning(
            escape_markdown(f"{len(report.overruled):,} of them were validated: what people have decided takes precedence over the update.")
        )
    if report.records:
        st.text("They can be put into the work list at once: tab Work list, all imported records.")
    st.text(
        f"Of {counted(report.values, 'value')} {report.exact:,} found as whole words ({report.ambiguous:,} of them more than once), "
        f"{report.inside_word:,} only inside a longer word, {report.missing:,} nowhere. "
        f"Mentions that overlapped: {len(report.overlapping):,}."
    )
    if report.unknown_types:
        names = ", ".join(f"{name} {count:,}" for name, count in sorted(report.unknown_types.items()))
        st.text(f"Types that are not ours: {names}")
    if report.rejected:
        st.warning(escape_markdown(f"Rows that were rejected: {len(report.rejected):,}. {last.rejects} has them, to download below."))
        show_table([{"line": line, "why": why} for line, why in report.rejected[:_SHOWN]])


def _rejects(services: Services) -> None:
    found = ProjectFiles(services.path).rejects()
    if found:
        st.markdown("**Rejected rows to download**, each with its line and the reason")
        show_files(("file", "size"), [(one.name, rejects_link(one.name), (size_of(one.size),)) for one in found[:10]])
