"""How this process tells who someone is: set once when the server starts, read by routes and pages."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from typing import Final

from annotation_app.people.accounts import Accounts
from annotation_app.people.identity import LOCAL, Person
from annotation_app.people.logging_in import LoginDesk
from annotation_app.serving.form_tokens import FormTokens

LOGIN_PATH: Final = "/account/login"
LOGOUT_PATH: Final = "/account/logout"


@dataclass(frozen=True, slots=True, kw_only=True)
class Front:
    """Single-user where ``desk`` is None: then everybody who can reach the server is the local person, an admin.

    ``oidc`` says whether Streamlit's own login is configured. ``cookie`` has the port in its name, since cookies do not
    differ by port and two stores may be served on one machine.
    """

    desk: LoginDesk | None = None
    accounts: Accounts | None = None
    oidc: bool = False
    behind_https: bool = False
    cookie: str = "piiloom_session"
    forms: FormTokens = field(default_factory=FormTokens)

    @property
    def form_cookie(self) -> str:
        """The cookie that ties a login form to a browser."""
        return f"{self.cookie}_form"

    def person(self, token: str | None) -> Person | None:
        """Who the holder of a session token is."""
        return LOCAL if self.desk is None else self.desk.person(token)

    def logout_token(self, token: str) -> str:
        """What a log-out form has to carry."""
        return self.forms.token("logout", token)

    @staticmethod
    def nonce() -> str:
        """A new value for the form cookie."""
        return secrets.token_urlsafe(16)
