"""Documents of every kind of input, and what is none, with its line and reason."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from piiloom.corpus.formats.base import ReadableFormat, WriteOptions
from piiloom.corpus.formats.lossless import write_parquet
from piiloom.corpus.formats.registry import FORMATS
from piiloom.corpus.record import Record, Span
from piiloom.detection.running.documents import DocumentReader, InputDocument, RefusedRow
from piiloom.detection.running.request import DetectionInput
from piiloom.foundation.errors import DataError, PiiloomError, UsageError
from piiloom.taxonomy.entity_types import shipped_taxonomy
from tests.longer import mostly_long

TEXTS = ["Ann lives in Łódź.", "A second text, “quoted”.\nWith two lines.", "= no formula"]


def read(path: Path, **settings: Any) -> list[InputDocument | RefusedRow]:
    return list(DocumentReader(DetectionInput(source=path, **settings)).read())


def lines(path: Path, *rows: object) -> Path:
    path.write_text(
        "".join((row if isinstance(row, str) else json.dumps(row, ensure_ascii=False)) + "\n" for row in rows), encoding="utf-8"
    )
    return path


def refusals(found: list[InputDocument | RefusedRow]) -> list[tuple[int | None, str]]:
    return [(one.line, one.reason) for one in found if isinstance(one, RefusedRow)]


def test_a_text_file_is_a_document_and_keeps_its_line_ends(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"\xef\xbb\xbfone\r\ntwo\r\n")
    assert read(path, locale="pl-pl") == [InputDocument("a.txt", "one\r\ntwo\r\n", "pl_PL", None, "a.txt", None)]


def test_lines_of_a_text_file_are_documents(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes("one\r\n\n \nt\u2028wo".encode())
    found = read(path, locale="pl_PL", lines=True)
    assert [(one.id, one.text) for one in found if isinstance(one, InputDocument)] == [("a.txt:1", "one"), ("a.txt:4", "t\u2028wo")]


def test_text_files_of_a_folder_come_in_order_of_their_names(tmp_path):
    (tmp_path / "in" / "b").mkdir(parents=True)
    for name in ("c.txt", "b/z.txt", "a.TXT", ".hidden.txt", "other.md"):
        (tmp_path / "in" / name).write_text(name)
    (tmp_path / "in" / "d.txt").write_bytes(b"one\n\xff")
    (tmp_path / "in" / "e.txt").write_text(" \n")
    found = read(tmp_path / "in", locale="pl_PL")
    assert [one.id for one in found if isinstance(one, InputDocument)] == ["a.TXT", "b/z.txt", "c.txt"]
    assert [(one.where, one.reason) for one in found if isinstance(one, RefusedRow)] == [
        ("d.txt:2", "the file is not UTF-8 text"),
        ("e.txt", "there is no text in it"),
    ]


def test_rows_that_are_no_documents_are_set_aside_with_line_and_reason(tmp_path):
    path = lines(
        tmp_path / "a.jsonl",
        {"text": TEXTS[0], "id": 7, "question": "who?", "meta": {"group_keys": ["story:1"]}},
        "{broken",
        {"text": 5},
        {"txt": "a", "id": "x"},
        {"text": "  "},
        {"text": "a", "id": True},
        {"text": "a", "locale": "xx_XX"},
        {"text": "a", "question": 1},
        {"text": TEXTS[1], "locale": "nl-be", "id": None},
    )
    found = read(path, locale_field="locale", locale="pl_PL")
    assert [one for one in found if isinstance(one, InputDocument)] == [
        InputDocument("7", TEXTS[0], "pl_PL", "who?", "a.jsonl", 1, "7", ("story:1",)),
        InputDocument("a.jsonl:9", TEXTS[1], "nl_BE", None, "a.jsonl", 9),
    ]
    assert refusals(found) == [
        (2, "not valid JSON (column 2)"),
        (3, "text: must be text"),
        (4, "there is no 'text' and no 'context' in the row; it has: 'txt', 'id'"),
        (5, "text: there is no text in it"),
        (6, "id: must be text or a whole number"),
        (7, 'locale: unknown locale "xx_XX"'),
        (8, "question: must be text or null"),
    ]
    assert next(one.row for one in found if isinstance(one, RefusedRow)) == "{broken"


def test_one_locale_for_all_goes_before_those_of_rows_and_without_any_a_row_is_none(tmp_path):
    path = lines(tmp_path / "a.jsonl", {"context": "a", "locale": "en_US"}, {"context": "b"})
    assert [one.locale for one in read(path, locale="pl_PL") if isinstance(one, InputDocument)] == ["pl_PL", "pl_PL"]
    found = read(path)
    assert [one.locale for one in found if isinstance(one, InputDocument)] == ["en_US"]
    assert refusals(found) == [(2, "the row names no locale, and --locale gives none")]


def test_fields_can_be_named_and_be_deep(tmp_path):
    path = lines(tmp_path / "a.jsonl", {"note": {"body": "a", "no": 3.0}, "q": "why?", "lang": "fi_FI"}, {"note": {"body": "b"}})
    fields = {"text_field": "note.body", "id_field": "note.no", "question_field": "q", "locale_field": "lang"}
    found = read(path, **fields)
    assert found[0] == InputDocument("3", "a", "fi_FI", "why?", "a.jsonl", 1, "3")
    assert refusals(found) == [(2, "there is no 'note.no' in the row; it has: 'note'")]


@pytest.mark.parametrize("name", ["a.csv", "a.tsv"])
def test_tables_with_quoted_cells(tmp_path, name):
    with (tmp_path / name).open("w", encoding="utf-8", newline="") as fh:
        writer = csv.writer(fh, delimiter="\t" if name == "a.tsv" else ",")
        writer.writerows([["nr", "text", "lang"], *([number, text, "pl_PL"] for number, text in enumerate(TEXTS))])
        writer.writerow(["9", "short"])
    found = read(tmp_path / name, id_field="nr", locale_field="lang")
    assert [(one.id, one.text) for one in found if isinstance(one, InputDocument)] == [("0", TEXTS[0]), ("1", TEXTS[1]), ("2", TEXTS[2])]
    assert refusals(found) == [(6, "the row has 2 cells, the header 3")]


RECORDS = tuple(
    Record(id=f"r{number}", context=text, locale="pl_PL", spans=(Span(id="s1", start=0, end=1, entity_type="name"),), question="Who?")
    for number, text in enumerate(TEXTS)
)
READABLE = [name for name, one in FORMATS.items() if isinstance(one, ReadableFormat)]


@pytest.mark.parametrize("name", mostly_long(READABLE, set(READABLE) - {"spacy"}))
def test_what_piiloom_writes_in_any_format_is_read(tmp_path, name):
    if name == "spacy":
        pytest.importorskip("spacy")
    path = tmp_path / f"file{FORMATS[name].suffix}"
    FORMATS[name].write(RECORDS, path, WriteOptions(taxonomy=shipped_taxonomy()))
    found = read(path, input_format=name, locale="pl_PL")
    assert [one.text for one in found if isinstance(one, InputDocument)] == TEXTS
    assert not refusals(found)
    if name not in {"capid", "alpaca", "capid-alpaca", "chat", "openai"}:  # which have no ids
        assert [one.id for one in found] == ["r0", "r1", "r2"]  # type: ignore[union-attr]


def test_a_parquet_file_by_its_columns(tmp_path):
    write_parquet(RECORDS, tmp_path / "a.parquet")
    found = read(tmp_path / "a.parquet", text_field="question", id_field="locale", locale="pl_PL")
    assert [(one.id, one.text) for one in found if isinstance(one, InputDocument)] == [("pl_PL", "Who?")] * 3


@pytest.mark.parametrize(
    ("name", "content", "settings", "kind", "says"),
    [
        (
            "a.txt",
            b"",
            {"locale": "pl_PL"},
            DataError,
            r"a\.txt: no text of the input can be read; the first fault: there is no text in it",
        ),
        ("a.txt", b"one\n\xe9", {"locale": "pl_PL"}, DataError, r"a\.txt:2: the file is not UTF-8 text"),
        ("a.txt", b"one", {}, UsageError, "--locale: no locale is given"),
        ("a.txt", b"one", {"locale": "pl_PL", "text_field": "x"}, UsageError, "--text-field: the format txt has no fields"),
        ("a.jsonl", b"", {"locale": "pl_PL"}, DataError, r"a\.jsonl: there are no documents in it"),
        ("a.jsonl", b'{"text": "a"}\n\xff\n', {"locale": "pl_PL"}, DataError, r"a\.jsonl:2: the file is not UTF-8 text"),
        (
            "a.jsonl",
            b'{"body": "a"}\n',
            {"locale": "pl_PL"},
            DataError,
            r"a\.jsonl:1: no row .* there is no 'text' .* 'body'.*--text-field",
        ),
        ("a.jsonl", b'{"text": "a"}\n', {"lines": True}, UsageError, "--lines: only text files"),
        ("a.csv", b"", {"locale": "pl_PL"}, DataError, "the file is empty"),
        ("a.csv", b"a,b\n1,2\n", {"locale": "pl_PL"}, DataError, r"a\.csv: there is no column 'text' .* 'a', 'b'"),
        ("a.csv", b"a,b\n1,2\n", {"locale": "pl_PL", "text_field": "a", "id_field": "c"}, DataError, "no column 'c'.*--id-field"),
        ("a.parquet", b"PAR1", {"locale": "pl_PL"}, DataError, "not a Parquet file"),
        ("a.doc", b"x", {"locale": "pl_PL"}, UsageError, "cannot be told by the file's suffix"),
        ("a.doc", b"x", {"locale": "pl_PL", "input_format": "word"}, UsageError, "unknown format 'word'"),
        ("a.jsonl", b"x", {"locale": "en_XX"}, UsageError, "--locale: unknown locale 'en_XX'"),
        ("a.conll", b"", {"locale": "pl_PL", "id_field": "x"}, UsageError, "--id-field: the format conll has no fields"),
    ],
)
def test_inputs_that_are_none(tmp_path, name, content, settings, kind, says):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(PiiloomError, match=says) as caught:
        read(tmp_path / name, **settings)
    assert type(caught.value) is kind
    assert caught.value.remedy


def test_folders_with_nothing_to_read(tmp_path):
    with pytest.raises(DataError, match="no such file or folder"):
        read(tmp_path / "gone", locale="pl_PL")
    (tmp_path / "a.jsonl").write_text("{}")
    with pytest.raises(DataError, match=r"the folder has no \.text or \.txt file; there are: \.jsonl"):
        read(tmp_path, locale="pl_PL")
    with pytest.raises(DataError, match="no row of the input"):
        read(tmp_path, input_format="jsonl", locale="pl_PL")


def test_a_lone_half_of_a_character_is_set_aside(tmp_path):
    path = lines(tmp_path / "a.jsonl", '{"text": "a \\ud83d b"}', {"text": "fine"})
    assert len(refusals(read(path, locale="pl_PL"))) == 1
