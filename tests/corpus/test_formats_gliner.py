"""GLiNER: the layout of its training data, and files of others."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from token_round_trips import marked

from piiloom.corpus.formats.base import ReadOptions, ReadTally, RowReject, WriteOptions
from piiloom.corpus.formats.token_formats import GlinerFormat
from piiloom.corpus.record import Record
from piiloom.taxonomy.entity_types import shipped_taxonomy

GLINER = GlinerFormat()
THEIRS = {"tokenized_text": ["State", "of", "Ohio", ",", "Ann", "Lee"], "ner": [[2, 2, "Location"], [4, 5, "person"], [5, 5, "person"]]}


def read(path: Path, *rows: object, tally: ReadTally | None = None) -> list[Record | RowReject]:
    path.write_text(json.dumps(rows), encoding="utf-8")
    return list(GLINER.read(path, ReadOptions(taxonomy=shipped_taxonomy()), tally or ReadTally()))


def test_the_layout_is_that_of_its_training_data(tmp_path: Path) -> None:
    path = tmp_path / "train.json"
    GLINER.write([marked("Hi  Ann Lee,\nBo", "Ann Lee", "Bo")], path, WriteOptions(taxonomy=shipped_taxonomy()))
    assert path.read_text(encoding="utf-8") == (
        '[\n{"tokenized_text":["Hi","Ann","Lee",",","Bo"],"ner":[[1,2,"name"],[4,4,"name"]],"relevance":["low","low"],'
        '"id":"r1","locale":"en_US","text":"Hi  Ann Lee,\\nBo","question":null}\n]\n'
    )


def test_the_text_of_others_is_their_tokens_joined_by_blanks(tmp_path: Path) -> None:
    tally = ReadTally()
    (record,) = read(tmp_path / "x.json", {**THEIRS, "negatives": ["org"]}, tally=tally)
    assert isinstance(record, Record)
    assert record.context == "State of Ohio , Ann Lee"
    assert [(s.text_in(record.context), s.entity_type, s.relevance) for s in record.spans] == [
        ("Ohio", "location", None),
        ("Ann Lee", "name", None),
    ]
    assert (tally.joined_texts, len(tally.overlapping), dict(tally.ignored_fields)) == (1, 1, {"negatives": 1})


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"ner": [[4, 6, "name"]]}, "ner[0]: not [first token, last token, label] of 6 tokens"),
        ({"ner": [[0, 0, "name"], [2, 1, "name"]]}, "ner[1]: not [first"),
        ({"ner": [[0, "name"]]}, "ner[0]: not [first"),
        ({"ner": [[True, 1, "name"]]}, "ner[0]"),
        ({"ner": [[0, 0, "star sign"]]}, "spans[0].type: not one of the known types"),
        ({"ner": None}, "ner: "),
        ({"tokenized_text": "Ann"}, "tokenized_text: "),
        ({"text": "State of Iowa, Ann Lee"}, 'tokens[2]: "Ohio" is not where the text goes on'),
        ({"relevance": ["high"]}, "relevance: 1 values for 3 items of ner"),
    ],
)
def test_a_wrong_row_is_refused_with_its_field(changes: dict[str, object], reason: str, tmp_path: Path) -> None:
    rejected, kept = read(tmp_path / "x.json", {**THEIRS, **changes}, THEIRS)
    assert isinstance(rejected, RowReject)
    assert rejected.reason.startswith(reason)
    assert isinstance(kept, Record)
