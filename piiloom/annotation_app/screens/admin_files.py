"""The tabs of the admin page that read and write files: import, suggestions of detectors, export."""

from __future__ import annotations

import shlex
import tempfile
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Final

import streamlit as st

from piiloom.annotation_app.people.accounts import AppUser
from piiloom.annotation_app.screens.showing import escape_markdown, file_size, show_files, show_table
from piiloom.annotation_app.screens.tab_state import BY_ADMIN, choice_field, field_key, fields, this_tab
from piiloom.annotation_app.serving.current_user import file_link
from piiloom.annotation_app.serving.server import MOST_UPLOADED_MB
from piiloom.annotation_app.serving.services import Services, get_services
from piiloom.annotation_app.worklist.detection_runs import DetectionRun, OfferedDetector
from piiloom.corpus.formats.base import ReadOptions
from piiloom.corpus.formats.registry import FORMATS, READABLE
from piiloom.corpus.importing import ImportConflict, ImportReport, OnConflict, import_file_among
from piiloom.corpus.releases.exporting import export_release
from piiloom.corpus.releases.freezing import draft_release, freeze
from piiloom.corpus.releases.release_options import ANY_STATUS, SplitSettings, requested
from piiloom.corpus.store.judgements import suggestion_runs
from piiloom.corpus.store.releases import list_releases
from piiloom.corpus.suggesting import SuggestionReport
from piiloom.foundation.errors import DataError, UsageError
from piiloom.foundation.words import counted
from piiloom.taxonomy.locales import resolve_locale, shipped_locales

# The share of test records that is asked for unless somebody writes another one.
_SHARE: Final = str(SplitSettings().test_size)


def export_tab(services: Services, _person: AppUser) -> None:
    """Freeze a release and write it to files; write an earlier one; offer what was written."""
    st.text("A release is frozen: what is corrected later goes into the next one. Records that people have finished are settled first.")
    new, old = st.columns(2)
    with new:
        _new_release(services)
    with old:
        _earlier_release(services)
    _written(services)


def _new_release(services: Services) -> None:
    with st.form("export"):
        st.markdown("**A new release**")
        st.text_input("Name of the release", "v1", key=field_key("export", "name"))
        st.toggle("Only validated records", value=True, key=field_key("export", "validated"))
        st.text_input("Test records (a number, or a share as 0.1)", _SHARE, key=field_key("export", "size"))
        st.selectbox("Format", list(FORMATS), key=field_key("export", "format"))
        st.form_submit_button("Export", type="primary", on_click=BY_ADMIN, args=(partial(_export, services),))


def _export(services: Services, _admin: AppUser) -> str:
    asked = fields("export")
    note = _freeze(services, asked["name"], "validated" if asked["validated"] else ANY_STATUS, asked["size"].strip())
    return _write(services, asked["name"], asked["format"], note)


def _earlier_release(services: Services) -> None:
    names = _releases(services)
    with st.form("export-again"):
        st.markdown("**An earlier release, in another format**")
        st.selectbox("Release", names, placeholder="There is none yet.", key=choice_field("export-again", "name", names))
        st.selectbox("Format", list(FORMATS), key=field_key("export-again", "format"))
        st.form_submit_button("Write it", disabled=not names, on_click=BY_ADMIN, args=(partial(_write_again, services),))


def _write_again(services: Services, _admin: AppUser) -> str | None:
    asked = fields("export-again")
    return _write(services, asked["name"], asked["format"]) if asked.get("name") else None


def _releases(services: Services) -> list[str]:
    with services.shared.reading() as store:
        return [release.name for release in reversed(list_releases(store))]


def _freeze(services: Services, name: str, status: str, size: str) -> str:
    """Freeze a release and return what there is to add. A *size* that nobody chose gives way where there are too few records for it."""
    services.resolver.settle_all()
    wanted = requested(name, test_size=None if size == _SHARE else size, seed=services.settings.current().seed, status=status)
    # Computing the splits takes a while for many records, so it runs outside the write lock.
    with services.shared.reading() as store:
        draft = draft_release(store, wanted)
    with services.shared.writing() as store:
        row = freeze(store, draft)
    return "".join(f" Note: {note}." for note in row.notes)


def _write(services: Services, name: str, file_format: str, note: str = "") -> str:
    out = services.files.export_folder(name, file_format)
    with services.shared.reading() as store:
        report = export_release(store, name, file_format, out, force=True)
    told = ", ".join(f"{one.records:,} in {one.name}" for one in report.files)
    left_out = f" {report.withheld:,} withheld so that no split gives another one away." if report.withheld else ""
    return f"Written to {out}: {told}.{left_out}{note} Download it below."


