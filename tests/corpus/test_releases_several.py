"""Exports in several formats at once, of some splits, and what is left when one ends early."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from piiloom.corpus.formats.base import LossReport, WriteOptions
from piiloom.corpus.formats.capid import CapidFormat
from piiloom.corpus.formats.registry import NativeFormat
from piiloom.corpus.record import Record
from piiloom.corpus.releases.exporting import export_formats, export_or_confirm, export_release
from piiloom.corpus.releases.manifest import read_manifest, types_beside
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.records import add_records
from piiloom.corpus.store.releases import ReleaseRow, insert_release
from piiloom.foundation.errors import DataError, OutputError, UsageError

MakeRecord = Callable[..., Record]
BOTH = (NativeFormat(), CapidFormat())


class Folders(NativeFormat):
    """A format whose splits are folders."""

    name = "folders"
    suffix = ""

    def write(self, records: Iterable[Record], path: Path, options: WriteOptions) -> LossReport:
        (path / "deep").mkdir(parents=True)
        return super().write(records, path / "deep" / "rows.jsonl", options)


class Needing(NativeFormat):
    """A format whose library is not installed."""

    name = "needing"

    def write(self, records: Iterable[Record], path: Path, options: WriteOptions) -> LossReport:
        raise UsageError("needs a library", remedy="pip install -e '.[needed]'")


class Stopping(NativeFormat):
    """A format that is stopped while it writes its first record."""

    name = "stopping"

    def __init__(self, stop: Callable[[], None]) -> None:
        self._stop = stop

    def write(self, records: Iterable[Record], path: Path, options: WriteOptions) -> LossReport:
        def stopping() -> Iterable[Record]:
            for record in records:
                yield record
                self._stop()

        return super().write(stopping(), path, options)


@pytest.fixture
def released(store: Store, make_record: MakeRecord) -> Store:
    """The release v1 of six records, two of them in test."""
    add_records(store, None, [(None, make_record(n)) for n in range(6)])
    members = [(f"record-{n:05d}", 0, "test" if n > 3 else "train") for n in range(6)]
    insert_release(store, ReleaseRow(name="v1", seed=1, test_size="2"), members)
    return store


def files(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_several_formats_are_each_a_whole_export(released: Store, tmp_path: Path) -> None:
    reports = export_formats(released, "v1", BOTH, tmp_path / "all")
    for report, one in zip(reports, BOTH, strict=True):
        export_release(released, "v1", one, tmp_path / one.name)
        assert report.out == tmp_path / "all" / one.name
        assert files(report.out) == files(tmp_path / one.name)
    again = export_or_confirm(released, "v1", BOTH, tmp_path / "all")
    assert [report.out for report in again] == [report.out for report in reports]
    (tmp_path / "all" / "capid" / "test.jsonl").write_text("{}\n")
    with pytest.raises(OutputError, match="not empty"):
        export_or_confirm(released, "v1", BOTH, tmp_path / "all")
    with pytest.raises(OutputError, match="changed since"):
        export_formats(released, "v1", BOTH, tmp_path / "all", force=True)


def test_only_the_wanted_splits_are_written(released: Store, tmp_path: Path) -> None:
    export_release(released, "v1", "native", tmp_path / "out", splits=["test"])
    assert set(files(tmp_path / "out")) == {"test.jsonl", "release.json"}
    for splits, message in ((["test", "test"], "named twice"), (["fold1"], "no split 'fold1'.*train, test")):
        with pytest.raises(UsageError, match=message):
            export_release(released, "v1", "native", tmp_path / "other", splits=splits)
    with pytest.raises(UsageError, match="named twice"):
        export_formats(released, "v1", [*BOTH, NativeFormat()], tmp_path / "other")
    assert not (tmp_path / "other").exists()


def test_folders_are_replaced_as_a_whole_and_only_if_unchanged(released: Store, tmp_path: Path) -> None:
    out = tmp_path / "out"
    export_release(released, "v1", Folders(), out)
    listed = json.loads((out / "release.json").read_text())["files"]
    assert {name: about["records"] for name, about in listed.items()} == {"train": 4, "test": 2}
    before = files(out)
    export_release(released, "v1", Folders(), out, force=True)
    assert files(out) == before
    (out / "train" / "deep" / "mine.txt").write_text("mine")
    with pytest.raises(OutputError, match="train: the file was changed since"):
        export_release(released, "v1", Folders(), out, force=True)
    (out / "train" / "deep" / "mine.txt").unlink()
    export_release(released, "v1", "native", out, force=True)
    assert set(files(out)) == {"train.jsonl", "test.jsonl", "release.json"}


def test_a_missing_library_is_told_before_anything_is_written(released: Store, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="pip install"):
        export_formats(released, "v1", [NativeFormat(), Needing()], tmp_path / "new" / "out")
    assert list(tmp_path.iterdir()) == []


def full() -> None:
    raise OSError(28, "No space left on device")


def interrupt() -> None:
    os.kill(os.getpid(), signal.SIGINT)


@pytest.mark.parametrize(("stop", "error"), [(full, OutputError), (interrupt, KeyboardInterrupt)])
def test_an_export_that_is_stopped_leaves_nothing(
    released: Store, tmp_path: Path, stop: Callable[[], None], error: type[BaseException]
) -> None:
    with pytest.raises(error):
        export_formats(released, "v1", [NativeFormat(), Stopping(stop)], tmp_path / "deep" / "out")
    assert list(tmp_path.iterdir()) == []
    kept = tmp_path / "kept"
    export_release(released, "v1", "native", kept)
    before = files(kept)
    with pytest.raises(error):
        export_release(released, "v1", Stopping(stop), kept, force=True)
    assert files(kept) == before


@pytest.mark.parametrize("published", [[], ["train.jsonl"], ["train.jsonl", "test.jsonl"]])
def test_what_a_killed_export_left_is_no_hindrance(released: Store, tmp_path: Path, published: list[str]) -> None:
    out = tmp_path / "out"
    export_release(released, "v1", "native", out)
    whole = files(out)
    (out / ".export.part").mkdir()
    for name in {*whole} - {*published}:
        (out / name).rename(out / ".export.part" / name)
    export_release(released, "v1", "native", out)
    assert files(out) == whole
    (out / ".export.part").mkdir()
    (out / "release.json").rename(out / ".export.part" / "release.json")
    (out / "test.jsonl").write_text("mine")
    with pytest.raises(OutputError, match="not empty"):
        export_release(released, "v1", "native", out)
    with pytest.raises(OutputError, match=r"test\.jsonl: the file was not written by an export"):
        export_release(released, "v1", "native", out, force=True)
    assert (out / "test.jsonl").read_text() == "mine"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"schema": 99, "piiloom": "9", "files": {"rows.jsonl": {}}}', "has version 99; this piiloom knows version 1.*Upgrade"),
        ('{"schema": "two", "files": {}}', "has version 'two'"),
        ("[]", "damaged"),
        ("{", "damaged"),
        ("\ud800".encode("utf-8", "surrogatepass"), "damaged"),
    ],
)
def test_a_description_of_an_unknown_version_is_one_clear_error(tmp_path: Path, text: str | bytes, message: str) -> None:
    (tmp_path / "release.json").write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(DataError, match=message):
        read_manifest(tmp_path / "release.json")


def test_own_types_of_an_unknown_version_are_not_guessed(tmp_path: Path) -> None:
    about = {"schema": 99, "piiloom": "9", "files": {"rows.jsonl": {}}}
    (tmp_path / "release.json").write_text(json.dumps(about))
    assert types_beside(tmp_path / "other.jsonl") == ()
    with pytest.raises(DataError, match="has version 99"):
        types_beside(tmp_path / "rows.jsonl")
    (tmp_path / "release.json").write_text(json.dumps({"schema": 99, "files": {"rows.jsonl": {}}}))
    assert types_beside(tmp_path / "rows.jsonl") == ()
