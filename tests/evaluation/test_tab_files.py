"""Files of the Text Anonymization Benchmark, with texts of our own."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from piiloom.evaluation.inputs.documents import AnnotatedDocument, Pair
from piiloom.evaluation.inputs.opening import PairSettings, open_pairs
from piiloom.evaluation.inputs.reading import read_tab_predictions
from piiloom.evaluation.schemes.base import SchemeSettings
from piiloom.evaluation.schemes.registry import make_scheme
from piiloom.evaluation.scoring.counts import CountTable
from piiloom.foundation.errors import DataError
from tests.longer import case_by_case

TEXT = "Zoë 🙂 Lund was born in Bergen."


def annotated(start: int, end: int, **more: Any) -> dict[str, Any]:
    given = {"entity_type": "PERSON", "entity_mention_id": "m", "entity_id": "e1", "identifier_type": "DIRECT", "edit_type": "check"}
    return {**given, "start_offset": start, "end_offset": end, "span_text": TEXT[start:end], **more}


def row(*mentions: dict[str, Any], doc_id: Any = "d1", **more: Any) -> dict[str, Any]:
    return {
        "doc_id": doc_id,
        "text": TEXT,
        "dataset_type": "dev",
        "annotations": {"annotator1": {"entity_mentions": list(mentions)}},
        **more,
    }


@pytest.fixture
def file(tmp_path: Path) -> Callable[[Any], Path]:
    def write(content: Any) -> Path:
        path = tmp_path / "tab.json"
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        return path

    return write


def read_gold(path: Path) -> Iterator[AnnotatedDocument]:
    pairs, _ = open_pairs(path, path, PairSettings(input_format="tab"))
    return (pair.gold for pair in pairs)


def test_gold(file: Callable[[Any], Path]) -> None:
    two = {"entity_mentions": [annotated(23, 29, entity_type="LOC", entity_id="e2", identifier_type="NO_MASK")]}
    first = row(annotated(0, 10), annotated(23, 29, entity_type="LOC", entity_id="e3", identifier_type="QUASI"))
    first["annotations"]["annotator2"] = two
    [found, other] = read_gold(file([first, row(doc_id="d2")]))
    assert (found.id, found.text, other.id, other.mentions) == ("d1", TEXT, "d2", ())
    assert [(one.text, one.place, one.entity_type, one.value_id, one.annotator, one.identifier) for one in found.mentions] == [
        ("Zoë 🙂 Lund", (0, 10), "PERSON", "e1", "annotator1", "direct"),
        ("Bergen", (23, 29), "LOC", "e3", "annotator1", "quasi"),
        ("Bergen", (23, 29), "LOC", "e2", "annotator2", "none"),
    ]


def test_predictions_get_their_texts_from_gold(file: Callable[[Any], Path]) -> None:
    [found, empty] = read_tab_predictions(file({"d1": [[23, 29], [0, 3]], "d2": []}))
    assert (found.id, found.text, [one.place for one in found.mentions], empty.mentions) == ("d1", None, [(23, 29), (0, 3)], ())


def test_as_inputs_they_get_texts_renamed_types_and_counts(tmp_path: Path) -> None:
    gold, found = tmp_path / "gold.json", tmp_path / "found.json"
    gold.write_text(json.dumps([row(annotated(0, 10), annotated(23, 29, entity_type="LOC"))]), encoding="utf-8")
    found.write_text(json.dumps({"d1": [[23, 29], [0, 3], [29, 31]]}), encoding="utf-8")
    types = {"PERSON": "name", "LOC": None}
    settings = PairSettings(input_format="tab", label_map=types)
    pairs, summary = open_pairs(gold, found, settings, types_matter=False)
    [pair] = pairs
    assert [(one.text, one.entity_type) for one in pair.gold.mentions] == [("Zoë 🙂 Lund", "name")]
    assert [(one.text, one.place) for one in pair.found.mentions] == [("Bergen", (23, 29)), ("Zoë", (0, 3)), ("", None)]
    assert (summary.gold.left_out_by_map, summary.found.mentions, summary.found.without_place) == (1, 3, 1)


def test_both_make_pairs_of_the_scheme(file: Callable[[Any], Path]) -> None:
    table = CountTable(make_scheme("tab", SchemeSettings()))
    [gold] = read_gold(file([row(annotated(0, 10), annotated(23, 29, entity_id="e2", identifier_type="QUASI"))]))
    [found] = read_tab_predictions(file({"d1": [[0, 5], [6, 10], [11, 14]]}))
    table.add(Pair(gold=gold, found=found))
    figures = table.overall()
    # Zoë and Lund, and not Bergen; "was" is masked for nothing.
    assert (figures["entity_recall_direct"], figures["entity_recall_quasi"], figures["precision"]) == (1, 0, 2 / 3)


@case_by_case(
    ("content", "where", "message"),
    [
        ("[", "tab.json", "not valid JSON"),
        ([], "tab.json", "holds no documents"),
        ({"d1": []}, "tab.json", "not a JSON array"),
        ([row(), {"text": TEXT}], "tab.json:2", "doc_id: is missing"),
        ([row(), row()], "tab.json:2", "the id 'd1' is also that of"),
        ([row(annotated(0, 10, identifier_type="SOME"))], "tab.json:1", "annotations.annotator1.entity_mentions[0].identifier_type"),
        ([row(annotated(0, 10, start_offset="0"))], "tab.json:1", "annotations.annotator1.entity_mentions[0].start_offset"),
        ([row(annotated(0, 10, span_text="Zoë"))], "tab.json:1", 'spans[0]: "Zoë" differs from context[0:10]'),
        ([row(annotated(0, 1), annotated(4, 4))], "tab.json:1", 'spans[1]: "" has the range [4, 4), which is empty or outside'),
        ([row(annotated(0, 99, span_text=None))], "tab.json:1", "has the range [0, 99), which is empty or outside"),
    ],
)
def test_gold_that_is_refused(file: Callable[[Any], Path], content: Any, where: str, message: str) -> None:
    refused(read_gold(file(content)), where, message)


@case_by_case(
    ("content", "where", "message"),
    [
        ("{", "tab.json", "not valid JSON"),
        ({}, "tab.json", "holds no document"),
        ([[1, 2]], "tab.json", "not a JSON object"),
        ({"d1": [[0, 3], [1]]}, "d1", "[1]"),
        ({"d1": [[0, "3"]]}, "d1", "[0][1]"),
        ({"d1": [[-1, 3]]}, "d1", "[0][0]"),
        ({"d1": 3}, "d1", "the value is not"),
    ],
)
def test_predictions_that_are_refused(file: Callable[[Any], Path], content: Any, where: str, message: str) -> None:
    refused(read_tab_predictions(file(content)), where, message)


def refused(documents: Iterator[AnnotatedDocument], where: str, message: str) -> None:
    with pytest.raises(DataError) as raised:
        list(documents)
    assert where in str(raised.value.where)
    assert message in raised.value.message
    assert TEXT not in str(raised.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="there is no such file"):
        read_gold(tmp_path / "none.json")
