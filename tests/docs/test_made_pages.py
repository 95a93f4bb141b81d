"""What is made from the code is as the code is today, and what the pages say beside it holds."""

from __future__ import annotations

import json
import re
import tomllib

import duckdb
import pytest
import yaml

import piiloom
from docs.making import schema_page
from docs.making.pages import MADE
from docs.making.picture import COLUMNS, demo_records, pieces
from docs.making.schema_page import check_complete, tables_of_a_fresh_store
from piiloom.corpus.record import Record, Span
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.records import iter_records
from tests.docs.pages import ROOT


@pytest.mark.long
@pytest.mark.parametrize("name", MADE)
def test_the_file_is_what_the_code_gives_today(name):
    assert (ROOT / name).read_text(encoding="utf-8") == MADE[name](), "python -m docs.making writes it anew"


@pytest.mark.long
def test_the_readme_shows_a_record_of_the_demo():
    (example,) = re.findall(r"```json\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    record = demo_records()[0]
    assert json.loads(example) == {
        "context": record.context,
        "question": record.question,
        "spans": [
            {"start": s.start, "end": s.end, "text": s.text_in(record.context), "type": s.entity_type, "relevance": s.relevance}
            for s in record.spans
        ],
    }


@pytest.mark.long
def test_what_is_high_for_one_question_of_the_picture_is_low_for_the_other():
    one, other = demo_records()
    assert one.context == other.context
    assert all(first.relevance != second.relevance for first, second in zip(one.spans, other.spans, strict=True))


def test_the_demo_of_the_picture_is_that_of_the_makefile():
    assert "generate --samples 200 --seed 7 --store outputs/demo/" in (ROOT / "Makefile").read_text(encoding="utf-8")


def test_pieces_of_a_picture_are_the_text_in_lines_that_fit():
    context = "one two three four " * 12 + "end"
    record = Record(id="r", context=context, spans=(Span(id="s1", start=4, end=13, entity_type="age", relevance="high"),))
    found = list(pieces(record))
    lines = ["".join(piece.text for piece in found if piece.line == number) for number in range(found[-1].line + 1)]
    assert " ".join(line.strip() for line in lines) == context
    assert all(len(line.rstrip()) <= COLUMNS for line in lines)
    assert [piece.text for piece in found if piece.relevance] == ["two three"]


def test_a_table_or_column_without_a_meaning_is_refused():
    groups = yaml.safe_load(schema_page.MEANINGS.read_text(encoding="utf-8"))["groups"]
    tables = tables_of_a_fresh_store()
    check_complete(tables, groups)
    with pytest.raises(ValueError, match=r"lacks \['spans.colour'\]"):
        check_complete({**tables, "spans": [*tables["spans"], ("colour", "VARCHAR", True, False)]}, groups)
    with pytest.raises(ValueError, match=r"no such columns: \['spans.subject'"):
        check_complete({**tables, "spans": tables["spans"][:-1]}, groups)


def test_the_query_of_the_page_on_tables_finds_spans(tmp_path):
    (query,) = re.findall(r"```sql\n(.*?)```", (ROOT / "docs" / "schema.md").read_text(encoding="utf-8"), re.DOTALL)
    path = tmp_path / "some.duckdb"
    piiloom.generate(samples=12, seed=7, pairs="health+occupation", store=path)
    with duckdb.connect(str(path), read_only=True) as connection:
        found = {(question, text) for question, kind, _, text in connection.execute(query).fetchall() if kind == "health"}
    with Store.open(path, create=False) as store:
        wanted = {(r.question, s.text_in(r.context)) for r in iter_records(store) for s in r.spans if s.entity_type == "health"}
    assert found == wanted != set()


def test_the_page_on_installing_names_every_extra():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    page = (ROOT / "docs" / "install.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)) == sorted(extras)
