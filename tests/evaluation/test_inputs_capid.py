"""CAPID rows as models write them, and the shared files as gold."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from piiloom.evaluation.inputs.documents import AnnotatedDocument
from piiloom.foundation.errors import DataError
from tests.evaluation.input_files import lines, native, read_one, read_pairs, scored, span
from tests.longer import case_by_case
from tests.shared_files import shared


def row(context: str, piis: object, **about: object) -> dict[str, object]:
    return {"context": context, "question": "Why?", "piis": piis, **about}


def values(document: AnnotatedDocument) -> list[tuple[str, str | None, str | None]]:
    return [(one.text, one.entity_type, one.relevance) for one in document.mentions]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "rows.jsonl"


def read_values(path: Path, piis: object, **options: Any) -> AnnotatedDocument:
    return read_one(lines(path, [row("Ann is 34.", piis)]), needs="values", **options)


def test_values_are_in_the_order_of_the_file_as_they_are_written(file: Path) -> None:
    piis = {
        "34": {"type": "Age ", "relevance": 1},
        " ann!": {"type": None, "relevance": "0"},
        "Zoë Ng": {"relevance": "HIGH"},
        "": {"type": 3, "relevance": True},
        "Bo": {"type": "PERSON", "relevance": False, "why": "x"},
        "Cy": {"type": "name", "relevance": [1]},
        "Di": {"type": "name", "relevance": "low"},
        "Ed": {"type": "name", "relevance": "2"},
    }
    document = read_values(file, piis)
    assert values(document) == [
        ("34", "Age ", "high"),
        (" ann!", None, "low"),
        ("Zoë Ng", None, "high"),
        ("", None, "high"),
        ("Bo", "PERSON", "low"),
        ("Cy", "name", None),
        ("Di", "name", "low"),
        ("Ed", "name", None),
    ]
    assert [one.written_relevance for one in document.mentions] == ["1", "0", "high", "true", "false", None, "low", "2"]
    assert {one.place for one in document.mentions} == {None}
    assert (document.text, document.question, document.id, document.malformed) == ("Ann is 34.", "Why?", None, 0)


@case_by_case(
    ("piis", "found", "malformed"),
    [
        (None, [], 0),
        ({}, [], 0),
        ([], [], 0),
        ({"Ann": "name", "34": {"type": "age"}, "Bo": None, "Cy": ["name"]}, [("34", "age", None)], 3),
        ([{"value": "34", "type": "age", "relevance": "high"}, {"text": "Ann"}], [("34", "age", "high"), ("Ann", None, None)], 0),
        ([{"value": "Ann", "type": "name"}, "Ann", {"value": 3}, {"type": "x"}], [("Ann", "name", None)], 3),
    ],
)
def test_what_models_give_instead_of_values(file: Path, piis: object, found: object, malformed: int) -> None:
    document = read_values(file, piis)
    assert (values(document), document.malformed) == (found, malformed)


def test_malformed_entries_and_missing_types_are_in_the_summary(file: Path) -> None:
    _, summary = read_pairs(lines(file, [row("Ann", {"Ann": {}, "Bo": 1}), row("Ann", None)]), file, needs="values")
    assert (summary.found.documents, summary.found.malformed, summary.found.without_type, summary.found.mentions) == (2, 1, 1, 1)
    assert summary.to_json()["pairing"] == "position"


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        ({"context": "a"}, r"the format cannot be told: its first row has the keys 'context'"),
        ({"piis": {}}, "the format cannot be told"),
    ],
)
def test_a_first_row_without_its_keys(file: Path, broken: object, message: str) -> None:
    with pytest.raises(Exception, match=message):
        read_pairs(lines(file, [broken]), file)


@case_by_case(
    ("broken", "message"),
    [
        ({"context": "a"}, "piis: is missing"),
        ({"piis": {}}, "context: is missing"),
        ({"context": None, "piis": {}}, "context: must be text"),
        (row("a", "Ann"), "piis: must be an object of values, or null"),
        (row("a", {}, question=1), "question: must be text or null"),
        (native("a"), "piis: is missing.*all rows of the file must be of the format capid"),
        (1, "not a JSON object"),
    ],
)
def test_a_row_that_is_no_capid_row_is_an_error_with_its_line(file: Path, broken: object, message: str) -> None:
    lines(file, [row("a", {}), broken])
    with pytest.raises(DataError, match=message) as caught:
        read_pairs(file, file, needs="values")
    assert caught.value.where == f"{file}:2"


def test_an_array_and_numbers_as_ids(tmp_path: Path) -> None:
    path = tmp_path / "rows.json"
    path.write_text(json.dumps([row("Ann", {}, id=3), row("Bo", {}, id="x")]))
    pairs, summary = read_pairs(path, path)
    assert ([pair.gold.id for pair in pairs], summary.gold.format, summary.pairing) == (["3", "x"], "capid", "id")


def test_a_value_stands_wherever_it_is_a_whole_word_also_inside_another(file: Path) -> None:
    piis = {"Ann": {"type": "name", "relevance": "1"}, "Ann Lee": {"type": "name", "relevance": "0"}, "34": {"type": "age"}}
    lines(file, [row("Ann Lee, 34, asked Ann and Anna.", piis)])
    assert [(one.place, one.text, one.relevance, one.value_id) for one in read_one(file).mentions] == [
        ((0, 3), "Ann", "high", "v1"),
        ((19, 22), "Ann", "high", "v1"),
        ((0, 7), "Ann Lee", "low", "v2"),
        ((9, 11), "34", None, "v3"),
    ]


def test_a_value_without_a_place_matters_for_places_only(file: Path, tmp_path: Path) -> None:
    lines(file, [row("Anna.", {"Ann": {"type": "name", "relevance": "1"}, "Bo": {"type": "name"}, "": {}})])
    assert len(read_one(file, needs="values").mentions) == 3
    for value, rest, reason in (("Ann", {}, "stands only inside a longer word"), ("Bo", {}, "is not in the context")):
        bad = lines(tmp_path / "gold.jsonl", [row("Anna.", {value: {"type": "name"}, **rest})])
        with pytest.raises(DataError, match=rf'piis\["{value}"\]: {reason}; --skip-values'):
            read_pairs(bad, bad)
    _, summary = read_pairs(file, file, skip_values=True)
    assert (summary.gold.skipped, summary.gold.mentions) == (3, 0)
    assert (summary.found.without_place, summary.found.mentions) == (3, 3)


def test_types_that_a_capid_file_writes_are_not_respelled(file: Path, tmp_path: Path) -> None:
    gold = lines(tmp_path / "gold.jsonl", [native("Ann", span(0, 3, "name"))])
    lines(file, [row("Ann", {"Ann": {"type": "Name"}})])
    (pair,) = read_pairs(gold, file, needs="values", types_matter=False)[0]
    assert (pair.gold.mentions[0].entity_type, pair.found.mentions[0].entity_type) == ("name", "Name")


@case_by_case("name", ["raw_pipeline_sample", "validated_sample"])
def test_the_shared_files_agree_with_themselves(name: str) -> None:
    path = shared(f"data/capid/{name}.jsonl")
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    pairs, summary = read_pairs(path, path, needs="values")
    assert len(pairs) == len(rows)
    for pair, one in zip(pairs, rows, strict=True):
        assert pair.gold.mentions == pair.found.mentions
        assert [mention.text for mention in pair.gold.mentions] == list(one["piis"])
    assert summary.gold.malformed == summary.gold.without_type == 0
    figures, placed = scored(path, path, skip_values=True)
    assert (figures["tp"], figures["fp"], figures["fn"]) == (placed.gold.mentions, placed.found.without_place, 0)
    assert placed.gold.skipped == placed.found.without_place
