"""Files of token probabilities: what they say, and what is refused."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from piiloom.evaluation.schemes.tab import TokenInformation
from piiloom.foundation.errors import DataError, UsageError
from tests.evaluation.masking_documents import document
from tests.longer import case_by_case


def written(folder: Path, *rows: Any) -> Path:
    file = folder / "p.jsonl"
    file.write_text(
        "\n".join(row if isinstance(row, str) else json.dumps(row, ensure_ascii=False) for row in rows) + "\n", encoding="utf-8"
    )
    return file


def token(start: Any, end: Any, probability: Any = 0.5, **more: Any) -> dict[str, Any]:
    return {"start": start, "end": end, **({} if probability is None else {"probability": probability}), **more}


def test_each_document_has_its_own(tmp_path: Path) -> None:
    rows = {"id": "ä", "tokens": [token(0, 2), token(2, 4, 1)]}, "", {"id": "b", "tokens": [token(0, 4, None, log_probability=-3)], "x": 1}
    information = TokenInformation(written(tmp_path, *rows))
    weigh = information.of(document("Anna", id="ä"))
    assert (weigh(0, 2), weigh(0, 4), weigh(2, 4), weigh(3, 4)) == (math.log(2), math.log(2), 0, 0)
    assert information.of(document(None, id="b"))(1, 2) == 3
    assert weigh(4, 6) == 0  # no token there


@case_by_case(
    ("rows", "where", "message"),
    [
        (("{",), ":1", "not valid JSON"),
        (("[1]",), ":1", "two keys"),
        (({"id": 1, "tokens": []},), ":1", "two keys"),
        (({"id": "a", "tokens": {}},), ":1", "two keys"),
        (({"id": "a", "tokens": []}, {"id": "a", "tokens": []}), ":2", "in line 1 already"),
        (({"id": "a", "tokens": [3]},), ": tokens[0]", "no range"),
        (({"id": "a", "tokens": [token(0, 0)]},), ": tokens[0]", "no range"),
        (({"id": "a", "tokens": [token(-1, 2)]},), ": tokens[0]", "no range"),
        (({"id": "a", "tokens": [token(True, 2)]},), ": tokens[0]", "no range"),
        (({"id": "a", "tokens": [token(3, 5), token(2, 6)]},), ": tokens[1]", "before the one before"),
        (({"id": "a", "tokens": [token(3, 5), token(3, 4)]},), ": tokens[1]", "before the one before"),
        *((({"id": "a", "tokens": [token(0, 1, wrong)]},), ": tokens[0]", "no probability") for wrong in (None, 0, -0.5, 1.5, "0.5", True)),
        (({"id": "a", "tokens": [token(0, 1, None, log_probability=0.1)]},), ": tokens[0]", "no probability"),
        (({"id": "a", "tokens": [token(0, 1, 0.5, log_probability=-1)]},), ": tokens[0]", "no probability"),
        (('{"id": "a", "tokens": [{"start": 0, "end": 1, "log_probability": -1e999}]}',), "p.jsonl:1", ""),
        ((), "p.jsonl", "no document"),
    ],
)
def test_what_is_refused_names_its_place(tmp_path: Path, rows: tuple[Any, ...], where: str, message: str) -> None:
    with pytest.raises(DataError) as raised:
        TokenInformation(written(tmp_path, *rows))
    assert message in raised.value.message
    assert where in str(raised.value.where)


def test_documents_that_it_lacks_or_that_are_shorter(tmp_path: Path) -> None:
    information = TokenInformation(written(tmp_path, {"id": "a", "tokens": [token(0, 9)]}))
    with pytest.raises(DataError, match="no token probabilities of document 'b'"):
        information.of(document("Anna", id="b"))
    with pytest.raises(DataError, match="a document without an id"):
        information.of(document("Anna", id=None))
    with pytest.raises(DataError, match="a token ends at 9, the text of document 'a' at 4"):
        information.of(document("Anna", id="a"))
    with pytest.raises(UsageError, match="cannot be read"):
        TokenInformation(tmp_path / "none.jsonl")
