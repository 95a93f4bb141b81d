"""The formats with tokens: whatever does not come back is in the loss report, with any tokenizer, whatever the text."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from longer import mostly_long
from record_strategies import names, records
from test_tokenizing import byte_level, wordpiece
from token_round_trips import AS_WRITTEN, HARD, shared_records, written_and_read

from piiloom.corpus.formats import token_labels as labels
from piiloom.corpus.formats.base import ReadableFormat, ReadTally, WriteOptions
from piiloom.corpus.formats.registry import FORMATS
from piiloom.corpus.formats.token_formats import BioFormat, ConllFormat, GlinerFormat
from piiloom.corpus.record import Record, Span
from piiloom.taxonomy.entity_types import shipped_taxonomy
from tests.shared_files import of_whole

PLAIN: list[ReadableFormat] = [BioFormat(), ConllFormat(), GlinerFormat()]
each = pytest.mark.parametrize("file_format", PLAIN, ids=lambda one: one.name)


@pytest.mark.long
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(record=records(), record_id=names)
def test_a_record_comes_back_or_is_named(record: Record, record_id: str, tmp_path: Path) -> None:
    for file_format in PLAIN:
        written_and_read(file_format, [replace(record, id=record_id)], tmp_path / "rows", "whitespace")


@each
def test_hard_texts_come_back_with_all_spans(file_format: ReadableFormat, tmp_path: Path) -> None:
    items = [replace(record, id=f"r{number}") for number, record in enumerate(HARD)]
    entries = written_and_read(file_format, items, tmp_path / "rows", "whitespace")
    assert entries == ()


@pytest.mark.long
@pytest.mark.parametrize("file_format", mostly_long(PLAIN, quick=PLAIN[1:2]), ids=lambda one: one.name)
def test_real_records_come_back(file_format: ReadableFormat, tmp_path: Path) -> None:
    items = [replace(record, id=f"r{number}") for number, record in enumerate(shared_records())]
    entries = written_and_read(file_format, items, tmp_path / "rows", "whitespace")
    assert len(items) >= of_whole(500, 40)
    assert {entry.reason for entry in entries} <= {labels.WIDENED, labels.SHARED_WHOLE}
    assert len(entries) < 30


@each
@pytest.mark.parametrize("make", [wordpiece, byte_level])
def test_tokens_of_a_tokenizer_file_do_for_any_text(file_format: ReadableFormat, make, tmp_path: Path) -> None:
    tokenizer = str(make(tmp_path / "tokenizer.json"))
    items = [replace(record, id=f"r{number}") for number, record in enumerate(HARD)]
    written_and_read(file_format, items, tmp_path / "rows", tokenizer)


@pytest.mark.long
@each
def test_records_of_the_composer_come_back(file_format: ReadableFormat, composed: list[Record], tmp_path: Path) -> None:
    entries = written_and_read(file_format, composed, tmp_path / "rows", "whitespace")
    assert len(composed) == 60
    assert {entry.reason for entry in entries} <= {labels.WIDENED}


@pytest.mark.long
@each
def test_a_text_of_a_megabyte_comes_back(file_format: ReadableFormat, tmp_path: Path) -> None:
    text = "Ann baked 34 rolls. " * 50_000
    spans = tuple(Span(id=f"s{at}", start=at, end=at + 3, entity_type="name") for at in range(0, len(text), 20_000))
    assert written_and_read(file_format, [Record(id="r1", context=text, spans=spans)], tmp_path / "rows", "whitespace") == ()


@each
def test_equal_records_give_equal_bytes_and_no_records_an_empty_file(file_format: ReadableFormat, tmp_path: Path) -> None:
    for name in ("one", "two"):
        file_format.write(iter(HARD), tmp_path / name, WriteOptions(taxonomy=shipped_taxonomy()))
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    assert written_and_read(file_format, [], tmp_path / "none", "whitespace") == ()
    assert FORMATS[file_format.name].suffix in {".json", ".conll"}


@each
def test_cut_and_shared_tokens_are_widened_given_to_the_first_and_named(file_format: ReadableFormat, tmp_path: Path) -> None:
    text = "Annabel Lee 3475"
    made = tuple(
        Span(id=f"s{start}", start=start, end=end, entity_type=kind, relevance="high")
        for start, end, kind in [(0, 3, "name"), (3, 10, "occupation"), (12, 13, "age"), (13, 15, "code")]
    )
    record = Record(id="r1", context=text, spans=made)
    report = file_format.write([record], tmp_path / "rows", WriteOptions(taxonomy=shipped_taxonomy()))
    assert [(entry.value, entry.reason) for entry in report.entries] == [
        ("Ann", labels.WIDENED),
        ("abel Le", labels.SHARED),
        ("abel Le", labels.WIDENED),
        ("3", labels.WIDENED),
        ("47", labels.SHARED_WHOLE),
    ]
    (back,) = file_format.read(tmp_path / "rows", AS_WRITTEN, ReadTally())
    assert isinstance(back, Record)
    assert [(s.text_in(text), s.entity_type) for s in back.spans] == [("Annabel", "name"), ("Lee", "occupation"), ("3475", "age")]


def test_json_files_are_arrays_with_a_record_a_line(tmp_path: Path) -> None:
    for file_format in (BioFormat(), GlinerFormat()):
        file_format.write(iter(HARD), tmp_path / "rows.json", WriteOptions(taxonomy=shipped_taxonomy()))
        assert len(json.loads((tmp_path / "rows.json").read_bytes())) == len(HARD)
        assert (tmp_path / "rows.json").read_bytes().count(b"\n") == len(HARD) + 2
