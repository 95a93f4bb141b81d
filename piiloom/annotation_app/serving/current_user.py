"""Who uses the running page. Ask at the start of every page and again in every callback.

Streamlit runs callbacks before the page: a page that asks only at its start would let an ended session act once more.
"""

from __future__ import annotations

from html import escape
from typing import Final

import streamlit as st

from piiloom.annotation_app.people.identity import Person
from piiloom.annotation_app.serving.login_config import LOGOUT_PATH, LoginConfig
from piiloom.annotation_app.serving.oidc import person_of_provider

_OWNER: Final = "piiloom_page_owner"
_BY_FORM: Final = "piiloom_came_by_form"
_configs: list[LoginConfig] = []


def use_login_config(config: LoginConfig | None) -> None:
    """Set the ``LoginConfig`` by which the pages of this process identify people; None removes it."""
    _configs[:] = [] if config is None else [config]


def login_config() -> LoginConfig:
    """Return what was given to ``use_login_config``. Raises ``RuntimeError`` before that."""
    if not _configs:
        raise RuntimeError("no server runs in this process")
    return _configs[0]


def current_person() -> Person | None:
    """Return the person who uses this page, with the current role; None if nobody is logged in (any more).

    A page belongs to the first person it was shown to. If another person logs in in the same browser, a tab that stayed open reconnects
    with the new cookie but holds the work of the first person. Such a tab gets None until it is reloaded.
    """
    config = login_config()
    person = config.person(st.context.cookies.get(config.cookie))
    st.session_state[_BY_FORM] = person is not None
    if person is None and config.oidc:
        person = person_of_provider(config)
    if person is None or st.session_state.setdefault(_OWNER, person.name) != person.name:
        return None
    return person


def page_was_anothers() -> bool:
    """Return whether this page was shown to somebody before. After a new login it has to be reloaded."""
    return _OWNER in st.session_state


def logout_form() -> str | None:
    """Return the HTML of a log-out form, for ``st.html``.

    Returns None in single-user mode, and for people who logged in by OIDC (see ``log_out_of_provider``).
    """
    config = login_config()
    token = st.context.cookies.get(config.cookie)
    if config.logins is None or token is None or not st.session_state.get(_BY_FORM):
        return None
    hidden = f'<input type="hidden" name="token" value="{escape(config.logout_token(token))}">'
    return f'<form method="post" action="{LOGOUT_PATH}">{hidden}<button type="submit">Log out</button></form>'
