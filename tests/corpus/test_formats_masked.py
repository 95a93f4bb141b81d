"""Masked JSONL: what stands in each variant, that spans are exact, and that what could not be replaced is told."""

from __future__ import annotations

import json
import random
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from record_strategies import records

from piiloom.corpus.formats.base import ReadableFormat, ReadOptions, ReadTally, WriteOptions
from piiloom.corpus.formats.capid import CapidFormat
from piiloom.corpus.formats.masked import LEFT_IN_QUESTION, NOT_REDRAWN, WRONG_ARTICLE, MaskedFormat
from piiloom.corpus.formats.registry import get_format
from piiloom.corpus.record import Record, Relevance, Span
from piiloom.foundation.articles import article
from piiloom.foundation.seeding import secret_key
from piiloom.taxonomy.entity_types import shipped_taxonomy
from tests.shared_files import shared

VARIANTS = ("masked", "typed", "relevance_aware", "surrogates")
REAL = shared("data/capid")


def record_of(context: str, *values: tuple[str, str, Relevance | None], record_id: str = "r1", **changes: Any) -> Record:
    """A record with a span at every mention of the (text, type, relevance) *values*, which stand in *context* in this order."""
    spans, at = [], 0
    for number, (text, entity_type, relevance) in enumerate(values):
        start = context.index(text, at)
        at = start + len(text)
        spans.append(Span(id=f"s{number}", start=start, end=at, entity_type=entity_type, relevance=relevance))
    return Record(id=record_id, context=context, spans=tuple(spans), **changes)


def export(path: Path, *items: Record) -> tuple[list[dict[str, Any]], list[tuple[str, str | None, str]]]:
    report = MaskedFormat().write(iter(items), path, WriteOptions(key=secret_key(7), taxonomy=shipped_taxonomy()))
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]
    return rows, [(entry.record_id, entry.value, entry.reason) for entry in report.entries]


def test_no_guess_of_a_value_is_proved_by_its_surrogate(tmp_path: Path) -> None:
    def told(name: str, seed: int | None = None) -> str:
        record = record_of(f"{name} has called.", (name, "name", "low"))
        MaskedFormat().write([record], tmp_path / "a.jsonl", WriteOptions(key=secret_key(seed), taxonomy=shipped_taxonomy()))
        return str(json.loads((tmp_path / "a.jsonl").read_text(encoding="utf-8"))["surrogates"]["spans"][0]["text"])

    guesses = ("Olena", "Ruth", "Ingrid", "Maria", "Susanne", "Fatima", "Anneke", "Rosa", "Helga", "Judith")
    for known in (False, True):  # with a known seed, each guess but the right one gives another name
        published = [told("Ruth", seed if known else None) for seed in range(12)]
        proved = [guess for guess in guesses if all(told(guess, seed) == one for seed, one in enumerate(published))]
        assert proved == (["Ruth"] if known else [])


TEXT = "Olena is an engineer with asthma. Olena, 34, wrote: “asthma”."
VALUES: tuple[tuple[str, str, Relevance | None], ...] = (
    ("Olena", "name", "low"),
    ("engineer", "occupation", "low"),
    ("asthma", "health", "high"),
    ("Olena", "name", "low"),
    ("34", "age", "low"),
    ("asthma", "health", "high"),
)


def test_each_variant_has_its_text_and_spans(tmp_path: Path) -> None:
    (row,), lost = export(tmp_path / "a.jsonl", record_of(TEXT, *VALUES, question="Can Olena work with asthma?"))
    assert lost == []
    assert list(row) == ["id", "locale", "question", "text", "spans", *VARIANTS]
    assert (row["id"], row["locale"], row["text"]) == ("r1", "en_US", TEXT)
    assert row["masked"]["text"] == "[MASKED] is an [MASKED] with [MASKED]. [MASKED], [MASKED], wrote: “[MASKED]”."
    assert row["typed"]["text"] == "[NAME_1] is an [OCCUPATION_1] with [HEALTH_1]. [NAME_1], [AGE_1], wrote: “[HEALTH_1]”."
    assert row["relevance_aware"]["text"] == "[NAME_1] is an [OCCUPATION_1] with asthma. [NAME_1], [AGE_1], wrote: “asthma”."
    assert row["masked"]["question"] == "Can [MASKED] work with [MASKED]?"
    assert row["relevance_aware"]["question"] == "Can [NAME_1] work with asthma?"
    new = [span["text"] for span in row["surrogates"]["spans"]]
    assert (new[0], new[2]) == (new[3], new[5])
    assert not {"Olena", "engineer", "asthma", "34"} & set(new)
    assert row["surrogates"]["question"] == f"Can {new[0]} work with {new[2]}?"
    assert row["surrogates"]["text"] == f"{new[0]} is an {new[1]} with {new[2]}. {new[0]}, {new[4]}, wrote: “{new[2]}”."
    for variant in VARIANTS:
        assert [(span["type"], span["relevance"]) for span in row[variant]["spans"]] == [(kind, rel) for _, kind, rel in VALUES]


def test_numbers_are_by_type_and_value_and_types_of_several_words_are_one_name(tmp_path: Path) -> None:
    values: tuple[tuple[str, str, Relevance | None], ...] = (
        ("Ann", "name", "low"),
        ("Bo", "name", "low"),
        ("gay", "sexual orientation", "low"),
        ("Ann", "age", "low"),
    )
    (row,), _ = export(tmp_path / "a.jsonl", record_of("Ann, Bo, gay, Ann", *values))
    assert row["typed"]["text"] == "[NAME_1], [NAME_2], [SEXUAL_ORIENTATION_1], [AGE_1]"


