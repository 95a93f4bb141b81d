"""Alpha and kappa: cases done by hand, and the libraries'."""

from __future__ import annotations

import math
from collections import Counter

import krippendorff
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from project_stories import document

from piiloom.annotation_app.figures import intervals
from piiloom.annotation_app.figures.intervals import (
    RecordResampling,
    alpha_of_sums,
    character_counts,
    figure,
    krippendorff_alpha,
    ratio_formula,
    unit_sums,
    value_counts,
)
from piiloom.annotation_app.figures.spans import compared_spans, match, mention_of, spans_table
from tests.longer import case_by_case, examples


def counts_of(*people: str) -> np.ndarray:
    """Units by class from what each person said of them, a letter a unit ("." for nothing)."""
    classes = sorted({letter for said in people for letter in said} - {"."})
    return np.array([[sum(said[unit] == name for said in people) for name in classes] for unit in range(len(people[0]))], dtype=float)


# Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011), sections A (0.095) and C (0.743).
BINARY = ("abaaaaaaba", "bbbaabaaaa")
GAPS = ("123321412...", "1233224125.3", ".3332342251.", "12332441251.")


def test_the_published_example_of_two_coders() -> None:
    counts = counts_of(*BINARY)
    assert krippendorff_alpha(counts) == pytest.approx(0.095, abs=0.0005)
    # By hand: 4 of 10 units differ; 14 a and 6 b; 1 - 19 * 8 / (20 * 20 - 14 * 14 - 6 * 6)
    sums = unit_sums(counts, np.zeros(len(counts), dtype=np.int64), 1)[0]
    assert sums.tolist() == [12, 14, 6]
    assert float(alpha_of_sums(sums)) == pytest.approx(1 - 19 * 8 / (400 - 196 - 36))


def test_the_published_example_of_four_observers_with_gaps() -> None:
    assert krippendorff_alpha(counts_of(*GAPS)) == pytest.approx(0.743, abs=0.0005)


@settings(max_examples=examples(150), deadline=None)
@given(units=st.lists(st.lists(st.integers(0, 3), min_size=4, max_size=4), min_size=1, max_size=12), split=st.integers(0, 12))
def test_sums_over_records_give_the_alpha_of_the_library(units: list[list[int]], split: int) -> None:
    counts = np.array(units, dtype=float)
    owners = (np.arange(len(units)) >= split).astype(np.int64)
    ours = float(alpha_of_sums(unit_sums(counts, owners, 2).sum(axis=0)))
    theirs = krippendorff_alpha(counts)
    assert (theirs is None and math.isnan(ours)) or ours == pytest.approx(theirs)


