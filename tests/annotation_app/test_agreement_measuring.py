"""Figures of agreement from a store: a project done by hand, kept up to date, never of practice."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from project_stories import added, changed, finish, pool, record, without

from piiloom.annotation_app.figures.agreement import AgreementReport, measure_agreement
from piiloom.annotation_app.figures.spans import FinishedRecords
from piiloom.corpus.store.annotation_events import load_documents
from piiloom.corpus.store.database import MEMORY, Store

DAY_ONE, DAY_TWO = "2026-11-02T09:00:00.000+00:00", "2026-11-03T09:00:00.000+00:00"


@pytest.fixture
def store() -> Iterator[Store]:
    with Store.open(MEMORY) as opened:
        pool(opened, [record(n) for n in range(1, 6)], wanted=2)
        yield opened


def report(store: Store) -> AgreementReport:
    return measure_agreement(FinishedRecords().load(store))


def test_people_who_agree_in_all_have_an_agreement_of_one(store: Store) -> None:
    for who in ("ada", "bob"):
        finish(store, record(1), who)
    found = report(store).overall
    assert (found.records, found.comparisons) == (1, 1)
    assert {name: round(figure.value, 12) for name, figure in found.values.items() if figure.value is not None} == dict.fromkeys(
        [*("exact_f1", "overlap_f1", "whole_f1", "boundaries", "types", "relevance"), "boundary_alpha", "type_alpha", "relevance_alpha"], 1
    )
    assert report(store).disputed == ()


def test_a_stray_blank_spoils_the_exact_score_only(store: Store) -> None:
    finish(store, record(1), "ada")
    finish(store, record(1), "bob", changed("s3", end=34))
    found = report(store).overall
    assert found.values["exact_f1"].value == pytest.approx(3 / 4)
    assert found.values["overlap_f1"].value == found.values["types"].value == found.values["relevance"].value == 1
    assert found.values["boundaries"].value == pytest.approx((3 + 5 / 6) / 4)
    assert found.values["boundary_alpha"].value is not None
    assert found.values["boundary_alpha"].value > 0.93


def test_types_and_relevance_are_counted_of_the_spans_that_both_have(store: Store) -> None:
    finish(store, record(1), "ada", without("s4"))
    finish(store, record(1), "bob", changed("s3", entity_type="organization"))
    finish(store, record(2), "ada", changed("s1", relevance="low"))
    finish(store, record(2), "bob")
    found = report(store)
    assert found.overall.values["overlap_f1"].value == pytest.approx(2 * 7 / (7 + 8))
    assert found.overall.values["types"].value == pytest.approx(6 / 7)
    assert found.overall.values["relevance"].value == pytest.approx(6 / 7)
    assert found.overall.values["whole_f1"].value == pytest.approx(2 * 5 / 15)
    assert found.by["type"]["location"].values["types"].value == pytest.approx(1 / 1.5)
    assert found.by["type"]["organization"].values["types"].value == 0
    assert found.by["type"]["age"].values["overlap_f1"].value == pytest.approx(2 * 1 / 3)
    assert list(found.by["pair"]) == ["age+location", "health+occupation"]
    assert found.by["pair"]["age+location"].values["types"].value == 1
    # Relevance: 6 of 7 alike; 3 + 4 said high, 4 + 3 low.
    assert found.overall.values["relevance_alpha"].value == pytest.approx(1 - 13 * 2 / (14**2 - 7**2 - 7**2))


def test_each_two_people_have_figures_and_kappas_of_their_own(store: Store) -> None:
    for who in ("ada", "bob", "cid"):
        finish(store, record(1), who, changed("s3", entity_type="organization") if who == "cid" else None)
    finish(store, record(2), "ada")
    found = report(store).by_people
    assert sorted(found) == [("ada", "bob"), ("ada", "cid"), ("bob", "cid")]
    assert found["ada", "bob"].values["type_kappa"].value == 1
    # Three of four alike, each class once a person but for the fourth: chance is 3/16.
    assert found["ada", "cid"].values["type_kappa"].value == pytest.approx((3 / 4 - 3 / 16) / (1 - 3 / 16))


def test_verdicts_are_compared_and_spans_only_among_those_who_accepted(store: Store) -> None:
    finish(store, record(1), "ada")
    finish(store, record(1), "bob", lambda marks: [], verdict="rejected")
    finish(store, record(2), "ada")
    finish(store, record(2), "bob", without("s1"))
    finish(store, record(3), "ada")
    found = report(store)
    assert (found.overall.records, found.overall.comparisons) == (2, 1)
    assert found.overall.values["overlap_f1"].value == pytest.approx(2 * 3 / 7)
    assert found.overall.values["verdict_alpha"].value == pytest.approx(1 - 3 * 2 / (16 - 9 - 1))
    disputed = [(one.record_id, one.people, one.disagreement) for one in found.disputed]
    assert disputed == [("r1", ("ada", "bob"), 1.0), ("r2", ("ada", "bob"), pytest.approx(1 / 7))]


def test_days_are_those_on_which_the_last_person_finished(store: Store) -> None:
    finish(store, record(1), "ada", at=DAY_ONE)
    finish(store, record(1), "bob", at=DAY_TWO)
    finish(store, record(2), "ada", at=DAY_ONE)
    finish(store, record(2), "bob", at=DAY_ONE)
    assert {day: found.records for day, found in report(store).by["day"].items()} == {"2026-11-02": 1, "2026-11-03": 1}


def test_an_edited_text_does_not_part_those_who_marked_the_same(store: Store) -> None:
    finish(store, record(1), "ada")
    base = record(1)
    shifted = [(s.id, {"start": s.start + 4, "end": s.end + 4}) for s in base.spans]

    def shift(marks: list) -> list:  # type: ignore[type-arg]
        for name, ends in shifted:
            marks = changed(name, **ends)(marks)
        return marks

    finish(store, base, "bob", shift, context="Hm, " + base.context)
    assert report(store).overall.values["whole_f1"].value == 1


def test_practice_and_records_that_one_person_has_are_left_out(store: Store) -> None:
    practice = record(7)
    pool(store, [practice], role="practice")
    for who in ("ada", "bob"):
        finish(store, practice, who)
    finish(store, record(1), "ada")
    found = report(store)
    assert (found.overall.records, found.overall.values["exact_f1"].value) == (0, None)
    assert (found.by["pair"], found.by["type"], found.by["day"], found.by_people) == ({}, {}, {}, {})


def test_a_room_reads_only_what_changed_and_sees_what_a_new_one_sees(store: Store) -> None:
    room = FinishedRecords()
    assert room.load(store) == []
    finish(store, record(1), "ada")
    finish(store, record(2), "ada")
    first = room.load(store)
    assert [finished_record.record_id for finished_record in first] == ["r1", "r2"]
    assert room.load(store)[0] is first[0]
    finish(store, record(2), "bob", without("s1"))
    second = room.load(store)
    assert second[0] is first[0]
    assert [version.annotator for version in second[1].versions] == ["ada", "bob"]
    assert second == FinishedRecords().load(store)
    finish(store, record(2), "bob", added(0, 2), verdict="open")
    finish(store, record(1), "ada", verdict="open")
    assert room.load(store) == FinishedRecords().load(store)
    assert [finished_record.record_id for finished_record in room.load(store)] == ["r2"]
    assert len(load_documents(store)) == 3


def test_a_deleted_record_leaves_the_readings_at_once(store: Store) -> None:
    room = FinishedRecords()
    for number in (1, 2):
        finish(store, record(number), "ada")
    assert [finished_record.record_id for finished_record in room.load(store)] == ["r1", "r2"]
    with store.writing():
        store.change("DELETE FROM records WHERE id = 'r1'")
    assert [finished_record.record_id for finished_record in room.load(store)] == ["r2"]
    assert room.load(store) == FinishedRecords().load(store)


def test_equal_seeds_give_equal_intervals_and_a_few_records_wide_ones(store: Store) -> None:
    for number in range(1, 6):
        finish(store, record(number), "ada")
        finish(store, record(number), "bob", without("s1") if number < 3 else None)
    finished_records = FinishedRecords().load(store)
    one, same, other = (measure_agreement(finished_records, seed=seed).overall.values["overlap_f1"] for seed in (1, 1, 2))
    assert one == same
    assert one.value == other.value
    assert one.low is not None
    assert one.high is not None
    assert one.value is not None
    assert one.low < one.value < one.high
