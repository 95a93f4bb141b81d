"""Looking through the list: filters, search, order, pages, and what nobody may see."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from worklist_stories import Office, composed

from piiloom.annotation_app.worklist.filters import ListQuery
from piiloom.annotation_app.worklist.visibility import Viewer, may_see_versions, may_see_why
from piiloom.corpus.store.annotation_items import set_status
from piiloom.corpus.store.database import MEMORY, Store
from piiloom.foundation.errors import UsageError

BOSS, ANN, BEN = Viewer(name="boss", role="admin"), Viewer(name="ann"), Viewer(name="ben")
JUDGE = Viewer(name="judy", role="adjudicator")


@pytest.fixture
def office() -> Iterator[Office]:
    with Store.open(MEMORY) as store:
        special = composed(7, context="Straße, 100%_sure 👩‍🚀 שלום <b>'; DROP TABLE records; --", spans=(), locale="de_DE")
        yield Office(store, [*(composed(n) for n in range(7)), special], overlap=2)


def ids(office: Office, viewer: Viewer = BOSS, **query: object) -> list[str]:
    wanted = ListQuery(sort="record", descending=False, **query)  # type: ignore[arg-type]
    return [line.record_id[-1] for line in office.lists.look(viewer, wanted).lines]


def test_each_filter_by_itself(office: Office) -> None:
    office.finish("ann", composed(1).id)
    office.finish("ben", composed(1).id, flagged=True)
    office.finish("ann", composed(2).id, verdict="open")
    with office.shared.writing() as store:
        set_status(store, [composed(3).id], "validated", office.log.now())
    assert ids(office, status="annotated") == ["1"]
    assert ids(office, status="validated") == ["3"]
    assert ids(office, status="generated") == ["0", "2", "4", "5", "6", "7"]
    assert ids(office, pair="age+belief") == ["1", "4", "7"]
    assert ids(office, type="location") == ["0", "1", "2", "3", "4", "5", "6"]
    assert ids(office, locale="de_DE") == ["7"]
    assert ids(office, model="gpt-x") == ["0", "2", "4", "6"]
    assert ids(office, annotator="ann") == ["1", "2"]
    assert ids(office, annotator="ben") == ["1"]
    assert ids(office, flagged=True) == ["1"]
    assert ids(office, ANN, flagged=True) == []
    assert ids(office, ANN, own="finished") == ["1"]
    assert ids(office, ANN, own="open") == ["2"]
    office.leases.skip("ann", composed(5).id)
    assert ids(office, ANN, own="skipped") == ["5"]
    assert ids(office, ANN, own="untouched") == ["0", "3", "4", "6", "7"]
    assert office.lists.counts() == {"generated": 6, "annotated": 1, "validated": 1}


@pytest.mark.parametrize(
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
def test_search_takes_any_text_as_it_is(office: Office, text: str, found: list[str]) -> None:
    assert ids(office, text=f" {text} ") == found


def test_filters_are_values_and_never_sql(office: Office) -> None:
    evil = "x' OR '1'='1"
    assert ids(office, pair=evil) == ids(office, locale=evil) == ids(office, type=evil) == ids(office, annotator=evil) == []
    with pytest.raises(UsageError, match="no such order"):
        office.lists.look(BOSS, ListQuery(sort="1; DROP TABLE records"))  # type: ignore[arg-type]


def test_order_and_pages(office: Office) -> None:
    office.finish("ann", composed(4).id)
    assert office.lists.look(BOSS, ListQuery(sort="done")).lines[0].record_id == composed(4).id
    assert office.lists.look(BOSS, ListQuery(sort="words", descending=False)).lines[0].record_id == composed(7).id
    pages = [office.lists.look(BOSS, ListQuery(sort="record", descending=False, per_page=3, page=page)) for page in (1, 2, 3)]
    assert [line.record_id for page in pages for line in page.lines] == [composed(n).id for n in range(8)]
    assert {(page.total, page.pages) for page in pages} == {(8, 3)}
    late = office.lists.look(BOSS, ListQuery(sort="record", descending=False, per_page=3, page=99))
    assert (late.page, late.lines) == (3, pages[2].lines)
    empty = office.lists.look(BOSS, ListQuery(text="nowhere", page=5))
    assert (empty.lines, empty.total, empty.page, empty.pages) == ((), 0, 1, 1)
    for wrong in (replace(ListQuery(), page=0), replace(ListQuery(), per_page=0), replace(ListQuery(), per_page=5000)):
        with pytest.raises(UsageError):
            office.lists.look(BOSS, wrong)


def test_annotators_see_nobody_else_and_no_reasons_unless_the_project_allows(office: Office) -> None:
    office.finish("ben", composed(1).id, flagged=True)
    office.next("ben")

    def line(viewer: Viewer) -> tuple[object, ...]:
        found = office.lists.look(viewer, ListQuery(sort="record", descending=False)).lines[1]
        return found.worked, found.flags, "pair" in found.facts, found.priority > 0

    assert line(BOSS) == line(JUDGE) == (("ben",), 1, True, True)
    assert line(ANN) == ((), 0, False, False)
    assert line(BEN) == (("ben",), 1, False, False)
    for query in (ListQuery(annotator="ben"), ListQuery(pair="age+belief"), ListQuery(model="x"), ListQuery(roles=("control",))):
        with pytest.raises(UsageError):
            office.lists.look(ANN, query)
    assert office.lists.choices(ANN)["pair"] == []
    assert office.lists.choices(BOSS)["pair"] == ["age+belief", "health+occupation"]
    office.book.change("boss", "see_others", True)
    office.book.change("boss", "blind", False)
    assert line(ANN) == (("ben",), 1, True, True)
    assert ids(office, ANN, annotator="ben") == ids(office, BEN, annotator="ben")


def test_versions_of_others_show_in_blind_mode_only_after_the_own_is_finished(office: Office) -> None:
    blind = office.book.current()
    assert may_see_versions(JUDGE, blind, finished_own=False)
    assert not may_see_versions(ANN, blind, finished_own=True)
    seeing = replace(blind, see_others=True)
    assert not may_see_versions(ANN, seeing, finished_own=False)
    assert may_see_versions(ANN, seeing, finished_own=True)
    assert may_see_versions(ANN, replace(seeing, blind=False), finished_own=False)
    assert not may_see_why(ANN, blind)
    assert may_see_why(JUDGE, blind)


def test_control_records_hide_among_the_others_and_deleted_ones_are_gone(office: Office) -> None:
    office.controls.plant_errors("boss", [composed(2).id])
    assert len(ids(office, ANN)) == 9
    assert {line.role for line in office.lists.look(ANN, ListQuery()).lines} == {"work"}
    assert len(ids(office, BOSS)) == 8
    assert len(ids(office, BOSS, roles=("control",))) == 1
    office.delete(composed(2).id)
    assert len(ids(office, BOSS)) == 7


def test_live_leases_show_and_dead_ones_do_not(office: Office) -> None:
    record_id = office.next("ann")
    assert ids(office, annotator="ann") == [str(record_id)[-1]]
    office.clock.turn(31)
    assert ids(office, annotator="ann") == []
    assert ids(office, ANN, own="open") == []
