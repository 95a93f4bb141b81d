"""OIDC login through Streamlit: maps the identity that a provider confirms to one of our accounts.

A person gets in only if an account was added with that e-mail address or subject. The cookie that Streamlit sets is valid for a month in
any case. Here it stands for a normal session, which a log-out or a change of role ends for good.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import streamlit as st
from streamlit.auth_util import get_secrets_auth_section

from piiloom.annotation_app.people.identity import Person
from piiloom.annotation_app.serving.login_config import LoginConfig, provider_token


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


def person_of_provider(config: LoginConfig) -> Person | None:
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
