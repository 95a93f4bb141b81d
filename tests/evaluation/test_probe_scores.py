"""The probe's figures, intervals, scores by type and errors, on a case that can be counted by hand."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from piiloom.evaluation.probe.data import ProbeRecord
from piiloom.evaluation.probe.scores import TestedRecord, count_table, error_rows, record_intervals, type_scores
from piiloom.tagging.model import FoundSpan, GoldSpan
from tests.longer import case_by_case

TEXT = "Ann, 40, a nurse from Oslo, met Bob."


def gold(start, end, entity_type, relevance="high"):
    return GoldSpan(start=start, end=end, entity_type=entity_type, relevance=relevance)


def compare(record, found, judged):
    return TestedRecord(record=record, found=tuple(found), judged=tuple(judged))


def kinds(*tested):
    return [row["kind"] for row in error_rows("test.jsonl", tested)]


def record(*spans, line=1):
    return ProbeRecord(line=line, context=TEXT, question="", spans=spans)


# Exact; right extent but wrong type; right type but wrong extent; missed. And one that is spurious.
MIXED = compare(
    record(gold(0, 3, "name"), gold(5, 7, "age", "low"), gold(11, 16, "occupation", "low"), gold(22, 26, "location", None), line=4),
    [FoundSpan(0, 3, "name"), FoundSpan(5, 7, "code"), FoundSpan(9, 16, "occupation"), FoundSpan(32, 35, "name")],
    [("high", "high"), ("low", "high"), ("low", "low")],
)
PERFECT = compare(record(gold(0, 3, "name")), [FoundSpan(0, 3, "name")], [("high", "high")])
NOTHING = compare(record(), [], [])


def test_figures_of_a_mixed_record():
    found = SimpleNamespace(**count_table([MIXED]).overall())
    assert found.span_f1_exact == 2 * 2 / 8
    assert found.span_f1_overlap == 2 * 3 / 8
    assert found.type_acc == 2 / 3
    assert found.rel_acc == 2 / 3
    assert found.rel_balanced == (1 / 1 + 1 / 2) / 2


def test_nothing_to_count_gives_zero():
    assert set(count_table([NOTHING]).overall().values()) == {0.0}


def test_one_found_span_answers_one_gold_span():
    both = compare(record(gold(0, 3, "name"), gold(5, 7, "age")), [FoundSpan(0, 7, "age")], [])
    assert both.pairs == [(0, 0)]
    split = compare(record(gold(0, 7, "name")), [FoundSpan(0, 3, "name"), FoundSpan(5, 7, "name")], [])
    assert split.pairs == [(0, 0)]
    assert kinds(split) == ["wrong_extent", "spurious"]


def test_errors_are_told_apart_in_text_order():
    assert kinds(MIXED) == ["wrong_type", "wrong_extent", "missed", "spurious"]
    rows = list(error_rows("test.jsonl", [PERFECT, MIXED]))
    assert {(row["file"], row["record"], row["line"]) for row in rows} == {("test.jsonl", 2, 4)}
    assert rows[1]["gold"] == {"start": 11, "end": 16, "type": "occupation", "text": "nurse"}
    assert rows[1]["predicted"] == {"start": 9, "end": 16, "type": "occupation", "text": "a nurse"}
    assert (rows[2]["predicted"], rows[3]["gold"]) == (None, None)


def test_scores_by_type_add_up_to_the_figures():
    scores = {score.pop("type"): score for score in type_scores(count_table([MIXED, PERFECT]))}
    assert list(scores) == ["name", "age", "location", "occupation", "code"]
    assert [*scores["name"].values()] == [2, 3, 1.0, 2 / 3, 1.0, 2 / 3, 1.0]
    # An age that was found as a code was found: only the type is wrong.
    shares = {"exact_recall": 1.0, "exact_precision": None, "overlap_recall": 1.0, "overlap_precision": None, "type_acc": 0.0}
    assert scores["age"] == {"gold": 1, "found": 0} | shares
    assert scores["code"]["overlap_precision"] == 1.0
    assert scores["location"]["type_acc"] is None
    total = SimpleNamespace(**count_table([MIXED, PERFECT]).overall())
    exact, spans = (
        sum(s["gold"] * s["exact_recall"] for s in scores.values() if s["gold"]),
        sum(s["gold"] + s["found"] for s in scores.values()),
    )
    assert total.span_f1_exact == 2 * exact / spans
    assert sum(s["found"] * s["exact_precision"] for s in scores.values() if s["found"]) == exact


def test_intervals_hold_the_figure_and_narrow_with_the_number_of_records():
    few, many = count_table([MIXED, PERFECT] * 10), count_table([MIXED, PERFECT] * 200)
    wide, narrow = record_intervals(few, seed=7), record_intervals(many, seed=7)
    assert set(wide) == set(narrow) == {"span_f1_exact", "span_f1_overlap", "rel_balanced"}
    for name in ("span_f1_exact", "span_f1_overlap"):
        value = few.overall()[name]
        assert wide[name].low < narrow[name].low < value < narrow[name].high < wide[name].high
        # With 20 times the records the interval is √20 times narrower, give or take.
        assert 3 < (wide[name].high - wide[name].low) / (narrow[name].high - narrow[name].low) < 7


def test_intervals_are_those_of_their_seed():
    table = count_table([MIXED, PERFECT, NOTHING] * 5)
    assert record_intervals(table, seed=1) == record_intervals(table, seed=1) != record_intervals(table, seed=2)


@case_by_case("only", [MIXED, PERFECT, NOTHING])
def test_records_that_are_all_alike_leave_no_doubt(only):
    table = count_table([only] * 3)
    values = table.overall()
    assert all(interval.low == pytest.approx(values[name]) == interval.high for name, interval in record_intervals(table, seed=7).items())
