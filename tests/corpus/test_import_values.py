"""Values without an exact place: named by their text, and with ``skip_values`` left out of a record that is kept."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from piiloom.corpus.formats.base import ReadOptions, WriteOptions, fault_kinds, quoted, read_records
from piiloom.corpus.formats.capid import CapidFormat
from piiloom.corpus.formats.registry import NativeFormat
from piiloom.corpus.importing import import_file
from piiloom.corpus.record import LostValue
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.records import iter_records
from piiloom.taxonomy.entity_types import shipped_taxonomy
from tests.longer import case_by_case
from tests.shared_files import of_whole, shared

REAL = shared("data/capid")


def capid(path: Path, context: str, **piis: tuple[str, object]) -> Path:
    values = {text: {"type": kind, "relevance": relevance} for text, (kind, relevance) in piis.items()}
    path.write_text(json.dumps({"context": context, "question": "So?", "piis": values}) + "\n", encoding="utf-8")
    return path


def test_a_value_is_named_so_that_a_terminal_is_safe() -> None:
    assert quoted("34F") == '"34F"'
    assert quoted('a "b" \\ c') == '"a \\"b\\" \\\\ c"'
    assert quoted("a\x1b[31m\n\x9b\u202e\u200bé") == '"a\\x1b[31m\\n\\x9b\\u202e\\u200bé"'
    assert quoted("x" * 400) == f'"{"x" * 39}…"'


@case_by_case("value", ["34F", 'a "quoted"; value: here', "back\\", '\\"', "]", "\n", "; "])
def test_the_kind_of_a_fault_tells_no_text(value: str) -> None:
    reason = f"piis[{quoted(value)}]: is not in the context; piis[{quoted(value)}]: stands only inside a longer word"
    assert fault_kinds(reason) == ["piis[]: is not in the context", "piis[]: stands only inside a longer word"]
    assert fault_kinds(f"spans[3].text: {quoted(value)} differs from context[1:2]") == ['spans[].text: "" differs from context[1:2]']


def test_a_row_is_kept_without_the_values_that_cannot_be_exact(store: Store, tmp_path: Path) -> None:
    piis = {"bisexual": ("sexual orientation", "1"), "34F": ("age", "0"), "baker": ("occupation", "high")}
    file = capid(tmp_path / "rows.jsonl", "As a baker, my bisexuality (34 F) is mine.", **piis)
    report = import_file(
        store, file, "capid", rejects_path=tmp_path / "r", options=ReadOptions(skip_values=True, taxonomy=shipped_taxonomy())
    )
    assert (report.rows, report.records, report.rejected, report.values, report.exact) == (1, 1, (), 3, 1)
    assert (report.inside_word, report.missing, len(report.skipped_values)) == (1, 1, 2)
    said = [
        {"line": 1, "value": "bisexual", "type": "sexual orientation", "relevance": "high", "reason": "stands only inside a longer word"},
        {"line": 1, "value": "34F", "type": "age", "relevance": "low", "reason": "is not in the context"},
    ]
    assert report.to_json()["skipped_values"] == said
    assert [json.loads(line) for line in (tmp_path / "r").read_text().splitlines()] == said
    (record,) = iter_records(store)
    assert [span.text_in(record.context) for span in record.spans] == ["baker"]
    assert record.source is not None
    assert record.source.lost == (
        LostValue(text="bisexual", entity_type="sexual orientation", relevance="high", reason="stands only inside a longer word"),
        LostValue(text="34F", entity_type="age", relevance="low", reason="is not in the context"),
    )


def test_without_the_option_the_row_is_refused_with_their_names(tmp_path: Path, store: Store) -> None:
    (tmp_path / "rows.jsonl").write_text('{"context": "fine", "piis": {}}\n')
    with (tmp_path / "rows.jsonl").open("a") as fh:
        row = {"context": "a baker", "piis": {"34F": {"type": "age", "relevance": "1"}, "bake": {"type": "occupation", "relevance": "1"}}}
        fh.write(json.dumps(row) + "\n")
    report = import_file(store, tmp_path / "rows.jsonl", "capid", rejects_path=tmp_path / "r")
    assert report.rejected == ((2, 'piis["34F"]: is not in the context; piis["bake"]: stands only inside a longer word'),)


def test_a_type_that_is_not_known_still_refuses_the_row(store: Store, tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text('{"context": "fine", "piis": {}}\n')
    with (tmp_path / "rows.jsonl").open("a") as fh:
        fh.write(json.dumps({"context": "a Leo", "piis": {"Leo": {"type": "star sign", "relevance": "1"}}}) + "\n")
    report = import_file(
        store,
        tmp_path / "rows.jsonl",
        "capid",
        rejects_path=tmp_path / "r",
        options=ReadOptions(skip_values=True, taxonomy=shipped_taxonomy()),
    )
    assert report.rejected == ((2, 'piis["Leo"].type: not one of the known types'),)


def test_a_native_span_that_differs_from_its_text_is_skipped_too(store: Store, tmp_path: Path) -> None:
    spans = [
        {"start": 5, "end": 10, "text": "baker", "type": "occupation"},
        {"start": 11, "end": 15, "text": "Leeds", "type": "location"},
        {"start": 90, "end": 95, "text": "Leeds", "type": "location"},
    ]
    (tmp_path / "rows.jsonl").write_text(json.dumps({"id": "a", "context": "As a baker from Leeds.", "spans": spans}) + "\n")
    report = import_file(
        store,
        tmp_path / "rows.jsonl",
        "native",
        rejects_path=tmp_path / "r",
        options=ReadOptions(skip_values=True, taxonomy=shipped_taxonomy()),
    )
    assert [(one.value.text, one.value.reason) for one in report.skipped_values] == [
        ("Leeds", "differs from context[11:15]"),
        ("Leeds", "has the range [90, 95), which is empty or outside the context"),
    ]
    assert (report.values, report.exact, report.missing) == (3, 1, 2)
    (record,) = iter_records(store)
    NativeFormat().write([record], tmp_path / "again.jsonl", WriteOptions(taxonomy=shipped_taxonomy()))
    assert list(
        read_records(NativeFormat(), tmp_path / "again.jsonl", options=ReadOptions(taxonomy=shipped_taxonomy(), blank_contexts=True))
    ) == [record]


@pytest.mark.parametrize(
    ("high", "low", "written"), [("1", "0", ["1", "0"]), ("high", "low", ["high", "low"]), (1, 0, ["1", "0"]), ("high", "0", ["1", "0"])]
)
def test_relevance_is_written_back_as_it_came(store: Store, tmp_path: Path, high: object, low: object, written: list[str]) -> None:
    file = capid(tmp_path / "rows.jsonl", "A baker from Leeds.", baker=("occupation", high), Leeds=("location", low))
    import_file(store, file, "capid", rejects_path=tmp_path / "r")
    CapidFormat().write(iter_records(store), tmp_path / "again.jsonl", WriteOptions(taxonomy=shipped_taxonomy()))
    piis = json.loads((tmp_path / "again.jsonl").read_text())["piis"]
    assert [piis["baker"]["relevance"], piis["Leeds"]["relevance"]] == written


@pytest.mark.parametrize(
    ("name", "rows", "skipped"), [("validated_sample", *of_whole((200, 4), (16, 2))), ("raw_pipeline_sample", *of_whole((300, 2), (8, 2)))]
)
def test_no_row_of_the_published_samples_is_lost(store: Store, tmp_path: Path, name: str, rows: int, skipped: int) -> None:
    source = REAL / f"{name}.jsonl"
    report = import_file(
        store, source, "capid", rejects_path=tmp_path / "r", options=ReadOptions(skip_values=True, taxonomy=shipped_taxonomy())
    )
    assert (report.rows, report.records, report.rejected, len(report.skipped_values)) == (rows, rows, (), skipped)
    assert report.values == report.exact + report.seams + len(report.skipped_values)
    assert len((tmp_path / "r").read_text(encoding="utf-8").splitlines()) == skipped
