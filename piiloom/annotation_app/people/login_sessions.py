"""Login sessions: random tokens, of which the store keeps only the SHA-256 hash."""

from __future__ import annotations

import secrets
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Final

from piiloom.annotation_app.event_log import EventLog, stamp
from piiloom.corpus.store.annotation_events import NewEvent
from piiloom.corpus.store.annotation_project import (
    LoginRow,
    add_session,
    end_session,
    find_session,
    forget_sessions,
    prolong_session,
    session_known,
)
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.opening import SharedStore

LIFETIME: Final = timedelta(days=7)
IDLE: Final = timedelta(hours=8)
# A session in use is extended at most this often, since each extension is a commit.
_GRAIN: Final = timedelta(minutes=10)
# Longer than any of our tokens; longer input is rejected before hashing.
_LONGEST: Final = 100


class LoginSessions:
    """The login sessions of the store *shared*. A session ends *lifetime* after the login, or after *idle* without use."""

    def __init__(self, shared: SharedStore, log: EventLog, *, lifetime: timedelta = LIFETIME, idle: timedelta = IDLE) -> None:
        self._shared, self._log = shared, log
        self._lifetime, self._idle = lifetime, idle

    def start(self, store: Store, annotator: str) -> str:
        """Start a session of *annotator* within the transaction on *store* and return its token. The token itself is not stored."""
        token = secrets.token_urlsafe(32)
        now = self._log.now()
        row = LoginRow(annotator=annotator, made_at=now, expires_at=self._end(now, now))
        self._add(store, token, row, "password")
        return token

    def adopt(self, store: Store, annotator: str, token: str, made: datetime) -> bool:
        """Accept *token*, which stands for a login of *annotator* elsewhere, as a session; within the transaction on *store*.

        The session lasts *lifetime* from the time *made*, whether it is used or not. Returns False if that time is over or the session was
        ended.
        """
        known_as, until = _known_as(token), stamp(made + self._lifetime)
        if until <= stamp(self._log.clock()) or session_known(store, known_as):
            return find_session(store, known_as) is not None
        self._add(store, token, LoginRow(annotator=annotator, made_at=stamp(made), expires_at=until), "oidc")
        return True

    def _add(self, store: Store, token: str, row: LoginRow, by: str) -> None:
        forget_sessions(store, self._log.now())
        add_session(store, _known_as(token), row)
        self._log.append(store, [NewEvent(actor=row.annotator, kind="logged_in", entry={"by": by})])

    def whose(self, token: str | None) -> str | None:
        """Return the name of the person logged in with *token*, and extend the session.

        Returns None if the token is unknown or its session has ended or expired.
        """
        if not token or len(token) > _LONGEST:
            return None
        known_as = _known_as(token)
        with self._shared.reading() as store:
            row = find_session(store, known_as)
        now = stamp(self._log.clock())
        if row is None or now >= row.expires_at:
            return None
        self._prolong(known_as, row, now)
        return row.annotator

    def end(self, token: str | None) -> str | None:
        """End the session of *token*. Return the person's name, or None if nobody was logged in with it."""
        annotator = self.whose(token)
        if annotator is None or token is None:
            return None
        with self._shared.writing() as store:
            end_session(store, _known_as(token))
            self._log.append(store, [NewEvent(actor=annotator, kind="logged_out")])
        return annotator

    def _prolong(self, known_as: str, row: LoginRow, now: str) -> None:
        until = self._end(row.made_at, now)
        if _time(until) - _time(row.expires_at) >= min(_GRAIN, self._idle / 4):
            with self._shared.writing() as store:
                prolong_session(store, known_as, until)

    def _end(self, made_at: str, used_at: str) -> str:
        return min(stamp(_time(made_at) + self._lifetime), stamp(_time(used_at) + self._idle))


def _known_as(token: str) -> str:
    return sha256(token.encode("utf-8", "replace")).hexdigest()


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text)
