"""Sessions: what ends them, and that the store holds nothing that could be used to log in."""

from __future__ import annotations

from datetime import timedelta

import pytest

from piiloom.annotation_app.people.logins import IDLE, LIFETIME
from piiloom.corpus.store.annotation_project import end_sessions
from tests.annotation_app.people_tools import GOOD, House
from tests.longer import case_by_case


@pytest.fixture
def house():
    made = House()
    made.accounts.add("Root", "admin", password=GOOD)
    made.accounts.add("Ana", "annotator", password=GOOD)
    yield made
    made.shared.close()


def _rows(house):
    with house.shared.reading() as store:
        return store.rows("SELECT * FROM login_sessions")


def test_a_token_says_who_someone_is_until_the_logout(house):
    first, second = house.log_in("Ana").token, house.log_in("Ana").token
    assert len(first) >= 43
    assert first != second
    assert house.logins.person(first).name == "Ana"
    house.logins.log_out(first)
    assert house.logins.person(first) is None
    assert house.logins.person(second).name == "Ana"
    house.logins.log_out(first)
    kinds = [(event.actor, event.kind) for event in house.events("logged_in", "logged_out")]
    assert kinds == [("Ana", "logged_in"), ("Ana", "logged_in"), ("Ana", "logged_out")]


@case_by_case("token", [None, "", "x", "x" * 100_000, "\ud800", "' OR 1=1 --"])
def test_other_tokens_are_nobody(house, token):
    house.log_in("Ana")
    assert house.logins.person(token) is None


def test_the_store_holds_no_token(house):
    token = house.log_in("Ana").token
    assert token not in repr(_rows(house))
    assert house.logins.person(_rows(house)[0][0]) is None


def test_a_session_that_is_not_used_ends(house):
    token = house.log_in("Ana").token
    house.clock.pass_time(IDLE.total_seconds() - 1)
    assert house.logins.person(token) is not None
    house.clock.pass_time(IDLE.total_seconds() - 1)
    assert house.logins.person(token) is not None
    house.clock.pass_time(IDLE.total_seconds())
    assert house.logins.person(token) is None


@pytest.mark.long
def test_a_session_ends_after_its_lifetime_however_much_it_is_used(house):
    token = house.log_in("Ana").token
    used = timedelta()
    while used + timedelta(hours=1) < LIFETIME:
        house.clock.pass_time(3600)
        used += timedelta(hours=1)
        assert house.logins.person(token) is not None
    house.clock.pass_time(3600)
    assert house.logins.person(token) is None


def test_use_is_written_down_now_and_then_only(house):
    token = house.log_in("Ana").token
    before = _rows(house)
    house.clock.pass_time(60)
    house.logins.person(token)
    assert _rows(house) == before
    house.clock.pass_time(600)
    house.logins.person(token)
    assert _rows(house) != before


@pytest.mark.parametrize(
    "change",
    [
        lambda accounts: accounts.set_password("Ana", "another password"),
        lambda accounts: accounts.change_role("Ana", "admin"),
        lambda accounts: accounts.deactivate("Ana"),
        lambda accounts: accounts.set_oidc("Ana", "ana@example.org"),
    ],
)
def test_a_change_of_the_account_ends_all_sessions_of_that_person_only(house, change):
    tokens = [house.log_in("Ana").token for _ in range(2)]
    other = house.log_in("Root").token
    change(house.accounts)
    assert [house.logins.person(token) for token in tokens] == [None, None]
    assert house.logins.person(other).name == "Root"
    house.accounts.reactivate("Ana")
    assert house.logins.person(tokens[0]) is None


def test_a_role_is_that_of_the_moment(house):
    house.accounts.change_role("Ana", "adjudicator")
    assert house.logins.person(house.log_in("Ana").token).role == "adjudicator"


def test_a_password_that_is_changed_while_it_is_checked_lets_nobody_in(house, monkeypatch):
    check = house.accounts.authenticate

    def slow_check(name, password):
        row = check(name, password)
        house.accounts.set_password("Ana", "another password")
        return row

    monkeypatch.setattr(house.accounts, "authenticate", slow_check)
    assert house.log_in("Ana").token is None
    assert _rows(house) == []


def test_dead_sessions_are_swept_away_at_the_next_login(house):
    house.logins.log_out(house.log_in("Ana").token)
    house.log_in("Ana")
    house.clock.pass_time(IDLE.total_seconds() + 1)
    house.log_in("Root")
    assert [row[1] for row in _rows(house)] == ["Root"]


def test_a_clock_that_goes_back_breaks_no_session(house):
    token = house.log_in("Ana").token
    house.clock.pass_time(-86_400)
    assert house.logins.person(token).name == "Ana"
    second = house.log_in("Ana").token
    assert _rows(house)[0][2:4] == _rows(house)[1][2:4]
    assert house.logins.person(second) is not None


def test_everybody_can_be_logged_out(house):
    tokens = [house.log_in("Ana").token, house.log_in("Root").token]
    with house.shared.writing() as store:
        end_sessions(store)
    assert [house.logins.person(token) for token in tokens] == [None, None]
