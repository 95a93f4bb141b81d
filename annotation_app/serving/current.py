"""Who uses the page that is running. To be asked at the head of every page and again in every callback.

Streamlit runs callbacks before the page: a page that asks only at its head would let a dead session act once more.
"""

from __future__ import annotations

from html import escape
from typing import Final

import streamlit as st

from piiloom.annotation_app.people.identity import Person
from piiloom.annotation_app.serving.front import LOGOUT_PATH, Front
from piiloom.annotation_app.serving.oidc import person_of_provider

_OWNER: Final = "piiloom_page_owner"
_BY_FORM: Final = "piiloom_came_by_form"
_fronts: list[Front] = []


def use_front(front: Front | None) -> None:
    """Tell the pages of this process how to find out who someone is; None takes it away."""
    _fronts[:] = [] if front is None else [front]


def front() -> Front:
    """What was given to ``use_front``; ``RuntimeError`` before that."""
    if not _fronts:
        raise RuntimeError("no server runs in this process")
    return _fronts[0]


def current_person() -> Person | None:
    """The person behind this page, with the role of this moment; None when nobody is logged in (any more).

    A page belongs to the first person it was shown to. When another one logs in in the same browser, a tab that stayed open
    comes back with the new cookie but holds the work of the first: for it nobody is logged in until it is loaded anew.
    """
    desk = front()
    person = desk.person(st.context.cookies.get(desk.cookie))
    st.session_state[_BY_FORM] = person is not None
    if person is None and desk.oidc:
        person = person_of_provider(desk)
    if person is None or st.session_state.setdefault(_OWNER, person.name) != person.name:
        return None
    return person


def page_was_anothers() -> bool:
    """Whether this page was shown to somebody before: then it has to be loaded anew after a login."""
    return _OWNER in st.session_state


def logout_form() -> str | None:
    """The HTML of a form that logs out, for ``st.html``; None in single-user mode and for who came by OIDC (``log_out_of_provider``)."""
    desk = front()
    token = st.context.cookies.get(desk.cookie)
    if desk.desk is None or token is None or not st.session_state.get(_BY_FORM):
        return None
    hidden = f'<input type="hidden" name="token" value="{escape(desk.logout_token(token))}">'
    return f'<form method="post" action="{LOGOUT_PATH}">{hidden}<button type="submit">Log out</button></form>'
