"""Logging in with Streamlit's own OIDC login: from what the provider says about somebody to an annotator of ours.

A person of the provider gets in only when an account was added with that e-mail address or subject.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st
from streamlit.auth_util import get_secrets_auth_section

from annotation_app.people.accounts import Accounts
from annotation_app.people.identity import Person


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


def person_of_provider(accounts: Accounts) -> Person | None:
    """The annotator who is logged in at the provider in this browser; only inside a Streamlit script."""
    claims = st.user.to_dict()
    if not claims.get("is_logged_in"):
        return None
    return accounts.person_of_identity(*identities(claims))


def stranger() -> bool:
    """Whether somebody is logged in at the provider in this browser, with or without an account here."""
    return bool(st.user.to_dict().get("is_logged_in"))
