"""The page where adjudicators decide."""

import threading

import pytest
from screen_stage import ACCEPT, HOSTILE, dispute, does, flip, markdown_of, page, press, ran, record, said, stage

from piiloom.annotation_app.adjudication.versions import Differing
from piiloom.annotation_app.documents.document import document_of
from piiloom.annotation_app.screens.showing import escape_markdown, marked_html
from piiloom.corpus.store.records import iter_records
from tests.longer import case_by_case


@pytest.fixture
def services(tmp_path):
    with stage(tmp_path) as opened:
        yield opened


def _validated(services):
    with services.shared.reading() as store:
        return {record.id: record for record in iter_records(store, status="validated")}


@pytest.mark.long
def test_nothing_waits(services):
    assert "Nothing waits for a decision" in said(page("adjudication", "adjudicator"))


@pytest.mark.long
def test_one_button_takes_a_version_whole_and_the_next_record_comes(services):
    dispute(services, "r000")
    dispute(services, "r001")
    shown = page("adjudication", "adjudicator")
    first = shown.selectbox(key="adjudicated_record").value
    shown = press(shown, "Take ben")
    taken = _validated(services)[first]
    assert [(span.entity_type, span.relevance) for span in taken.spans] == [("health", "high"), ("location", "high")]
    assert shown.selectbox(key="adjudicated_record").value != first
    assert "1 record to be decided" in said(shown)


@pytest.mark.long
def test_spans_are_chosen_one_by_one(services):
    dispute(services, "r000")
    shown = page("adjudication", "adjudicator")
    assert [len(radio.options) for radio in shown.radio] == [2, 2]  # the span that was dropped, the relevance that was flipped
    relevance = shown.radio[1]
    ran(relevance.set_value("ben").run())
    press(shown, "Decide so")
    spans = _validated(services)["r000"].spans
    assert [(span.entity_type, span.relevance) for span in spans] == [("occupation", "high"), ("health", "high"), ("location", "high")]


@pytest.mark.long
def test_a_change_meanwhile_is_told_and_nothing_is_decided(services):
    dispute(services, "r000")
    shown = page("adjudication", "adjudicator")
    does(services, "ana", "r000", flip("s2", "low"), ACCEPT)
    button = next(button for button in shown.button if button.label == "Take ana")
    ran(button.click().run())
    assert _validated(services) == {}


@pytest.mark.long
def test_rejecting_asks_for_a_reason(services):
    dispute(services, "r000")
    shown = page("adjudication", "adjudicator")
    assert next(button for button in shown.button if button.label == "Reject").disabled
    ran(shown.text_input(key="reason-r000").set_value("makes no sense").run())
    press(shown, "Reject")
    assert services.lists.counts()["rejected"] == 1


@pytest.mark.long
def test_a_decision_is_taken_back(services):
    dispute(services, "r000")
    shown = press(page("adjudication", "adjudicator"), "Take ana")
    shown = page("adjudication", "adjudicator")
    shown.selectbox[-1].set_value("r000")
    shown.text_input[-1].set_value("the guidelines changed")
    press(shown, "Reopen")
    assert services.lists.counts()["annotated"] == 1


@pytest.mark.long
def test_flags_rejections_and_edits_of_another_tab_are_shown(services):
    dispute(services, "r000")
    does(services, "ben", "r000", flip("s2", "low"), base=0, client="the other tab")
    shown = page("adjudication", "adjudicator")
    assert "ben flagged it" in said(shown)
    assert "a tab that had fallen behind" in said(shown)
    assert "Take ben, other tab" in [button.label for button in shown.button]
    press(shown, "Take ben, other tab")
    assert [span.relevance for span in _validated(services)["r000"].spans] == ["low", "high"]


@pytest.mark.long
def test_what_was_finished_some_minutes_ago_is_settled_by_looking(services):
    does(services, "ana", "r000", ACCEPT)
    does(services, "ben", "r000", ACCEPT)
    services.log.clock.turn(11)
    page("adjudication", "adjudicator")
    for thread in [thread for thread in threading.enumerate() if thread.name == "settling"]:  # the page waits for a moment only
        thread.join(60)
    assert services.lists.counts()["validated"] == 1


@pytest.mark.long
def test_no_markdown_is_made_of_what_people_or_records_say(services):
    dispute(services, "r000")
    does(services, "cleo", "r001", {"op": "reject", "reason": HOSTILE})
    shown = page("adjudication", "adjudicator")
    for words in markdown_of(shown):
        assert "<script>" not in words
        assert "**bold**" not in words
        assert "](javascript" not in words
    assert HOSTILE in said(shown)  # as text it is whole


def test_marked_text_holds_no_tag_of_the_text(services):
    html = marked_html(document_of(record(1)), {"health": "#123456"}, Differing({"s2"}))
    assert "<script" not in html
    assert "&lt;script&gt;" in html
    assert html.count("outline:") == 1


@case_by_case("text", ["a *b*", "[x](y)", "<b>", ":red[x]", "$x$", "# h", "- l", "1. x", "a\n\nb", "`c`", "http://e.example"])
def test_plain_words_escape_every_sign_of_markdown(text):
    shown = escape_markdown(text)
    assert "\n" not in shown
    assert all(before == "\\" for before, sign in zip(" " + shown, shown, strict=False) if sign in "*[]<>:$#`_")