def test_what_is_too_large_for_the_library_gets_the_same_figure(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = counts_of(*BINARY)
    library = krippendorff_alpha(counts)
    monkeypatch.setattr(intervals, "_LIBRARY_UP_TO", 3)
    assert krippendorff_alpha(counts) == pytest.approx(library)


@case_by_case("people", [("aaa", "aaa"), ("ab.", "..a"), ("...", "...")])
def test_nothing_to_compare_gives_no_figure(people: tuple[str, ...]) -> None:
    assert krippendorff_alpha(counts_of(*people)) is None


PEOPLE = (
    document("x" * 20, (0, 4, "age", "high"), (6, 9, "name", "low")),
    document("x" * 20, (0, 5, "age", "low"), (12, 14, "code", None)),
    document("x" * 20, (1, 4, "name", "low"), (6, 9, "name", "low")),
)


def people_table():  # type: ignore[no-untyped-def]
    table = spans_table([compared_spans(one.marks) for one in PEOPLE])
    return table, mention_of(table, match(table, [0, 0, 1], [1, 2, 2]))


def test_mentions_join_what_pairs_join() -> None:
    _, mentions = people_table()
    assert mentions.tolist() == [0, 1, 0, 3, 0, 1]


def test_units_are_mentions_that_two_people_have() -> None:
    table, mentions = people_table()
    counts, at = value_counts(table, mentions, table.type, len(table.types))
    assert table.types == ("age", "code", "name")
    assert counts.tolist() == [[2, 0, 1], [0, 0, 2]]
    assert at.tolist() == [0, 1]
    relevance, _ = value_counts(table, mentions, table.relevance, 2)
    assert relevance.tolist() == [[1, 2], [0, 2]]


def test_of_two_spans_of_one_person_in_a_mention_the_first_counts() -> None:
    people = [document("x" * 9, (0, 4, "age", "low"), (4, 9, "name", "low")), document("x" * 9, (2, 9, "code", "low"))]
    third = document("x" * 9, (0, 6, "age", "low"))
    table = spans_table([compared_spans(one.marks) for one in (*people, third)])
    mentions = mention_of(table, match(table, [0, 0, 1], [1, 2, 2]))
    assert len(set(mentions.tolist())) == 1
    assert value_counts(table, mentions, table.type, 3)[0].tolist() == [[2, 1, 0]]


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_alpha_of_characters_is_that_of_the_library_with_a_row_a_character(data: st.DataObject) -> None:
    records, lengths, owners, rows = [], [], [], []
    for record in range(data.draw(st.integers(1, 3))):
        length, people = data.draw(st.integers(1, 12)), data.draw(st.integers(2, 3))
        inside = np.zeros((people, length), dtype=bool)
        for person in range(people):
            cuts = sorted(data.draw(st.lists(st.integers(0, length), max_size=4, unique=True)))
            places = list(zip(cuts[::2], cuts[1::2], strict=False))
            records.append(compared_spans(document("x" * length, *((a, b, "age", None) for a, b in places)).marks))
            owners.append(record)
            for start, end in places:
                inside[person, start:end] = True
        lengths.append(length)
        rows += [[column.sum(), people - column.sum()] for column in inside.T]
    people_of = np.bincount(owners)
    counts, whose, times = character_counts(spans_table(records), np.array(owners), people_of, np.array(lengths))
    sums = unit_sums(counts, whose, len(lengths), times)
    assert sums[:, 1:].sum(axis=1).tolist() == [length * people_of[record] for record, length in enumerate(lengths)]
    theirs = krippendorff_alpha(np.array(rows, dtype=float))
    ours = float(alpha_of_sums(sums.sum(axis=0)))
    assert (theirs is None and math.isnan(ours)) or ours == pytest.approx(theirs)


def test_the_library_is_the_reference() -> None:
    counts = counts_of(*BINARY)
    assert krippendorff_alpha(counts) == krippendorff.alpha(value_counts=counts, level_of_measurement="nominal")


def test_intervals_are_the_same_for_the_same_seed_and_hold_the_figure() -> None:
    table = np.array([[n % 3 == 0, 1.0] for n in range(60)], dtype=float)
    records = np.arange(60)
    made = [figure(ratio_formula(0, 1), table.sum(axis=0), RecordResampling(60, seed).sums(table, records), 60) for seed in (1, 1, 2)]
    assert made[0] == made[1] != made[2]
    assert made[0].value == pytest.approx(1 / 3)
    assert made[0].low is not None
    assert made[0].high is not None
    # The normal approximation: 1/3 ± 1.96 * sqrt(1/3 * 2/3 / 60)
    assert made[0].low == pytest.approx(1 / 3 - 0.119, abs=0.03)
    assert made[0].high == pytest.approx(1 / 3 + 0.119, abs=0.03)


def test_each_draw_takes_as_many_records_as_there_are() -> None:
    draws = RecordResampling(7, 0, resamples=5).sums(np.ones((7, 1)), range(7))
    assert Counter(draws[:, 0].tolist()) == {7.0: 5}
    assert RecordResampling(0, 0).sums(np.zeros((0, 2)), []).tolist() == [[0.0, 0.0]] * 400
