"""The person who uses the running page, logged in by form or by OIDC. Ask at the start of every page and again in every callback.

Streamlit runs callbacks before the page: a page that asks only at its start would let an ended session act once more.

By OIDC, a person gets in only if an account was added with that e-mail address or subject. The cookie that Streamlit sets is valid for a
month in any case. Here it stands for a normal session, which a log-out or a change of role ends for good.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from html import escape
from typing import Any, Final

import streamlit as st
from streamlit.auth_util import get_secrets_auth_section

from piiloom.annotation_app.people.identity import AppUser
from piiloom.annotation_app.serving.login_config import LOGOUT_PATH, LoginConfig, provider_token


def oidc_configured() -> bool:
    """Return whether Streamlit's secrets (``.streamlit/secrets.toml``) have a section ``[auth]``."""
    return bool(get_secrets_auth_section())


def providers() -> list[str | None]:
    """Return the possible arguments of ``st.login``: the names of the configured providers, or None if there is only the default."""
    section = get_secrets_auth_section()
    named = [name for name, value in section.items() if isinstance(value, Mapping)]
    return [str(name) for name in named] if named else [None]


def identities(claims: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the identities in *claims* that an account may have been added with.

    These are the subject, and the e-mail address if the provider says that it is verified: in some directories people can enter any address
    they like.
    """
    subject, email = claims.get("sub"), claims.get("email")
    verified = claims.get("email_verified") in {True, "true"}
    found = [subject, email if verified else None]
    return tuple(value for value in found if isinstance(value, str) and value)


def person_of_provider(config: LoginConfig) -> AppUser | None:
    """Return the annotator who is logged in at the provider in this browser, or None. Only inside a Streamlit script."""
    claims, token = st.user.to_dict(), provider_token(st.context.cookies.to_dict())
    made = claims.get("iat")
    if config.logins is None or token is None or not claims.get("is_logged_in") or not isinstance(made, int):
        return None
    return config.logins.person(token) or config.logins.log_in_by_provider(token, identities(claims), datetime.fromtimestamp(made, UTC))


def log_out_of_provider(config: LoginConfig) -> None:
    """End the session of a person who logged in by OIDC, for good. Only inside a Streamlit script."""
    if config.logins is not None:
        config.logins.log_out(provider_token(st.context.cookies.to_dict()))
    st.logout()


def stranger(config: LoginConfig) -> bool:
    """Return whether this browser is logged in at the provider as somebody without an active account here."""
    claims = st.user.to_dict()
    logged_in = bool(claims.get("is_logged_in"))
    return logged_in and (config.accounts is None or config.accounts.person_of_identity(*identities(claims)) is None)


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


def current_person() -> AppUser | None:
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
    hidden = f'<input type="hidden" name="token" value="{escape(config.form_token("logout", token))}">'
    return f'<form method="post" action="{LOGOUT_PATH}">{hidden}<button type="submit">Log out</button></form>'
