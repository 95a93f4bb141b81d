"""What the command line would do with the store, while the app holds it: import, export, back up."""

from __future__ import annotations

import tempfile
from pathlib import Path

import streamlit as st

from annotation_app.people.identity import Person, require
from annotation_app.screens.plain_words import plain, tell
from annotation_app.serving.current import current_person
from annotation_app.serving.opening import Workplace
from corpus.formats.registry import FORMATS
from corpus.importing import import_file
from corpus.releases.freezing import ANY_STATUS, create_release, export_release
from corpus.releases.sizes import parse_test_size
from corpus.store.records import count_records
from corpus.store.runs import list_runs
from corpus.store.snapshot_files import list_snapshots
from foundation.errors import PiiloomError


def import_tab(workplace: Workplace, _person: Person) -> None:
    """Import a file of records."""
    with st.form("import", clear_on_submit=True):
        uploaded = st.file_uploader("A file of records (JSON lines)", type=["jsonl", "json"])
        file_format = st.selectbox("Format", list(FORMATS))
        locale = st.text_input("Locale of the texts", "en_US")
        if st.form_submit_button("Import", type="primary") and uploaded is not None:
            try:
                require(current_person(), "admin")
                _import(workplace, uploaded.name, uploaded.getvalue(), file_format, locale)
            except PiiloomError as error:
                tell(error)


def _import(workplace: Workplace, name: str, content: bytes, file_format: str, locale: str) -> None:
    folder = workplace.path.parent / "rejects"
    folder.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="piiloom-import-") as scratch:
        # A name of its own making: what a browser calls a file could lead anywhere.
        file = Path(scratch) / "upload.jsonl"
        file.write_bytes(content)
        rejects = folder / f"import-{workplace.log.clock():%Y%m%dT%H%M%S}.jsonl"
        with workplace.shared.alone() as store:
            report = import_file(store, file, file_format, locale=locale, rejects_path=rejects)
    st.success(f"{report.records:,} records with {report.spans:,} spans are in the store; {report.already_stored:,} were there before.")
    if report.rejected:
        st.warning(f"{len(report.rejected):,} rows were rejected; they are in {plain(str(rejects))}.")
    st.text(f"From {name}: {report.ambiguous:,} ambiguous values, {report.missing:,} missing, {len(report.overlapping):,} overlaps.")


def export_tab(workplace: Workplace, _person: Person) -> None:
    """Freeze a release and write it to files."""
    st.text("Records that people have finished are settled first: what they agree on is validated.")
    with st.form("export"):
        name = st.text_input("Name of the release", "v1")
        validated = st.toggle("Only validated records", value=True)
        size = st.text_input("Test records (a number, or a share as 0.1)", "0.1")
        file_format = st.selectbox("Format", list(FORMATS))
        if st.form_submit_button("Export", type="primary"):
            try:
                require(current_person(), "admin")
                _export(workplace, name, "validated" if validated else ANY_STATUS, size, file_format)
            except PiiloomError as error:
                tell(error)


def _export(workplace: Workplace, name: str, status: str, size: str, file_format: str) -> None:
    workplace.resolver.settle_all()
    with workplace.shared.alone() as store:
        create_release(store, name, test_size=parse_test_size(size), seed=workplace.settings.current().seed, status=status)
        # The name of a release is free text; the folder is not.
        folder = "".join(sign if sign.isalnum() or sign in "-_" else "_" for sign in name)
        out = workplace.path.parent / "exports" / f"{folder}-{file_format}"
        report = export_release(store, name, file_format, out)
    st.success(plain(f"Written to {out}"))
    st.dataframe([{"file": one.name, "split": one.split, "records": one.records} for one in report.files], hide_index=True, width="stretch")


def backup_tab(workplace: Workplace, _person: Person) -> None:
    """Make a snapshot now, and list those that there are."""
    keeper = workplace.snapshots
    if keeper.every_s > 0:
        st.text(f"A snapshot is made every {keeper.every_s / 60:g} minutes; the newest {keeper.keep} are kept.")
    else:
        st.text("No snapshots are made by themselves: start the app with --snapshot-every MINUTES.")
    if keeper.fault is not None:
        st.warning(plain(f"The last snapshot failed: {keeper.fault}"))
    if st.button("Make a snapshot now"):
        try:
            require(current_person(), "admin")
            st.success(plain(f"Made: {keeper.take()}"))
        except PiiloomError as error:
            tell(error)
    found = list_snapshots(workplace.path)
    st.dataframe([{"snapshot": path.name, "MB": round(path.stat().st_size / 1e6, 1)} for path in found], hide_index=True, width="stretch")
    st.caption(plain(f"To go back: stop the app, then  piiloom annotate --restore {workplace.path}.snapshots/… --store {workplace.path}"))


def stats_tab(workplace: Workplace, _person: Person) -> None:
    """What the store holds."""
    with workplace.shared.reading() as store:
        runs = list_runs(store)
        rows = [
            {"run": run.id, "status": run.status, "seed": run.seed, "wanted": run.samples, "records": count_records(store, run_id=run.id)}
            for run in runs
        ]
        total, validated = count_records(store), count_records(store, status="validated")
    one, two, three = st.columns(3)
    one.metric("Revisions of records", f"{total:,}")
    two.metric("of them validated", f"{validated:,}")
    three.metric("Size", f"{workplace.path.stat().st_size / 1e6:,.1f} MB")
    if rows:
        st.dataframe(rows, hide_index=True, width="stretch")
    st.caption(plain(f"The store is {workplace.path}. No command of piiloom can open it while the app runs."))
