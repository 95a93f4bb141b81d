"""OpenAI's fine-tuning files: markers that come back exactly, rows that OpenAI's own types accept, limits that are told."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from openai.types.chat import ChatCompletionMessageParam
from pydantic import TypeAdapter
from record_strategies import records
from training_rows import assert_equal_but_for_the_named, bare, export, read, record_of, rows_of, shared_records

from piiloom.corpus.formats.base import Json, ReadOptions, ReadTally, RowReject, WriteOptions, read_records
from piiloom.corpus.formats.instruction_tuning import NO_SIGN, TOO_FEW, TOO_LONG, UNKNOWN_TYPE, OpenAIFineTuningFormat
from piiloom.corpus.markers import PRIVACYAI
from piiloom.corpus.record import Record
from piiloom.taxonomy.entity_types import shipped_taxonomy

OPENAI = OpenAIFineTuningFormat()
TWO = record_of("In Ohio my <b>asthma</b> got worse.", ("Ohio", "location", "low"), ("asthma", "health", "high"), question="The air?")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "rows.jsonl"


def chat(asked: str, answer: str) -> Json:
    return {"messages": [{"role": "user", "content": asked}, {"role": "assistant", "content": answer}]}


def test_the_assistant_gives_the_text_back_with_markers(file: Path) -> None:
    export(OPENAI, file, TWO)
    (row,) = rows_of(file)
    system, user, assistant = row["messages"]  # type: ignore[misc] # a list
    assert list(row) == ["messages"]
    assert "<type high>…</type>" in system["content"]
    assert "- sexual_orientation: " in system["content"]
    assert user == {"role": "user", "content": f"Question: The air?\nText:\n{TWO.context}"}
    marked = r"In <location low>Ohio</location> my \<b><health high>asthma</health>\</b> got worse."
    assert assistant == {"role": "assistant", "content": marked}


def test_without_a_question_the_instruction_has_no_relevance(file: Path) -> None:
    export(OPENAI, file, record_of("In Ohio", ("Ohio", "location", None), question=None))
    (row,) = rows_of(file)
    system, _, assistant = row["messages"]  # type: ignore[misc] # a list
    assert "high" not in system["content"]
    assert "question" not in system["content"]
    assert assistant["content"] == "In <location>Ohio</location>"


def test_the_rows_are_conversations_by_the_types_of_the_sdk(file: Path) -> None:
    OPENAI.write(shared_records()[:50], file, WriteOptions(taxonomy=shipped_taxonomy()))
    conversation = TypeAdapter(list[ChatCompletionMessageParam])
    for row in rows_of(file):
        assert list(row) == ["messages"]
        messages = conversation.validate_python(row["messages"])
        assert [message["role"] for message in messages] == ["system", "user", "assistant"]


@pytest.mark.long
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(record=records())
def test_any_record_comes_back_exactly(record: Record, tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    assume(record.context.strip())
    assert export(OPENAI, path, record) == []
    (back,) = read_records(OPENAI, path, options=ReadOptions(taxonomy=shipped_taxonomy(), blank_contexts=True))
    assert bare(back) == bare(record)


@pytest.mark.long
def test_shared_and_long_texts_come_back_exactly(file: Path) -> None:
    assert assert_equal_but_for_the_named(OPENAI, shared_records(), file) == []
    long = record_of("<name>" * 170_000 + "Ann", ("Ann", "name", "high"))
    assert export(OPENAI, file, long) == [("r1", None, TOO_LONG)]
    (back,) = read_records(OPENAI, file, options=ReadOptions(taxonomy=shipped_taxonomy(), blank_contexts=True))
    assert bare(back) == bare(long)


def test_what_openai_would_refuse_or_cut_is_told(file: Path) -> None:
    def reasons(count: int) -> list[str]:
        many = [replace(TWO, id=f"r{number}") for number in range(count)]
        return [entry.reason for entry in OPENAI.write(many, file, WriteOptions(taxonomy=shipped_taxonomy())).entries]

    assert reasons(9) == [TOO_FEW]
    assert reasons(0) == [TOO_FEW]
    assert reasons(10) == []


def test_a_type_that_reading_would_not_know_is_named(file: Path) -> None:
    record = record_of("Rex", ("Rex", "pet_name", "low"))
    assert export(OPENAI, file, record) == [("r1", "Rex", UNKNOWN_TYPE)]
    (refused,) = OPENAI.read(file, ReadOptions(taxonomy=shipped_taxonomy()), ReadTally())
    assert isinstance(refused, RowReject)
    assert refused.reason.startswith("spans[0].type: ")


def test_signs_come_back_and_other_spans_are_named(file: Path) -> None:
    text = "I am Dana (d@x.org, @Dana), with asthma. ###"
    record = record_of(text, ("Dana", "name", "low"), ("d@x.org", "code", "low"), ("Dana", "name", None), ("asthma", "health", "high"))
    loss = OPENAI.write([record], file, WriteOptions(taxonomy=shipped_taxonomy(), markers=PRIVACYAI))
    assert {"question", "relevance"} <= set(loss.fields)
    assert [(one.value, one.reason) for one in loss.entries] == [("asthma", NO_SIGN), (None, TOO_FEW)]
    (row,) = rows_of(file)
    system, user, assistant = row["messages"]  # type: ignore[misc] # a list
    assert "@@@value###" in system["content"]
    assert user["content"] == f"Text:\n{text}"
    assert assistant["content"] == r"I am @@@Dana### (QQQd@x.org^^^, \@@@@Dana###), with asthma. \#\#\#"
    (back,) = read_records(OPENAI, file, options=ReadOptions(taxonomy=shipped_taxonomy()))
    assert bare(back) == (text, None, [(one.start, one.end, one.entity_type, None) for one in record.spans[:3]])
    assert [one.subtype for one in back.spans] == [None, "email", None]


def test_files_of_others_are_read(file: Path) -> None:
    (record,) = read(OPENAI, file, chat("I am Ann.", "I am <Person>Ann</Person>."))
    assert isinstance(record, Record)
    assert bare(record) == ("I am Ann.", None, [(5, 8, "name", None)])


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("I am <name>Ann.", "the answer: <name> is never closed (position 5)"),
        ("I am <name>Ann</name>!", "the answer: without its markers it differs from the text at position 8"),
        ("I am <name>Ann</name>", "the answer: without its markers it differs from the text at position 8"),
        ("I am <name>Ann</name>. So!", "the answer: without its markers it differs from the text at position 9"),
        ("I am <b>Ann</b>.", "spans[0].type: "),
    ],
)
def test_an_answer_that_is_not_the_text_with_markers_is_refused(file: Path, answer: str, reason: str) -> None:
    (refused,) = read(OPENAI, file, chat("I am Ann.", answer))
    assert isinstance(refused, RowReject)
    assert refused.reason.startswith(reason)
    assert json.loads(refused.row) == chat("I am Ann.", answer)
