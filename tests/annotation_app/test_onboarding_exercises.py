"""Practice with feedback, and the test that lets people in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from sync_stories import Tab
from worklist_stories import WorkProject, composed

from piiloom.annotation_app.documents.document import EditedDocument, SpanMark, document_of, next_revision
from piiloom.annotation_app.onboarding.controls import KnownAnswer, lookalike_id, reference_in
from piiloom.annotation_app.onboarding.exercises import feedback_on, score_of, shipped_answers
from piiloom.annotation_app.worklist.pool import screening_doubts
from piiloom.corpus.store.annotation_items import find_item
from piiloom.corpus.store.annotation_project import find_control, load_controls
from piiloom.corpus.store.database import MEMORY, Store
from piiloom.corpus.store.records import iter_records
from piiloom.foundation.errors import UsageError
from piiloom.foundation.seeding import derive_rng
from piiloom.taxonomy.entity_types import shipped_taxonomy
from tests.longer import case_by_case

REFERENCE = document_of(composed(1))


@pytest.fixture
def project() -> Iterator[WorkProject]:
    with Store.open(MEMORY) as store:
        yield WorkProject(store, [composed(n) for n in range(4)])


def with_mark(number: int, **changes: object) -> EditedDocument:
    marks = list(REFERENCE.marks)
    marks[number] = replace(marks[number], **changes)  # type: ignore[arg-type]
    return replace(REFERENCE, marks=tuple(marks))


@case_by_case(
    ("given", "sentence", "score"),
    [
        (with_mark(0, start=15), "You marked “baker”; the span should be “part-time baker”.", 8 / 9),
        (with_mark(1, entity_type="belief"), "“asthma” is health, not belief.", 8 / 9),
        (with_mark(2, relevance="high"), "“Leeds” should have low relevance; you gave it high relevance.", 8 / 9),
        (replace(REFERENCE, marks=REFERENCE.marks[1:]), "You did not mark “part-time baker” (occupation, high relevance).", 6 / 9),
        (replace(REFERENCE, question="Hm?"), "The question is worded otherwise in the reference. There can be several good wordings.", 1.0),
        (
            replace(REFERENCE, marks=(*REFERENCE.marks, SpanMark(id="u-1", start=49, end=50, entity_type="name"))),
            "“I” should not be marked.",
            9 / 12,
        ),
    ],
)
def test_feedback_says_in_words_what_differs_and_a_stray_blank_costs_little(given: EditedDocument, sentence: str, score: float) -> None:
    feedback = feedback_on(REFERENCE, given)
    assert [remark.sentence for remark in feedback.remarks] == [sentence]
    assert feedback.score == pytest.approx(score)
    assert not feedback.perfect


def test_a_right_answer_gets_no_remark_and_nothing_at_all_is_right_where_nothing_is_wanted() -> None:
    assert feedback_on(REFERENCE, REFERENCE).perfect
    empty = EditedDocument(context="a")
    assert score_of(empty, empty) == 1.0
    assert score_of(REFERENCE, replace(REFERENCE, marks=())) == 0.0


def test_the_reason_is_told_where_it_explains_the_mistake() -> None:
    why = {"s2": "It decides."}
    relevance = feedback_on(REFERENCE, with_mark(1, relevance="low"), why).remarks[0]
    boundary = feedback_on(REFERENCE, with_mark(1, start=26), why).remarks[0]
    assert (relevance.why, boundary.why) == ("It decides.", None)


@pytest.mark.parametrize("kind", ["practice", "qualifying"])
def test_the_shipped_exercises_are_sound_and_each_has_something_to_mend(kind: str) -> None:
    answers = shipped_answers(kind)  # type: ignore[arg-type]
    assert len(answers) >= 4
    for answer in answers:
        assert 1 <= len(answer.detail["planted"]) <= 2
        assert not feedback_on(answer.reference, document_of(answer.shown)).perfect
        texts = [answer.reference.context[m.start : m.end] for m in answer.reference.marks]
        assert all(text == text.strip() for text in texts)
        assert {m.relevance for m in answer.reference.marks} <= {"high", "low"}
        assert "[[" not in answer.shown.context
        assert screening_doubts(next_revision(answer.reference, answer.shown), taxonomy=shipped_taxonomy()) == ()
        assert (kind == "practice") == (len(answer.detail["reasons"]) == len(texts))
    assert [a.shown for a in shipped_answers(kind)] == [a.shown for a in answers]  # type: ignore[arg-type]


def test_practice_is_checked_as_often_as_one_likes_and_shows_the_answer_only_then(project: WorkProject) -> None:
    ids = project.practice.add("boss", shipped_answers("practice")[:2])
    record_id = ids[0]
    with pytest.raises(UsageError, match="after your own attempt"):
        project.practice.reference("ann", record_id)
    with pytest.raises(UsageError, match="not done anything"):
        project.practice.check("ann", record_id)
    project.leases.may_edit("ann", record_id)
    project.finish("ann", record_id)
    first = project.practice.check("ann", record_id)
    assert first.remarks
    reference = project.practice.reference("ann", record_id)
    project.finish("ann", record_id, reference, version=2)
    assert project.practice.check("ann", record_id).perfect
    assert project.practice.check("ann", record_id).perfect  # looked at again: nothing new
    own, other = project.practice.exercises("ann")
    assert (own.finished, own.checks, own.perfect) == (True, 2, True)
    assert (other.finished, other.checks, other.perfect) == (False, 0, False)
    assert project.practice.exercises("ben")[0].checks == 0
    with pytest.raises(UsageError, match="not a practice record"):
        project.practice.check("ann", composed(1).id)
    project.assert_replay_equals_tables()


def test_exercises_are_never_given_out_as_work_nor_stored_among_the_records(project: WorkProject) -> None:
    made = project.practice.make("boss", [composed(1).id]) + project.test.make_set("boss", [composed(2).id])
    seen = []
    while (record_id := project.next("ann")) is not None:
        project.finish("ann", record_id)
        seen.append(record_id)
    assert sorted(seen) == [composed(n).id for n in range(4)]
    with project.shared.reading() as store:
        assert {r.id for r in iter_records(store, status="control")} == set(made)
        assert {r.id for r in iter_records(store, status="imported")} == set(seen)
        assert [find_item(store, name).role for name in made] == ["practice", "qualifying"]  # type: ignore[union-attr]
        row = find_control(store, made[0])
        assert row is not None
        assert (row.source_id, reference_in(row)) == (composed(1).id, document_of(composed(1)))
    project.assert_replay_equals_tables()


def test_the_test_is_scored_when_all_is_done_and_every_attempt_is_kept(project: WorkProject) -> None:
    with pytest.raises(UsageError, match="no qualifying test"):
        project.test.task("ann")
    ids = project.test.add_set("boss", shipped_answers("qualifying"))
    other = project.test.make_set("boss", [composed(1).id])
    project.settings.change("boss", "qualifying_needed", True)
    task = project.test.task("ann")
    assert (task.number, task.test_set, {name for name, _ in task.records}) == (1, 1, set(ids))
    project.finish("ann", ids[0])
    with pytest.raises(UsageError, match=f"{len(ids) - 1} of {len(ids)} records are not finished"):
        project.test.hand_in("ann")
    for record_id in ids[1:]:
        project.finish("ann", record_id, verdict="rejected")
    failed = project.test.hand_in("ann")
    assert (failed.number, failed.passed, failed.threshold) == (1, False, 0.8)
    assert failed.score == pytest.approx(failed.scores[ids[0]] / len(ids))
    with pytest.raises(UsageError, match="qualifying test"):
        project.next("ann")
    assert [name for name, _ in project.test.task("ann").records] == other
    project.finish("ann", other[0], document_of(composed(1)))
    passed = project.test.hand_in("ann")
    assert (passed.number, passed.test_set, passed.score, passed.passed) == (2, 2, 1.0, True)
    assert any(attempt.passed for attempt in project.test.attempts("ann"))
    assert project.test.attempts("ben") == []
    assert project.test.attempts() == [failed, passed]
    assert project.test.task("ann").test_set == 1
    assert project.next("ann") is not None
    with pytest.raises(UsageError, match="needs records"):
        project.test.add_set("boss", [])
    project.assert_replay_equals_tables()


def test_a_score_at_the_threshold_passes(project: WorkProject) -> None:
    ids = project.test.add_set("boss", [KnownAnswer(kind="qualifying", shown=composed(1), reference=REFERENCE)])
    project.settings.change("boss", "qualifying_threshold", 8 / 9)
    project.finish("ann", ids[0], with_mark(1, entity_type="belief"))
    assert project.test.hand_in("ann").passed


def test_a_second_attempt_at_the_same_set_starts_open(project: WorkProject) -> None:
    ids = sorted(project.test.add_set("boss", [KnownAnswer(kind="qualifying", shown=composed(n), reference=REFERENCE) for n in (1, 2)]))
    tab = Tab("ann's")
    for record_id in ids:
        project.service.deliver("ann", tab.send(record_id, 0, {"op": "remove", "id": "s1"}, {"op": "accept"}))
    assert not project.test.hand_in("ann").passed
    with pytest.raises(UsageError, match="2 of 2 records are not finished"):  # also before anybody looks at the task
        project.test.hand_in("ann")
    for _ in range(2):
        assert project.test.task("ann").records == tuple((record_id, False) for record_id in ids)
    opened = project.service.open("ann", ids[0])
    assert (opened.state.verdict, opened.version, len(opened.state.document.marks)) == ("open", 3, 2)
    project.service.deliver("ann", tab.send(ids[0], 3, {"op": "accept"}))
    assert project.test.task("ann").records == ((ids[0], True), (ids[1], False))
    project.service.deliver("ann", tab.send(ids[1], 3, {"op": "accept"}))
    assert project.test.hand_in("ann").number == 2
    project.assert_replay_equals_tables()


def test_copies_have_ids_like_those_of_their_sources() -> None:
    rng = derive_rng("test")
    numbered = lookalike_id("r0001-ab12cd34-000007", rng, set())
    assert numbered.startswith("r0001-ab12cd34-")
    assert len(numbered) == len("r0001-ab12cd34-000007")
    assert numbered[-6:].isdigit()
    named = lookalike_id("7bb6b443-0e8d-4e56-b545-6ea49c754350", rng, set())
    assert len(named) == 36
    assert lookalike_id("x", rng, set()).startswith("x-")
    full = {f"r{n}" for n in range(10)}
    assert lookalike_id("r5", rng, full) not in full


def test_a_second_copy_of_a_record_gets_another_id(project: WorkProject) -> None:
    first = project.practice.make("boss", [composed(1).id])
    second = project.practice.make("boss", [composed(1).id])
    assert first != second
    with project.shared.reading() as store:
        assert len(load_controls(store, ["practice"])) == 2