def _written(services: Services) -> None:
    found = services.files.exports()
    if not found:
        st.text("Nothing has been exported yet.")
        return
    st.markdown("**Exports to download**")
    rows = [
        (
            f"{one.folder}.zip",
            file_link("exports", one.folder),
            (one.release, one.file_format, one.records.get("train", 0), one.records.get("test", 0), file_size(one.size)),
        )
        for one in found
    ]
    show_files(("file", "release", "format", "train", "test", "unpacked"), rows)
    st.caption("What a release looks like and gives away can be measured on this machine while the app runs:")
    release, store = shlex.quote(found[-1].release), shlex.quote(str(services.path))
    st.code(f"piiloom report --release {release} --store {store}", language="console")


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
_LAST_IMPORT: Final = "import_last"
# How many rejected rows are shown; the file has all of them.
_REJECTS_SHOWN: Final = 50


@dataclass(frozen=True, slots=True)
class _Imported:
    name: str
    report: ImportReport
    rejects: str


def import_tab(services: Services, _person: AppUser) -> None:
    """Import an uploaded file of records and show the result."""
    st.text(f"A text file, UTF-8, up to {MOST_UPLOADED_MB} MB. What is in the store already is skipped.")
    with st.form("import", clear_on_submit=True):
        suffixes = sorted({"json", *(suffix.removeprefix(".") for suffix in _FORMATS.values())})
        st.file_uploader("A file of records", type=suffixes, key=field_key("import", "file"))
        st.selectbox("Format", list(_FORMATS), key=field_key("import", "format"))
        st.selectbox(
            "Locale of the texts that name none: one of these, or any other, as es_ES",
            shipped_locales(),
            key=field_key("import", "locale"),
            accept_new_options=True,
        )
        st.selectbox(
            "Rows that differ from the stored record of their id",
            list(_CONFLICTS),
            format_func=_CONFLICTS.__getitem__,
            key=field_key("import", "conflict"),
        )
        st.caption("The others can go on while a file is read.")
        st.form_submit_button("Import", type="primary", on_click=BY_ADMIN, args=(partial(_import_upload, services),))
    if isinstance(last := this_tab().reports.pop(_LAST_IMPORT, None), _Imported):
        _show_import(last)
    _rejects(services)


def _import_upload(services: Services, _admin: AppUser) -> None:
    asked, reports = fields("import"), this_tab().reports
    uploaded = asked["file"]
    if uploaded is None:
        raise UsageError("no file is chosen", remedy="Choose a file first")
    content = uploaded.getvalue()
    reports[_LAST_IMPORT] = _import(services, uploaded.name, content, asked["format"], asked["locale"], asked["conflict"])


def _import(services: Services, name: str, content: bytes, file_format: str, locale: str, on_conflict: OnConflict) -> _Imported:
    with tempfile.TemporaryDirectory(prefix="piiloom-import-") as scratch:
        # A file name of our own: the one that the browser sends could be any path.
        file = Path(scratch) / f"upload{_FORMATS[file_format]}"
        file.write_bytes(content)
        rejects = services.files.new_rejects(services.log.clock())
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


def _show_import(last: _Imported) -> None:
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
    _show_left_out(report, "Types that are not ours", f"{last.rejects} has them, to download below.")


def _show_left_out(report: ImportReport | SuggestionReport, types: str, where: str) -> None:
    """Show the types in an uploaded file that are not ours, and its rows that were rejected; *where* says where these are."""
    if report.unknown_types:
        names = ", ".join(f"{name} {count:,}" for name, count in sorted(report.unknown_types.items()))
        st.text(f"{types}: {names}")
    if report.rejected:
        st.warning(escape_markdown(f"Rows that were rejected: {len(report.rejected):,}. {where}"))
        show_table([{"line": line, "why": why} for line, why in report.rejected[:_REJECTS_SHOWN]])


def _rejects(services: Services) -> None:
    found = services.files.written("rejects")
    if found:
        st.markdown("**Rejected rows to download**, each with its line and the reason")
        show_files(("file", "size"), [(one.name, file_link("rejects", one.name), (file_size(one.size),)) for one in found[:10]])


_LOOK_EVERY: Final = timedelta(seconds=2)
# Many detectors are done before somebody has looked up.
_WAIT_S: Final = 1.5


def show_detection(services: Services) -> None:
    """Offer the detectors, or show how the one at work is doing, and how the last one ended."""
    run = services.detection.last
    if run is not None and run.phase == "running":
        _at_work()
        return
    offered = {one.label: one for one in services.detection.offered}
    if not offered:
        return
    with st.form("detection"):
        st.selectbox(
            "Detector that looks through what waits",
            list(offered),
            format_func=lambda one: _detector_label(offered[one]),
            key=field_key("detection", "label"),
        )
        if any(one.sends for one in offered.values()):
            st.checkbox("The texts may be sent to whom the detector asks (for those that say so)", key=field_key("detection", "sure"))
        st.form_submit_button("Find suggestions", type="primary", on_click=BY_ADMIN, args=(partial(_start, services),))
    if run is not None:
        _show_end(run)
    st.caption(
        "Others, with a model of yours or one that is asked, are offered if the app is started so: piiloom annotate --detect OPTIONS."
    )


