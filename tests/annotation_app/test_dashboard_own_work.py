"""One's own pace, and one's agreement with what was decided in the end: counted by hand."""

from __future__ import annotations

from adjudication_stories import JUDGE, Project
from project_stories import added, changed, without

from piiloom.annotation_app.adjudication.versions import SideBySide
from piiloom.annotation_app.documents.document import document_of
from piiloom.annotation_app.figures.changes import own_work


def decide_as_it_was(project: Project, number: int) -> None:
    side: SideBySide = project.resolver.open(f"r{number}")
    project.resolver.adjudicate(JUDGE, f"r{number}", document_of(side.base), seen=project.seen(number), how={})


def test_what_differs_from_the_consensus_is_counted_by_kind() -> None:
    project = Project(4)
    try:
        assert own_work(project.store, "ada")[1] is None
        project.finish(1, "ada")  # alike: agreed
        project.finish(1, "bob")
        project.finish(2, "ada", without("s1"))
        project.finish(2, "bob")
        project.finish(3, "ada", changed("s2", relevance="low", entity_type="age"))
        project.finish(3, "bob", added(0, 2))
        project.finish(4, "ada", changed("s3", start=29))  # not decided: it says nothing
        project.resolver.settle_all()
        for number in (2, 3):
            decide_as_it_was(project, number)
        days, found = own_work(project.store, "ada")
        assert found is not None
        assert (found.alike.whole, found.alike.part) == (3, 1)
        assert (found.spans.part, found.spans.whole) == (10, 12)
        assert found.kinds == {"only_left": 1, "type": 1, "relevance": 1}
        assert found.texts == 0
        _, other = own_work(project.store, "bob")
        assert other is not None
        assert (other.alike.part, other.kinds["only_right"]) == (2, 1)
        assert [(day.day, day.accepted) for day in days] == [("2026-11-02", 4)]
    finally:
        project.shared.close()


def test_what_one_person_alone_finished_agrees_with_nothing(alone: Project) -> None:
    alone.finish(1, "ada")
    alone.resolver.settle_all()
    assert alone.status(1) == "validated"
    assert own_work(alone.store, "ada")[1] is None
