"""How this process identifies people, set once when the server starts; and CSRF tokens.

A POST counts only if its form is from a page that this server gave to the same browser.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Final

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
