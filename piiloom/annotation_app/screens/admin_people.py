"""The tab for accounts: add them, change roles and passwords, block people who have left."""

from __future__ import annotations

from functools import partial

import streamlit as st

from piiloom.annotation_app.people.identity import ROLES, Person
from piiloom.annotation_app.screens.acting import BY_ADMIN, choice_field, field, fields
from piiloom.annotation_app.screens.tables import show_table
from piiloom.annotation_app.serving.services import Services

_OUT, _IN = "no access", "access again"


def people_tab(services: Services, _person: Person) -> None:
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
    with first, st.form("account", clear_on_submit=True):
        st.text("A new account")
        st.text_input("Name", key=field("account", "name"))
        st.text_input("Shown to others as", placeholder="the name", key=field("account", "display"))
        st.selectbox("Role", ROLES, key=field("account", "role"))
        st.text_input("Password", type="password", autocomplete="new-password", key=field("account", "password"))
        st.text_input("or the e-mail address of an OIDC login", key=field("account", "oidc"))
        st.form_submit_button("Add", on_click=BY_ADMIN, args=(partial(_add, services),))
    with second, st.form("role"):
        st.text("Another role, or none")
        st.selectbox("Change", names, key=choice_field("role", "who", names))
        st.selectbox("to", [*ROLES, _OUT, _IN], key=field("role", "new"))
        st.form_submit_button("Change", on_click=BY_ADMIN, args=(partial(_change, services),))
    with third, st.form("password", clear_on_submit=True):
        st.text("A new password")
        st.selectbox("For", names, key=choice_field("password", "who", names))
        st.text_input("New password", type="password", autocomplete="new-password", key=field("password", "new"))
        st.form_submit_button("Set", on_click=BY_ADMIN, args=(partial(_set_password, services),))


def _add(services: Services, admin: Person) -> str:
    new = fields("account")
    account = services.accounts.add(
        new["name"], new["role"], by=admin.name, display=new["display"], password=new["password"] or None, oidc=new["oidc"] or None
    )
    return f"{account.name} can log in." if account.can_log_in else f"{account.name} needs a password before logging in."


def _change(services: Services, admin: Person) -> str | None:
    who, new = fields("role").get("who"), fields("role")["new"]
    if not who:
        return None
    if new == _OUT:
        services.accounts.deactivate(who, by=admin.name)
    elif new == _IN:
        services.accounts.reactivate(who, by=admin.name)
    else:
        services.accounts.change_role(who, new, by=admin.name)
    return f"{who}: {new}. That person has to log in again."


def _set_password(services: Services, admin: Person) -> str | None:
    who, password = fields("password").get("who"), fields("password")["new"]
    if not who:
        return None
    services.accounts.set_password(who, password, by=admin.name)
    return f"{who} has another password and has to log in again."
