"""Letting somebody in: the throttle, the password, and a session, in that order."""

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
from piiloom.corpus.store.shared import SharedStore


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """What came of a try: a token to hand out, or none; then *wait* is the seconds to wait, 0 for a wrong name or password."""

    token: str | None = field(default=None, repr=False)
    wait: float = 0.0


class LoginDesk:
    """Where people log in and out, and where a token says who someone is."""

    def __init__(
        self, shared: SharedStore, log: EventLog, accounts: Accounts, sessions: LoginSessions, throttle: LoginThrottle | None = None
    ) -> None:
        self._shared, self._log, self._accounts, self._sessions = shared, log, accounts, sessions
        self._throttle = throttle or LoginThrottle()

    def log_in(self, name: str, password: str, address: str) -> Attempt:
        """Try a name and a password from *address*. After a refusal call ``note_refusal``, once the answer is on its way."""
        wait = self._throttle.begin(name, address)
        if wait > 0:
            return Attempt(wait=wait)
        row = self._accounts.authenticate(name, password)
        if row is None:
            return Attempt()
        with self._shared.writing() as store:
            # The password may have been changed while this one was being checked: then all sessions have just been ended.
            if not self._accounts.unchanged(store, row):
                return Attempt()
            token = self._sessions.start(store, row.name)
        self._throttle.succeeded(name, address)
        return Attempt(token=token)

    def note_refusal(self, name: str) -> None:
        """Write to the log that a try for this name failed, if it is somebody's.

        Not part of ``log_in``: an answer that came later for a known name would tell which names are known. What was typed
        for an unknown one is never written down: people type passwords there by mistake.
        """
        for account in self._accounts.list():
            if folded(account.name) == folded(name):
                with self._shared.writing() as store:
                    self._log.append(store, [NewEvent(actor=account.name, kind="login_refused")])

    def arrive(self, token: str, identities: Sequence[str], made: datetime) -> Person | None:
        """Who has come with *token*, in which a provider confirms *identities*; a first time is a login, and is in the log.

        None for whom nobody knows, and for a token that has been logged out or is too old.
        """
        person = self._accounts.person_of_identity(*identities)
        if person is None:
            return None
        with self._shared.writing() as store:
            adopted = self._sessions.adopt(store, person.name, token, made)
        return self.person(token) if adopted else None

    def log_out(self, token: str | None) -> None:
        """End the session of *token*; harmless when there is none."""
        self._sessions.end(token)

    def person(self, token: str | None) -> Person | None:
        """Who is logged in with *token*, with the role of this moment."""
        name = self._sessions.whose(token)
        return None if name is None else self._accounts.person(name)
