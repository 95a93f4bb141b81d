"""From finished documents to validated records: by agreement or by an adjudicator."""

from __future__ import annotations

from typing import Any

import pytest
from adjudication_stories import ANNOTATOR, JUDGE, NOON, Project, disputed, version_of
from project_stories import added, changed, document, finish, pool, record, without

from piiloom.annotation_app.documents.document import document_of
from piiloom.annotation_app.sync.service import DocumentService, Sent
from piiloom.foundation.errors import UsageError


def test_one_annotator_accepted_is_validated(alone: Project) -> None:
    alone.finish(1, "ada", changed("s1", relevance="low"))
    assert alone.resolver.settle_all().validated == ["r1"]
    base, validated = alone.revisions()
    assert base == record(1)
    assert (validated.revision, validated.spans[0].relevance, validated.plan) == (1, "low", base.plan)
    assert alone.revisions(status="validated") == [validated]
    assert alone.status() == "validated"
    assert [(row.outcome, row.adjudicator) for row in alone.decisions()] == [("validated", "agreement")]
    assert alone.resolver.settle_all().validated == []


def test_one_annotator_rejected_is_rejected(alone: Project) -> None:
    alone.finish(1, "ada", verdict="rejected")
    assert alone.resolver.settle_all().rejected == ["r1"]
    assert (alone.status(), len(alone.revisions())) == ("rejected", 1)
    assert alone.events()[-1].entry["reasons"] == {"ada": "useless"}


def test_people_who_agree_make_a_validated_record(project: Project) -> None:
    project.finish(1, "bob", without("s4"))
    assert project.resolver.settle(["r1"]).waiting == ["r1"]
    # The same spans under other ids: how somebody got there does not matter.
    project.finish(1, "ada", lambda marks: added(28, 33, "location", "low")(without("s3")(without("s4")(marks))))
    settled = project.resolver.settle(["r1", "r2"])
    assert (settled.validated, settled.waiting, settled.disputed) == (["r1"], ["r2"], [])
    assert [row.outcome for row in project.decisions()] == ["agreed", "validated"]
    assert [len(one.spans) for one in project.revisions()] == [4, 3]
    assert (project.status(1), project.status(2)) == ("validated", "generated")


@pytest.mark.parametrize(
    "difference",
    [
        {"marks": without("s1")},
        {"marks": changed("s1", relevance="low")},
        {"marks": changed("s1", entity_type="education")},
        {"marks": changed("s1", end=9)},
        {"question": "Which forms"},
        {"context": "As a baker with asthma from Leeds, I am 34!"},
        {"verdict": "rejected"},
    ],
    ids=["span", "relevance", "type", "boundary", "question", "context", "verdict"],
)
def test_people_who_differ_in_anything_wait_for_an_adjudicator(project: Project, difference: dict[str, Any]) -> None:
    project.finish(1, "ada")
    project.finish(1, "bob", **difference)
    assert project.resolver.settle_all().disputed == ["r1"]
    assert project.resolver.disputes() == ["r1"]
    assert (project.status(), project.decisions()) == ("annotated", [])


def test_only_people_who_agree_leave_the_list_of_disputes(project: Project) -> None:
    for number in (1, 2):
        project.finish(number, "ada")
    project.finish(1, "bob")
    project.resolver.settle_all()
    assert project.resolver.disputes() == []


def test_both_rejected_is_rejected_whatever_the_documents_are(project: Project) -> None:
    project.finish(1, "ada", without("s1"), verdict="rejected")
    project.finish(1, "bob", verdict="rejected")
    assert project.resolver.settle_all().rejected == ["r1"]


def test_what_was_just_finished_can_still_be_undone(alone: Project) -> None:
    alone.finish(1, "ada")
    assert alone.resolver.settle_due().validated == []
    alone.now = NOON.replace(minute=9)
    alone.finish(1, "ada", without("s1"))
    alone.now = NOON.replace(minute=15)
    assert alone.resolver.settle_due().validated == []
    alone.now = NOON.replace(minute=20)
    assert alone.resolver.settle_due().validated == ["r1"]


def test_practice_records_are_never_decided_on() -> None:
    made = Project(records=0)
    pool(made.store, [record(8)], role="practice")
    made.bases = [record(8)]
    with made.shared.writing() as store:
        finish(store, record(8), "ada")
    assert made.resolver.settle(["r8"]).validated == []
    with pytest.raises(UsageError, match="practice or control"):
        made.resolver.reject(JUDGE, "r8", "bad")
    made.shared.close()


