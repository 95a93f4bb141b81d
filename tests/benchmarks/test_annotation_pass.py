"""The pass by keys: raw rows find the validated ones that came of them, and corrections by keys end at exactly those."""

from __future__ import annotations

from typing import Any

import pytest

from piiloom.annotation_app.documents.document import EditedDocument, document_of
from piiloom.corpus.record import Record, Span

pytest.importorskip("playwright", reason="playwright is not installed")
from benchmarks.annotation.keyed_texts import Keyed
from benchmarks.annotation_pass import fingers, one_pass, pairs


def made(name: str, context: str, question: str, *spans: tuple[str, str, Any]) -> Record:
    places = [(context.index(value), value, entity_type, relevance) for value, entity_type, relevance in spans]
    marks = [Span(id=f"s{at}", start=at, end=at + len(value), entity_type=kind, relevance=how) for at, value, kind, how in places]
    return Record(id=name, context=context, question=question, spans=tuple(marks))


RAW = [
    made(
        "a", "Ada came from London, \U0001f600 and Grace stayed at home.", "Who came?", ("Ada", "name", "low"), ("stayed", "belief", "high")
    ),
    made("b", "I am a baker of forty years and my knees hurt.", "May I rest?", ("baker", "age", "low"), ("knees", "health", "low")),
    made("c", "Nothing in here is like any other row.", "Really?", ("Nothing", "name", "low")),
]
VALIDATED = [
    made(
        "y", "I am a baker of 40 years, and my knees hurt.", "May I rest?", ("baker", "occupation", "low"), ("knees hurt", "health", "high")
    ),
    made("x", "Ada came from London, \U0001f600 and Grace stayed at home.", "Who went?", ("Ada", "name", "high"), ("Grace", "name", "low")),
]


def test_rows_find_those_that_came_of_them() -> None:
    found = pairs(RAW, VALIDATED)
    assert [(record.context, target.context) for record, target in found] == [
        (RAW[0].context, VALIDATED[1].context),
        (RAW[1].context, VALIDATED[0].context),
    ]
    assert [record.id for record, _ in found] == ["r-00", "r-01"]


def test_the_model_of_key_strokes() -> None:
    keyed = Keyed(presses=4, strokes=10, letters=3)
    keyed.done.update({"relevance": 1, "accepted": 1})
    assert fingers(keyed) == pytest.approx(10 * 0.28 + 2 * 1.35)
    assert fingers(keyed, typed=False) == pytest.approx(7 * 0.28 + 2 * 1.35)


@pytest.mark.long
def test_corrections_by_keys_end_at_the_validated_rows(tmp_path: Any) -> None:
    found: list[tuple[Record, EditedDocument]] = [*pairs(RAW, VALIDATED), (RAW[2], document_of(RAW[2]))]
    took, unlike = one_pass(tmp_path / "s.duckdb", found)
    assert unlike == []
    assert took["c"].presses == 1
    assert took["r-00"].done == {"question": 1, "relevance": 1, "added": 1, "removed": 1, "accepted": 1}
    assert {"context", "type", "relevance", "ends"} <= took["r-01"].done.keys()
