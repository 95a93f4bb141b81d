"""What an evaluation or a comparison leaves out on either side is in its notes and its JSON: a table of files."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

TEXT = "Ann Lee of Ghent."
SPANS = [{"start": 0, "end": 7, "label": "name"}, {"start": 11, "end": 16, "label": "location"}]
NATIVE = {"context": TEXT, "spans": [{**span, "type": span["label"]} for span in SPANS]}


def task(*annotations: dict[str, Any], text: object = TEXT, **more: Any) -> dict[str, Any]:
    return {"data": {"text": text}, "annotations": list(annotations), **more}


def by(kind: str, place: dict[str, Any], label: str = "name", **more: Any) -> dict[str, Any]:
    return {"result": [{"type": kind, "from_name": "ner", "value": {**place, kind: [label]}}], **more}


ANN = by("labels", {"start": 0, "end": 7})
IN_HTML = by(
    "hypertextlabels", {"start": "/b[1]/text()[1]", "end": "/b[1]/text()[1]", "globalOffsets": {"start": 0, "end": 7}, "text": "Ann Lee"}
)


@dataclass(frozen=True, kw_only=True)
class Case:
    """A file as gold, compared with itself and with a prediction of Ann Lee alone; what is said of it, and its F1 against the latter."""

    rows: object
    said: dict[str, int] = field(default_factory=dict)
    f1: float
    format: str | None = None
    counts: dict[str, int] = field(default_factory=dict)
    columns: str | None = None


CASES = {
    "Label Studio, several annotators": Case(
        rows=[
            task(by("labels", {"start": 11, "end": 16}), ANN, by("labels", {"start": 0, "end": 3}, was_cancelled=True), predictions=[{}])
        ],
        format="label-studio",
        said={"annotations, of several but the last": 1, "annotations that are cancelled": 1, "predictions": 1},
        f1=1,
    ),
    "Label Studio, HTML": Case(rows=[task(IN_HTML, text=f"<b>{TEXT[:7]}</b>{TEXT[7:]}")], format="label-studio", f1=1),
    "Label Studio, paragraphs": Case(
        rows=[
            task(
                by("paragraphlabels", {"start": "0", "end": "0", "startOffset": 0, "endOffset": 7, "text": "Ann Lee"}),
                text=[{"author": "A", "text": TEXT}],
            )
        ],
        format="label-studio",
        said={"data.text.author": 1},
        f1=1,
    ),
    "doccano, relations": Case(rows=[{"text": TEXT, "label": [[0, 7, "name"]], "relations": [{"id": 1}]}], said={"relations": 1}, f1=1),
    "Prodigy, and other columns": Case(
        rows=[{"text": TEXT, "spans": SPANS, "answer": "accept", "meta": {"a": 1}}], said={"meta": 1}, f1=2 / 3
    ),
    "tokens": Case(
        rows=[{"tokens": ["Ann", "Lee", "of", "Ghent."], "ner_tags": ["B-name", "I-name", "O", "O"], "pos_tags": [1, 1, 1, 1]}],
        said={"pos_tags": 1},
        counts={"joined_texts": 1},
        f1=1,
    ),
    "other columns, by name": Case(rows=[{"body": TEXT, "spans": SPANS, "note": "x"}], columns="context=body", said={"note": 1}, f1=2 / 3),
    "CAPID at a seam": Case(
        rows=[{"context": TEXT, "piis": {"Ann Lee": {"type": "name", "relevance": "1"}}}],
        counts={"seams": 0},
        f1=1,
    ),
}


@pytest.fixture
def files(tmp_path: Path) -> Callable[[Case], tuple[Path, Path]]:
    def write(case: Case) -> tuple[Path, Path]:
        gold, found = tmp_path / "gold.json", tmp_path / "found.jsonl"
        gold.write_text(json.dumps(case.rows), encoding="utf-8")
        found.write_text(json.dumps({**NATIVE, "spans": NATIVE["spans"][:1]}), encoding="utf-8")  # type: ignore[index] # a list
        return gold, found

    return write


@pytest.mark.parametrize("name", CASES)
def test_what_was_left_out_is_reported(cli: Any, files: Callable[[Case], tuple[Path, Path]], name: str) -> None:
    case = CASES[name]
    gold, found = files(case)
    named = [*(("--gold-format", case.format) if case.format else ()), *(("--columns", case.columns) if case.columns else ())]
    told = json.loads(cli("evaluate", gold, found, *named, "--json").out)
    assert told["metrics"]["overall"]["f1"] == pytest.approx(case.f1)
    assert told["inputs"]["gold"]["left_out"] == case.said
    assert told["inputs"]["gold"].items() >= case.counts.items()
    shown = cli("evaluate", gold, found, *named)
    compared = cli("compare", gold, f"A={found}", *named, "--resamples", 10)
    as_json = json.loads(cli("compare", gold, f"A={found}", *named, "--resamples", 10, "--json").out)
    assert (shown.code, compared.code) == (0, 0)
    assert as_json["inputs"]["A"]["gold"]["left_out"] == case.said
    for outcome in (shown, compared):
        (line,) = [line for line in outcome.out.splitlines() if line.startswith("gold: ")] or [""]
        assert line.count("not read") == len(case.said)
        assert all(f"not read: {what} {count}" in line for what, count in case.said.items())


def test_second_annotators_of_the_predictions_are_reported_too(cli: Any, tmp_path: Path) -> None:
    gold, found = tmp_path / "gold.jsonl", tmp_path / "found.json"
    gold.write_text(json.dumps(NATIVE), encoding="utf-8")
    found.write_text(json.dumps([task(ANN, ANN)]), encoding="utf-8")
    out = cli("evaluate", gold, found, "--predictions-format", "label-studio").out
    assert "predictions: 1 mention; not read: annotations, of several but the last 1" in out.splitlines()
    out = cli("compare", gold, f"A={found}", "--predictions-format", "label-studio", "--resamples", 10).out
    assert "A: not read: annotations, of several but the last 1" in out.splitlines()


@pytest.mark.parametrize("ids", [False, True])
@pytest.mark.parametrize("kept", [False, True])
def test_rows_that_nobody_accepted_are_left_out_with_their_predictions(cli: Any, tmp_path: Path, ids: bool, kept: bool) -> None:
    texts = {"1 of": "accept", "2 in": "reject", "3 at": "accept", "4 by": "ignore"}
    gold, found = tmp_path / "gold.jsonl", tmp_path / "found.jsonl"
    rows = [(text, answer, {"id": text} if ids else {}) for text, answer in texts.items()]
    span = {"start": 0, "end": 1, "label": "name"}
    gold.write_text("\n".join(json.dumps({"text": t, "spans": [span], "answer": a, **more}) for t, a, more in rows), encoding="utf-8")
    found.write_text(
        "\n".join(json.dumps({"context": t, "spans": [{**span, "type": "name"}], **more}) for t, a, more in rows if kept or a == "accept"),
        encoding="utf-8",
    )
    columns = ("--columns", "context=text,id=id", "--gold-format", "json") if ids else ()
    told = json.loads(cli("evaluate", gold, found, *columns, "--json").out)
    assert (told["inputs"]["pairs"], told["metrics"]["overall"]["f1"]) == (2, 1)
    assert told["inputs"]["pairing"] == ("id" if ids else "position")
    refused = 'rows (answer: the annotator did not accept the row: "%s")'
    assert told["inputs"]["gold"]["left_out"] == {refused % "reject": 1, refused % "ignore": 1}
    assert told["inputs"]["found"]["left_out"] == ({"documents of rows that the gold leaves out": 2} if kept else {})


def test_tasks_without_an_annotation_are_left_out(cli: Any, tmp_path: Path) -> None:
    gold, found = tmp_path / "gold.json", tmp_path / "found.jsonl"
    gold.write_text(json.dumps([task(ANN), task(predictions=[{}], text="Bo")]), encoding="utf-8")
    found.write_text(json.dumps(NATIVE), encoding="utf-8")
    told = json.loads(cli("evaluate", gold, found, "--json").out)
    assert told["inputs"]["gold"]["format"] == "label-studio"
    assert told["inputs"]["gold"]["left_out"] == {"rows (annotations: there is none that is not cancelled)": 1}


def test_a_side_without_mentions_is_reported(cli: Any, tmp_path: Path) -> None:
    gold, found = tmp_path / "gold.json", tmp_path / "found.jsonl"
    gold.write_text(json.dumps([task({"result": []})]), encoding="utf-8")
    found.write_text(json.dumps(NATIVE), encoding="utf-8")
    assert "gold: 0 mentions" in cli("evaluate", gold, found, "--gold-format", "label-studio").out.splitlines()
    out = cli("compare", gold, f"A={found}", "--gold-format", "label-studio", "--resamples", 10).out
    assert "gold: no mentions" in out.splitlines()


def test_types_of_one_side_only_have_counts_and_all_are_named(cli: Any, tmp_path: Path) -> None:
    gold, found = tmp_path / "gold.jsonl", tmp_path / "found.jsonl"
    rows = {"context": "x" * 30, "spans": [{"start": at, "end": at + 1, "type": f"T{at:02}"} for at in range(15)]}
    gold.write_text(json.dumps(rows), encoding="utf-8")
    found.write_text(json.dumps(NATIVE | {"context": "x" * 30}), encoding="utf-8")
    (line,) = [line for line in cli("evaluate", gold, found).out.splitlines() if line.startswith("types only in gold")]
    assert line == f"types only in gold: {', '.join(f'T{at:02} 1' for at in range(15))} (--label-map renames types)"


def test_columns_are_used_by_the_side_that_has_them_or_refused(cli: Any, tmp_path: Path) -> None:
    gold, found = tmp_path / "gold.jsonl", tmp_path / "found.jsonl"
    gold.write_text(json.dumps(NATIVE), encoding="utf-8")
    found.write_text(json.dumps({"body": TEXT, "marks": SPANS}), encoding="utf-8")
    columns = ("--columns", "context=body,spans=marks")
    assert json.loads(cli("evaluate", gold, found, *columns, "--json").out)["metrics"]["overall"]["f1"] == 1
    assert json.loads(cli("evaluate", found, found, "--input-format", "native", *columns, "--json").out)["metrics"]["overall"]["f1"] == 1
    unused = cli("evaluate", gold, gold, *columns)
    assert unused.code == 2
    assert "neither file has columns of these names" in unused.err
    refused = cli("evaluate", gold, gold, "--input-format", "conll", *columns)
    assert refused.code == 2
    assert "the format 'conll' reads the field 'context' from its own keys only" in refused.err
