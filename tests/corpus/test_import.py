"""Importing files: all good rows or none, every bad one beside it, nothing lost without a word."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from piiloom.corpus.formats.base import ReadOptions
from piiloom.corpus.importing import STATUS, import_file
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.records import count_records, iter_records
from piiloom.foundation.errors import DataError, OutputError, UsageError
from piiloom.taxonomy.entity_types import shipped_taxonomy
from tests.shared_files import of_whole, shared

DATA = Path(__file__).parent / "data"
REAL = shared("data/capid")


@pytest.fixture
def rejects(tmp_path: Path) -> Path:
    return tmp_path / "rows.rejects.jsonl"


def test_good_rows_are_stored_and_bad_ones_set_aside(store: Store, rejects: Path) -> None:
    source = DATA / "small_capid.jsonl"
    report = import_file(store, source, "capid", rejects_path=rejects, options=ReadOptions(locale="en_CA", taxonomy=shipped_taxonomy()))
    assert (report.rows, report.records, report.spans) == (4, 2, 5)
    assert (report.values, report.exact, report.ambiguous, report.inside_word, report.missing) == (6, 4, 1, 1, 1)
    assert report.mapped_types == {"sexual_orientation": "sexual orientation"}
    assert report.rejected == (
        (2, 'piis["age"]: stands only inside a longer word; piis["flu"]: is not in the context'),
        (4, "not valid JSON (column 13)"),
    )
    stored = list(iter_records(store, status=STATUS))
    assert [(r.locale, r.source.line if r.source else None) for r in stored] == [("en_CA", 1), ("en_CA", 3)]
    lines = source.read_text(encoding="utf-8").split("\n")
    assert [json.loads(line) for line in rejects.read_text(encoding="utf-8").splitlines()] == [
        {"line": line, "reason": reason, "row": lines[line - 1]} for line, reason in report.rejected
    ]
    assert json.loads(json.dumps(report.to_json()))["rejected"][1] == {"line": 4, "reason": "not valid JSON (column 13)"}


def test_importing_again_adds_nothing_and_says_so(store: Store, rejects: Path) -> None:
    first = import_file(store, DATA / "small_capid.jsonl", "capid", rejects_path=rejects)
    again = import_file(store, DATA / "small_capid.jsonl", "capid", rejects_path=rejects)
    assert (first.records, first.already_stored) == (2, 0)
    assert (again.records, again.already_stored, again.spans) == (0, 2, 0)
    assert count_records(store) == 2


def test_rejects_of_an_earlier_import_do_not_outlive_it(store: Store, rejects: Path, tmp_path: Path) -> None:
    rejects.write_text("old")
    good = tmp_path / "good.jsonl"
    good.write_text('{"context": "no values here", "question": null, "piis": {}}\n')
    report = import_file(store, good, "capid", rejects_path=rejects)
    assert (report.records, report.rejected) == (1, ())
    assert list(tmp_path.iterdir()) == [good]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the file has no rows"),
        (b"\n \r\n", "the file has no rows"),
        (b"[1, 2]\n{}\n", r"no row .* the first fault: not a JSON object"),
        (b'{"context": "fine", "piis": {}}\n\xff\n', "not UTF-8"),
    ],
)
def test_a_useless_file_is_an_error_and_leaves_the_store_alone(
    store: Store, rejects: Path, tmp_path: Path, content: bytes, message: str
) -> None:
    source = tmp_path / "rows.jsonl"
    source.write_bytes(content)
    with pytest.raises(DataError, match=message):
        import_file(store, source, "capid", rejects_path=rejects)
    assert count_records(store) == 0
    assert rejects.exists() == content.startswith(b"[")


def test_rejects_that_cannot_be_written_stop_the_import(store: Store, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="rejected rows cannot be written"):
        import_file(store, DATA / "small_capid.jsonl", "capid", rejects_path=tmp_path / "file" / "rejects.jsonl")
    assert count_records(store) == 0


def test_a_place_for_rejects_that_cannot_be_written_does_not_hide_an_earlier_error(store: Store, tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_bytes(b"{}\n\xff\n")
    (tmp_path / "folder").mkdir()
    with pytest.raises(DataError, match="not UTF-8"):
        import_file(store, tmp_path / "rows.jsonl", "capid", rejects_path=tmp_path / "folder")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "rows.jsonl"]


def test_an_unknown_format_is_a_usage_error(store: Store, rejects: Path) -> None:
    with pytest.raises(UsageError, match="unknown format"):
        import_file(store, DATA / "small_capid.jsonl", "xml", rejects_path=rejects)


@pytest.mark.parametrize(
    ("name", "counts", "rejected", "overlaps", "mapped"),
    [
        (
            "validated_sample",
            of_whole((200, 196, 1190, 1190, 1184, 27, 4, 2), (16, 14, 86, 97, 95, 2, 2, 0)),
            of_whole([49, 94, 146, 179], [15, 16]),
            of_whole(6, 0),
            {},
        ),
        (
            "raw_pipeline_sample",
            of_whole((300, 299, 1867, 1782, 1780, 78, 0, 2), (8, 7, 43, 47, 45, 1, 0, 2)),
            of_whole([124], [6]),
            of_whole(9, 0),
            of_whole({"nationality": "demographic", "sexualorientation": "sexual orientation"}, {}),
        ),
    ],
)
def test_the_published_samples(
    store: Store, rejects: Path, name: str, counts: tuple[int, ...], rejected: list[int], overlaps: int, mapped: dict[str, str]
) -> None:
    source = REAL / f"{name}.jsonl"
    r = import_file(store, source, "capid", rejects_path=rejects)
    assert (r.rows, r.records, r.spans, r.values, r.exact, r.ambiguous, r.inside_word, r.missing) == counts
    assert [line for line, _ in r.rejected] == rejected
    assert len(r.overlapping) == overlaps
    assert (r.mapped_types, r.unknown_types) == (mapped, {})
    for record in iter_records(store):
        assert {s.relevance for s in record.spans} <= {"high", "low"}
        assert record.source is not None
        assert record.source.file == f"{name}.jsonl"
