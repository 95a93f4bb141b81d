"""Logging in: the throttle, the password check and the session, in that order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from piiloom.annotation_app.event_log import EventLog
from piiloom.annotation_app.people.accounts import Accounts
from piiloom.annotation_app.people.identity import Person
from piiloom.annotation_app.people.login_sessions import LoginSessions
from piiloom.annotation_app.people.names import folded
from piiloom.annotation_app.people.throttling import LoginThrottle
from piiloom.corpus.store.annotation_events import NewEvent
from piiloom.corpus.store.opening import SharedStore


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """The result of a login attempt. ``token`` is the token of the new session, None if there is none.

    Without a token, ``wait`` is the number of seconds to wait; 0 means a wrong name or password.
    """

    token: str | None = field(default=None, repr=False)
    wait: float = 0.0


class LoginService:
    """Login service: logs people in and out, and tells to whom a session token belongs."""

    def __init__(
        self, shared: SharedStore, log: EventLog, accounts: Accounts, sessions: LoginSessions, throttle: LoginThrottle | None = None
    ) -> None:
        self._shared, self._log, self._accounts, self._sessions = shared, log, accounts, sessions
        self._throttle = throttle or LoginThrottle()

    def log_in(self, name: str, password: str, address: str) -> Attempt:
        """Try a name and password from the client *address*. After a refusal, call ``note_refusal`` once the answer is on its way."""
        wait = self._throttle.begin(name, address)
        if wait > 0:
            return Attempt(wait=wait)
        row = self._accounts.authenticate(name, password)
        if row is None:
            return Attempt()
        with self._shared.writing() as store:
            # The password may have been changed during the check. That ended all sessions, so the old password must not start a new one.
            if not self._accounts.unchanged(store, row):
                return Attempt()
            token = self._sessions.start(store, row.name)
        self._throttle.succeeded(name, address)
        return Attempt(token=token)

    def note_refusal(self, name: str) -> None:
        """Log a failed login for *name*, if there is such an account.

        This is not part of ``log_in``: a slower answer for known names would reveal them. An unknown name is never logged, since people
        type passwords there by mistake.
        """
        for account in self._accounts.list():
            if folded(account.name) == folded(name):
                with self._shared.writing() as store:
                    self._log.append(store, [NewEvent(actor=account.name, kind="login_refused")])

    def log_in_by_provider(self, token: str, identities: Sequence[str], made: datetime) -> Person | None:
        """Return the person whom an OIDC provider has confirmed, or None. The first use of a token is logged as a login.

        *token* stands for the login at the provider, *identities* are the confirmed e-mail address and subject, *made* is the time of that
        login. Returns None if no account has such an identity, or the token was logged out or is too old.
        """
        person = self._accounts.person_of_identity(*identities)
        if person is None:
            return None
        with self._shared.writing() as store:
            adopted = self._sessions.adopt(store, person.name, token, made)
        return self.person(token) if adopted else None

    def log_out(self, token: str | None) -> None:
        """End the session of *token*, if there is one."""
        self._sessions.end(token)

    def person(self, token: str | None) -> Person | None:
        """Return the person logged in with *token*, with the current role, or None."""
        name = self._sessions.whose(token)
        return None if name is None else self._accounts.person(name)
