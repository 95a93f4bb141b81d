"""Accounts: names, passwords, roles, and what the log says about them."""

from __future__ import annotations

import json
import unicodedata

import pytest
from argon2 import PasswordHasher
from hypothesis import given
from hypothesis import strategies as st

from piiloom.annotation_app.people import accounts as accounts_module
from piiloom.annotation_app.people.accounts import LOCAL_USER, ROLES, Accounts, AppUser, Passwords, folded_name, person_name, require
from piiloom.corpus.store.annotation_project import find_annotator
from piiloom.foundation.errors import UsageError
from tests.annotation_app.people_tools import GOOD, QUICK, CountingHasher, House
from tests.annotation_app.replaying import ACCOUNT_KINDS, replayed_accounts
from tests.longer import case_by_case


@pytest.fixture
def house():
    made = House()
    yield made
    made.shared.close()


def test_an_account_lets_its_owner_in_and_nobody_else(house):
    account = house.accounts.add("Ana", "adjudicator", display="Ana María", password=GOOD)
    assert account.person == AppUser("Ana", "Ana María", "adjudicator")
    assert house.accounts.authenticate("Ana", GOOD).name == "Ana"
    assert house.accounts.authenticate("  aNA ", GOOD).name == "Ana"
    assert house.accounts.authenticate("Ana", GOOD + "x") is None
    assert house.accounts.authenticate("Ben", GOOD) is None


@case_by_case(
    ("typed", "kept"),
    [(" Zoe\u0308  K. ", "Zoë K."), ("李小龍", "李小龍"), ("o'Neil-2", "o'Neil-2"), ("a" * 64, "a" * 64)],
)
def test_names_are_kept_in_one_spelling(typed, kept):
    assert person_name(typed) == kept


@case_by_case("name", ["", "  ", "a" * 65, "a\x00b", "a\u202eb", "a\u200bb", "\u0301a", "\ue000", "local", "LOCAL", "Piiloom", "a\ud800"])
def test_names_that_will_not_do(name):
    with pytest.raises(UsageError) as caught:
        person_name(name)
    str(caught.value).encode()


@given(st.text(max_size=70))
def test_a_name_that_is_kept_is_kept_again_as_it_is(text):
    try:
        name = person_name(text)
    except UsageError:
        return
    assert person_name(name) == name
    assert unicodedata.is_normalized("NFC", name)
    assert folded_name(name) == folded_name(folded_name(name))


def test_a_name_is_taken_in_any_letter_case(house):
    house.accounts.add("Ana", "annotator", password=GOOD)
    with pytest.raises(UsageError, match="already"):
        house.accounts.add("ANA", "annotator", password=GOOD)


@case_by_case("password", ["", "short", "a" * 1025, "aaaaaaaaaaaa", "correct horse\x00 battery"])
def test_passwords_that_will_not_do_make_no_account(house, password):
    with pytest.raises(UsageError):
        house.accounts.add("Ana", "annotator", password=password)
    assert house.accounts.list() == []
    assert house.events() == []


def test_a_password_may_be_typed_in_either_unicode_form(house):
    house.accounts.add("Ana", "annotator", password="größer als gedacht")
    assert house.accounts.authenticate("Ana", unicodedata.normalize("NFD", "größer als gedacht")) is not None


def test_roles():
    ben = AppUser("ben", "Ben", "adjudicator")
    assert [ben.may(role) for role in ROLES] == [True, True, False]
    assert require(ben, "annotator") is ben
    assert LOCAL_USER.may("admin")
    with pytest.raises(UsageError, match="needs the role admin"):
        require(ben, "admin")
    with pytest.raises(UsageError, match="nobody is logged in"):
        require(None, "annotator")


def test_unknown_roles_and_names_say_what_there_is(house):
    house.accounts.add("Ana", "admin", password=GOOD)
    with pytest.raises(UsageError, match="annotator, adjudicator, admin"):
        house.accounts.change_role("Ana", "boss")
    with pytest.raises(UsageError, match="There are: Ana"):
        house.accounts.change_role("Ben", "admin")


def test_a_deactivated_person_is_out_and_may_come_back(house):
    house.accounts.add("Ana", "annotator", password=GOOD)
    house.accounts.deactivate("ana")
    assert house.accounts.authenticate("Ana", GOOD) is None
    assert house.accounts.person("Ana") is None
    house.accounts.reactivate("ana")
    assert house.accounts.authenticate("Ana", GOOD) is not None


def test_the_last_admin_stays(house):
    house.accounts.add("Ana", "admin", password=GOOD)
    house.accounts.add("Ben", "annotator", password=GOOD)
    for change in (lambda: house.accounts.deactivate("Ana"), lambda: house.accounts.change_role("Ana", "annotator")):
        with pytest.raises(UsageError, match="only admin"):
            change()
    house.accounts.change_role("Ben", "admin")
    house.accounts.deactivate("Ana")
    assert [account.active for account in house.accounts.list()] == [False, True]


