"""Looking through the list: filters, search, order, pages, and what nobody may see."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from worklist_stories import WorkProject, composed

from piiloom.annotation_app.adjudication.resolving import Resolver
from piiloom.annotation_app.people.accounts import AppUser
from piiloom.annotation_app.worklist.pool import ListQuery, explained
from piiloom.corpus.store.annotation_items import set_status
from piiloom.corpus.store.database import MEMORY, Store
from piiloom.foundation.errors import UsageError
from tests.longer import case_by_case

BOSS, ANN, BEN = AppUser("boss", "boss", "admin"), AppUser("ann", "ann", "annotator"), AppUser("ben", "ben", "annotator")
JUDGE = AppUser("judy", "judy", "adjudicator")


@pytest.fixture
def project() -> Iterator[WorkProject]:
    with Store.open(MEMORY) as store:
        special = composed(7, context="Straße, 100%_sure 👩‍🚀 שלום <b>'; DROP TABLE records; --", spans=(), locale="de_DE")
        yield WorkProject(store, [*(composed(n) for n in range(7)), special], overlap=2)


def ids(project: WorkProject, viewer: AppUser = BOSS, **query: object) -> list[str]:
    wanted = ListQuery(sort="record", descending=False, **query)  # type: ignore[arg-type]
    return [line.record_id[-1] for line in project.lists.find(viewer, wanted).lines]


def test_each_filter_by_itself(project: WorkProject) -> None:
    project.finish("ann", composed(1).id)
    project.finish("ben", composed(1).id, flagged=True)
    project.finish("ann", composed(2).id, verdict="open")
    with project.shared.writing() as store:
        set_status(store, [composed(3).id], "validated", project.log.now())
    assert ids(project, status="annotated") == ["1"]
    assert ids(project, status="validated") == ["3"]
    assert ids(project, status="generated") == ["0", "2", "4", "5", "6", "7"]
    assert ids(project, pair="age+belief") == ["1", "4", "7"]
    assert ids(project, type="location") == ["0", "1", "2", "3", "4", "5", "6"]
    assert ids(project, locale="de_DE") == ["7"]
    assert ids(project, model="gpt-x") == ["0", "2", "4", "6"]
    assert ids(project, annotator="ann") == ["1", "2"]
    assert ids(project, annotator="ben") == ["1"]
    assert ids(project, flagged=True) == ["1"]
    assert ids(project, ANN, flagged=True) == []
    assert ids(project, ANN, own="finished") == ["1"]
    assert ids(project, ANN, own="open") == ["2"]
    project.leases.skip("ann", composed(5).id)
    assert ids(project, ANN, own="skipped") == ["5"]
    assert ids(project, ANN, own="untouched") == ["0", "3", "4", "6", "7"]
    assert project.lists.counts() == {"generated": 6, "annotated": 1, "validated": 1}


@case_by_case(
    ("text", "found"),
    [
        ("straße", ["7"]),
        ("100%_SURE", ["7"]),
        ("👩‍🚀", ["7"]),
        ("שלום", ["7"]),
        ("'; drop table", ["7"]),
        ("%", ["7"]),
        ("note 3", ["3"]),
        ("WHICH FORMS", list("01234567")),
        (composed(5).id, ["5"]),
        ("nowhere", []),
    ],
)
def test_search_takes_any_text_as_it_is(project: WorkProject, text: str, found: list[str]) -> None:
    assert ids(project, text=f" {text} ") == found


def test_filters_are_values_and_never_sql(project: WorkProject) -> None:
    evil = "x' OR '1'='1"
    assert ids(project, pair=evil) == ids(project, locale=evil) == ids(project, type=evil) == ids(project, annotator=evil) == []
    with pytest.raises(UsageError, match="no such order"):
        project.lists.find(BOSS, ListQuery(sort="1; DROP TABLE records"))  # type: ignore[arg-type]


def test_order_and_pages(project: WorkProject) -> None:
    project.finish("ann", composed(4).id)
    assert project.lists.find(BOSS, ListQuery(sort="done")).lines[0].record_id == composed(4).id
    assert project.lists.find(BOSS, ListQuery(sort="words", descending=False)).lines[0].record_id == composed(7).id
    pages = [project.lists.find(BOSS, ListQuery(sort="record", descending=False, per_page=3, page=page)) for page in (1, 2, 3)]
    assert [line.record_id for page in pages for line in page.lines] == [composed(n).id for n in range(8)]
    assert {(page.total, page.pages) for page in pages} == {(8, 3)}
    late = project.lists.find(BOSS, ListQuery(sort="record", descending=False, per_page=3, page=99))
    assert (late.page, late.lines) == (3, pages[2].lines)
    empty = project.lists.find(BOSS, ListQuery(text="nowhere", page=5))
    assert (empty.lines, empty.total, empty.page, empty.pages) == ((), 0, 1, 1)
    for wrong in (replace(ListQuery(), page=0), replace(ListQuery(), per_page=0), replace(ListQuery(), per_page=5000)):
        with pytest.raises(UsageError):
            project.lists.find(BOSS, wrong)


def test_annotators_see_nobody_else_and_no_reasons_unless_the_project_allows(project: WorkProject) -> None:
    project.finish("ben", composed(1).id, flagged=True)
    project.next("ben")

    def line(viewer: AppUser) -> tuple[object, ...]:
        found = project.lists.find(viewer, ListQuery(sort="record", descending=False)).lines[1]
        return found.worked, found.flags, "pair" in found.facts, found.priority > 0

    assert line(BOSS) == line(JUDGE) == (("ben",), 1, True, True)
    assert line(ANN) == ((), 0, False, False)
    assert line(BEN) == (("ben",), 1, False, False)
    for query in (ListQuery(annotator="ben"), ListQuery(pair="age+belief"), ListQuery(model="x"), ListQuery(roles=("control",))):
        with pytest.raises(UsageError):
            project.lists.find(ANN, query)
    assert project.lists.choices(ANN)["pair"] == []
    assert project.lists.choices(BOSS)["pair"] == ["age+belief", "health+occupation"]
    project.settings.change("boss", "see_others", True)
    project.settings.change("boss", "blind", False)
    assert line(ANN) == (("ben",), 1, True, True)
    assert ids(project, ANN, annotator="ben") == ids(project, BEN, annotator="ben")


def test_what_a_filter_leaves_can_be_put_first_or_last_and_back(project: WorkProject) -> None:
    query = ListQuery(locale="de_DE")
    (special,) = project.lists.matching(BOSS, query)
    assert (special.question, special.text[:6]) == ("Which forms do I need?", "Straße")
    before = {line.record_id: (line.priority, line.reasons) for line in project.lists.matching(BOSS, ListQuery())}
    assert len(before) == 8
    assert project.pool.put("boss", [special.record_id], "last") == 1
    assert [line.record_id for line in project.lists.matching(BOSS, ListQuery())][-1] == special.record_id
    assert project.pool.put("boss", [special.record_id], "first") == 1
    assert project.pool.put("boss", [special.record_id], "first") == 0
    project.settings.change("boss", "priority_weights", {"random": 1.0})
    project.pool.prioritise("boss")
    top = project.lists.matching(BOSS, ListQuery())[0]
    assert (top.record_id, explained(top.reasons[0])) == (special.record_id, "an admin wants it first")
    assert project.next("ann") == special.record_id
    project.settings.change("boss", "priority_weights", {})
    project.pool.prioritise("boss")
    assert project.pool.put("boss", list(before), "usual") == 1
    assert {line.record_id: (line.priority, line.reasons) for line in project.lists.matching(BOSS, ListQuery())} == before
    project.assert_replay_equals_tables()


def test_many_are_rejected_at_once_but_what_is_decided_stays(project: WorkProject) -> None:
    resolver = Resolver(project.shared, project.log)
    with project.shared.writing() as store:
        set_status(store, [composed(3).id], "validated", project.log.now())
    everything = [composed(n).id for n in range(8)]
    with pytest.raises(UsageError, match="reason"):
        resolver.reject_all(JUDGE, everything, " ")
    with pytest.raises(UsageError, match="adjudicator"):
        resolver.reject_all(ANN, everything, "no use")
    assert resolver.reject_all(JUDGE, everything, "no use") == 7
    assert project.lists.counts() == {"rejected": 7, "validated": 1}
    resolver.reopen(JUDGE, composed(1).id, "was good")
    assert project.next("ann") == composed(1).id
