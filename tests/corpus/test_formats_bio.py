"""BIO: the layout of the Kaggle files, texts that their tokens give back, and files of others."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from record_strategies import texts
from token_round_trips import marked

from piiloom.corpus.formats.base import ReadOptions, ReadTally, RowReject, WriteOptions
from piiloom.corpus.formats.token_formats import BioFormat, with_white_space
from piiloom.corpus.formats.token_labels import tokenizer_named
from piiloom.corpus.record import Record
from piiloom.foundation.errors import DataError
from piiloom.taxonomy.entity_types import shipped_taxonomy

BIO = BioFormat()
KAGGLE = {
    "document": 7,
    "full_text": "Design Thinking\n\nNathalie Sylla, n@x.ch ",
    "tokens": ["Design", "Thinking", "\n\n", "Nathalie", "Sylla", ",", "n@x.ch"],
    "trailing_whitespace": [True, False, False, True, False, True, True],
    "labels": ["O", "O", "O", "B-NAME_STUDENT", "I-NAME_STUDENT", "O", "B-EMAIL"],
}


def read(path: Path, *rows: object, **options: object) -> list[Record | RowReject]:
    path.write_text(json.dumps(rows), encoding="utf-8")
    return list(BIO.read(path, ReadOptions(**options, taxonomy=shipped_taxonomy()), ReadTally()))  # type: ignore[arg-type] # the fields of ReadOptions


def test_the_layout_is_that_of_the_kaggle_files(tmp_path: Path) -> None:
    path = tmp_path / "train.json"
    BIO.write([marked("Hi  Ann-Lee,\nBo ", "Ann-Lee", "Bo", question="Who?")], path, WriteOptions(taxonomy=shipped_taxonomy()))
    assert path.read_text(encoding="utf-8") == (
        '[\n{"document":1,"full_text":"Hi  Ann-Lee,\\nBo ","tokens":["Hi"," ","Ann-Lee",",","\\n","Bo"],'
        '"trailing_whitespace":[true,false,false,false,false,true],"labels":["O","O","B-NAME","O","O","B-NAME"],'
        '"relevance":[null,null,"low",null,null,"low"],"id":"r1","locale":"en_US","question":"Who?"}\n]\n'
    )


@given(text=texts)
def test_tokens_and_trailing_white_space_give_the_text(text: str) -> None:
    places, blank_after = with_white_space(text, tokenizer_named("whitespace")(text, "en"))
    assert "".join(text[start:end] + " " * blank for (start, end), blank in zip(places, blank_after, strict=True)) == text


@pytest.mark.long
@given(text=texts)
def test_white_space_is_in_tokens_as_in_spacy(text: str) -> None:
    import spacy

    doc = spacy.blank("xx").tokenizer(text)
    ours = with_white_space(text, [(t.idx, t.idx + len(t)) for t in doc if not t.is_space])
    if not any(t.is_space and not t.i for t in doc):  # spaCy gives a blank at the very beginning to that token, too
        assert ours == ([(t.idx, t.idx + len(t)) for t in doc], [t.whitespace_ == " " for t in doc])


def test_files_of_others_are_read_through_the_label_map(tmp_path: Path) -> None:
    (record,) = read(tmp_path / "train.json", KAGGLE, label_map={"NAME_STUDENT": "name", "EMAIL": "code/email"}, locale="en_GB")
    assert isinstance(record, Record)
    assert (record.id, record.locale, record.question) == ("7", "en_GB", None)
    assert [(s.text_in(record.context), s.entity_type, s.subtype, s.relevance) for s in record.spans] == [
        ("Nathalie Sylla", "name", None, None),
        ("n@x.ch", "code", "email", None),
    ]
    assert record.source is not None
    assert (record.source.file, record.source.line) == ("train.json", 1)


def test_without_trailing_white_space_tokens_are_found_in_the_text(tmp_path: Path) -> None:
    row = {key: value for key, value in KAGGLE.items() if key != "trailing_whitespace"} | {"document": None}
    (record,) = read(tmp_path / "x.json", row, label_map={"NAME_STUDENT": "name", "EMAIL": None})
    assert isinstance(record, Record)
    assert [s.text_in(record.context) for s in record.spans] == ["Nathalie Sylla"]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"labels": ["O"]}, "labels: 1 values for 7 tokens"),
        ({"labels": None}, "labels: "),
        ({"tokens": [*KAGGLE["tokens"][:6], "n@y.ch"]}, "tokens: with trailing_whitespace they do not give full_text"),  # type: ignore[index]
        ({"full_text": 3}, "full_text: "),
        ({"relevance": ["medium"] * 7}, "relevance[0]: "),
        ({"relevance": ["high"]}, "relevance: 1 values for 7 tokens"),
        ({}, "spans[0].type: not one of the known types"),
        ({"full_text": "\ud800" + str(KAGGLE["full_text"])}, "a text holds a lone surrogate"),
    ],
)
def test_a_wrong_row_is_refused_with_its_field(changes: dict[str, object], reason: str, tmp_path: Path) -> None:
    rejected, kept = read(tmp_path / "x.json", {**KAGGLE, **changes}, {**KAGGLE, "labels": ["O"] * 7, "document": 8})
    assert isinstance(rejected, RowReject)
    assert rejected.line == 1
    assert rejected.reason.startswith(reason)
    assert isinstance(kept, Record)


@pytest.mark.parametrize("content", ['[{"document": 1, ', "[", "\xff"])
def test_half_a_file_is_an_error(content: str, tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text(content, encoding="latin-1")
    with pytest.raises(DataError, match=r"x\.json"):
        list(BIO.read(path, ReadOptions(taxonomy=shipped_taxonomy()), ReadTally()))
