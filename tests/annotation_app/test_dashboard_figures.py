"""The dashboard: how far the work is, and what people changed."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

import pytest
from project_stories import added, changed, finish, pool, record, without

from piiloom.annotation_app.figures.changes import Changes, GroupedFigures, label_changes, project_progress
from piiloom.annotation_app.figures.intervals import Share
from piiloom.annotation_app.figures.spans import FinishedRecords
from piiloom.corpus.store.annotation_events import NewEvent, append_events
from piiloom.corpus.store.annotation_items import set_status
from piiloom.corpus.store.database import MEMORY, Store

TODAY = date(2026, 11, 10)


@pytest.fixture
def store() -> Iterator[Store]:
    with Store.open(MEMORY) as opened:
        pool(opened, [record(n) for n in range(1, 6)], wanted=2)
        yield opened


def day(number: int, minute: int = 0) -> str:
    return f"2026-11-{number:02d}T09:{minute:02d}:00.000+00:00"


def test_a_project_that_nobody_has_begun(store: Store) -> None:
    found = project_progress(store, TODAY)
    assert (found.records, found.finished, found.left, found.per_day, found.done_on, found.days) == (5, 0, 10, None, None, ())
    assert found.statuses == {"generated": 5, "annotated": 0, "agreed": 0, "adjudicated": 0, "validated": 0, "rejected": 0}
    with Store.open(MEMORY) as empty:
        assert (project_progress(empty, TODAY).records, project_progress(empty, TODAY).left) == (0, 0)


def test_rate_and_end_follow_from_the_days_on_which_people_worked(store: Store) -> None:
    finish(store, record(1), "ada", at=day(2))
    finish(store, record(2), "ada", at=day(2, 3), verdict="rejected")
    finish(store, record(1), "bob", at=day(5))
    set_status(store, ["r1"], "validated", day(5))
    found = project_progress(store, TODAY)
    assert (found.finished, found.left) == (3, 1 + 6)
    assert found.per_day == pytest.approx(1.5)
    # 7 documents at 1.5 a working day, and two of four days are such days.
    assert found.done_on == "2026-11-20"
    ada, bob = found.days
    assert (ada.day, ada.person, ada.accepted, ada.rejected, ada.finished, ada.edits, ada.seconds) == ("2026-11-02", "ada", 1, 1, 2, 2, 180)
    assert (bob.person, bob.seconds) == ("bob", 0)


def test_breaks_are_no_work_and_practice_counts_for_nothing(store: Store) -> None:
    pool(store, [record(9)], role="practice")
    finish(store, record(9), "ada", at=day(2))
    with store.writing():
        for minute in (1, 2, 40):
            append_events(store, [NewEvent(actor="ada", kind="edit", record_id="r9")], day(2, minute))
    found = project_progress(store, TODAY)
    assert (found.records, found.finished, found.left) == (5, 0, 10)
    assert [(one.edits, one.seconds) for one in found.days] == [(4, 120.0)]


def changes(store: Store) -> GroupedFigures[Changes]:
    return label_changes(FinishedRecords().load(store))


def test_what_people_change_is_told_apart(store: Store) -> None:
    finish(store, record(1), "ada", without("s4"))
    finish(store, record(2), "ada", changed("s1", relevance="low", entity_type="education"), question="Which?")
    finish(store, record(3), "ada", changed("s2", start=11))
    finish(store, record(4), "ada", added(34, 35))
    finish(store, record(5), "ada", verdict="rejected")
    finish(store, record(5), "bob")
    found = changes(store).overall
    assert found.documents == 6
    assert {name: (share.part, share.whole) for name, share in found.shares.items()} == {
        "rejected": (1, 6),
        "added": (1, 20),
        "removed": (1, 20),
        "moved": (1, 19),
        "retyped": (1, 19),
        "relevance_flipped": (1, 19),
        "question_edited": (1, 5),
        "context_edited": (0, 5),
        "changed_at_all": (4, 5),
    }


def test_changes_are_told_by_pair_model_template_stage_and_type(store: Store) -> None:
    finish(store, record(1), "ada", without("s4"))
    finish(store, record(2), "ada", changed("s1", entity_type="education"))
    found = changes(store)
    assert {name: group.shares["removed"].part for name, group in found.by["pair"].items()} == {"age+location": 0, "health+occupation": 1}
    assert {name: group.shares["retyped"].part for name, group in found.by["model"].items()} == {"p m": 0, "p n": 1}
    assert {name: group.documents for name, group in found.by["prompt template"].items()} == {"t.v1": 2}
    assert {name: group.documents for name, group in found.by["stage"].items()} == {"screen": 2}
    assert {name: group.shares["retyped"].part for name, group in found.by["type"].items() if group.shares["retyped"].part} == {
        "occupation": 1
    }
    assert {name: group.shares["removed"].part for name, group in found.by["type"].items() if group.shares["removed"].part} == {"age": 1}
    assert (found.by["type"]["age"].shares["question_edited"].value, found.by["type"]["education"].shares["added"].part) == (None, 0)


def test_editing_the_text_moves_no_span(store: Store) -> None:
    base = record(1)

    def shift(marks: list) -> list:  # type: ignore[type-arg]
        for mark in list(marks):
            marks = changed(mark.id, start=mark.start + 4, end=mark.end + 4)(marks)
        return marks

    finish(store, base, "ada", shift, context="Hm, " + base.context)
    found = changes(store).overall
    assert (found.shares["moved"].part, found.shares["added"].part, found.shares["removed"].part, found.shares["context_edited"].part) == (
        0,
        0,
        0,
        1,
    )
    assert found.shares["changed_at_all"].part == 1


def test_a_span_made_anew_in_its_place_was_moved(store: Store) -> None:
    finish(store, record(1), "ada", lambda marks: added(0, 10, "occupation", "high")(without("s1")(marks)))
    found = changes(store).overall
    assert (found.shares["moved"].part, found.shares["added"].part, found.shares["removed"].part) == (1, 0, 0)


def test_nothing_is_changed_where_nothing_is_finished(store: Store) -> None:
    found = changes(store)
    assert found.overall.documents == 0
    assert found.overall.shares["removed"] == Share(part=0, whole=0, value=None, low=0.0, high=1.0)
    assert (found.by["pair"], found.by["type"]) == ({}, {})


def test_the_interval_of_a_share_is_wilsons() -> None:
    found = Share.of(6, 100)  # 6% of relevance labels flipped: 0.0278 to 0.1248
    assert (found.value, found.low, found.high) == (0.06, pytest.approx(0.0278, abs=1e-4), pytest.approx(0.1248, abs=1e-4))
