"""Importing into a store that others write to meanwhile."""

from __future__ import annotations

import json
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from piiloom.corpus import importing
from piiloom.corpus.importing import import_file, import_file_among
from piiloom.corpus.store.annotation_events import NewEvent, append_events, read_events
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.records import count_records, iter_records
from piiloom.corpus.store.shared import SharedStore
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
    among = import_file_among(shared, file, "capid", locale="en_US", rejects_path=tmp_path / "a.rejects")
    with shared.reading() as store, Store.open(tmp_path / "b.duckdb") as other:
        assert among == import_file(other, file, "capid", locale="en_US", rejects_path=tmp_path / "b.rejects")
        assert list(iter_records(store)) == list(iter_records(other))
    again = import_file_among(shared, file, "capid", locale="en_US", rejects_path=tmp_path / "a.rejects")
    assert again == replace(among, records=0, spans=0, already_stored=30)
    shared.close()
    assert (tmp_path / "a.rejects").read_bytes() == (tmp_path / "b.rejects").read_bytes()


def test_nothing_that_can_be_imported_leaves_nothing(tmp_path: Path) -> None:
    shared = SharedStore(Store.open(tmp_path / "a.duckdb"))
    with pytest.raises(DataError):
        import_file_among(shared, rows(tmp_path / "rows.jsonl", 0, broken=1), "capid", locale="en_US", rejects_path=tmp_path / "r")
    with shared.reading() as store:
        assert count_records(store) == 0
    shared.close()


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
    import_file_among(shared, rows(tmp_path / "rows.jsonl", 1000), "capid", locale="en_US", rejects_path=tmp_path / "r")
    ended.set()
    worker.join()
    with shared.reading() as store:
        assert (count_records(store), len(read_events(store))) == (1000, len(seen))
    shared.close()
    assert {count for count in seen if 0 < count < 1000}  # edits came in between
    assert {count % 50 for count in seen} == {0}
