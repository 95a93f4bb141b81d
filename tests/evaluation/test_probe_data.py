"""Reading what is probed: both layouts, row by row; faults are named, what has no place is counted."""

from __future__ import annotations

import pytest

from piiloom.evaluation.probe.data import NO_RELEVANCE, NOT_FOUND, OVERLAPPING, read_corpus
from piiloom.foundation.errors import DataError
from tests.evaluation.probe_corpora import ODD_ROWS, capid_row, native_row, write_rows
from tests.longer import case_by_case


def spans(record):
    return [(record.context[span.start : span.end], span.start, span.entity_type, span.relevance) for span in record.spans]


def test_both_layouts_of_the_same_rows_are_the_same_records(tmp_path):
    native = read_corpus(write_rows(tmp_path / "a.jsonl", [native_row(seed) for seed in range(30)]))
    capid = read_corpus(write_rows(tmp_path / "b.jsonl", [capid_row(seed) for seed in range(30)]))
    assert native.records == capid.records
    assert all(len(record.spans) == 3 for record in native.records)
    assert native.left_out == {}


def test_layouts_may_alternate(tmp_path):
    rows = [native_row(1), capid_row(2), native_row(3)]
    assert [record.line for record in read_corpus(write_rows(tmp_path / "a.jsonl", rows)).records] == [1, 2, 3]


def test_odd_rows_are_placed_and_counted(tmp_path):
    corpus = read_corpus(write_rows(tmp_path / "odd.jsonl", ODD_ROWS))
    first, second, empty, without, last = corpus.records
    assert spans(first) == [("an", 5, "name", "low")]  # the first whole word
    assert (first.question, empty.context) == ("", "")
    # The first whole word, else the first occurrence of any kind; of those that begin together the longest.
    assert spans(second) == [("Ann", 0, "name", "high"), ("5", 14, "code", "low"), ("welders", 16, "occupation", "high")]
    assert empty.spans == without.spans == ()
    assert [(text, kind, relevance) for text, _, kind, relevance in spans(last)] == [
        ("nurse-in-training", "occupation", None),
        ("New", "sexual orientation", "low"),
        ("York", "location", None),
        ("40", "age", "high"),
    ]
    assert corpus.left_out == {NO_RELEVANCE: 2, NOT_FOUND: 1, OVERLAPPING: 2}


SPAN = {"start": 0, "end": 2, "type": "name", "relevance": "high"}


@case_by_case(
    ("row", "says"),
    [
        ("[1]", "not a JSON object"),
        ("{nope", "column"),
        ({"context": "secret"}, "neither spans"),
        ({"context": 3, "spans": []}, "context"),
        ({"context": "secret", "question": 4, "spans": []}, "question"),
        ({"context": "secret", "spans": {}}, "spans: not a list"),
        ({"context": "secret", "spans": [SPAN, 3]}, "spans[1]"),
        ({"context": "secret", "spans": [{**SPAN, "start": "0"}]}, "spans[0]: start and end"),
        ({"context": "secret", "spans": [{**SPAN, "start": False}]}, "spans[0]: start and end"),
        ({"context": "secret", "spans": [{**SPAN, "start": 2}]}, "spans[0]: empty"),
        ({"context": "secret", "spans": [{**SPAN, "end": 7}]}, "outside the context"),
        ({"context": "secret", "spans": [{**SPAN, "text": "ec"}]}, "spans[0].text"),
        ({"context": "secret", "spans": [{**SPAN, "text": ["se"]}]}, "spans[0].text"),
        ({"context": "secret", "spans": [{**SPAN, "type": 5}]}, "spans[0].type"),
        ({"context": "secret", "spans": [{**SPAN, "relevance": "hihg"}]}, "spans[0].relevance"),
        ({"context": "secret", "spans": [{**SPAN, "relevance": []}]}, "spans[0].relevance"),
        ({"context": "secret", "piis": ["secret"]}, "piis: not an object"),
        ({"context": "secret", "piis": {"": {"type": "name", "relevance": "1"}}}, "piis[0]: an empty value"),
        ({"context": "secret", "piis": {"secret": "name"}}, "piis[0]: not an object"),
        ({"context": "secret", "piis": {"secret": {"relevance": "1"}}}, "piis[0].type"),
    ],
)
def test_bad_rows_name_file_line_field_and_remedy(tmp_path, row, says):
    path = write_rows(tmp_path / "rows.jsonl", [native_row(1), row])
    if isinstance(row, str):
        path.write_text(path.read_text().splitlines()[0] + "\n" + row + "\n")
    with pytest.raises(DataError) as caught:
        read_corpus(path)
    assert caught.value.where == f"{path}:2"
    assert says in caught.value.message
    assert caught.value.remedy
    assert "secret" not in str(caught.value)


@case_by_case(("content", "says"), [(None, "no such file"), (b"", "no records"), (b" \n\n", "no records"), (b"\xff", "UTF-8")])
def test_files_that_cannot_be_read(tmp_path, content, says):
    path = tmp_path / "rows.jsonl"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(DataError, match=says) as caught:
        read_corpus(path)
    assert "rows.jsonl" in caught.value.where
