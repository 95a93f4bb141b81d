"""The export tab: freeze new releases, write earlier ones in another format, and download what was written."""

from __future__ import annotations

import shlex
from functools import partial
from typing import Final

import streamlit as st

from piiloom.annotation_app.people.identity import Person
from piiloom.annotation_app.project_files import ProjectFiles
from piiloom.annotation_app.screens.acting import BY_ADMIN, choice_field, field, fields
from piiloom.annotation_app.screens.file_lists import show_files, size_of
from piiloom.annotation_app.serving.download_routes import export_link
from piiloom.annotation_app.serving.services import Services
from piiloom.corpus.formats.registry import FORMATS
from piiloom.corpus.releases.exporting import export_release
from piiloom.corpus.releases.freezing import draft_release, freeze
from piiloom.corpus.releases.release_options import ANY_STATUS, SplitSettings, requested
from piiloom.corpus.store.releases import list_releases

# The share of test records that is asked for unless somebody writes another one.
_SHARE: Final = str(SplitSettings().test_size)


def export_tab(services: Services, _person: Person) -> None:
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
        st.text_input("Name of the release", "v1", key=field("export", "name"))
        st.toggle("Only validated records", value=True, key=field("export", "validated"))
        st.text_input("Test records (a number, or a share as 0.1)", _SHARE, key=field("export", "size"))
        st.selectbox("Format", list(FORMATS), key=field("export", "format"))
        st.form_submit_button("Export", type="primary", on_click=BY_ADMIN, args=(partial(_export, services),))


def _export(services: Services, _admin: Person) -> str:
    asked = fields("export")
    note = _freeze(services, asked["name"], "validated" if asked["validated"] else ANY_STATUS, asked["size"].strip())
    return _write(services, asked["name"], asked["format"], note)


def _earlier_release(services: Services) -> None:
    names = _releases(services)
    with st.form("export-again"):
        st.markdown("**An earlier release, in another format**")
        st.selectbox("Release", names, placeholder="There is none yet.", key=choice_field("export-again", "name", names))
        st.selectbox("Format", list(FORMATS), key=field("export-again", "format"))
        st.form_submit_button("Write it", disabled=not names, on_click=BY_ADMIN, args=(partial(_write_again, services),))


def _write_again(services: Services, _admin: Person) -> str | None:
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
    out = ProjectFiles(services.path).export_folder(name, file_format)
    with services.shared.reading() as store:
        report = export_release(store, name, file_format, out, force=True)
    told = ", ".join(f"{one.records:,} in {one.name}" for one in report.files)
    left_out = f" {report.withheld:,} withheld so that no split gives another one away." if report.withheld else ""
    return f"Written to {out}: {told}.{left_out}{note} Download it below."


def _written(services: Services) -> None:
    found = ProjectFiles(services.path).exports()
    if not found:
        st.text("Nothing has been exported yet.")
        return
    st.markdown("**Exports to download**")
    rows = [
        (
            f"{one.folder}.zip",
            export_link(one.folder),
            (one.release, one.file_format, one.records.get("train", 0), one.records.get("test", 0), size_of(one.size)),
        )
        for one in found
    ]
    show_files(("file", "release", "format", "train", "test", "unpacked"), rows)
    st.caption("What a release looks like and gives away can be measured on this machine while the app runs:")
    release, store = shlex.quote(found[-1].release), shlex.quote(str(services.path))
    st.code(f"piiloom report --release {release} --store {store}", language="console")
