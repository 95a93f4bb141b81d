"""Importing into a store that others write to meanwhile."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from piiloom.corpus import importing
from piiloom.corpus.formats.base import ReadOptions, ReadTally, RowReject
from piiloom.corpus.formats.native_rows import row_of
from piiloom.corpus.formats.registry import NativeFormat
from piiloom.corpus.importing import ImportConflict, import_file, import_file_among
from piiloom.corpus.record import Record
from piiloom.corpus.store.annotation_events import NewEvent, append_events, read_events
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.opening import SharedStore
from piiloom.corpus.store.records import add_records, count_records, iter_records
from piiloom.foundation.errors import DataError


def rows(path: Path, count: int, *, broken: int = 0) -> Path:
    lines = [
        json.dumps(
            {"context": f"I am Bob Stone, number {n}.", "question": "Who?", "piis": {"Bob Stone": {"type": "name", "relevance": "low"}}}
        )
        for n in range(count)
    ]
    path.write_text("\n".join([*lines, *["{"] * broken]) + "\n", encoding="utf-8")
    return path


def test_the_report_and_the_records_are_those_of_an_import_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importing, "_SMALL_CHUNK", 7)
    file = rows(tmp_path / "rows.jsonl", 30, broken=2)
    shared = SharedStore(Store.open(tmp_path / "a.duckdb"))
    among = import_file_among(shared, file, "capid", rejects_path=tmp_path / "a.rejects")
    with shared.reading() as store, Store.open(tmp_path / "b.duckdb") as other:
        assert among == import_file(other, file, "capid", rejects_path=tmp_path / "b.rejects")
        assert list(iter_records(store)) == list(iter_records(other))
    again = import_file_among(shared, file, "capid", rejects_path=tmp_path / "a.rejects")
    assert again == replace(among, records=0, spans=0, already_stored=30)
    shared.close()
    assert (tmp_path / "a.rejects").read_bytes() == (tmp_path / "b.rejects").read_bytes()


def test_nothing_that_can_be_imported_leaves_nothing(tmp_path: Path) -> None:
    shared = SharedStore(Store.open(tmp_path / "a.duckdb"))
    with pytest.raises(DataError):
        import_file_among(shared, rows(tmp_path / "rows.jsonl", 0, broken=1), "capid", rejects_path=tmp_path / "r")
    with shared.reading() as store:
        assert count_records(store) == 0
    shared.close()


class OvertakenFormat(NativeFormat):
    """While the file is read for the second time, somebody else stores its last row with another text."""

    def __init__(self, shared: SharedStore) -> None:
        super().__init__()
        self._shared, self._readings = shared, 0

    def read(self, path: Path, options: ReadOptions, tally: ReadTally) -> Iterator[Record | RowReject]:
        self._readings += 1
        *first, last = super().read(path, options, tally)
        yield from first
        if self._readings == 2:
            assert isinstance(last, Record)
            with self._shared.writing() as store:
                add_records(store, None, [(None, replace(last, question="Who else?"))])
        yield last


def test_a_conflict_that_arises_meanwhile_is_told_with_what_is_stored(
    tmp_path: Path, make_record: Callable[..., Record], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importing, "_SMALL_CHUNK", 2)
    file = tmp_path / "rows.jsonl"
    file.write_text("".join(json.dumps(row_of(make_record(n))) + "\n" for n in range(5)), encoding="utf-8")
    shared = SharedStore(Store.open(tmp_path / "s.duckdb"))
    with pytest.raises(ImportConflict, match="4 other rows of the file are in the store as new records") as caught:
        import_file_among(shared, file, OvertakenFormat(shared), rejects_path=tmp_path / "r")
    assert caught.value.ids == (make_record(4).id,)
    with shared.reading() as store:
        assert count_records(store) == 5
    with pytest.raises(ImportConflict, match="Nothing was imported"):  # now it is found before anything is stored
        import_file_among(shared, file, "native", rejects_path=tmp_path / "r")
    shared.close()


@pytest.mark.long
def test_others_write_while_it_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importing, "_SMALL_CHUNK", 50)
    shared = SharedStore(Store.open(tmp_path / "a.duckdb"))
    seen: list[int] = []
    ended = threading.Event()

    def edit() -> None:
        while not ended.is_set():
            with shared.writing() as store:
                append_events(store, [NewEvent(actor="ada", kind="edit")], "2026")
                seen.append(count_records(store))
            time.sleep(0.001)

    worker = threading.Thread(target=edit)
    worker.start()
    import_file_among(shared, rows(tmp_path / "rows.jsonl", 1000), "capid", rejects_path=tmp_path / "r")
    ended.set()
    worker.join()
    with shared.reading() as store:
        assert (count_records(store), len(read_events(store))) == (1000, len(seen))
    shared.close()
    assert {count for count in seen if 0 < count < 1000}  # edits came in between
    assert {count % 50 for count in seen} == {0}
