"""The history of a record on the pages, and anything set back by a new event: a step, a setting, an account, the guidelines."""

import pytest
from screen_stage import ACCEPT, dispute, does, flip, page, press, ran, said, stage
from streamlit.testing.v1 import AppTest

from piiloom.annotation_app.people.accounts import AppUser
from piiloom.corpus.store.annotation_events import read_events


@pytest.fixture
def services(tmp_path):
    with stage(tmp_path) as opened:
        yield opened


def with_history(shown, record_id="r000"):
    """The page with the expander of the record's history open."""
    shown.session_state[f"history-{record_id}"] = True
    return ran(shown.run())


def _history_of(name, role, record_id):
    from piiloom.annotation_app.people.accounts import AppUser
    from piiloom.annotation_app.screens.editor import show_history
    from piiloom.annotation_app.serving.services import get_services

    show_history(get_services(), AppUser(name, name, role), record_id)


def events(services, *kinds):
    with services.shared.reading() as store:
        return read_events(store, kinds=kinds)


@pytest.mark.long
def test_who_decides_sees_everything_that_was_done_and_takes_back_a_step_of_somebody_else(services):
    dispute(services, "r000")
    shown = with_history(page("adjudication", "adjudicator"))
    told = said(shown)
    for words in (
        "ana · took the record to work on it",
        "ben · relevance: location",
        "ben · flagged",
        "record finished for the first time",
    ):
        assert words in told
    steps = next(box for box in shown.selectbox if box.label == "A step")
    step = next(option for option in steps.options if "span removed" in option)
    ran(steps.set_value(int(step.split(" ")[0])).run())
    shown = press(shown, "Take this step back")
    assert "Nothing waits for a decision" in said(shown)  # it is ben's again
    opened = services.documents.open("ben", "r000")
    assert (opened.state.verdict, [mark.id for mark in opened.state.document.marks]) == ("open", ["s1", "s2", "s3"])
    (event,) = events(services, "edit_for")
    assert (event.actor, event.owner) == ("local", "ben")
    does(services, "ben", "r000", ACCEPT)
    shown = with_history(page("adjudication", "adjudicator"))
    assert f"local · step {step.split(' ')[0]} of ben taken back" in said(shown)


@pytest.mark.long
def test_a_step_that_cannot_be_taken_back_is_told(services):
    dispute(services, "r000")
    does(services, "ben", "r000", flip("s3", "low"), ACCEPT)
    shown = with_history(page("adjudication", "adjudicator"))
    steps = next(box for box in shown.selectbox if box.label == "A step")
    first = next(option for option in reversed(steps.options) if "ben · relevance" in option)
    ran(steps.set_value(int(first.split(" ")[0])).run())
    shown = press(shown, "Take this step back")
    assert events(services, "edit_for") == []
    assert any("taken back" in toast.value for toast in shown.toast)


@pytest.mark.long
def test_decisions_are_part_of_the_history(services):
    dispute(services, "r000")
    press(page("adjudication", "adjudicator"), "Take ana")
    services.resolver.reopen(AppUser("eva", "eva", "adjudicator"), "r000", "the guideline changed")
    shown = with_history(page("adjudication", "adjudicator"))
    told = said(shown)
    for words in (
        "decided on the record: took the version of ana",
        "validated as revision 1",
        "eva · decision taken back: the guideline changed",
    ):
        assert words in told


@pytest.mark.long
def test_annotators_see_what_was_done_to_their_own_version_alone(services):
    dispute(services, "r000")
    does(services, "ana", "r000", flip())
    shown = with_history(ran(AppTest.from_function(_history_of, args=("ana", "annotator", "r000")).run()))
    told = said(shown)
    assert "ana · relevance" in told
    assert "ben" not in told
    assert "took the record" not in told
    assert [box.label for box in shown.selectbox] == ["A step of yours"]


@pytest.mark.long
def test_who_oversees_sees_others_while_working_but_nothing_that_tells_control_records_apart(services):
    dispute(services, "r000")
    told = said(with_history(ran(AppTest.from_function(_history_of, args=("eva", "adjudicator", "r000")).run())))
    assert "ben · relevance" in told
    assert "ana · took the record" in told
    assert "finished for the first time" not in told


@pytest.mark.long
def test_a_late_edit_of_one_person_waits_on_the_page_and_nothing_else_does(tmp_path):
    with stage(tmp_path, records=2, overlap=1) as alone:
        does(alone, "local", "r000", ACCEPT)
        does(alone, "local", "r000", flip(), base=0, client="the other tab")
        does(alone, "local", "r001", ACCEPT)
        alone.log.clock.turn(11)
        shown = page("adjudication", "admin", "local")
        assert "1 record to be decided" in said(shown)
        assert alone.lists.counts()["validated"] == 1
        shown = press(shown, "Take local, other tab")
        assert "Nothing waits for a decision" in said(shown)
        assert alone.lists.counts()["validated"] == 2


def test_a_setting_an_account_and_the_guidelines_are_set_back_by_a_new_event(services):
    services.settings.change("local", "overlap", 5)
    services.settings.change("local", "overlap", 2)
    assert [event.entry["value"] for event in events(services, "setting")] == [2, 5, 2]
    assert services.settings.current().overlap == 2
    before = services.guidelines.versions()[0]
    services.guidelines.publish("local", "something else")
    services.guidelines.publish("local", before.markdown)
    assert [one.markdown for one in sorted(services.guidelines.versions(), key=lambda one: one.version)] == [
        before.markdown,
        "something else",
        before.markdown,
    ]
    services.accounts.add("cleo", "annotator", password="correct horse battery")
    services.accounts.change_role("cleo", "adjudicator")
    services.accounts.change_role("cleo", "annotator")
    assert len(events(services, "account_changed")) == 2
