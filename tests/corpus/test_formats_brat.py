"""BRAT folders: the layout, what others write into them, and documents that are refused. ``test_formats_of_tools`` has round trips."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tool_examples import hard_record, marked, written_and_read

from piiloom.corpus.formats.base import ReadOptions, ReadTally, RowReject, WriteOptions
from piiloom.corpus.formats.brat import TRIMMED, UNMARKED, BratFormat
from piiloom.corpus.record import Record, Span
from piiloom.foundation.errors import DataError
from piiloom.taxonomy.entity_types import shipped_taxonomy

BRAT = BratFormat()
TEXT = "Ann Lee of\nNew\nYork is 34."


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "docs"
    path.mkdir()
    return path


def read(folder: Path, tally: ReadTally | None = None, **options: object) -> list[Record | RowReject]:
    return list(BRAT.read(folder, ReadOptions(**options, taxonomy=shipped_taxonomy()), tally or ReadTally()))  # type: ignore[arg-type] # by name


def read_ann(folder: Path, *lines: str, tally: ReadTally | None = None, **options: object) -> Record | RowReject:
    (folder / "a.txt").write_text(TEXT, encoding="utf-8", newline="")
    (folder / "a.ann").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="")
    (row,) = read(folder, tally, **options)
    return row


def places(row: Record | RowReject) -> list[tuple[str, str, str | None]]:
    assert isinstance(row, Record), row
    return [(span.text_in(row.context), span.entity_type, span.relevance) for span in row.spans]


def reason(row: Record | RowReject) -> str:
    assert isinstance(row, RowReject), row
    return row.reason


def test_the_layout_is_the_documented_one(tmp_path: Path) -> None:
    record = hard_record()
    BRAT.write([record], tmp_path / "out", WriteOptions(taxonomy=shipped_taxonomy()))
    files = {file.name: file.read_bytes().decode() for file in (tmp_path / "out").iterdir()}
    assert sorted(files) == ["000001.ann", "000001.txt", "annotation.conf", "index.jsonl", "visual.conf"]
    assert files["000001.txt"] == record.context
    assert files["000001.ann"].splitlines()[:5] == [
        "T1\tname 13 16\tZoé",
        "T2\tlocation 28 32;33 41\tשלום street 5",
        "T3\torganization 43 48\tcafe\u0301",
        "T4\tsexual_orientation 69 70\t𝔘",
        "A1\tRelevance T1 high",
    ]
    note = '#1\tAnnotatorNotes T1\t{"id": "first", "type": "name", "subtype": "first_name", "value_id": "v1", "subject": "self"}'
    assert note in files["000001.ann"].splitlines()
    index = {"file": "000001", "id": "r1", "locale": "fr_FR", "question": record.question, "meta": {"source": None}}
    assert json.loads(files["index.jsonl"]) == index
    assert "\nsexual_orientation\n" in files["annotation.conf"]
    assert "\nRelevance\tArg:<ENTITY>, Value:high|low\n" in files["annotation.conf"]
    assert "\nsexual_orientation | sexual orientation\n" in files["visual.conf"]


def test_whatever_the_id_of_a_record_the_file_has_a_number(tmp_path: Path) -> None:
    items = [marked("x", id="../../up"), marked("y", id="a/b\0"), marked("z", id="CON")]
    back, _ = written_and_read(BRAT, items, tmp_path / "out")
    assert back == items
    assert sorted(file.name for file in tmp_path.rglob("*.txt")) == ["000001.txt", "000002.txt", "000003.txt"]


def test_line_breaks_at_the_edge_of_a_span_are_named(tmp_path: Path) -> None:
    spans = [(0, 3, "name"), (3, 4, "code"), (5, 9, "age")]
    text = "Ann\n \n34\r?"
    record = Record(
        id="r", context=text, spans=tuple(Span(id=f"s{n}", start=a, end=b, entity_type=kind) for n, (a, b, kind) in enumerate(spans, 1))
    )
    (back,), report = written_and_read(BRAT, [record], tmp_path / "out")
    assert places(back) == [("Ann", "name", None), ("34", "age", None)]
    assert [(entry.value, entry.reason) for entry in report.entries] == [("\n", UNMARKED), ("\n34\r", TRIMMED)]


def test_a_span_over_lines_is_one_and_over_other_text_two_of_one_value(folder: Path) -> None:
    tally = ReadTally()
    row = read_ann(folder, "T1\tlocation 11 14;15 19\tNew York", "T2\tname 0 3;8 10\tAnn of", tally=tally)
    assert places(row) == [("Ann", "name", None), ("of", "name", None), ("New\nYork", "location", None)]
    assert isinstance(row, Record)
    assert [span.value_id for span in row.spans] == ["T2", "T2", None]
    assert tally.ignored_fields == {"bonds between fragments (a span each)": 1}


def test_what_is_no_span_is_counted_and_the_file_name_is_the_id(folder: Path) -> None:
    tally = ReadTally()
    row = read_ann(
        folder,
        "T1\tPerson 0 7\tAnn Lee",
        "R1\tLivesIn Arg1:T1 Arg2:T2",
        "T2\tGPE 11 14;15 19\tNew York",
        "E1\tPerson:T1 Theme:T2",
        "*\tEquiv T1 T2",
        "N1\tReference T1 Wikipedia:1\tAnn",
        "A1\tNegation T1",
        "A2\tRelevance T2 low",
        "#1\tAnnotatorNotes T1\tsure?",
        "",
        tally=tally,
        locale="en_GB",
        label_map={"Person": "name/full_name", "GPE": "location"},
    )
    assert places(row) == [("Ann Lee", "name", None), ("New\nYork", "location", "low")]
    assert isinstance(row, Record)
    assert (row.id, row.locale, row.spans[0].subtype) == ("a", "en_GB", "full_name")
    counts = {"relations": 1, "events": 1, "equivalences": 1, "normalisations": 1, "attributes": 1, "notes": 1}
    assert tally.ignored_fields == counts
    assert (tally.rows, tally.mapped_types) == (1, {"Person": "name/full_name", "GPE": "location"})


def test_windows_line_ends_and_t_lines_without_text_are_tolerated(folder: Path) -> None:
    assert places(read_ann(folder, "T1\tname 0 7\tAnn Lee\r", "T2\tage 23 25")) == [("Ann Lee", "name", None), ("34", "age", None)]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("T1\tname 0 7\tAnn Le", '"a": spans[0].text: "Ann Le" differs from context[0:7]'),
        ("T1\tname 0 99\tAnn", '"a": spans[0].text: "Ann" has the range [0, 99)'),
        ("T1\tname 7 3\t", '"a": spans[0].text: "" has the range [7, 3)'),
        ("T1\tname 0\tAnn", '"a": line 1 of the .ann file is no annotation'),
        ("T1 name 0 3 Ann", '"a": line 1 of the .ann file is no annotation'),
        (f"T1\tname 0 {'9' * 5000}\tAnn", '"a": line 1 of the .ann file is no annotation'),
        ("hello", '"a": line 1 of the .ann file is no annotation'),
        ("T1\thoroscope 0 3\tAnn", '"a": spans[0].type: not one of the known types'),
        ("T1\tname 0 3\tAnn\nA1\tRelevance T1 maybe", '"a": spans[0].relevance: '),
    ],
)
def test_a_document_with_a_wrong_line_is_refused_whole(folder: Path, line: str, message: str) -> None:
    row = read_ann(folder, line)
    assert reason(row).startswith(message)
    assert isinstance(row, RowReject)
    assert json.loads(row.row) == {"file": "a", "text": TEXT, "ann": f"{line}\n"}


def test_a_file_without_its_partner_and_one_that_is_not_utf8_are_rejects(folder: Path) -> None:
    (folder / "a.txt").write_text("x", encoding="utf-8")
    (folder / "b.ann").write_text("", encoding="utf-8")
    (folder / "sub").mkdir()
    for suffix in ("txt", "ann"):
        (folder / f"c.{suffix}").write_bytes(b"\xff")
        (folder / "sub" / f"d.{suffix}").write_bytes(b"y" if suffix == "txt" else b"")
    (folder / "notes.md").write_text("?", encoding="utf-8")
    tally = ReadTally()
    *refused, last = read(folder, tally)
    assert [reason(row) for row in refused] == [
        '"a": there is no .ann file',
        '"b": there is no .txt file',
        '"c": the .txt file is not UTF-8 text',
    ]
    assert isinstance(last, Record)
    assert (last.id, last.context, last.source and last.source.line) == ("sub/d", "y", 4)
    assert tally.rows == 4


def test_offsets_that_count_a_line_break_of_windows_as_one_character_are_read(tmp_path: Path) -> None:
    # As in nlplab/brat issue 853.
    for name, at in (("a", 28), ("b", 27), ("c", 26)):
        (tmp_path / f"{name}.txt").write_bytes(b"Ann loves Mary.\r\nHe married Bo.")
        (tmp_path / f"{name}.ann").write_text(f"T1\tname 0 3\tAnn\nT2\tname {at} {at + 2}\tBo\n", encoding="utf-8")
    tally = ReadTally()
    exact, counted, wrong = read(tmp_path, tally)
    assert isinstance(exact, Record)
    assert isinstance(counted, Record)
    assert exact.context == "Ann loves Mary.\r\nHe married Bo."
    assert counted.context == "Ann loves Mary.\nHe married Bo."
    assert places(exact) == places(counted) == [("Ann", "name", None), ("Bo", "name", None)]
    assert reason(wrong) == '"c": spans[1].text: "Bo" differs from context[26:28]'
    assert tally.ignored_fields == {"carriage returns, which the offsets do not count": 1}


def test_what_people_change_in_brat_comes_back(tmp_path: Path) -> None:
    record = marked("Ann has asthma at 34", ("Ann", "name", "first_name", None), ("asthma", "health", "condition", "high"), id="r")
    BRAT.write([record, marked("gone", id="gone")], tmp_path / "out", WriteOptions(taxonomy=shipped_taxonomy()))
    ann = tmp_path / "out" / "000001.ann"
    changed = ann.read_text(encoding="utf-8").replace("T2\thealth", "T2\tbelief").replace("T2 high", "T2 low")
    ann.write_text(changed + "T3\tage 18 20\t34\n", encoding="utf-8")
    for suffix in ("txt", "ann"):
        (tmp_path / "out" / f"000002.{suffix}").unlink()
    row, gone = read(tmp_path / "out")
    assert places(row) == [("Ann", "name", None), ("asthma", "belief", "low"), ("34", "age", None)]
    assert isinstance(row, Record)
    assert [(span.id, span.subtype) for span in row.spans] == [("s1", "first_name"), ("s2", None), ("new1", None)]
    assert (row.id, row.source) == ("r", None)
    assert reason(gone) == '"000002": there is no .txt file'


@pytest.mark.parametrize("line", ["{", "[]", '{"id": "x"}', '{"file": "../../etc"}', '{"file": "a/b"}', '{"file": "a"}\n{"file": "a"}'])
def test_an_index_that_is_not_ours_is_an_error_with_its_line(folder: Path, line: str) -> None:
    (folder / "index.jsonl").write_text(f"{line}\n", encoding="utf-8")
    with pytest.raises(DataError, match=rf"index\.jsonl:{line.count(chr(10)) + 1}: .*(remove the index)"):
        read(folder)


def test_a_file_in_the_place_of_the_folder_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a.ann").write_text("", encoding="utf-8")
    with pytest.raises(DataError, match=r"not a folder\. Name the folder that holds"):
        read(tmp_path / "a.ann")
