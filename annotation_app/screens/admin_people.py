"""The tab for accounts: add them, change roles and passwords, block people who have left."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from piiloom.annotation_app.people.identity import ROLES
from piiloom.annotation_app.screens.tables import show_table
from piiloom.annotation_app.serving.services import Services

_OUT, _IN = "no access", "access again"
# The type of ``admin.done``: runs an action as the current admin and shows its message.
Done = Callable[[Callable[[str], str]], None]


def people_tab(services: Services, done: Done) -> None:
    """List the accounts; add and change them."""
    accounts = services.accounts.list()
    rows = [
        {
            "name": one.name,
            "display": one.display,
            "role": one.role,
            "active": one.active,
            "password": one.has_password,
            "OIDC": one.oidc or "",
        }
        for one in accounts
    ]
    show_table(rows)
    names = [one.name for one in accounts]
    first, second, third = st.columns(3)
    with first:
        _add(services, done)
    with second:
        _change(services, names, done)
    with third:
        _password(services, names, done)


def _add(services: Services, done: Done) -> None:
    with st.form("account", clear_on_submit=True):
        st.text("A new account")
        name = st.text_input("Name")
        display = st.text_input("Shown to others as", placeholder="the name")
        role = st.selectbox("Role", ROLES)
        password = st.text_input("Password", type="password", autocomplete="new-password")
        oidc = st.text_input("or the e-mail address of an OIDC login")
        if st.form_submit_button("Add"):
            done(lambda by: _added(services, by, name, role, display=display, password=password or None, oidc=oidc or None))


def _added(services: Services, by: str, name: str, role: str, **ways: str | None) -> str:
    account = services.accounts.add(name, role, by=by, display=ways["display"] or "", password=ways["password"], oidc=ways["oidc"])
    return f"{account.name} can log in." if account.can_log_in else f"{account.name} needs a password before logging in."


def _change(services: Services, names: list[str], done: Done) -> None:
    with st.form("role"):
        st.text("Another role, or none")
        who = st.selectbox("Change", names)
        new = st.selectbox("to", [*ROLES, _OUT, _IN])
        if st.form_submit_button("Change") and who:

            def change(by: str) -> str:
                if new == _OUT:
                    services.accounts.deactivate(who, by=by)
                elif new == _IN:
                    services.accounts.reactivate(who, by=by)
                else:
                    services.accounts.change_role(who, new, by=by)
                return f"{who}: {new}. That person has to log in again."

            done(change)


def _password(services: Services, names: list[str], done: Done) -> None:
    with st.form("password", clear_on_submit=True):
        st.text("A new password")
        who = st.selectbox("For", names)
        password = st.text_input("New password", type="password", autocomplete="new-password")
        if st.form_submit_button("Set") and who:

            def change(by: str) -> str:
                services.accounts.set_password(who, password, by=by)
                return f"{who} has another password and has to log in again."

            done(change)
