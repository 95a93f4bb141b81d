"""The tab for accounts: add them, change roles and passwords, block people who have left."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from piiloom.annotation_app.people.identity import ROLES
from piiloom.annotation_app.serving.opening import Workplace

_OUT, _IN = "no access", "access again"
# The type of ``admin.done``: runs an action as the current admin and shows its message.
Done = Callable[[Callable[[str], str]], None]


def people_tab(workplace: Workplace, done: Done) -> None:
    """List the accounts; add and change them."""
    accounts = workplace.accounts.list()
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
    st.dataframe(rows, hide_index=True, width="stretch")
    names = [one.name for one in accounts]
    first, second, third = st.columns(3)
    with first:
        _add(workplace, done)
    with second:
        _change(workplace, names, done)
    with third:
        _password(workplace, names, done)


def _add(workplace: Workplace, done: Done) -> None:
    with st.form("account", clear_on_submit=True):
        st.text("A new account")
        name = st.text_input("Name")
        display = st.text_input("Shown to others as", placeholder="the name")
        role = st.selectbox("Role", ROLES)
        password = st.text_input("Password", type="password", autocomplete="new-password")
        oidc = st.text_input("or the e-mail address of an OIDC login")
        if st.form_submit_button("Add"):
            done(lambda by: _added(workplace, by, name, role, display=display, password=password or None, oidc=oidc or None))


def _added(workplace: Workplace, by: str, name: str, role: str, **ways: str | None) -> str:
    account = workplace.accounts.add(name, role, by=by, display=ways["display"] or "", password=ways["password"], oidc=ways["oidc"])
    return f"{account.name} can log in." if account.can_log_in else f"{account.name} needs a password before logging in."


def _change(workplace: Workplace, names: list[str], done: Done) -> None:
    with st.form("role"):
        st.text("Another role, or none")
        who = st.selectbox("Change", names)
        new = st.selectbox("to", [*ROLES, _OUT, _IN])
        if st.form_submit_button("Change") and who:

            def change(by: str) -> str:
                if new == _OUT:
                    workplace.accounts.deactivate(who, by=by)
                elif new == _IN:
                    workplace.accounts.reactivate(who, by=by)
                else:
                    workplace.accounts.change_role(who, new, by=by)
                return f"{who}: {new}. That person has to log in anew."

            done(change)


def _password(workplace: Workplace, names: list[str], done: Done) -> None:
    with st.form("password", clear_on_submit=True):
        st.text("A new password")
        who = st.selectbox("For", names)
        password = st.text_input("New password", type="password", autocomplete="new-password")
        if st.form_submit_button("Set") and who:

            def change(by: str) -> str:
                workplace.accounts.set_password(who, password, by=by)
                return f"{who} has another password and has to log in anew."

            done(change)
