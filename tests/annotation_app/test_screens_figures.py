"""The dashboard, and what keeps its figures."""

import threading

import pytest
from screen_stage import ACCEPT, dispute, does, flip, page, ran, said, stage

from piiloom.annotation_app.screens.tab_state import PeriodicSettling, app_cache
from piiloom.foundation.errors import UsageError
from tests.longer import mostly_long

pytestmark = pytest.mark.long

PARTS = ("Progress", "What people change", "Agreement", "Hidden controls", "Errors left")


@pytest.fixture
def services(tmp_path):
    with stage(tmp_path) as opened:
        yield opened


def _part(name):
    shown = page("dashboard", "adjudicator")
    return ran(shown.segmented_control(key="dashboard_part").set_value(name).run())


@pytest.mark.parametrize("part", mostly_long(PARTS, quick=list(PARTS)[:1]))
def test_every_part_says_what_it_waits_for_while_nothing_is_done(services, part):
    shown = _part(part)
    assert shown.metric if part == "Progress" else shown.info


def test_an_empty_work_list_is_told(tmp_path):
    with stage(tmp_path, records=0):
        assert "The work list is empty" in said(page("dashboard", "adjudicator"))


def test_progress_counts_records_and_documents(services):
    does(services, "ana", "r000", ACCEPT)
    does(services, "ben", "r000", ACCEPT)
    services.resolver.settle(["r000"])
    numbers = {metric.label: metric.value for metric in page("dashboard", "adjudicator").metric}
    assert numbers["Records decided"] == "1 of 4"
    assert numbers["Documents finished"] == "2"
    assert numbers["Documents still wanted"] == "6"


@pytest.mark.long
def test_what_people_change_is_shown_by_group(services):
    dispute(services, "r000")
    shown = _part("What people change")
    table = shown.dataframe[0].value
    assert list(table["group"]) == ["all", "p m"] or table["group"][0] == "all"
    assert table["removed"][0].startswith("16.7 (")
    for by in ("stage", "prompt template", "pair", "type"):
        shown = ran(shown.segmented_control(key="changes_by").set_value(by).run())
        assert len(shown.dataframe[0].value) > 1, by


@pytest.mark.long
def test_agreement_is_shown_over_all_by_two_and_by_group(services):
    dispute(services, "r000")
    shown = _part("Agreement")
    overall, two = shown.dataframe[0].value, shown.dataframe[1].value
    assert overall["records"][0] == 1
    assert list(two["group"]) == ["ana – ben"]
    for by in ("pair", "day"):
        shown = ran(shown.segmented_control(key="agreement_by").set_value(by).run())
        assert len(shown.dataframe[2].value) == 1, by


@pytest.mark.long
def test_the_estimate_of_errors_left_comes_with_what_it_takes_for_granted(services):
    for record_id in ("r000", "r001"):
        for who in ("ana", "ben"):
            does(services, who, record_id, flip(), ACCEPT)
    shown = _part("Errors left")
    assert shown.dataframe[0].value["errors found"][0] == 2
    assert "independently" in said(shown)


@pytest.mark.long
def test_controls_that_somebody_finished_are_shown(services):
    for who in ("ana", "ben"):
        does(services, who, "r000", ACCEPT)
    services.resolver.settle(["r000"])
    services.controls.add_gold("local", ["r000"])
    with services.shared.reading() as store:
        control = store.rows("SELECT record_id FROM annotation_items WHERE role = 'control'")[0][0]
    services.documents.open("ana", control)
    does(services, "ana", control, ACCEPT)
    table = _part("Hidden controls").dataframe[0].value
    assert list(table["person"]) == ["ana"]
    assert table["good records kept"][0] == "1 of 1"


def test_figures_are_made_once_until_somebody_finishes_something(services):
    made = []
    cache = app_cache(services)

    def figure():
        with services.shared.reading() as store:
            finished_records = services.finished_records.load(store)
        return cache.figures("x", finished_records, lambda: made.append(1) or len(made))

    dispute(services, "r000")
    assert [figure(), figure()] == [1, 1]
    dispute(services, "r001")
    assert figure() == 2
    assert app_cache(services) is cache


def test_upkeep_runs_once_in_a_while_and_keeps_its_fault():
    runs = []

    def settle():
        runs.append(1)
        raise UsageError("the disk is full")

    settling = PeriodicSettling(settle, every_s=3600)
    settling.run_if_due()
    settling.run_if_due()
    assert runs == [1]
    assert str(settling.fault) == "the disk is full"


@pytest.mark.long
def test_upkeep_does_not_keep_a_page_waiting():
    may_end, ended = threading.Event(), threading.Event()

    def settle():
        may_end.wait(60)
        ended.set()

    settling = PeriodicSettling(settle, every_s=0)
    settling.run_if_due()
    settling.run_if_due()
    assert not ended.is_set()
    may_end.set()
    assert ended.wait(60)


def test_everybody_sees_their_own_work_and_nobody_elses(services):
    dispute(services, "r000")
    shown = page("own_work", "annotator", "ana")
    assert "Nothing can be said yet" in said(shown)
    assert {metric.label: metric.value for metric in shown.metric}["Records I finished"] == "1"
    assert "ben" not in str([table.value for table in shown.table])
