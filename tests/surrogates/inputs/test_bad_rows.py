"""Rows that cannot be read: an error by default, or set aside with line and reason."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from piiloom.foundation.errors import DataError
from piiloom.surrogates.inputs.parts import SourceSettings
from piiloom.surrogates.outputs.checking import verify_folder
from piiloom.surrogates.running import run_surrogates
from tests.surrogates.running_fakes import TagEngine, kind_of

GOOD = '{"text": "Hi [NAME], é."}'
BAD = (  # a line, and a word of the reason
    (b'{"text": "secret [NAME]"', "JSON"),
    (b"secret", "not a JSON object"),
    (b'["secret"]', "not a JSON object"),
    (b'{"text": "secret", "text": "b"}', "twice"),
    (b'{"text": "secret \\ud800"}', "lone surrogate"),
    (b'{"text": "secret \xe9 [NAME]"}', "0xe9 is not UTF-8"),
    (b'{"text": "secret"} x', "more text"),
    (b'{"text":', "JSON"),
)


def run(source: Path, out: Path, chunk: int = 2**20, workers: int = 1, **settings: object):
    inputs = SourceSettings(path=source, chunk_bytes=chunk, skip_bad_rows=True, **settings)  # type: ignore[arg-type]
    report = run_surrogates(inputs, out, TagEngine, workers=workers)
    verify_folder(out, source)
    skipped = out / "skipped_rows.jsonl"
    return report, [json.loads(line) for line in skipped.read_text("utf-8").splitlines()] if skipped.exists() else []


def tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b""])
def test_bad_lines_are_named_left_out_and_the_rest_goes_on(tmp_path: Path, end: bytes) -> None:
    source = tmp_path / "a.jsonl"
    lines = [GOOD.encode(), *(line for bad, _ in BAD for line in (bad, GOOD.encode())), BAD[0][0]]
    source.write_bytes((end or b"\n").join(lines) + end)
    report, skipped = run(source, tmp_path / "out")
    assert report.documents == len(BAD) + 1
    assert [row["line"] for row in skipped] == [*range(2, 2 * len(BAD) + 2, 2), 2 * len(BAD) + 2]
    assert all(row["file"] == "a.jsonl" for row in skipped)
    assert all(word in row["reason"] for row, (_, word) in zip(skipped, BAD, strict=False))
    assert any("bad rows set aside" in warning and "(first: a.jsonl:2)" in warning for warning in report.warnings)
    assert not any(b"secret" in data for data in tree(tmp_path / "out").values())
    records = [json.loads(line) for line in (tmp_path / "out" / "records.jsonl").read_text("utf-8").splitlines()]
    assert [one["meta"]["source"]["line"] for one in records] == [*range(1, 2 * len(BAD) + 2, 2)]


def test_the_bytes_are_the_same_for_any_chunks_and_workers(tmp_path: Path) -> None:
    source = tmp_path / "a.jsonl"
    source.write_bytes(b"\n".join([GOOD.encode(), *(bad for bad, _ in BAD), GOOD.encode()] * 5) + b"\n")
    run(source, tmp_path / "one")
    run(source, tmp_path / "two", chunk=40)
    assert tree(tmp_path / "one") == tree(tmp_path / "two")


@pytest.mark.long
def test_the_bytes_are_the_same_for_two_processes(tmp_path: Path) -> None:
    source = tmp_path / "a.jsonl"
    source.write_bytes(b"\n".join([GOOD.encode(), *(bad for bad, _ in BAD), GOOD.encode()] * 5) + b"\n")
    run(source, tmp_path / "one")
    run(source, tmp_path / "two", chunk=40, workers=2)
    assert tree(tmp_path / "one") == tree(tmp_path / "two")


@pytest.mark.parametrize("bad", [bad for bad, _ in BAD])
def test_by_default_the_first_one_stops_the_run(tmp_path: Path, bad: bytes) -> None:
    source = tmp_path / "a.jsonl"
    source.write_bytes(GOOD.encode() + b"\n" + bad + b"\n")
    with pytest.raises(DataError, match=r"a\.jsonl:2: ") as caught:
        run_surrogates(SourceSettings(path=source), tmp_path / "out", TagEngine)
    assert "secret" not in str(caught.value)
    assert not (tmp_path / "out").exists()


def test_elements_of_an_array_leave_an_empty_object(tmp_path: Path) -> None:
    source = tmp_path / "a.json"
    source.write_bytes(b'[{"text": "[NAME]"},\n null,\n {"text": "\\ud800"}, {"text": "secret \xe9"},\n {"text": "x"}, 7]')
    report, skipped = run(source, tmp_path / "out", chunk=8)
    assert (report.documents, [row["line"] for row in skipped]) == (2, [2, 3, 3, 4])
    rows = json.loads((tmp_path / "out" / "mirror" / "a.json").read_text("utf-8"))
    assert rows[1:] == [{}, {}, {}, {"text": "x"}, {}]


def test_an_array_of_which_the_rest_cannot_be_told_apart_is_refused(tmp_path: Path) -> None:
    source = tmp_path / "a.json"
    source.write_text('[{"text": "[NAME]"},\n{"text": secret},\n{"text": "x"}]')
    with pytest.raises(DataError, match=r"a\.json:2: not valid JSON") as caught:
        run(source, tmp_path / "out")
    assert "secret" not in str(caught.value)


def test_a_quote_that_is_not_closed_takes_one_line_of_a_table(tmp_path: Path) -> None:
    source = tmp_path / "a.csv"
    source.write_bytes(b'id,text\n1,[NAME]\n2,"secret [NAME]\n3,x \xe9 secret\n4,[NAME]\n')
    report, skipped = run(source, tmp_path / "out")
    assert [(row["line"], row["reason"]) for row in skipped] == [(3, "a quoted field is not closed"), (4, "byte 0xe9 is not UTF-8")]
    assert report.documents == 2
    assert [line.partition(",")[0] for line in (tmp_path / "out" / "mirror" / "a.csv").read_text().splitlines()] == ["id", "1", "4"]


def test_a_file_that_is_one_document_is_left_empty(tmp_path: Path) -> None:
    source = tmp_path / "in"
    source.mkdir()
    (source / "a.xml").write_text("<r>\n<p secret</r>")
    (source / "b.txt").write_bytes(b"secret\n\xe9")
    (source / "c.xml").write_text("<r>[NAME]</r>")
    report, skipped = run(source, tmp_path / "out")
    assert [(row["file"], row["line"]) for row in skipped] == [("a.xml", 2), ("b.txt", 2)]
    assert report.documents == 1
    assert (tmp_path / "out" / "mirror" / "a.xml").read_bytes() == b""


def test_spans_that_are_no_spans(tmp_path: Path) -> None:
    source = tmp_path / "a.jsonl"
    rows = [{"text": "Ann", "spans": [{"start": 0, "end": end, "type": "name"}]} for end in (3, 4)]
    source.write_text("\n".join(map(json.dumps, [*rows, {"text": "Bob"}, {"text": "Cid", "spans": []}])))
    report, skipped = run(source, tmp_path / "out", spans_field="spans", kind_of=kind_of)
    assert [(row["line"], row["reason"]) for row in skipped] == [
        (2, "spans[0] is empty or outside the text"),
        (3, "the row has no spans"),
    ]
    assert (report.documents, report.replaced) == (2, 1)


def test_a_file_of_bad_rows_only_is_refused(tmp_path: Path) -> None:
    source = tmp_path / "a.jsonl"
    source.write_text("x\n" * 3)
    with pytest.raises(DataError, match=r"a\.jsonl:1: no row can be read: 3 are bad"):
        run(source, tmp_path / "out")
