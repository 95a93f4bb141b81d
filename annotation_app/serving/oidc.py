"""Logging in with Streamlit's own OIDC login: from what the provider says about somebody to an annotator of ours.

A person of the provider gets in only when an account was added with that e-mail address or subject. The cookie that Streamlit
sets is valid for a month whatever happens; here it is a session like any other, which a log-out or another role ends for good.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import streamlit as st
from streamlit.auth_util import get_secrets_auth_section

from piiloom.annotation_app.people.identity import Person
from piiloom.annotation_app.serving.front import Front, provider_token


def oidc_configured() -> bool:
    """Whether the secrets that Streamlit finds (``.streamlit/secrets.toml``) have a part ``[auth]``."""
    return bool(get_secrets_auth_section())


def providers() -> list[str | None]:
    """What can be given to ``st.login``: the names of the configured providers, or None where there is only the default one."""
    section = get_secrets_auth_section()
    named = [name for name, value in section.items() if isinstance(value, Mapping)]
    return [str(name) for name in named] if named else [None]


def identities(claims: Mapping[str, Any]) -> tuple[str, ...]:
    """What an account may have been added with.

    The subject always; the e-mail address only when the provider says that it has verified it, since in some directories
    people can enter any address they like.
    """
    subject, email = claims.get("sub"), claims.get("email")
    verified = claims.get("email_verified") in {True, "true"}
    found = [subject, email if verified else None]
    return tuple(value for value in found if isinstance(value, str) and value)


def person_of_provider(front: Front) -> Person | None:
    """The annotator who is logged in at the provider in this browser; only inside a Streamlit script."""
    claims, token = st.user.to_dict(), provider_token(st.context.cookies.to_dict())
    made = claims.get("iat")
    if front.desk is None or token is None or not claims.get("is_logged_in") or not isinstance(made, int):
        return None
    return front.desk.person(token) or front.desk.arrive(token, identities(claims), datetime.fromtimestamp(made, UTC))


def log_out_of_provider(front: Front) -> None:
    """End the session of who came by OIDC, for good; only inside a Streamlit script."""
    if front.desk is not None:
        front.desk.log_out(provider_token(st.context.cookies.to_dict()))
    st.logout()


def stranger(front: Front) -> bool:
    """Whether the provider knows who is at this browser, and we do not."""
    claims = st.user.to_dict()
    logged_in = bool(claims.get("is_logged_in"))
    return logged_in and (front.accounts is None or front.accounts.person_of_identity(*identities(claims)) is None)
