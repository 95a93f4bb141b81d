"""Native JSONL: the layout, equality after a round trip whatever the text, and rows that must be refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from record_strategies import records

from piiloom.corpus.formats.base import ReadOptions, ReadTally, RowReject, WriteOptions, read_records
from piiloom.corpus.formats.native_rows import json_bytes
from piiloom.corpus.formats.registry import FORMATS, NativeFormat, get_format
from piiloom.corpus.record import Provenance, Record, RecordPlan, Span
from piiloom.foundation.errors import DataError, UsageError
from piiloom.taxonomy.entity_types import shipped_taxonomy

NATIVE = NativeFormat()
GOOD = {
    "context": "As a baker with asthma, I cough.",
    "spans": [{"start": 16, "end": 22, "text": "asthma", "type": "health", "relevance": "high"}],
}


def written(path: Path, *items: Record) -> str:
    NATIVE.write(items, path, WriteOptions(taxonomy=shipped_taxonomy()))
    return path.read_bytes().decode()


def read(path: Path, *lines: str, tally: ReadTally | None = None) -> list[Record | RowReject]:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="")
    return list(NATIVE.read(path, ReadOptions(locale="en_GB", taxonomy=shipped_taxonomy()), tally or ReadTally()))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "rows.jsonl"


def test_the_layout_is_the_documented_one(file: Path) -> None:
    record = Record(
        id="abc",
        context="As an air traffic controller, I …",
        question="May I work nights?",
        spans=(Span(id="s1", start=6, end=28, entity_type="occupation", relevance="high"),),
        plan=RecordPlan(pair=("health", "occupation"), topic="shifts", subtopic="nights"),
        provenance=Provenance(stage="screen", provider="composer", model="bank-1"),
    )
    assert written(file, record) == (
        '{"id":"abc","locale":"en_US","context":"As an air traffic controller, I …","question":"May I work nights?",'
        '"spans":[{"start":6,"end":28,"text":"air traffic controller","type":"occupation","relevance":"high","id":"s1"}],'
        '"meta":{"pair":["health","occupation"],"topic":"shifts","subtopic":"nights","provider":"composer","model":"bank-1",'
        '"provenance":{"stage":"screen"}}}\n'
    )


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(record=records())
def test_record_to_native_to_record_is_equality(record: Record, tmp_path: Path) -> None:
    assume(record.context.strip())
    path = tmp_path / "rows.jsonl"
    raw = written(path, record).encode()
    assert raw.count(b"\n") == 1
    (back,) = NATIVE.read(path, ReadOptions(taxonomy=shipped_taxonomy()), ReadTally())
    assert back == record
    assert written(path, back).encode() == raw


def test_a_foreign_row_gets_what_it_lacks_and_its_extra_keys_are_counted(file: Path) -> None:
    tally = ReadTally()
    row = {**GOOD, "split": "x", "meta": {"topic": "lost without a pair", "year": 3}}
    first, second = read(file, json.dumps(row), "", json.dumps(row), tally=tally)
    assert isinstance(first, Record)
    assert isinstance(second, Record)
    assert (first.locale, first.question, first.spans[0].id) == ("en_GB", None, "s1")
    assert first.source is not None
    assert (first.source.file, first.source.line) == ("rows.jsonl", 1)
    assert first.id != second.id
    assert tally.ignored_fields == {"split": 2, "meta.topic": 2, "meta.year": 2}
    assert [r.id for r in read(file, '{"broken"', json.dumps(row), json.dumps(row)) if isinstance(r, Record)] == [first.id, second.id]


def with_span(**changes: object) -> dict[str, object]:
    return {**GOOD, "spans": [{**GOOD["spans"][0], **changes}]}  # type: ignore[dict-item] # a list of dicts


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (with_span(text="asthm"), 'spans[0].text: "asthm" differs from context[16:22]'),
        (with_span(start=15, end=21), 'spans[0].text: "asthma" differs'),
        (with_span(end=99), 'spans[0].text: "asthma" has the range [16, 99), which is empty or outside'),
        (with_span(start=22, text=""), 'spans[0].text: "" has the range [22, 22), which is empty or outside'),
        (with_span(start="16"), "spans[0].start: "),
        (with_span(start=True), "spans[0].start: "),
        (with_span(start=-1), "spans[0].start: "),
        (with_span(type="horoscope"), "spans[0].type: not one of the known types"),
        (with_span(relevance="maybe"), "spans[0].relevance: "),
        ({**GOOD, "context": 5}, "context: "),
        ({"spans": []}, "context: "),
        ({**GOOD, "spans": None}, "spans: "),
        ({**GOOD, "meta": {"pair": ["health"]}}, "meta.pair: "),
        ({**GOOD, "meta": {"pair": ["health", "horoscope"]}}, "meta.pair: not one of the known types"),
        ({**GOOD, "meta": {"provenance": {"stage": "x", "templates": [["a"]]}}}, "meta.provenance.templates: "),
        ({**GOOD, "question": ["?"]}, "question: "),
    ],
)
def test_a_wrong_row_is_refused_with_its_line_and_field(file: Path, row: dict[str, object], reason: str) -> None:
    good = json.dumps({**GOOD, "id": "good"})
    line = json.dumps(row)
    before, refused, after = read(file, good, line, json.dumps({**GOOD, "id": "other"}))
    assert isinstance(before, Record)
    assert isinstance(after, Record)
    assert isinstance(refused, RowReject)
    assert refused.reason.startswith(reason)
    assert (refused.line, refused.row) == (2, line)
    assert str(GOOD["context"]) not in refused.reason
    with pytest.raises(DataError) as caught:
        list(read_records(NATIVE, file, options=ReadOptions(taxonomy=shipped_taxonomy(), blank_contexts=True)))
    assert str(caught.value).startswith(f"rows.jsonl:2: {reason}")


@pytest.mark.parametrize("blank", ["", "\t \n"])
def test_a_context_without_text_is_refused_but_where_documents_keep_their_places(file: Path, blank: str) -> None:
    (refused,) = read(file, json.dumps({**GOOD, "context": blank, "spans": []}))
    assert isinstance(refused, RowReject)
    assert refused.reason == "context: there is no text in it"
    (record,) = read_records(NATIVE, file, options=ReadOptions(taxonomy=shipped_taxonomy(), blank_contexts=True))
    assert record.context == blank


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{", "not valid JSON (column 2)"),
        ("[1]", "not a JSON object"),
        ('{"context": "a", "context": "b", "spans": []}', "an object uses the same key twice"),
        (r'{"context": "\ud83d", "spans": []}', "a text holds a lone surrogate"),
        ("[" * 100_000, "JSON that cannot be read"),
        ('{"context": ' + "9" * 5000 + "}", "JSON that cannot be read"),
    ],
)
def test_a_line_that_is_no_row_is_refused(file: Path, line: str, reason: str) -> None:
    (refused,) = read(file, line)
    assert isinstance(refused, RowReject)
    assert refused.reason.startswith(reason)


def test_ids_must_be_unique_in_the_file_and_in_a_row(file: Path) -> None:
    row = {**GOOD, "id": "a"}
    span = {**GOOD["spans"][0], "id": "s1"}  # type: ignore[dict-item] # a list of dicts
    other = {**span, "start": 3, "end": 4, "text": "a"}
    twice = {**GOOD, "spans": [span, other]}
    some = {**GOOD, "spans": [{**other, "id": "s2"}, GOOD["spans"][0]]}  # type: ignore[index] # a list
    _, repeated, same, clash = read(file, json.dumps(row), json.dumps(row), json.dumps(twice), json.dumps(some))
    assert [r.reason for r in (repeated, same, clash) if isinstance(r, RowReject)] == [
        "id: an earlier row of the file has this id",
        "spans: an id is used twice",
        "spans: give every span an id, or none",
    ]


def test_of_overlapping_spans_the_longest_stays_and_the_others_are_listed(file: Path) -> None:
    context = "my severe asthma attack and asthma"
    spans = [(10, 16), (3, 16), (10, 23), (28, 34)]
    row = {"context": context, "spans": [{"start": a, "end": b, "text": context[a:b], "type": "Health"} for a, b in spans]}
    tally = ReadTally()
    (record,) = read(file, json.dumps(row), tally=tally)
    assert isinstance(record, Record)
    assert [(s.start, s.end) for s in record.spans] == [(3, 16), (28, 34)]
    assert [(o.kept, o.dropped, o.value_lost) for o in tally.overlapping] == [((3, 16), (10, 16), False), ((3, 16), (10, 23), True)]
    assert tally.mapped_types == {"Health": "health"}
    assert [o.to_json()["dropped"] for o in tally.overlapping] == [[10, 16], [10, 23]]


def test_a_byte_order_mark_and_windows_line_ends_are_tolerated_and_text_is_kept(file: Path) -> None:
    text = "\ufeffa\r\nb\u2028c\x85d\x1ee\u2029f"
    row = json.dumps({"context": text, "spans": [{"start": 6, "end": 7, "text": "c", "type": "code"}]}, ensure_ascii=False)
    assert text.index("c") == 6
    file.write_bytes(b"\xef\xbb\xbf" + row.encode() + b"\r\n\r\n" + row.encode() + b"\r\n")
    found = list(NATIVE.read(file, ReadOptions(taxonomy=shipped_taxonomy()), ReadTally()))
    assert [r.context for r in found if isinstance(r, Record)] == [text, text]


@pytest.mark.parametrize("content", ['{"context": "ä"}\n'.encode("latin-1"), b"{}\n\xff\xfe{\x00\n"])
def test_a_file_that_is_not_utf8_is_an_error_with_the_line(file: Path, content: bytes) -> None:
    file.write_bytes(content)
    line = 1 if content.startswith(b'{"') else 2
    with pytest.raises(DataError, match=rf"rows\.jsonl:{line}: the file is not UTF-8"):
        list(NATIVE.read(file, ReadOptions(taxonomy=shipped_taxonomy()), ReadTally()))


def test_a_missing_file_and_an_unknown_format_say_so(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be read"):
        list(NATIVE.read(tmp_path / "nowhere.jsonl", ReadOptions(taxonomy=shipped_taxonomy()), ReadTally()))
    with pytest.raises(UsageError, match=r"unknown format 'xml'.*native, capid"):
        get_format("xml")
    assert all(get_format(name).name == name for name in FORMATS)


@given(
    value=st.recursive(st.none() | st.booleans() | st.integers() | st.text(), lambda one: st.lists(one) | st.dictionaries(st.text(), one))
)
def test_rows_are_the_json_of_the_standard_library_without_blanks(value: object) -> None:
    assert json_bytes(value) == json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def test_half_a_character_cannot_be_written() -> None:
    with pytest.raises(UnicodeEncodeError):
        json_bytes({"context": "\ud83d"})
