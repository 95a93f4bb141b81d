"""Alpaca and chat JSONL: lists of mentions that are placed again, and a loss report that names whatever does not come back."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st
from record_strategies import records, texts
from training_rows import assert_equal_but_for_the_named, bare, export, read, record_of, rows_of, shared_records

from piiloom.corpus.formats import capid
from piiloom.corpus.formats import instruction_tuning as losses
from piiloom.corpus.formats.base import Json, ReadableFormat, ReadOptions, ReadTally, RowReject, WriteOptions, read_records
from piiloom.corpus.formats.capid import CapidAlpacaFormat
from piiloom.corpus.formats.instruction_tuning import (
    UNKNOWN_TYPE,
    AlpacaFormat,
    ChatFormat,
    message,
    message_parts,
    values_message,
    values_message_parts,
)
from piiloom.corpus.record import Record, Span
from piiloom.taxonomy.entity_types import shipped_taxonomy
from tests.longer import mostly_long

ALPACA, CHAT, CAPID = AlpacaFormat(), ChatFormat(), CapidAlpacaFormat()
TWO = record_of("In Ohio my asthma got worse.", ("Ohio", "location", "low"), ("asthma", "health", "high"), question="Is it the air?")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "rows.jsonl"


def alpaca(text: str, *mentions: object) -> Json:
    return {"instruction": "Find PII.", "input": text, "output": json.dumps(mentions)}


def one(value: str, kind: str, relevance: str | None = None) -> Json:
    return {"value": value, "type": kind, "relevance": relevance}


def test_the_row_asks_with_question_and_text_and_answers_in_text_order(file: Path) -> None:
    report = ALPACA.write([TWO], file, WriteOptions(taxonomy=shipped_taxonomy()))
    (row,) = rows_of(file)
    assert list(row) == ["instruction", "input", "output"]
    assert row["input"] == "Question: Is it the air?\nText:\nIn Ohio my asthma got worse."
    assert json.loads(str(row["output"])) == [one("Ohio", "location", "low"), one("asthma", "health", "high")]
    assert '"high" if a good answer to the question' in str(row["instruction"])
    assert "- sexual orientation: Whom a person is attracted to" in str(row["instruction"])
    assert report.entries == ()
    assert {"id", "locale", "subject", "provenance"} <= set(report.fields)


def test_the_chat_has_the_same_texts_as_messages(file: Path) -> None:
    ALPACA.write([TWO], file, WriteOptions(taxonomy=shipped_taxonomy()))
    (texts_of,) = rows_of(file)
    CHAT.write([TWO], file, WriteOptions(taxonomy=shipped_taxonomy()))
    roles = ("system", "user", "assistant")
    assert rows_of(file) == [{"messages": [{"role": r, "content": c} for r, c in zip(roles, texts_of.values(), strict=True)]}]


def test_without_a_question_nothing_is_said_of_relevance(file: Path) -> None:
    losses_of = export(ALPACA, file, replace(TWO, question=None))
    (row,) = rows_of(file)
    assert row["input"] == "Text:\nIn Ohio my asthma got worse."
    assert json.loads(str(row["output"])) == [{"value": "Ohio", "type": "location"}, {"value": "asthma", "type": "health"}]
    assert "relevance" not in str(row["instruction"])
    assert losses_of == [("r1", "Ohio", losses.NO_QUESTION), ("r1", "asthma", losses.NO_QUESTION)]


@given(texts, st.one_of(st.none(), texts, texts.map('"{}'.format), st.just("Text:\n"), st.just("\nText:\nx")))
@example("Question: a\nText:\nb", None)
@example("Text:\nb", "a\nText:\nc")
@example("b", '"a"')
@example("b", r'"\ud800"')
@example("b\nQuestion: c", "")
def test_the_layout_of_any_question_and_text_is_unambiguous(context: str, question: str | None) -> None:
    assert message_parts(message(context, question)) == (context, question)
    assert values_message_parts(values_message(context, question)) == (context, question)


@pytest.mark.parametrize("text", ["Just a text", "Question: and no text", "Question: a\nText: b", 'Question: "\\ud800"\nNo text'])
def test_a_message_in_another_layout_is_a_text(text: str) -> None:
    assert message_parts(text) == (text, None)


def test_a_question_that_escapes_half_of_a_character_stays_as_it_stands() -> None:
    assert message_parts('Question: "\\ud800"\nText:\nb') == ("b", '"\\ud800"')


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        (record_of("flu and flu", ("flu", "health", "low"), ("flu", "health", "high")), []),
        (record_of("flu and flu", ("flu", "health", "low")), []),
        (record_of("flu and flu", (" and …flu", "health", "low")), [("flu", losses.ELSEWHERE)]),
        (record_of("Ann, influx, Bo", ("Ann", "name", "low"), ("in…flu", "health", "low")), [("flu", losses.NOT_WHOLE)]),
        (record_of("influx flu", ("in…flu", "health", "low")), [("flu", losses.ELSEWHERE)]),
        (record_of("a b", (" ", "code", "low")), [(" ", losses.BLANK)]),
        (record_of("flu", ("flu", "pet", "low")), [("flu", UNKNOWN_TYPE)]),
        (record_of("May in May", ("May", "name", "low"), ("May", "datetime", "high")), []),
        (record_of("Ann Lee saw Lee", ("Ann …Lee", "name", "low"), ("Lee", "name", "low")), []),
        (record_of("flu", ("flu", "health", None)), []),
        (record_of("flu Bo", ("flu", "health", None), ("Bo", "name", "low")), []),
    ],
)
def test_what_does_not_come_back_is_in_the_loss_report(file: Path, record: Record, expected: list[tuple[str, str]]) -> None:
    assert [(value, why) for _, value, why in export(ALPACA, file, record)] == expected
    (back,) = ALPACA.read(file, ReadOptions(taxonomy=shipped_taxonomy()), ReadTally())
    assert (isinstance(back, Record) and bare(back) == bare(record)) == (not expected)


@pytest.mark.long
@pytest.mark.parametrize("file_format", mostly_long([ALPACA, CHAT], quick=[ALPACA]), ids=lambda each: each.name)
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(record=records())
def test_a_record_comes_back_or_is_named(record: Record, file_format: ReadableFormat, tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    assume(record.context.strip())
    named = export(file_format, path, record)
    (back,) = file_format.read(path, ReadOptions(taxonomy=shipped_taxonomy()), ReadTally())
    assert (isinstance(back, Record) and bare(back) == bare(record)) == (not named)


# Losses of a record that comes back.
_COMES_BACK = {capid.REPEATED, capid.OWN_TYPE}


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(record=records())
def test_the_form_of_capid_brings_a_record_back_or_names_it(record: Record, tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    assume(record.context.strip())
    named = {why for _, _, why in export(CAPID, path, record)} - _COMES_BACK
    (back,) = CAPID.read(path, ReadOptions(taxonomy=shipped_taxonomy()), ReadTally())
    assert (isinstance(back, Record) and bare(back) == bare(record)) == (not named)


def test_the_form_of_capid_names_each_value_once_and_the_loss_report_names_the_rest(file: Path) -> None:
    assert export(CAPID, file, TWO) == []
    (row,) = rows_of(file)
    assert row["input"] == "Text: In Ohio my asthma got worse.\nQuestion: Is it the air?"
    assert row["output"] == '{"Ohio": {"type": "location", "relevance": "0"}, "asthma": {"type": "health", "relevance": "1"}}'
    assert "- " not in str(row["instruction"]), "the types have no definitions"
    table = [
        (record_of("flu and flu", ("flu", "health", "low"), ("flu", "health", "low")), [("flu", capid.REPEATED)]),
        (
            record_of("May in May", ("May", "name", "low"), ("May", "datetime", "high")),
            [("May", capid.DISAGREE), ("May", capid.REPEATED)],
        ),
        (record_of("flu and flu", ("flu", "health", "low")), [("flu", capid.UNMARKED)]),
        (record_of("influx", ("in…flu", "health", "low")), [("flu", capid.NOT_WHOLE)]),
        (record_of("a flu", ("flu", "health", None), question=None), [("flu", capid.NO_RELEVANCE)]),
    ]
    for record, expected in table:
        assert [(value, why) for _, value, why in export(CAPID, file, record)] == expected, record.context


def test_rows_of_others_in_the_form_of_capid(file: Path) -> None:
    def row(answer: str, asked: str = "Text: Dana manages sixteen pages.\nQuestion: Who?") -> Json:
        return {"instruction": "Find PII.", "input": asked, "output": answer}

    def refusal(*given: str) -> str:
        (found,) = read(CAPID, file, row(*given))
        assert isinstance(found, RowReject)
        return found.reason

    (record,) = read(CAPID, file, row('{"Dana": {"type": "Person", "relevance": 1}}'))
    assert isinstance(record, Record)
    assert bare(record) == ("Dana manages sixteen pages.", "Who?", [(0, 4, "name", "high")])
    dana = '{"type": "name", "relevance": "0"}'
    assert refusal("Dana is a name.") == "output: not valid JSON (column 1)"
    assert refusal(f'{{"Dana": {dana}, "Dana": {dana}}}') == "output: an object uses the same key twice"
    assert refusal('{"Dana": "name"}').startswith('output["Dana"]: not a value with a type')
    assert refusal(f'{{"Bob": {dana}, "age": {dana}}}') == '"Bob" is not in the context; "age" stands only inside a longer word'
    assert refusal("{}", "Dana manages.").startswith("input: not a line that begins with Text:")
    tally = ReadTally()
    options = ReadOptions(taxonomy=shipped_taxonomy(), skip_values=True)
    (kept,) = read(CAPID, file, row(f'{{"Bob": {dana}, "Dana": {dana}}}'), options=options, tally=tally)
    assert isinstance(kept, Record)
    assert kept.source is not None
    assert ([one.text for one in kept.source.lost], tally.missing, tally.values) == (["Bob"], 1, 2)


def test_a_text_of_a_megabyte_comes_back(file: Path) -> None:
    words = [f"Person{number} has {number} cats." for number in range(40_000)]
    context = " ".join(words)
    starts = [sum(len(word) + 1 for word in words[:number]) for number in (0, 9, 39_999)]
    spans = tuple(Span(id=f"s{start}", start=start, end=context.index(" ", start), entity_type="name", relevance="low") for start in starts)
    record = Record(id="r1", context=context, question="Who?", spans=spans)
    assert export(ALPACA, file, record) == []
    assert [bare(back) for back in read_records(ALPACA, file, options=ReadOptions(taxonomy=shipped_taxonomy(), blank_contexts=True))] == [
        bare(record)
    ]


def test_files_of_others_are_read_and_the_whole_input_is_the_text(file: Path) -> None:
    tally = ReadTally()
    row = {**alpaca("Ann and Bo met Ann.", {**one("Ann", "Person"), "score": 1}, one("Ann", "name", "high")), "source": "x"}
    (record,) = read(ALPACA, file, row, tally=tally)
    assert isinstance(record, Record)
    assert bare(record) == ("Ann and Bo met Ann.", None, [(0, 3, "name", None), (15, 18, "name", "high")])
    assert record.source is not None
    assert (record.source.file, record.source.line) == ("rows.jsonl", 1)
    assert tally.ignored_fields == {"source": 1, "mentions.score": 1}
    assert tally.mapped_types == {"Person": "name"}


def test_mentions_in_another_order_find_what_is_free(file: Path) -> None:
    (record,) = read(ALPACA, file, alpaca("Ann, Bo, Ann, Cy", one("Cy", "name"), one("Ann", "name"), one("Bo", "name"), one("Ann", "name")))
    assert isinstance(record, Record)
    assert [(s.start, s.end) for s in record.spans] == [(0, 3), (5, 7), (9, 12), (14, 16)]


@pytest.mark.parametrize(
    ("mentions", "reason"),
    [
        ([one("flu", "health")], '"flu" is not in the context'),
        ([one("age", "age")], '"age" stands only inside a longer word'),
        ([one("Dana", "name"), one("Dana", "name")], '"Dana" is listed more often than it stands in the text'),
        ([one("zoo", "name"), one("age", "age")], '"zoo" is not in the context; "age" stands only inside a longer word'),
        ([one(" ", "name")], "the answer, mention 1: an empty value"),
        ([one("Dana", "name"), one("Dana", "name", "medium")], "the answer, mention 2: relevance: "),
        ([one("Dana", "star sign")], "spans[0].type: "),
        (["Dana"], "the answer, mention 1: "),
    ],
)
def test_a_row_that_would_leave_a_value_unmarked_is_refused(file: Path, mentions: list[object], reason: str) -> None:
    (refused,) = read(ALPACA, file, alpaca("Dana manages sixteen pages.", *mentions))
    assert isinstance(refused, RowReject)
    assert refused.reason.startswith(reason)


def test_a_fault_that_comes_again_is_told_once(file: Path) -> None:
    mentions = [one("ab", "name"), one("ab", "name"), *[one("a", "name")] * 20_000]
    (refused,) = read(ALPACA, file, alpaca("ab " * 20_000, *mentions))
    assert isinstance(refused, RowReject)
    assert refused.reason == '"a" stands only inside a longer word'


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({"input": 1, "output": "[]"}, "input: not a text"),
        ({"input": "a"}, "output: not a text"),
        ({"input": "a", "output": "none"}, "the answer: not valid JSON (column 1)"),
        ({"input": "a", "output": "{}"}, "the answer: not a JSON list"),
        ({"input": "a", "output": '[{"value": "\\ud800", "type": "name"}]'}, "the answer: a text holds a lone surrogate"),
    ],
)
def test_a_malformed_alpaca_row_is_refused(file: Path, row: Json, reason: str) -> None:
    (refused,) = read(ALPACA, file, row)
    assert isinstance(refused, RowReject)
    assert refused.reason.startswith(reason)


@pytest.mark.parametrize(
    "messages",
    [
        None,
        [],
        [{"role": "assistant", "content": "[]"}],
        [{"role": "user", "content": "a"}] * 2,
        [{"role": "user", "content": "a"}, {"role": "assistant", "content": [{"type": "text", "text": "[]"}]}],
        [{"role": "user", "content": "a"}, {"role": "assistant", "content": "[]"}, {"role": "user", "content": "b"}],
    ],
)
def test_another_conversation_is_refused(file: Path, messages: object) -> None:
    (refused,) = read(CHAT, file, {"messages": messages})
    assert isinstance(refused, RowReject)
    assert refused.reason.startswith("messages: ")


def test_values_without_a_place_are_left_out_if_wanted_and_listed(file: Path) -> None:
    tally = ReadTally()
    row = alpaca("Dana manages.", one("Dana", "name"), one("age", "age"), one("flu", "Medical", "high"))
    (record,) = read(ALPACA, file, row, options=ReadOptions(skip_values=True, taxonomy=shipped_taxonomy()), tally=tally)
    assert isinstance(record, Record)
    assert [s.text_in(record.context) for s in record.spans] == ["Dana"]
    assert record.source is not None
    assert [(v.text, v.entity_type, v.relevance) for v in record.source.lost] == [("age", "age", None), ("flu", "health", "high")]
    assert (tally.values, tally.exact, tally.inside_word, tally.missing, len(tally.skipped_values)) == (3, 1, 1, 1, 2)


@pytest.mark.long
@pytest.mark.parametrize("file_format", mostly_long([ALPACA, CHAT], quick=[ALPACA]), ids=lambda each: each.name)
def test_real_data_comes_back_but_for_the_named(file_format: ReadableFormat, file: Path) -> None:
    lost = assert_equal_but_for_the_named(file_format, shared_records(), file)
    assert {why for _, _, why in lost} <= {losses.ELSEWHERE, losses.NOT_WHOLE}
    assert len({record_id for record_id, _, _ in lost}) < 10


@pytest.mark.long
def test_datasets_reads_both_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    import datasets

    ALPACA.write([TWO, replace(TWO, question=None)], tmp_path / "alpaca.jsonl", WriteOptions(taxonomy=shipped_taxonomy()))
    CHAT.write([TWO], tmp_path / "chat.jsonl", WriteOptions(taxonomy=shipped_taxonomy()))
    for name, columns in (("alpaca", ["instruction", "input", "output"]), ("chat", ["messages"])):
        loaded = datasets.load_dataset("json", data_files=str(tmp_path / f"{name}.jsonl"), split="train", cache_dir=str(tmp_path / "cache"))
        assert loaded.column_names == columns
        assert [dict(row) for row in loaded] == rows_of(tmp_path / f"{name}.jsonl")
