"""The pages of the admin, of the guidelines and of training, and the frame around all pages."""

import pytest
from screen_stage import ACCEPT, HOSTILE, ROLES, does, markdown_of, page, press, ran, said, stage
from streamlit.testing.v1 import AppTest

from piiloom.annotation_app.onboarding.exercises import shipped_answers
from piiloom.annotation_app.people.accounts import AppUser
from piiloom.annotation_app.screens.frame import SCREENS, _drawn


@pytest.fixture
def services(tmp_path):
    with stage(tmp_path) as opened:
        yield opened


def _field(test, kind, label):
    return next(element for element in getattr(test, kind) if element.label == label)


def test_the_whole_app_draws_its_first_page(services):
    shown = AppTest.from_string("from piiloom.annotation_app.screens.frame import draw_app\ndraw_app()", default_timeout=20).run()
    ran(shown)
    assert "Logged in as local (admin)" in said(shown)


def test_whoever_lost_the_role_sees_nothing(services, monkeypatch):
    monkeypatch.setattr("piiloom.annotation_app.screens.frame.current_person", lambda: ROLES["annotator"])
    shown = []
    monkeypatch.setattr("piiloom.annotation_app.screens.frame.st.warning", shown.append)
    for screen in SCREENS:
        if screen.role != "annotator":
            _drawn(screen)
    assert shown == ["You may not see this page."] * 3


@pytest.mark.long
def test_admin_puts_records_into_the_list_and_changes_settings(services):
    shown = page("admin")
    assert "4 records generated" in said(shown)
    shown = press(shown, "Put into the work list")
    assert "0 added, 4 were there before" in said(shown).replace("\\", "")
    _field(shown, "toggle", "Annotators may see others' work").set_value(True)
    _field(shown, "number_input", "judges").set_value(2.0)
    shown = press(shown, "Save")
    current = services.settings.current()
    assert current.see_others
    assert current.priority_weights["judges"] == 2.0
    shown = press(shown, "Save")
    assert "Nothing was different" in said(shown)
    press(shown, "Work out priorities anew")


def test_admin_forms_are_refused_to_whoever_is_no_admin_any_more(services, monkeypatch):
    shown = page("admin")
    monkeypatch.setattr("piiloom.annotation_app.screens.tab_state.current_person", lambda: ROLES["annotator"])
    shown = press(shown, "Add the shipped practice records")
    assert "this needs the role admin" in said(shown).replace("\\", "")
    assert services.practice.exercises("ana") == []


@pytest.mark.long
def test_admin_makes_accounts_and_shuts_people_out(services):
    shown = page("admin")
    _field(shown, "text_input", "Name").set_value("dora")
    _field(shown, "text_input", "Password").set_value("correct horse battery")
    shown = press(shown, "Add")
    assert "dora can log in" in said(shown)
    shown = press(shown, "Add")  # the form was emptied
    _field(shown, "selectbox", "to").set_value("adjudicator")
    shown = press(shown, "Change")
    assert services.accounts.named("dora").role == "adjudicator"
    _field(shown, "selectbox", "to").set_value("no access")
    press(shown, "Change")
    assert not services.accounts.named("dora").active


@pytest.mark.long
def test_admin_deals_records_out_and_takes_them_back(services):
    services.accounts.add("ana", "annotator", password="correct horse battery")
    shown = page("admin")
    _field(shown, "multiselect", "People").set_value(["ana"])
    shown = press(shown, "Deal them out")
    assert "ana: 4" in said(shown).replace("\\", "")
    assert "4 records are free again" in said(press(shown, "Free"))


@pytest.mark.long
def test_admin_exports_what_is_validated(services, tmp_path):
    for who in ("ana", "ben"):
        does(services, who, "r000", ACCEPT)
    shown = page("admin")
    _field(shown, "text_input", "Test records (a number, or a share as 0.1)").set_value("0")
    shown = press(shown, "Export")
    assert "Written to" in said(shown)
    lines = (tmp_path / "exports" / "v1-native" / "train.jsonl").read_text().splitlines()
    assert len(lines) == 1
    assert "there" in said(press(shown, "Export"))  # a release is never made twice


@pytest.mark.long
def test_admin_writes_an_earlier_release_in_another_format(services, tmp_path):
    for who in ("ana", "ben"):
        does(services, who, "r000", ACCEPT)
    shown = page("admin")
    assert next(button for button in shown.button if button.label == "Write it").disabled
    _field(shown, "text_input", "Test records (a number, or a share as 0.1)").set_value("0")
    press(shown, "Export")
    shown = page("admin")
    shown.selectbox(key="export-again:format").set_value("capid")
    shown = press(shown, "Write it")
    assert "1 in train.jsonl" in said(shown).replace("\\", "")
    assert (tmp_path / "exports" / "v1-capid" / "train.jsonl").exists()
    assert "1 in train.jsonl" in said(press(shown, "Write it")).replace("\\", "")  # again: the same files


