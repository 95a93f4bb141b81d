"""``piiloom records``: lines, texts, one record, and searches."""

from __future__ import annotations

import json

import pytest
from rich.console import Console

from piiloom.cli import records as records_view
from piiloom.corpus.record import Record, Span
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.records import add_records


def listed(cli, store, *words):
    outcome = cli("records", *(words or ("list",)), "--store", store, "--json")
    assert outcome.code == 0, outcome.err
    return [json.loads(line) for line in outcome.out.splitlines()]


def test_a_line_a_record(cli, filled):
    outcome = cli("records", "list", "--limit", 5, "--store", filled)
    lines = outcome.out.splitlines()
    found = listed(cli, filled)
    assert lines[0].split()[:2] == ["id", "from"]
    assert [line.split()[0] for line in lines[1:]] == [record["id"] for record in found[:5]]
    assert all("health+occupation" in line for line in lines[1:])
    assert outcome.err == "1 to 5 of 12; --offset 5 goes on, --limit 0 prints all\n"


def test_json_is_native_rows_with_their_place(cli, filled):
    found = listed(cli, filled)
    assert len(found) == 12
    for place, record in enumerate(found):
        assert (record["plan_index"], record["status"]) == (place, "generated")
        assert all(span["text"] == record["context"][span["start"] : span["end"]] for span in record["spans"])
    part = cli("records", "list", "--offset", 3, "--limit", 1, "--store", filled, "--json")
    assert [json.loads(line) for line in part.out.splitlines()] == found[3:4]
    assert part.err == "4 of 12; --offset 4 goes on, --limit 0 prints all\n"


def test_filters_combine(cli, released):
    every = listed(cli, released)
    wanted = [record["id"] for record in every if any(span["type"] == "health" and span["relevance"] == "low" for span in record["spans"])]
    found = listed(cli, released, "list", "--only-types", "health", "--relevance", "low", "--pair", "occupation+health", "--release", "v1")
    assert [record["id"] for record in found] == wanted
    several = listed(cli, released, "list", "--only-types", "code, finance")
    assert several == [record for record in every if {"code", "finance"} & {span["type"] for span in record["spans"]}] != []
    asked = ("--run", "last", "--status", "generated", "--locale", "en_US", "--split", "train", "--release", "v1")
    assert listed(cli, released, "list", *asked) == every
    assert listed(cli, released, "list", "--pair", "age+belief") == []


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--only-types", "health,helth"), "health"),
        (("--status", "good"), "generated"),
        (("--locale", "de_DE"), "en_US"),
        (("--release", "v9"), "v1"),
        (("--release", "v1", "--split", "test"), "train"),
        (("--split", "test"), "--release"),
        (("--pair", "health"), "health+occupation"),
        (("--pair", "a+b+c"), "health+occupation"),
        (("--run", "r9"), "r0001-"),
        (("--relevance", "medium"), "high"),
        (("--limit", "-1"), "--limit"),
    ],
)
def test_a_slip_of_the_pen_is_no_empty_list(cli, released, words, says):
    outcome = cli("records", "list", *words, "--store", released)
    assert outcome.code in {1, 2}
    assert says in outcome.error_line()
    assert outcome.out == ""


def test_searches_print_marked_texts(cli, filled):
    record = listed(cli, filled)[0]
    value = record["spans"][0]
    outcome = cli("records", "search", value["text"].upper(), "--in-values", "--store", filled)
    assert f"[{value['text']}|{value['type']}, {value['relevance']}]" in outcome.out
    assert record["id"] in outcome.out
    found = listed(cli, filled, "search", value["text"].upper(), "--in-values", "--only-types", value["type"])
    assert record["id"] in [one["id"] for one in found]
    nothing = cli("records", "search", "no such words", "--store", filled)
    assert (nothing.code, nothing.out) == (0, "no record matches\n")
    assert cli("records", "search", "", "--store", filled).code == 2


def test_one_record_in_full(cli, released):
    record = listed(cli, released)[2]
    by_id, by_place = (cli("records", "show", name, "--store", released) for name in (record["id"][:8], "last:2"))
    assert by_id.out == by_place.out
    assert record["id"] in by_id.out
    for span in record["spans"]:
        assert f"[{span['text']}|{span['type']}, {span['relevance']}]" in by_id.out
        assert f"{span['start']}-{span['end']}" in by_id.out
    assert record["question"] in by_id.out
    assert "release   v1: train" in by_id.out
    shown = json.loads(cli("records", "show", record["id"], "--store", released, "--json").out)
    assert shown["record"] == record
    assert shown["releases"] == [{"name": "v1", "split": "train", "revision": 0}]


@pytest.mark.parametrize(
    ("name", "code", "says"),
    [("abc", 2, "too short"), ("abcdefgh", 1, "no record"), ("last:999", 1, "piiloom trace"), ("r9:1", 1, "r0001-")],
)
def test_a_record_that_is_not_there(cli, filled, name, code, says):
    outcome = cli("records", "show", name, "--store", filled)
    assert outcome.code == code
    assert says in outcome.error_line()


def test_texts_reach_the_terminal_as_texts(cli, store_path):
    context = "a\x1b[31m red [bold]x[/bold] :smile: line\nbreak"
    span = Span(id="s1", start=7, end=10, entity_type="my own", relevance="low")
    with Store.open(store_path) as store:
        add_records(store, None, [(None, Record(id="x" * 24, context=context, spans=(span,)))], status="imported")
        add_records(store, None, [(None, Record(id="x" * 23 + "y", context=context))], status="imported")
    for words in (("list",), ("list", "--texts"), ("search", "RED"), ("show", "x" * 24)):
        out = cli("records", *words, "--store", store_path).out
        assert "\x1b" not in out
        assert "[bold]" in out
        assert ":smile:" in out
        assert "import" in out
    ambiguous = cli("records", "show", "xxxxxx", "--store", store_path)
    assert ambiguous.code == 2
    assert "several" in ambiguous.error_line()


def test_on_a_terminal_spans_are_coloured_and_what_was_looked_for_stands_out(cli, filled, monkeypatch):
    record = listed(cli, filled)[0]
    high = next(span for span in record["spans"] if span["relevance"] == "high")
    monkeypatch.setattr(records_view, "console", lambda: Console(force_terminal=True, color_system="256", width=200, markup=False))
    out = cli("records", "search", high["text"], "--in-values", "--limit", 1, "--store", filled).out
    assert "\x1b[1;7;" in out or "\x1b[1;7;21" in out  # bold and reversed: of high relevance
    assert f"[{high['text']}|" not in out
    assert "low relevance" in out.splitlines()[-1]
    assert high["type"] in out.splitlines()[-1]