def _detector_label(one: OfferedDetector) -> str:
    return f"{one.label}: {one.about}{' (sends the texts away)' if one.sends else ''}"


def _start(services: Services, admin: AppUser) -> None:
    asked = fields("detection")
    sends = any(one.sends for one in services.detection.offered if one.label == asked["label"])
    if sends and not asked.get("sure"):
        raise UsageError("this detector sends the texts away", remedy="Tick the box if they may be sent")
    services.detection.start(admin.name, asked["label"])
    services.detection.wait(_WAIT_S)


@st.fragment(run_every=_LOOK_EVERY)
def _at_work() -> None:
    """Look after the run every other second, without the rest of the page."""
    run = get_services().detection.last
    if run is None or run.phase != "running":
        st.rerun()
    st.info(escape_markdown(f"{run.detector.label} is looking through {counted(run.records, 'record')}, since {run.began_at[11:19]} UTC."))
    st.button("Stop it", on_click=BY_ADMIN, args=(_stop,))


def _stop(_admin: AppUser) -> None:
    get_services().detection.stop()


def _show_end(run: DetectionRun) -> None:
    """Say how the last run ended. It may have been somebody else's, or minutes ago, so it says which one it was."""
    name = f"{run.detector.label}, started by {run.actor} at {run.began_at[11:16]} UTC"
    if run.report is not None:
        st.success(escape_markdown(f"{name}: {suggested(run.report)}"))
    elif run.fault is not None:
        st.warning(escape_markdown(f"{name}, failed: {run.fault}"))
    else:
        st.info(escape_markdown(f"{name}, was stopped. Nothing of it is stored."))


def suggested(report: SuggestionReport) -> str:
    """Return what became of suggestions, in a sentence."""
    counts = report.counts
    said = f"{counted(counts.added, 'new suggestion')} by {report.run.detector} for {counted(report.records, 'record')}"
    return f"{said}; {counts.known:,} were there before, {counts.withdrawn:,} are withdrawn."


_LAST_SUGGESTIONS: Final = "suggestions_last"


def suggestions_tab(services: Services, _person: AppUser) -> None:
    """Have a detector look, take an uploaded file of native rows as suggestions, and list the runs that gave some."""
    show_detection(services)
    st.text(f"What a detector found in records of this store: native rows, as piiloom detect writes them, up to {MOST_UPLOADED_MB} MB.")
    with st.form("suggestions", clear_on_submit=True):
        st.file_uploader("A file of found spans", type=["jsonl", "json"], key=field_key("suggestions", "file"))
        st.text_input(
            "Detector",
            max_chars=100,
            placeholder="as the spans say",
            help="Another run of it replaces what it suggested.",
            key=field_key("suggestions", "detector"),
        )
        st.text_input("Model", max_chars=200, placeholder="none, or which one was asked", key=field_key("suggestions", "model"))
        st.caption("The others can go on while a file is read.")
        st.form_submit_button("Offer as suggestions", type="primary", on_click=BY_ADMIN, args=(partial(_offer, services),))
    if isinstance(last := this_tab().reports.pop(_LAST_SUGGESTIONS, None), SuggestionReport):
        _show_suggestions(last)
    _runs(services)


def _offer(services: Services, admin: AppUser) -> None:
    asked, reports = fields("suggestions"), this_tab().reports
    if asked["file"] is None:
        raise UsageError("no file is chosen", remedy="Choose a file first")
    content, detector, model = asked["file"].getvalue(), asked["detector"].strip(), asked["model"].strip()
    reports[_LAST_SUGGESTIONS] = _store_upload(services, admin.name, content, detector, model)


def _store_upload(services: Services, admin: str, content: bytes, detector: str, model: str) -> SuggestionReport:
    with tempfile.TemporaryDirectory(prefix="piiloom-suggestions-") as scratch:
        file = Path(scratch) / "upload.jsonl"
        file.write_bytes(content)
        rejects = services.files.new_rejects(services.log.clock())
        try:
            return services.suggestions.add(admin, file, detector=detector or None, model=model or None, rejects=rejects)
        except DataError as error:
            line = error.where.rpartition(":")[2] if error.where and ":" in error.where else ""
            raise DataError(error.message, where=f"line {line}" if line.isdigit() else None, remedy=error.remedy) from error


def _show_suggestions(report: SuggestionReport) -> None:
    st.success(escape_markdown(suggested(report)))
    st.text("People see them on records of the work list, also on those that they have begun.")
    _show_left_out(report, "Left out, since their types are not ours", "The tab Import has them to download.")


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
