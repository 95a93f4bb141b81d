"""``piiloom surrogate run --spans`` over rows that are marked as free of personal information."""

from __future__ import annotations

import json

import pytest

from tests.piiloom.surrogate_runs import _own_names, fill, lines, put_in, records, refused

__all__ = ["_own_names", "fill", "refused"]

PLAIN = "The kettle is on, and nobody is named here."


def test_what_our_export_writes_goes_through_with_rows_that_have_no_spans(cli, fill, filled, tmp_path):
    """Native export of generated records and one without personal information, replaced by its spans, imported again."""
    plain = tmp_path / "plain.jsonl"
    plain.write_text(json.dumps({"context": PLAIN, "question": "Is it on?", "spans": []}) + "\n")
    assert cli("import", plain, "--input-format", "native", "--store", filled).code == 0
    assert cli("release", "--name", "all", "--test-size", "0", "--store", filled).code == 0
    assert cli("export", "--release", "all", "--format", "native", "--out", tmp_path / "export", "--store", filled).code == 0
    source = tmp_path / "export" / "train.jsonl"
    rows = [json.loads(line) for line in source.read_text("utf-8").splitlines()]
    assert [row["context"] for row in rows if row["spans"] == []] == [PLAIN]
    assert fill(source, "--spans")["documents"] == len(rows) == 13
    (mirror,) = (tmp_path / "out" / "mirror").iterdir()
    before, after = (path.read_text("utf-8").splitlines() for path in (source, mirror))
    empty = [row["spans"] == [] for row in rows]
    assert [new for new, is_empty in zip(after, empty, strict=True) if is_empty] == [
        old for old, is_empty in zip(before, empty, strict=True) if is_empty
    ]
    assert all(new != old for old, new, is_empty in zip(before, after, empty, strict=True) if not is_empty)
    assert next(record for record in records(tmp_path / "out") if record["context"] == PLAIN)["spans"] == []
    assert cli("surrogate", "check", tmp_path / "out", source).code == 0
    imported = cli("import", tmp_path / "out" / "records.jsonl", "--input-format", "native", "--store", tmp_path / "new.duckdb", "--json")
    assert (imported.code, json.loads(imported.out)["records"]) == (0, 13)


def test_a_file_in_which_no_row_has_spans_is_written_through(fill, tmp_path):
    source = lines(tmp_path / "a.jsonl", [PLAIN, "Rain again."], spans=[])
    assert fill(source, "--spans")["replaced"]["total"] == 0
    assert (tmp_path / "out" / "mirror" / "a.jsonl").read_bytes() == source.read_bytes()
    assert put_in(tmp_path / "out") == []


@pytest.mark.parametrize("spans", [None, "none", {}, [{"start": 0}]])
def test_spans_that_are_none_stop_the_run_with_the_line(refused, tmp_path, spans):
    source = lines(tmp_path / "a.jsonl", [PLAIN], spans=spans)
    refused(source, "--spans", code=1, says=("a.jsonl:1", "spans"))


def test_a_row_without_the_field_stops_the_run(refused, tmp_path):
    source = lines(tmp_path / "a.jsonl", [PLAIN])
    refused(source, "--spans", code=1, says=("r0", "no spans"))


def test_spans_that_cut_words_are_warned_of(fill, tmp_path):
    text = "Zorvane Quorvand met l'Éluvienne, 王小明说."
    cuts = [(1, 16, "name"), (23, 31, "name"), (34, 36, "name"), (0, 5, "name")]
    rows = [{"text": text, "spans": [{"start": a, "end": b, "type": kind}]} for a, b, kind in [*cuts, (23, 32, "name")]]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    report = fill(tmp_path / "a.jsonl", "--spans")
    assert report["files"][0]["notes"]["spans that cut a word"] == {"count": 3, "first_line": 1}
    assert any("inside a word" in warning and "a.jsonl:1" in warning for warning in report["warnings"])
