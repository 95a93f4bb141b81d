from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from piiloom.foundation.errors import DataError, UsageError
from piiloom.surrogates.inputs.parts import SourceSettings
from piiloom.surrogates.outputs.checking import verify_folder
from piiloom.surrogates.running import SurrogateProgress, run_surrogates
from tests.longer import mostly_long
from tests.surrogates.inputs.reading_files import read
from tests.surrogates.running_fakes import Keeping, TagEngine

pa: Any = pytest.importorskip("pyarrow")
pq: Any = pytest.importorskip("pyarrow.parquet")

TEXTS = [f"[NAME] {number} é" if number % 5 else None for number in range(1000)]


def write(path: Path, **kinds: Any) -> Path:
    words = pa.array(TEXTS, kinds.get("text", pa.string()))
    table = pa.table({"n": list(range(1000)), "text": words, "id": [f"r{number}" for number in range(1000)], "more": [[1], None] * 500})
    pq.write_table(table.replace_schema_metadata({"who": "we"}), path, row_group_size=300, compression="zstd")
    return path


@pytest.mark.parametrize("chunk", [1, 700, 1 << 20])
def test_rows_are_read_in_batches_of_any_size(tmp_path: Path, chunk: int) -> None:
    found = read(write(tmp_path / "a.parquet"), chunk_bytes=chunk)
    assert [one.text for one in found] == [text for text in TEXTS if text is not None]
    assert (found[0].id, found[0].line) == ("r1", 2)


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())], ids=str)
@pytest.mark.parametrize(("workers", "chunk"), mostly_long([(1, 1 << 20), (2, 999)], quick={(1, 1 << 20)}))
def test_the_mirror_has_the_same_schema_and_other_columns(tmp_path: Path, kind: Any, workers: int, chunk: int) -> None:
    path, out = write(tmp_path / "a.parquet", text=kind), tmp_path / "out"
    run_surrogates(SourceSettings(path=path, chunk_bytes=chunk), out, TagEngine, workers=workers)
    before, after = pq.ParquetFile(path), pq.ParquetFile(out / "mirror" / "a.parquet")
    assert after.schema_arrow.equals(before.schema_arrow, check_metadata=True)
    assert after.metadata.row_group(0).column(0).compression == "ZSTD"
    assert after.read().drop_columns("text").equals(before.read().drop_columns("text"))
    assert not any("[NAME]" in text for text in after.read()["text"].to_pylist() if text)
    assert verify_folder(out, path).documents == 800


def test_progress_is_in_bytes_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    path = write(tmp_path / "in" / "a.parquet")
    (tmp_path / "in" / "b.txt").write_text("one more")
    told: list[SurrogateProgress] = []
    inputs = SourceSettings(path=tmp_path / "in", chunk_bytes=999)
    run_surrogates(inputs, tmp_path / "out", TagEngine, progress=told.append)
    size = path.stat().st_size + len("one more")
    assert [one.phase for one in told if one.done == one.total == size] == ["scanning"]
    done = [one.done for one in told if one.phase == "scanning"]
    assert done == sorted(done)
    assert len(set(done)) > 10


def test_a_file_in_which_nothing_is_replaced_is_the_same_file(tmp_path: Path) -> None:
    path, out = write(tmp_path / "a.parquet"), tmp_path / "out"
    run_surrogates(SourceSettings(path=path), out, Keeping)
    assert (out / "mirror" / "a.parquet").read_bytes() == path.read_bytes()


def test_a_column_that_holds_no_text_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "a.parquet")
    with pytest.raises(UsageError, match="'n' holds no text"):
        read(path, text_fields=("n",))
    with pytest.raises(UsageError, match="no column 'nothing'; the table has: n, text, id, more"):
        read(path, text_fields=("nothing",))
    path.write_bytes(b"PAR1 no")
    with pytest.raises(DataError, match="not a Parquet file"):
        read(path)


def test_an_empty_file_stays_so(tmp_path: Path) -> None:
    path, out = tmp_path / "a.parquet", tmp_path / "out"
    pq.write_table(pa.table({"text": pa.array([], pa.string())}), path)
    assert run_surrogates(SourceSettings(path=path), out, TagEngine).documents == 0
    assert (out / "mirror" / "a.parquet").read_bytes() == path.read_bytes()


def test_an_object_of_lists_of_which_one_is_shorter_is_a_bad_row(tmp_path: Path) -> None:
    lists = {"start": [0, 8], "end": [3, 11], "type": ["name"]}
    pq.write_table(pa.Table.from_pylist([{"text": "Ann met Bob.", "spans": lists}]), tmp_path / "a.parquet")
    with pytest.raises(DataError, match="spans is no list of spans") as caught:
        read(tmp_path / "a.parquet", kind_of=lambda kind, _: kind, spans_field="spans")
    assert caught.value.where == "a.parquet:1"
