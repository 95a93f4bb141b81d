"""The person who uses the running page, logged in by form or by OIDC. Ask at the start of every page and again in every callback.

Streamlit runs callbacks before the page: a page that asks only at its start would let an ended session act once more.

By OIDC, a person gets in only if an account was added with that e-mail address or subject. The cookie that Streamlit sets is valid for a
month in any case. Here it stands for a normal session, which a log-out or a change of role ends for good.

The configuration is set once when the server starts. A POST counts only if its form is from a page that this server gave to the same
browser.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from html import escape
from typing import Any, Final

import streamlit as st
from streamlit.auth_util import get_secrets_auth_section

from piiloom.annotation_app.people.accounts import Accounts
from piiloom.annotation_app.people.identity import LOCAL_USER, AppUser
from piiloom.annotation_app.people.logins import LoginService

LOGIN_PATH: Final = "/account/login"
LOGOUT_PATH: Final = "/account/logout"
# Streamlit's signed cookie with the provider's claims. A long value is split over several cookies.
_PROVIDER_COOKIE: Final = "_streamlit_user"


def provider_token(cookies: Mapping[str, str]) -> str | None:
    """Return a token that stands for the login at the OIDC provider: a hash of its cookies. None if there are none."""
    found = sorted((name, value) for name, value in cookies.items() if name == _PROVIDER_COOKIE or name.startswith(f"{_PROVIDER_COOKIE}__"))
    return f"oidc:{sha256(repr(found).encode('utf-8', 'replace')).hexdigest()}" if found else None


@dataclass(frozen=True, slots=True, kw_only=True)
class LoginConfig:
    """The login configuration of the server.

    If ``logins`` is None, the server is single-user: everybody who can reach it is the local person, an admin. ``oidc`` says whether
    Streamlit's own login is configured. ``may_be_forwarded`` is False where uvicorn trusts local proxies without being asked to: requests
    through a proxy are then refused. ``cookie`` has the port in its name, since browsers share cookies between ports and one machine may
    serve two stores. ``form_key`` lives as long as the process: forms from before a restart have to be reloaded.
    """

    logins: LoginService | None = None
    accounts: Accounts | None = None
    oidc: bool = False
    behind_https: bool = False
    may_be_forwarded: bool = True
    cookie: str = "piiloom_session"
    form_key: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)

    @property
    def form_cookie(self) -> str:
        """The name of the cookie that ties a login form to a browser."""
        return f"{self.cookie}_form"

    def form_token(self, purpose: str, cookie: str) -> str:
        """Return the token that a form of *purpose* has to carry in the browser that holds *cookie*."""
        return hmac.new(self.form_key, f"{purpose}\0{cookie}".encode("utf-8", "replace"), sha256).hexdigest()

    def form_fits(self, purpose: str, cookie: str | None, token: str) -> bool:
        """Return whether *token* was made for this purpose and cookie."""
        return bool(cookie) and hmac.compare_digest(self.form_token(purpose, cookie or "").encode(), token.encode("utf-8", "replace"))

    def person(self, token: str | None) -> AppUser | None:
        """Return the person to whom a session token belongs, or None; the local person if the server is single-user."""
        return LOCAL_USER if self.logins is None else self.logins.person(token)

    def person_of_cookies(self, cookies: Mapping[str, str]) -> AppUser | None:
        """Return the person who sends *cookies*, or None. An OIDC login is known once a page has seen it."""
        return self.person(cookies.get(self.cookie)) or (self.person(provider_token(cookies)) if self.oidc else None)


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
