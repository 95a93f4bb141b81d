"""Login sessions. Only the SHA-256 of a session's token is stored, so a reader of the store cannot use a session."""

from __future__ import annotations

from dataclasses import dataclass

from piiloom.corpus.store.database import Store
from piiloom.corpus.store.records import select

_COLUMNS = ("annotator", "made_at", "expires_at")


@dataclass(frozen=True, slots=True, kw_only=True)
class LoginRow:
    """A login session; it may have expired. Times are ISO strings, as in the event log."""

    annotator: str
    made_at: str
    expires_at: str


def add_session(store: Store, token_sha256: str, row: LoginRow) -> None:
    """Save a new session."""
    columns = ("token_sha256", *_COLUMNS, "ended")
    store.append("login_sessions", columns, [(token_sha256, row.annotator, row.made_at, row.expires_at, False)])


def find_session(store: Store, token_sha256: str) -> LoginRow | None:
    """Return the session of a token, or None if it is unknown or was ended. It may have expired."""
    found = store.rows(select(_COLUMNS, "login_sessions", "WHERE token_sha256 = ? AND NOT ended"), [token_sha256])
    return LoginRow(**dict(zip(_COLUMNS, found[0], strict=True))) if found else None


def prolong_session(store: Store, token_sha256: str, expires_at: str) -> None:
    """Set the expiry time of a session, unless it was ended."""
    store.change("UPDATE login_sessions SET expires_at = ? WHERE token_sha256 = ? AND NOT ended", [expires_at, token_sha256])


def end_session(store: Store, token_sha256: str) -> None:
    """End one session for good."""
    store.change("UPDATE login_sessions SET ended = true WHERE token_sha256 = ?", [token_sha256])


def end_sessions(store: Store, annotator: str) -> None:
    """End all sessions of a person for good."""
    store.change("UPDATE login_sessions SET ended = true WHERE annotator = ?", [annotator])


def end_all_sessions(store: Store) -> None:
    """End all sessions. Needed after restoring a snapshot, in which sessions that were ended later are still active."""
    store.change("UPDATE login_sessions SET ended = true")


def session_known(store: Store, token_sha256: str) -> bool:
    """Whether there is a session of a token, ended or not."""
    return bool(store.rows("SELECT 1 FROM login_sessions WHERE token_sha256 = ?", [token_sha256]))


def forget_sessions(store: Store, now: str) -> None:
    """Delete sessions that expired by *now*. Ended ones stay until then, so that their tokens cannot be used for a new session."""
    store.change("DELETE FROM login_sessions WHERE expires_at <= ?", [now])