def test_an_adjudicator_takes_one_version(project: Project) -> None:
    disputed(project)
    side = project.resolver.open("r1")
    taken = version_of(side, "ada").state.document
    made = project.resolver.adjudicate(JUDGE, "r1", taken, seen=project.seen(), how={"taken": "ada"})
    assert (made.revision, len(made.spans)) == (1, 3)
    assert project.revisions(status="validated") == [made]
    assert [(row.outcome, row.adjudicator) for row in project.decisions()] == [("adjudicated", "eva"), ("validated", "eva")]
    assert project.decisions()[0].document == taken.to_json()
    assert project.events()[-2].entry["how"] == {"taken": "ada"}
    assert (project.status(), project.resolver.disputes()) == ("validated", [])


def test_only_adjudicators_decide(project: Project) -> None:
    disputed(project)
    right = document_of(project.bases[0])
    for person in (ANNOTATOR, None):
        with pytest.raises(UsageError):
            project.resolver.adjudicate(person, "r1", right, seen=project.seen(), how={})
        with pytest.raises(UsageError):
            project.resolver.reject(person, "r1", "bad")
        with pytest.raises(UsageError):
            project.resolver.reopen(person, "r1", "bad")
    assert (project.decisions(), project.status()) == ([], "annotated")


def test_a_version_that_changed_meanwhile_is_looked_at_again(project: Project) -> None:
    disputed(project)
    seen = project.seen()
    project.finish(1, "bob", without("s2"))
    with pytest.raises(UsageError, match="meanwhile"):
        project.resolver.adjudicate(JUDGE, "r1", document_of(project.bases[0]), seen=seen, how={})
    assert project.decisions() == []


def test_what_cannot_stand_is_refused(project: Project) -> None:
    disputed(project)
    context = project.bases[0].context
    for wrong in (
        document(context),  # without the question
        document_of(record(1, question=" ")),
        document(context, (0, 2, "no such type", "low")),
    ):
        with pytest.raises(UsageError):
            project.resolver.adjudicate(JUDGE, "r1", wrong, seen=project.seen(), how={})
    doubtful = document_of(project.bases[0])
    doubtful = type(doubtful)(context=context, question="Why?", marks=tuple(changed("s1", doubt=True)(list(doubtful.marks))))
    with pytest.raises(UsageError):
        project.resolver.adjudicate(JUDGE, "r1", doubtful, seen=project.seen(), how={})
    assert (project.decisions(), len(project.revisions())) == ([], 1)


def test_an_adjudicator_rejects_with_a_reason(project: Project) -> None:
    disputed(project)
    with pytest.raises(UsageError, match="reason"):
        project.resolver.reject(JUDGE, "r1", " ")
    project.resolver.reject(JUDGE, "r1", "not a text of a person")
    assert (project.status(), project.decisions()[-1].outcome, len(project.revisions())) == ("rejected", "rejected", 1)


def test_a_record_that_nobody_finished_cannot_be_adjudicated_nor_one_twice(project: Project) -> None:
    with pytest.raises(UsageError, match="nobody has finished"):
        project.resolver.adjudicate(JUDGE, "r1", document_of(project.bases[0]), seen={}, how={})
    disputed(project)
    right = document_of(project.bases[0])
    project.resolver.adjudicate(JUDGE, "r1", right, seen=project.seen(), how={})
    with pytest.raises(UsageError, match="Reopen it first"):
        project.resolver.adjudicate(JUDGE, "r1", right, seen=project.seen(), how={})
    with pytest.raises(UsageError, match="not in the work list"):
        project.resolver.open("r99")


def test_the_desk_tells_that_a_record_was_finished_in_its_own_transaction(alone: Project) -> None:
    service = DocumentService(alone.shared, alone.log, on_saved=alone.resolver.on_saved)
    service.deliver(
        "ada", [Sent(client="t", sequence=1, record_id="r1", base=0, operation={"op": "relevance", "id": "s1", "relevance": "low"})]
    )
    assert alone.status() == "generated"
    service.deliver("ada", [Sent(client="t", sequence=2, record_id="r1", base=1, operation={"op": "accept"})])
    assert alone.status() == "annotated"
    assert [event.kind for event in alone.events()] == ["edit", "edit", "annotated"]
    service.deliver("ada", [Sent(client="t", sequence=3, record_id="r1", base=2, operation={"op": "undo"})])
    assert alone.resolver.settle_all().validated == []
    service.deliver("ada", [Sent(client="t", sequence=4, record_id="r1", base=3, operation={"op": "redo"})])
    assert alone.resolver.settle_all().validated == ["r1"]
