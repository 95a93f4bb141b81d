"""A text and its question are filled with one cast (``--question-field``)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from piiloom.foundation.errors import DataError, UsageError
from piiloom.surrogates.engine import EngineFactory
from piiloom.surrogates.inputs.parts import SourceSettings
from piiloom.surrogates.outputs.checking import verify_folder
from piiloom.surrogates.placeholders import Mapping
from piiloom.surrogates.placeholders.reading import kind_of_span
from piiloom.surrogates.running import run_surrogates
from piiloom.surrogates.settings import EngineSettings
from tests.surrogates.running_fakes import TagEngine

ROWS = [
    {"id": "a", "question": "Is [NAME 1] \u00e9 ill?", "text": 'Dear "[NAME 1]", and [NAME 2] of [CITY].', "by": 1},
    {"id": "b", "text": "Plain.", "question": None},
    {"id": "c", "text": "", "question": "[NAME 2]?"},
]


def run(source: Path, out: Path, mapping: Mapping | None = Mapping(), chunk: int = 2**20, **settings: Any):  # noqa: B008 - frozen
    inputs = SourceSettings(path=source, question_field="question", chunk_bytes=chunk, **settings)
    factory = EngineFactory(settings=EngineSettings(seed=0), mapping=mapping)
    report = run_surrogates(inputs, out, factory, vault=out.with_suffix(".vault"))
    verify_folder(out, source)
    return report, [json.loads(line) for line in (out / "records.jsonl").read_text("utf-8").splitlines()]


def written(path: Path) -> Path:
    match path.suffix:
        case ".jsonl":
            path.write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
        case ".json":
            path.write_text(json.dumps(ROWS, indent=1, ensure_ascii=False), encoding="utf-8")
        case ".csv":
            cells = [["question", "id", "text"], *([row["question"] or "", row["id"], row["text"]] for row in ROWS)]
            path.write_text("\n".join(",".join('"' + str(one).replace('"', '""') + '"' for one in row) for row in cells), encoding="utf-8")
        case _:
            parquet = pytest.importorskip("pyarrow.parquet")
            arrow = pytest.importorskip("pyarrow")
            parquet.write_table(arrow.table({key: [row[key] for row in ROWS] for key in ("id", "text", "question")}), path)
    return path


@pytest.mark.parametrize("name", ["a.jsonl", "a.json", "a.csv", "a.parquet"])
def test_text_and_question_have_one_cast(tmp_path: Path, name: str) -> None:
    source = written(tmp_path / name)
    _, records = run(source, tmp_path / "out")
    first = records[0]
    person = first["context"].removeprefix('Dear "').partition('"')[0]
    assert person in first["question"]
    assert not any("[" in text for row in records for text in (row["context"], row["question"] or ""))
    assert first["spans"][0]["text"] == person
    assert len(first["spans"]) == 3
    assert (records[2]["context"], records[2]["spans"]) == ("", [])
    assert records[1]["question"] in {None, ""}
    maps = [json.loads(line) for line in (tmp_path / "out" / "map.jsonl").read_text().splitlines()]
    ((start, end, new_start, new_end),) = maps[0]["question_ranges"]
    assert (ROWS[0]["question"][start:end], first["question"][new_start:new_end]) == ("[NAME 1]", person)
    vault = [json.loads(line) for line in (tmp_path / "out.vault").read_text().splitlines()]
    assert [one["text"] for one in vault if one.get("field") == "question"] == ["[NAME 1]", "[NAME 2]"]


def test_any_chunks_give_the_same(tmp_path: Path) -> None:
    source = written(tmp_path / "a.jsonl")
    run(source, tmp_path / "one")
    run(source, tmp_path / "two", chunk=1)
    for name in ("records.jsonl", "map.jsonl", "mirror/a.jsonl"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_given_spans_are_replaced_in_the_question_too(tmp_path: Path) -> None:
    source = tmp_path / "a.jsonl"
    text = "I am Edith Archer. Edith went to Rome."
    spans = [
        {"start": text.index(word), "end": text.index(word) + len(word), "type": kind, "text": word}
        for word, kind in (("Edith Archer", "name"), ("Rome", "location"))
    ]
    spans.append({"start": 19, "end": 24, "type": "name", "text": "Edith"})
    source.write_text(json.dumps({"question": "Was Edith Archer (Edith) in Rome, not Romeo?", "spans": spans, "text": text}) + "\n")
    report, (record,) = run(source, tmp_path / "out", None, kind_of=kind_of_span, spans_field="spans")
    assert not any(word in record["question"] for word in ("Edith", "Archer", "Rome,"))
    assert "not Romeo?" in record["question"]
    assert record["spans"][0]["text"] in record["question"]
    row = json.loads((tmp_path / "out" / "mirror" / "a.jsonl").read_text())
    assert (row["text"], row["question"]) == (record["context"], record["question"])
    assert all(row["text"][span["start"] : span["end"]] == span["text"] for span in row["spans"])
    assert not any("known originals" in warning for warning in report.warnings)


def test_what_cannot_be_is_said(tmp_path: Path) -> None:
    source = tmp_path / "a.jsonl"
    source.write_text('{"text": "[NAME]"}\n')
    with pytest.raises(UsageError, match=r"a\.jsonl:1: no row has the field 'question'; the first one has: text\. .*--question-field"):
        run(source, tmp_path / "out")
    with pytest.raises(UsageError, match="goes with one text"):
        SourceSettings(path=source, text_fields=("a", "b"), question_field="q")
    source.write_text('{"text": "[NAME", "question": "]"}\n')
    inputs = SourceSettings(path=source, question_field="question", kind_of=None)
    with pytest.raises(DataError, match="from the text into the question"):
        run_surrogates(inputs, tmp_path / "out", _Greedy)


class _Greedy(TagEngine):
    def _tags(self, text: str) -> list[tuple[int, int, str]]:
        return [(0, len(text), "person")]
