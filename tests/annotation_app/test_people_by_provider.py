"""Sessions of people whom an OIDC provider vouches for: begun once, ended for good, in the log."""

from __future__ import annotations

from datetime import timedelta

import pytest

from piiloom.annotation_app.people.logins import LIFETIME
from piiloom.annotation_app.serving.current_user import LoginConfig, provider_token
from piiloom.corpus.store.annotation_project import end_sessions
from tests.annotation_app.people_tools import GOOD, House

TOKEN = "oidc:" + "a" * 64
ME = ("7", "ana@example.org")


@pytest.fixture
def house():
    made = House()
    made.accounts.add("ana", "adjudicator", oidc="Ana@Example.org")
    yield made
    made.shared.close()


def come(house, token=TOKEN, made=None):
    return house.logins.log_in_by_provider(token, ME, made or house.clock.moment)


def logged(house):
    return [(event.actor, event.kind, event.entry.get("by")) for event in house.events("logged_in", "logged_out")]


def test_a_login_is_in_the_log_once_however_often_the_page_runs(house):
    for _ in range(3):
        assert come(house).name == "ana"
        assert house.logins.person(TOKEN).role == "adjudicator"
    assert logged(house) == [("ana", "logged_in", "oidc")]
    come(house, "oidc:" + "b" * 64)
    assert len(logged(house)) == 2


@pytest.mark.parametrize("how", ["logout", "role", "deactivated", "identity", "all"])
def test_what_was_ended_is_not_begun_again_by_the_same_cookie(house, how):
    come(house)
    match how:
        case "logout":
            house.logins.log_out(TOKEN)
        case "role":
            house.accounts.add("boss", "admin", password=GOOD)
            house.accounts.change_role("ana", "annotator")
        case "deactivated":
            house.accounts.deactivate("ana")
            assert come(house) is None
            house.accounts.reactivate("ana")
        case "identity":
            house.accounts.set_oidc("ana", "other@example.org")
            house.accounts.set_oidc("ana", "ana@example.org")
        case "all":
            with house.shared.writing() as store:
                end_sessions(store)
    assert house.logins.person(TOKEN) is None
    assert come(house) is None
    house.clock.pass_time(3600)
    house.log_in("boss")  # forgets what has expired, and that alone
    assert come(house) is None
    assert come(house, "oidc:" + "b" * 64).name == "ana"


def test_it_ends_a_week_after_the_provider_has_made_it(house):
    made = house.clock.moment
    come(house)
    house.clock.pass_time(LIFETIME.total_seconds() - 1)
    assert house.logins.person(TOKEN).name == "ana"
    house.clock.pass_time(2)
    assert house.logins.person(TOKEN) is None
    assert come(house, made=made) is None
    assert come(house, "oidc:" + "c" * 64, made - timedelta(days=1)) is None


def test_whom_nobody_knows_has_no_session(house):
    assert house.logins.log_in_by_provider(TOKEN, ("8",), house.clock.moment) is None
    assert logged(house) == []


def test_a_provider_stands_for_all_of_its_cookies():
    one = provider_token({"_streamlit_user": "chunks-2", "_streamlit_user__1": "a", "_streamlit_user__2": "b", "x": "1"})
    assert one == provider_token({"_streamlit_user__2": "b", "_streamlit_user": "chunks-2", "_streamlit_user__1": "a", "x": "2"})
    assert one != provider_token({"_streamlit_user": "chunks-2", "_streamlit_user__1": "a", "_streamlit_user__2": "c"})
    assert provider_token({"_streamlit_user_tokens": "t", "x": "1"}) is None


def test_cookies_of_a_provider_count_only_where_it_is_configured(house):
    cookies = {"_streamlit_user": "signed"}
    come(house, provider_token(cookies))
    assert LoginConfig(logins=house.logins, accounts=house.accounts, oidc=True).person_of_cookies(cookies).name == "ana"
    assert LoginConfig(logins=house.logins, accounts=house.accounts).person_of_cookies(cookies) is None
