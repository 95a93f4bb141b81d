"""Entity tables on either side, beside each other and beside files of documents."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from piiloom.evaluation.inputs.documents import AnnotatedDocument
from piiloom.foundation.errors import DataError
from tests.evaluation.input_files import lines, native, read_pairs, scored, span
from tests.longer import case_by_case, few

HEADER = ("document", "text", "type")
PLACED = (*HEADER, "start", "end")


def table(path: Path, rows: Sequence[Sequence[Any]], header: Sequence[str] = HEADER) -> Path:
    """Write a table in the format of its suffix."""
    if path.suffix == ".parquet":
        pyarrow = pytest.importorskip("pyarrow")
        from pyarrow import parquet

        columns = {name: [row[at] for row in rows] for at, name in enumerate(header)}
        parquet.write_table(pyarrow.table(columns), path)
        return path
    with path.open("w", encoding="utf-8", newline="") as fh:
        csv.writer(fh, delimiter="\t" if path.suffix == ".tsv" else ",").writerows([header, *rows])
    return path


def mentions(document: AnnotatedDocument) -> list[tuple[str, str | None, tuple[int, int] | None]]:
    return [(one.text, one.entity_type, one.place) for one in document.mentions]


@pytest.mark.parametrize("gold", [".csv", ".tsv", ".parquet"])
@pytest.mark.parametrize("found", [".csv", ".parquet"])
def test_tables_pair_by_document_and_what_one_lacks_is_empty(tmp_path: Path, gold: str, found: str) -> None:
    ids = [3, 10, 3] if gold == ".parquet" else ["3", "10", "3"]
    one = table(tmp_path / f"gold{gold}", [[ids[0], "Ann", "A"], [ids[1], "Bo", "B"], [ids[2], "Ann", "A"]])
    other = table(tmp_path / f"found{found}", [["7", "Cy", "A"], ["3", " Ann", "A"]])
    pairs, summary = read_pairs(one, other)
    assert [(pair.gold.id, pair.found.id) for pair in pairs] == [("3", "3"), ("10", "10"), ("7", "7")]
    assert mentions(pairs[0].gold) == [("Ann", "A", None)] * 2
    assert mentions(pairs[0].found) == [(" Ann", "A", None)]
    assert [len(pair.gold.mentions) for pair in pairs] == [2, 1, 0]
    assert [len(pair.found.mentions) for pair in pairs] == [1, 0, 1]
    assert (summary.gold.absent, summary.found.absent, summary.pairs, summary.pairing) == (1, 1, 3, "id")
    assert (summary.gold.format, summary.found.format) == ("table", "table")
    assert (summary.gold.mentions, summary.found.mentions, summary.gold.documents) == (3, 2, 2)


def test_a_table_of_places_agrees_with_a_file_of_documents_on_either_side(tmp_path: Path) -> None:
    rows = [native("Ann, 34, Ann", span(0, 3), span(9, 12), span(5, 7, "age"), id="a"), native("Nobody", id="b")]
    documents = lines(tmp_path / "documents.jsonl", rows)
    places = [["a", "Ann", "name", 9, 12], ["a", "34", "age", 5, 7], ["a", "Ann", "name", 0, 3]]
    for suffix in (".csv", ".parquet"):
        entities = table(tmp_path / f"table{suffix}", places, PLACED)
        for gold, found in ((documents, entities), (entities, documents), (entities, entities)):
            figures, summary = scored(gold, found, offsets=True)
            assert (figures["tp"], figures["fp"], figures["fn"]) == (3, 0, 0)
            assert summary.pairs == (1 if gold == found else 2)
        pairs, summary = read_pairs(documents, entities)
        assert [pair.found.text for pair in pairs] == ["Ann, 34, Ann", "Nobody"]
        assert summary.found.absent == 1


def test_columns_of_other_names_and_of_either_side(tmp_path: Path) -> None:
    gold = table(tmp_path / "gold.csv", [["1", "Ann", "NAME"]])
    found = table(tmp_path / "found.csv", [["x", "NAME", "1", "Ann"]], ["note", "type", "file_idx", "entity_text"])
    columns = {"document": "file_idx", "text": "entity_text"}
    (pair,) = read_pairs(gold, found, columns=columns)[0]
    assert mentions(pair.gold) == mentions(pair.found) == [("Ann", "NAME", None)]
    message = "the table has no column 'document' and no column 'text'; there are: 'note', 'type', 'file_idx', 'entity_text'"
    with pytest.raises(DataError, match=message):
        read_pairs(gold, found)
    with pytest.raises(DataError, match=r"no column 'start' and no column 'end' \(the scheme compares places\)"):
        read_pairs(gold, gold, offsets=True)


def test_texts_are_taken_as_they_are(tmp_path: Path) -> None:
    texts = ["'=1+1", " a ", "a\r\nb", 'say "x"', "34", "\xa0", "NULL", "👩‍🚀"]
    path = table(tmp_path / "a.csv", [["1", text, ""] for text in texts])
    (pair,) = read_pairs(path, path)[0]
    assert mentions(pair.gold) == [(text, None, None) for text in texts]


def test_strings_count_as_often_as_they_are_there_but_not_beside_a_capid_file(tmp_path: Path) -> None:
    entities = table(tmp_path / "a.csv", [["a", "Bo", "A"], ["a", "Ann", "A"], ["a", "Bo", "A"]])
    rows = [native("Ann, Bo, Bo", span(0, 3, "A"), span(5, 7, "A"), span(9, 11, "A"), id="a")]
    documents = lines(tmp_path / "a.jsonl", rows)
    (pair,) = read_pairs(documents, entities, needs="mentions")[0]
    assert [one.text for one in pair.gold.mentions] == ["Ann", "Bo", "Bo"]
    assert [one.text for one in pair.found.mentions] == ["Bo", "Ann", "Bo"]
    about = {"type": "A", "relevance": "1"}
    values = lines(tmp_path / "capid.jsonl", [{"id": "a", "context": "Ann, Bo, Bo", "piis": {"Bo": about, "Cy": about}}])
    (pair,) = read_pairs(values, documents, needs="mentions")[0]
    assert [one.text for one in pair.gold.mentions] == ["Bo", "Cy"]
    assert [one.text for one in pair.found.mentions] == ["Ann", "Bo"]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (["1", "", "A", "", ""], "text: is empty"),
        (["", "a", "A", "", ""], "document: is empty"),
        (["1", "a", "A", "x", "2"], "start: must be a whole number"),
        (["1", "a", "A", "1", "2.5"], "end: must be a whole number"),
        (["1", "a", "A", "1"], "the row has 4 cells, the header 5"),
    ],
)
@pytest.mark.parametrize("side", ["gold", "found"])
def test_a_row_that_is_no_mention_is_an_error_with_its_line(tmp_path: Path, row: list[str], message: str, side: str) -> None:
    good = table(tmp_path / "good.csv", [["1", "a", "A", "", ""]], PLACED)
    bad = table(tmp_path / "bad.csv", [["1", "a\nb", "A", "", ""], row], PLACED)
    with pytest.raises(DataError, match=message) as caught:
        read_pairs(*((bad, good) if side == "gold" else (good, bad)))
    assert caught.value.where == f"{bad}:4"  # the first row has two lines


@pytest.mark.parametrize(("value", "message"), [(["a"], "text: must be text"), (None, "text: is empty")])
def test_a_parquet_cell_that_is_no_text(tmp_path: Path, value: object, message: str) -> None:
    path = table(tmp_path / "a.parquet", [[1, value, "A"]])
    with pytest.raises(DataError, match=message):
        read_pairs(path, path)


def test_whole_numbers_that_tables_hold_as_floats(tmp_path: Path) -> None:
    path = table(tmp_path / "a.parquet", [[1.0, "ab", "A", 0.0, 2.0], [2.0, "ab", "A", None, None]], PLACED)
    pairs, _ = read_pairs(path, path)
    assert [(pair.gold.id, pair.gold.mentions[0].place) for pair in pairs] == [("1", (0, 2)), ("2", None)]
    as_text = table(tmp_path / "a.csv", [["1", "ab", "A", "0.0", "2.0"], ["2", "ab", "A", "", ""]], PLACED)
    pairs, _ = read_pairs(as_text, as_text)
    assert [(pair.gold.id, pair.gold.mentions[0].place) for pair in pairs] == [("1", (0, 2)), ("2", None)]


@case_by_case(
    ("row", "message"),
    [
        (["a", "Ann", "name", 0, 2], r'"Ann" has the range \[0, 2\), but 3 characters'),
        (["a", "Ann", "name", -3, 0], r'"Ann" has the range \[-3, 0\), but 3 characters'),
        (["a", "Ann", "name", 0, ""], '"Ann" has no start, or no end'),
        (["a", "Ann", "name", 1, 4], r'"Ann" is not at \[1, 4\) of the text'),
        (["a", "Ann", "name", 6, 9], r'"Ann" is not at \[6, 9\) of the text'),
    ],
)
def test_a_place_that_does_not_fit_is_refused_in_the_gold_and_spurious_in_a_prediction(
    tmp_path: Path, row: list[Any], message: str
) -> None:
    documents = lines(tmp_path / "a.jsonl", [native("Ann Lee", span(0, 3), id="a")])
    bad = table(tmp_path / "bad.csv", [["a", "Ann", "name", 0, 3], row], PLACED)
    with pytest.raises(DataError, match=f"{message}; --skip-values"):
        scored(bad, documents)
    figures, summary = scored(bad, documents, skip_values=True)
    assert ((figures["tp"], figures["fp"], figures["fn"]), summary.gold.skipped) == ((1, 0, 0), 1)
    figures, summary = scored(documents, bad)
    assert ((figures["tp"], figures["fp"], figures["fn"]), summary.found.without_place) == ((1, 1, 0), 1)


def test_documents_beside_a_table_need_ids_of_their_own(tmp_path: Path) -> None:
    entities = table(tmp_path / "table.csv", [["a", "Ann", "name"]])
    with pytest.raises(DataError, match="the document has no id, so that no table can tell its mentions"):
        read_pairs(lines(tmp_path / "a.jsonl", [native("Ann")]), entities)
    twice = lines(tmp_path / "a.jsonl", [native("Ann", id="a"), native("Ann", id="a")])
    for gold, found in ((twice, entities), (entities, twice)):
        with pytest.raises(DataError, match="the id 'a' is also that of"):
            read_pairs(gold, found)
    other = lines(tmp_path / "a.jsonl", [native("Ann", id="b")])
    for gold, found in ((other, entities), (entities, other), (entities, table(tmp_path / "x.csv", [["b", "Ann", "name"]]))):
        with pytest.raises(DataError, match=r"no document has an id of the other side: '[ab]' .*, '[ab]' "):
            read_pairs(gold, found)


def test_a_table_without_rows_predicts_nothing_and_is_no_gold(tmp_path: Path) -> None:
    gold, none = table(tmp_path / "gold.csv", [["a", "Ann", "name"]]), table(tmp_path / "none.csv", [])
    figures, summary = scored(gold, none)
    assert ((figures["tp"], figures["fp"], figures["fn"]), summary.found.absent) == ((0, 0, 1), 1)
    with pytest.raises(DataError, match="the table has no rows"):
        scored(none, gold)
    (tmp_path / "empty.csv").write_text("")
    with pytest.raises(DataError, match="the file is empty"):
        scored(gold, tmp_path / "empty.csv")


def test_values_of_a_table_are_distinct(tmp_path: Path) -> None:
    path = table(tmp_path / "a.csv", [["1", "b", "A"], ["1", "a", "A"], ["1", "b", "B"]])
    (pair,) = read_pairs(path, path, needs="values")[0]
    assert mentions(pair.gold) == [("b", "A", None), ("a", "A", None)]


_ENTITIES = st.lists(st.tuples(st.integers(0, 5), st.sampled_from(["Ann", " ", "x\n", '"', "=1", "é"]), st.sampled_from("AB")), max_size=12)


@settings(few, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(_ENTITIES.filter(bool), _ENTITIES)
def test_no_mention_of_a_table_is_lost_or_made_up(
    tmp_path: Path, gold: list[tuple[int, str, str]], found: list[tuple[int, str, str]]
) -> None:
    found = [(gold[0][0], "Ann", "A"), *found]  # a document in common
    sides = table(tmp_path / "gold.parquet", gold), table(tmp_path / "found.csv", found)
    pairs, summary = read_pairs(*sides)
    for given_rows, read in ((gold, [pair.gold for pair in pairs]), (found, [pair.found for pair in pairs])):
        made = Counter((document.id, one.text, one.entity_type) for document in read for one in document.mentions)
        assert made == Counter((str(name), text, kind) for name, text, kind in given_rows)
        assert len({document.id for document in read}) == len(read) == summary.pairs
    assert summary.gold.mentions + summary.found.mentions == len(gold) + len(found)