def test_records_without_relevance_have_no_relevance_aware_variant(tmp_path: Path) -> None:
    judged = record_of("Ann, Bo", ("Ann", "name", "high"), ("Bo", "name", None), record_id="a")
    unjudged = record_of("Ann, Bo", ("Ann", "name", None), record_id="b")
    empty = Record(id="c", context="nothing")
    rows, _ = export(tmp_path / "a.jsonl", judged, unjudged, empty)
    assert rows[0]["relevance_aware"]["text"] == "Ann, [NAME_2]"
    assert rows[1]["relevance_aware"] is None
    assert rows[2]["relevance_aware"] == {"text": "nothing", "question": None, "spans": []}


def test_the_records_of_a_contrast_group_have_the_same_surrogates(tmp_path: Path) -> None:
    one = record_of(TEXT, *VALUES, question="May she work?", group_keys=("text:7",))
    flipped = tuple(replace(span, relevance="low") for span in one.spans)
    other = replace(one, id="r2", question="How old is Olena?", spans=flipped)
    alone = replace(one, id="r3", group_keys=())
    (first, second, third), _ = export(tmp_path / "a.jsonl", one, other, alone)
    assert first["surrogates"]["text"] == second["surrogates"]["text"] != third["surrogates"]["text"]


def test_what_cannot_be_redrawn_is_its_placeholder_and_told(tmp_path: Path) -> None:
    (row,), lost = export(tmp_path / "a.jsonl", record_of("I, 李雷, am here", ("李雷", "name", "low")))
    assert row["surrogates"]["text"] == "I, [NAME_1], am here"
    assert lost == [("r1", "李雷", NOT_REDRAWN)]
    assert "value_id" in MaskedFormat().write([], tmp_path / "b.jsonl", WriteOptions(taxonomy=shipped_taxonomy())).fields


def test_an_article_is_fitted_or_told(tmp_path: Path) -> None:
    items = [record_of("She is an 8 in a year", ("8", "age", "low"), record_id=str(n)) for n in range(6)]
    rows, lost = export(tmp_path / "a.jsonl", *items)
    assert all(article(row["surrogates"]["spans"][0]["text"]) == "an" for row in rows)
    assert lost == []
    # The letter stays, and its name begins with a vowel sound.
    (row,), lost = export(tmp_path / "b.jsonl", record_of("I hold a R479180", ("R479180", "code", "low")))
    assert row["surrogates"]["text"].startswith("I hold a R")
    assert lost == [("r1", "R479180", WRONG_ARTICLE)]


@pytest.mark.parametrize(
    ("question", "masked", "left"),
    [
        ("Is Alex in Alexandria?", "Is [MASKED] in Alexandria?", True),
        ("Is ALEX here?", "Is ALEX here?", True),
        ("Alex's?", "[MASKED]'s?", False),
        ("Who?", "Who?", False),
    ],
)
def test_a_value_in_the_question_is_replaced_as_a_whole_word_or_told(question: str, masked: str, left: bool, tmp_path: Path) -> None:
    (row,), lost = export(tmp_path / "a.jsonl", record_of("Alex left.", ("Alex", "name", "low"), question=question))
    assert row["masked"]["question"] == masked
    assert lost == ([("r1", "Alex", LEFT_IN_QUESTION)] if left else [])


def check(row: dict[str, Any], record: Record, lost: list[tuple[str, str | None, str]]) -> None:
    assert row["text"] == record.context
    for variant in ("spans", *VARIANTS):
        held = row if variant == "spans" else row[variant]
        if held is None:
            continue
        at = 0
        for span, old in zip(held["spans"], record.spans, strict=True):
            assert held["text"][span["start"] : span["end"]] == span["text"] != ""
            assert span["start"] >= at
            at = span["end"]
            assert (span["type"], span["relevance"]) == (old.entity_type, old.relevance)
    unlike = {span["text"] for span in row["surrogates"]["spans"]} & {span.text_in(record.context) for span in record.spans}
    assert unlike <= {span["text"] for span in row["typed"]["spans"]}
    told = {value for _, value, reason in lost if reason == NOT_REDRAWN}
    kept = [s for s, t in zip(row["surrogates"]["spans"], row["typed"]["spans"], strict=True) if s["text"] == t["text"]]
    assert len(kept) >= len(told)
    assert bool(kept) == bool(told)


@pytest.mark.long
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(records())
def test_any_record_has_exact_spans_in_all_variants_and_the_same_bytes_again(tmp_path: Path, record: Record) -> None:
    (row,), lost = export(tmp_path / "a.jsonl", record)
    check(row, record, lost)
    export(tmp_path / "b.jsonl", record)
    assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "b.jsonl").read_bytes()


def test_a_text_of_a_megabyte(tmp_path: Path) -> None:
    context = "Ann is 34. 👩‍🚀 " * 80_000
    record = record_of(context, ("Ann", "name", "low"), ("34", "age", "high"))
    start = time.process_time()
    (row,), lost = export(tmp_path / "a.jsonl", record)
    assert time.process_time() - start < 10
    check(row, record, lost)


@pytest.mark.long
def test_real_records_in_all_variants(tmp_path: Path) -> None:
    rows = CapidFormat().read(REAL / "validated_sample.jsonl", ReadOptions(skip_values=True, taxonomy=shipped_taxonomy()), ReadTally())
    items = random.Random(1).sample([row for row in rows if isinstance(row, Record)], 60)
    written, lost = export(tmp_path / "a.jsonl", *items)
    for row, record in zip(written, items, strict=True):
        check(row, record, [entry for entry in lost if entry[0] == record.id])


def test_it_is_a_format_that_cannot_be_read() -> None:
    assert isinstance(get_format("masked"), MaskedFormat)
    assert not isinstance(get_format("masked"), ReadableFormat)
