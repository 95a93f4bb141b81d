"""The files beside a store that people may take away: which are offered, and that no name leads elsewhere."""

from __future__ import annotations

import io
import zipfile
from datetime import UTC, datetime
from pathlib import Path

import pytest

from piiloom.annotation_app.project_files import ProjectFiles
from piiloom.corpus.releases.exporting import export_release
from piiloom.corpus.releases.freezing import create_release
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.records import add_records
from tests.annotation_app.project_stories import record
from tests.longer import case_by_case

NOON = datetime(2026, 11, 2, 12, tzinfo=UTC)


@pytest.fixture
def files(tmp_path):
    found = ProjectFiles(tmp_path / "s.duckdb")
    with Store.open(tmp_path / "s.duckdb") as store:
        add_records(store, None, [(None, record(n)) for n in (1, 2)])
        create_release(store, "a b", test_size=0, seed=7)
        export_release(store, "a b", "native", found.export_folder("a b", "native"))
    return found


def test_whole_exports_are_offered_and_nothing_else(files, tmp_path):
    for name, manifest in (("other", None), ("broken", "{"), ("list", "[]"), ("half", '{"name": "x"}'), ("odd", '{"name":1,"splits":3}')):
        (tmp_path / "exports" / name).mkdir()
        if manifest is not None:
            (tmp_path / "exports" / name / "release.json").write_text(manifest)
    (tmp_path / "exports" / "file").write_text("")
    [one] = files.exports()
    assert (one.release, one.file_format, dict(one.records), one.withheld) == ("a b", "native", {"train": 2}, 0)
    assert one.size == sum(file.stat().st_size for file in (tmp_path / "exports" / one.folder).iterdir())
    assert ProjectFiles(tmp_path / "elsewhere" / "s.duckdb").exports() == []


def test_an_archive_holds_the_files_and_is_the_same_each_time(files, tmp_path):
    folder = files.exports()[0].folder
    (tmp_path / "exports" / folder / ".train.jsonl.part").write_text("half")
    first, second = io.BytesIO(), io.BytesIO()
    assert files.write_archive(folder, first)
    assert files.write_archive(folder, second)
    assert first.getvalue() == second.getvalue()
    archive = zipfile.ZipFile(first)
    assert archive.namelist() == [f"{folder}/release.json", f"{folder}/train.jsonl"]
    assert archive.read(f"{folder}/train.jsonl") == (tmp_path / "exports" / folder / "train.jsonl").read_bytes()


def test_an_archive_holds_folders_too(files, tmp_path):
    folder = tmp_path / "exports" / files.exports()[0].folder
    (folder / "train" / "deep").mkdir(parents=True)
    (folder / "train" / "deep" / "rows.txt").write_text("mine")
    (folder / ".export.part").mkdir()
    (folder / ".export.part" / "draft.txt").write_text("half")
    (folder / "link.txt").symlink_to(tmp_path / "s.duckdb")
    assert files.exports()[0].size == sum((folder / name).stat().st_size for name in ("release.json", "train.jsonl", "train/deep/rows.txt"))
    archive = io.BytesIO()
    assert files.write_archive(folder.name, archive)
    names = [f"{folder.name}/{name}" for name in ("release.json", "train/deep/rows.txt", "train.jsonl")]
    assert zipfile.ZipFile(archive).namelist() == names


@case_by_case("name", ["", ".", "..", "../exports", "/etc", "a b", "other\0"])
def test_no_name_leads_elsewhere(files, tmp_path, name):
    (tmp_path / "exports" / "other").mkdir(exist_ok=True)
    assert not files.write_archive(name, io.BytesIO())
    assert files.file("rejects", name) is None


def test_folders_of_releases_have_harmless_names_of_their_own(files, tmp_path):
    names = ["v1", "v 1", "v_1", "../v1", "..", "<b>", "ä", "x" * 200, "x" * 201, "a/b", "a\\b"]
    folders = [files.export_folder(name, "native") for name in names]
    assert len(set(folders)) == len(names)
    assert {folder.parent for folder in folders} == {tmp_path / "exports"}
    assert folders[0].name == "v1-native"
    assert all(set(folder.name) <= set("abcdefghijklmnopqrstuvwxyz0123456789_.-") and len(folder.name) < 90 for folder in folders)


def test_files_of_rejects_are_never_replaced(files):
    first = files.new_rejects(NOON)
    first.parent.mkdir()
    first.write_text("1")
    second = files.new_rejects(NOON)
    second.write_text("22")
    (first.parent / "notes.txt").write_text("mine")
    assert [Path(one.name).stem for one in files.written("rejects")] == ["import-20261102T120000-2", "import-20261102T120000"]
    assert files.file("rejects", second.name) == second
    assert files.file("rejects", "notes.txt") is None