def test_oidc_identities_belong_to_one_person(house):
    house.accounts.add("Ana", "annotator", oidc="Ana@Example.org")
    house.accounts.add("Ben", "annotator", oidc="auth0|77aB")
    assert house.accounts.person_of_identity("ana@example.org").name == "Ana"
    assert house.accounts.person_of_identity("auth0|77aB").name == "Ben"
    assert house.accounts.person_of_identity("auth0|77ab") is None
    assert house.accounts.person_of_identity("") is None
    with pytest.raises(UsageError, match="already"):
        house.accounts.set_oidc("Ben", "ANA@example.org")
    assert house.accounts.authenticate("Ana", "nobody's password") is None
    house.accounts.deactivate("Ana")
    assert house.accounts.person_of_identity("ana@example.org") is None


def test_an_unknown_name_costs_as_many_hashes_as_a_known_one():
    hasher = CountingHasher(time_cost=1, memory_cost=8, parallelism=1)
    house = House(hasher=hasher)
    house.accounts.add("Ana", "annotator", password=GOOD)
    house.accounts.add("Olga", "annotator", oidc="olga@example.org")
    house.accounts.add("Gone", "annotator", password=GOOD)
    house.accounts.deactivate("Gone")
    costs = []
    for name, password in [
        ("Ana", GOOD),
        ("Ana", "wrong"),
        ("Nobody", GOOD),
        ("Olga", GOOD),
        ("Gone", GOOD),
        ("Nobody", "nobody's password"),
    ]:
        before = hasher.computed
        fits = house.accounts.authenticate(name, password) is not None
        costs.append((fits, hasher.computed - before))
    assert costs == [(True, 1)] + [(False, 1)] * 5
    house.shared.close()


def test_a_hash_of_older_parameters_is_made_anew_at_a_login(house):
    house.accounts.add("Ana", "annotator", password=GOOD)
    events = house.events()
    today = PasswordHasher(time_cost=2, memory_cost=16, parallelism=1)
    accounts = Accounts(house.shared, house.log, Passwords(today))
    row = accounts.authenticate("Ana", GOOD)
    with house.shared.reading() as store:
        kept = find_annotator(store, "Ana")
        assert accounts.unchanged(store, row)
    assert "t=2" in kept.password_hash
    assert accounts.authenticate("Ana", GOOD) == row
    assert house.events() == events


def test_without_other_parameters_they_are_those_of_rfc_9106(monkeypatch):
    monkeypatch.setattr(accounts_module, "PasswordHasher", PasswordHasher)
    assert Passwords().hashed(GOOD).startswith("$argon2id$v=19$m=65536,t=3,p=4$")


def test_a_broken_hash_lets_nobody_in():
    assert not Passwords(QUICK).fits("$argon2id$nonsense", GOOD)
    assert not Passwords(QUICK).fits("", GOOD)


def _everything(house):
    house.accounts.add("Ana", "admin", password=GOOD)
    house.clock.pass_time(60)
    house.accounts.add("Ben", "annotator", display="Benjamin", oidc="ben@example.org", by="Ana")
    house.accounts.add("Cleo", "annotator", password=GOOD + "!", by="Ana")
    house.accounts.change_role("Ben", "adjudicator", by="Ana")
    house.accounts.set_password("Ben", "a different password", by="Ben")
    house.accounts.set_oidc("Ben", None, by="Ana")
    house.accounts.deactivate("Cleo", by="Ana")
    house.accounts.change_role("Cleo", "annotator", by="Ana")
    house.log_in("Ben", "a different password")
    house.logins.note_refusal("Ben")


def test_replayed_events_equal_the_table(house):
    _everything(house)
    assert replayed_accounts(house.events()) == house.accounts.list()
    assert replayed_accounts(house.events(*ACCOUNT_KINDS)) == house.accounts.list()
    assert [event.actor for event in house.events("account_changed")] == ["Ana", "Ben", "Ana", "Ana", "Ana"]


def test_no_event_and_no_repr_holds_a_secret(house):
    _everything(house)
    token = house.log_in("Ana").token
    written = json.dumps([[event.actor, event.entry] for event in house.events()])
    with house.shared.reading() as store:
        rows = [find_annotator(store, account.name) for account in house.accounts.list()]
    secrets = [GOOD, "a different password", token, *(row.password_hash for row in rows if row.password_hash)]
    assert not [secret for secret in secrets if secret in written or secret in repr(rows)]
    assert "argon2" not in written
    assert token not in repr(house.log_in("Ana"))