@pytest.mark.long
def test_records_are_filtered_by_who_worked_on_them_and_by_flags(services):
    for name in ("ana", "ben"):
        services.accounts.add(name, "annotator", password="correct horse battery")
    does(services, "ana", "r000", {"op": "flag", "comment": HOSTILE}, ACCEPT)
    does(services, "ben", "r001", ACCEPT)
    shown = page("records")
    assert "4 records" in said(shown)
    shown = ran(_field(shown, "selectbox", "Worked on by").set_value("ben").run())
    assert "1 record ·" in said(shown)
    shown = ran(_field(shown, "selectbox", "Flags").set_value("flagged").run())
    assert "0 records" in said(shown)
    shown = ran(_field(shown, "selectbox", "Worked on by").set_value("ana").run())
    assert "1 record ·" in said(shown)
    labels = [element.label for element in page("records", "annotator", "ana").selectbox]
    assert not {"Worked on by", "Pair", "Model"} & set(labels)  # in blind mode, and others' work is not to be seen
    assert {"Status", "Mine", "Flags", "Type", "Locale"} <= set(labels)


@pytest.mark.long
def test_admin_makes_a_snapshot(services, tmp_path):
    shown = press(page("admin"), "Make a snapshot now")
    assert "Made" in said(shown)
    assert list(tmp_path.glob("s.duckdb.snapshots/*.duckdb"))


@pytest.mark.long
def test_guidelines_are_published_by_admins_alone(services):
    assert "Publish as a new version" not in [button.label for button in page("guidelines", "annotator").button]
    shown = page("guidelines", "admin")
    _field(shown, "text_area", "Guidelines").set_value("# Ours\nMark all.")
    shown = press(shown, "Publish as a new version")
    assert services.guidelines.ensure().version == 2


def test_a_draft_of_guidelines_outlives_what_another_admin_publishes(services):
    shown = page("guidelines", "admin")
    services.guidelines.publish("other", "# Another admin's")
    _field(shown, "text_area", "Guidelines").set_value("# Mine")
    shown = press(shown, "Publish as a new version")
    assert (services.guidelines.ensure().version, _field(shown, "text_area", "Guidelines").value) == (2, "# Mine")
    assert "were changed meanwhile" in said(shown)
    shown = press(shown, "Start anew from version 2")
    assert _field(shown, "text_area", "Guidelines").value == "# Another admin's"


@pytest.mark.long
def test_an_older_version_of_the_guidelines_can_be_put_in_force_again(services):
    first = services.guidelines.version(1).markdown
    services.guidelines.publish("local", "# Wrong")
    assert not [button for button in page("guidelines", "annotator").button if "in force again" in button.label]
    press(page("guidelines", "admin"), "Put version 1 in force again, as version 3")
    assert services.guidelines.version(3).markdown == first


@pytest.mark.long
def test_questions_of_others_stay_theirs_until_they_are_answered(services, monkeypatch):
    nadia = AppUser("nadia", "nadia", "adjudicator")
    monkeypatch.setattr("piiloom.annotation_app.screens.tab_state.current_person", lambda: nadia)
    services.guidelines.ask("ben", f"Is it? {HOSTILE}", "r001")
    assert "Is it?" not in said(page("guidelines", "annotator", "ana"))
    assert "Is it?" in said(page("guidelines", "annotator", "ben"))
    shown = page("guidelines", "adjudicator", "nadia")
    _field(shown, "text_input", "Answer").set_value("Yes.")
    shown = press(shown, "Answer")
    shown = page("guidelines", "annotator", "ana")
    assert "nadia: Yes." in said(shown)
    assert "ben" not in "".join(caption.value for caption in shown.caption)
    assert all("<script>" not in words for words in markdown_of(shown))


@pytest.mark.long
def test_practice_waits_for_records_and_then_gives_feedback(services):
    assert "no practice records yet" in said(page("training", "annotator", "ana"))
    ids = services.practice.add("local", shipped_answers("practice"))
    shown = page("training", "annotator", "ana")
    assert "that checks your answer" in said(shown)
    assert not shown.button
    services.documents.open("ana", ids[0])
    does(services, "ana", ids[0], ACCEPT)
    shown = page("training", "annotator", "ana")
    assert " right; " in said(shown)


@pytest.mark.long
def test_the_test_is_handed_in_when_all_is_finished(services, monkeypatch):
    ana = AppUser("ana", "ana", "annotator")
    monkeypatch.setattr("piiloom.annotation_app.screens.tab_state.current_person", lambda: ana)
    shown = page("training", "annotator", "ana")
    shown = ran(shown.segmented_control(key="training_what").set_value("Test").run())
    assert shown.info
    services.test.add_set("local", shipped_answers("qualifying"))
    shown = ran(shown.run())
    hand_in = _field(shown, "button", "Hand in")
    assert hand_in.disabled
    for record_id, _ in services.test.task("ana").records:
        does(services, "ana", record_id, ACCEPT)
    shown = press(ran(shown.run()), "Hand in")
    assert services.test.attempts("ana")[0].number == 1
