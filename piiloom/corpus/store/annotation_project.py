"""An annotation project: its settings, annotators with their login sessions, and guidelines with the questions about them.

``piiloom.annotation_app`` defines the meaning of settings and roles, and which changes are allowed. Only the SHA-256 of a session's token
is stored, so a reader of the store cannot use a session. Times are ISO strings, as in the event log.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from piiloom.corpus.store.database import Store


def read_settings(store: Store) -> dict[str, Any]:
    """Return the settings that were ever changed; all others have their default value."""
    return {name: json.loads(value) for name, value in store.rows("SELECT name, value FROM annotation_settings ORDER BY name")}


def put_setting(store: Store, name: str, value: Any) -> None:
    """Set *name* to *value* (a JSON value)."""
    with store.writing():
        store.change("DELETE FROM annotation_settings WHERE name = ?", [name])
        store.append("annotation_settings", ("name", "value"), [(name, json.dumps(value, ensure_ascii=False, sort_keys=True))])


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotatorRow:
    """One person. ``password_hash`` is None for a person without a password here, and never appears in ``repr``."""

    name: str
    display: str
    role: str
    password_hash: str | None = field(default=None, repr=False)
    oidc: str | None = None
    active: bool = True
    made_at: str


def add_annotator(store: Store, row: AnnotatorRow) -> None:
    """Add a person. The caller ensures that the name is free."""
    store.add("annotators", [row])


def change_annotator(store: Store, row: AnnotatorRow) -> None:
    """Update the row of the person ``row.name``, except ``made_at``."""
    store.change(
        "UPDATE annotators SET display = ?, role = ?, password_hash = ?, oidc = ?, active = ? WHERE name = ?",
        [row.display, row.role, row.password_hash, row.oidc, row.active, row.name],
    )


def find_annotator(store: Store, name: str) -> AnnotatorRow | None:
    """Return the person with exactly this name, or None."""
    return next(iter(store.objects(AnnotatorRow, "FROM annotators WHERE name = ?", [name])), None)


def list_annotators(store: Store) -> list[AnnotatorRow]:
    """Return all people, including inactive ones, in the order they were added."""
    return store.objects(AnnotatorRow, "FROM annotators ORDER BY made_at, name")


@dataclass(frozen=True, slots=True, kw_only=True)
class LoginRow:
    """A login session; it may have expired."""

    annotator: str
    made_at: str
    expires_at: str


def add_session(store: Store, token_sha256: str, row: LoginRow) -> None:
    """Save a new session."""
    columns = ("token_sha256", "annotator", "made_at", "expires_at", "ended")
    store.append("login_sessions", columns, [(token_sha256, row.annotator, row.made_at, row.expires_at, False)])


def find_session(store: Store, token_sha256: str) -> LoginRow | None:
    """Return the session of a token, or None if it is unknown or was ended. It may have expired."""
    return next(iter(store.objects(LoginRow, "FROM login_sessions WHERE token_sha256 = ? AND NOT ended", [token_sha256])), None)


def session_known(store: Store, token_sha256: str) -> bool:
    """Whether there is a session of a token, ended or not."""
    return bool(store.rows("SELECT 1 FROM login_sessions WHERE token_sha256 = ?", [token_sha256]))


def prolong_session(store: Store, token_sha256: str, expires_at: str) -> None:
    """Set the expiry time of a session, unless it was ended."""
    store.change("UPDATE login_sessions SET expires_at = ? WHERE token_sha256 = ? AND NOT ended", [expires_at, token_sha256])


def end_session(store: Store, token_sha256: str) -> None:
    """End one session for good."""
    store.change("UPDATE login_sessions SET ended = true WHERE token_sha256 = ?", [token_sha256])


def end_sessions(store: Store, annotator: str | None = None) -> None:
    """End all sessions of a person (None: of everybody) for good.

    Restoring a snapshot ends them all, since sessions that were ended later are active in it.
    """
    store.change("UPDATE login_sessions SET ended = true WHERE ?::VARCHAR IS NULL OR annotator = ?", [annotator, annotator])


def forget_sessions(store: Store, now: str) -> None:
    """Delete sessions that expired by *now*. Ended ones stay until then, so that their tokens cannot be used for a new session."""
    store.change("DELETE FROM login_sessions WHERE expires_at <= ?", [now])


@dataclass(frozen=True, slots=True, kw_only=True)
class Guideline:
    """One version of the guidelines; versions count from 1."""

    version: int
    markdown: str
    made_by: str
    made_at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GuidelineQuestion:
    """A question about the guidelines, with or without a record. ``question`` is the event number of the asking."""

    question: int
    record_id: str | None
    asked_by: str
    asked_at: str
    text: str
    answer: str | None = None
    answered_by: str | None = None
    answered_at: str | None = None


def add_guideline(store: Store, row: Guideline) -> None:
    """Add a version."""
    store.add("guidelines", [row])


def load_guidelines(store: Store) -> list[Guideline]:
    """All versions, oldest first."""
    return store.objects(Guideline, "FROM guidelines ORDER BY version")


def newest_version(store: Store) -> int | None:
    """Return the version in force (the newest); None if there is none yet."""
    found: int | None = store.value("SELECT max(version) FROM guidelines")
    return found


def add_question(store: Store, row: GuidelineQuestion) -> None:
    """Add a question that was just asked."""
    store.add("guideline_questions", [row])


def set_answer(store: Store, question: int, answer: str, answered_by: str, answered_at: str) -> None:
    """Set or replace the answer to *question*."""
    store.change(
        "UPDATE guideline_questions SET answer = ?, answered_by = ?, answered_at = ? WHERE question = ?",
        [answer, answered_by, answered_at, question],
    )


def load_questions(store: Store, *, record_id: str | None = None, number: int | None = None) -> list[GuidelineQuestion]:
    """Return the questions that match all given conditions (record, number), oldest first."""
    clause = "WHERE (?::VARCHAR IS NULL OR record_id = ?) AND (?::BIGINT IS NULL OR question = ?) ORDER BY question"
    return store.objects(GuidelineQuestion, f"FROM guideline_questions {clause}", [record_id, record_id, number, number])
