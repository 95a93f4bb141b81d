"""Decisions taken back, later revisions, and what a release has of all that."""

from __future__ import annotations

from adjudication_stories import JUDGE, Project, disputed, version_of
from project_stories import finish, pool, record, without

from piiloom.annotation_app.documents.document import document_of
from piiloom.corpus.releases.freezing import create_release
from piiloom.corpus.store.releases import get_release, iter_release_records
from piiloom.corpus.store.runs import create_run
from piiloom.foundation.errors import ReleaseError


def test_reopening_makes_a_later_revision(project: Project) -> None:
    disputed(project)
    project.resolver.adjudicate(JUDGE, "r1", document_of(project.bases[0]), seen=project.seen(), how={})
    project.resolver.reopen(JUDGE, "r1", "the guideline changed")
    assert project.status() == "annotated"
    project.resolver.adjudicate(JUDGE, "r1", version_of(project.resolver.open("r1"), "ada").state.document, seen=project.seen(), how={})
    assert [(one.revision, len(one.spans)) for one in project.revisions(status="validated")] == [(1, 4), (2, 3)]


def test_a_reopened_record_counts_only_once_somebody_has_worked_on_it_again(alone: Project) -> None:
    alone.finish(1, "ada")
    alone.resolver.settle_all()
    alone.resolver.reopen(JUDGE, "r1", "look again")
    assert (alone.resolver.settle_all().waiting, alone.status()) == (["r1"], "annotated")
    alone.finish(1, "ada", without("s1"))
    assert alone.resolver.settle_all().validated == ["r1"]
    assert [one.revision for one in alone.revisions()] == [0, 1, 2]


def released(project: Project, name: str, status: str) -> list[tuple[str, int]]:
    try:
        create_release(project.store, name, test_size=0, seed=0, status=status)
    except ReleaseError:
        return []
    return [(one.id, one.revision) for one in iter_release_records(project.store, get_release(project.store, name), "train")]


def test_a_release_has_each_record_once_and_none_that_does_not_stand(alone: Project) -> None:
    alone.finish(1, "ada")
    alone.resolver.settle_all()
    assert released(alone, "a", "validated") == [("r1", 1)]
    assert sorted(released(alone, "b", "any")) == [("r1", 1), ("r2", 0)]
    alone.resolver.reopen(JUDGE, "r1", "look again")
    assert released(alone, "c", "validated") == []
    assert released(alone, "d", "any") == [("r2", 0)]
    alone.finish(1, "ada", verdict="rejected")
    alone.resolver.settle_all()
    assert alone.status() == "rejected"
    assert released(alone, "e", "any") == [("r2", 0)]
    assert released(alone, "f", "generated") == [("r2", 0)]
    assert released(alone, "a2", "validated") == []
    assert [(one.id, one.revision) for one in iter_release_records(alone.store, get_release(alone.store, "a"), "train")] == [("r1", 1)]


def test_a_validated_revision_belongs_to_the_run_of_its_record() -> None:
    made = Project(records=0)
    with made.shared.writing() as store:
        run = create_run(store, provider="composer", model=None, seed=1, samples=1, config={}, config_digest="d")
    made.bases = [record(5)]
    pool(made.store, made.bases, run_id=run.id)
    with made.shared.writing() as store:
        finish(store, record(5), "ada")
    assert made.resolver.settle_all().validated == ["r5"]
    create_release(made.store, "mine", test_size=0, seed=0, run=run.id, status="validated")
    assert [one.revision for one in iter_release_records(made.store, get_release(made.store, "mine"), "train")] == [1]
    made.shared.close()
