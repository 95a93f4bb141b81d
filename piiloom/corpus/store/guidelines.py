"""All versions of the annotation guidelines, and annotators' questions about them."""

from __future__ import annotations

from dataclasses import dataclass

from piiloom.corpus.store.database import Store
from piiloom.corpus.store.records import select

_COLUMNS = ("version", "markdown", "made_by", "made_at")
_ASKED = ("question", "record_id", "asked_by", "asked_at", "text", "answer", "answered_by", "answered_at")


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
    store.append("guidelines", _COLUMNS, [(row.version, row.markdown, row.made_by, row.made_at)])


def load_guidelines(store: Store) -> list[Guideline]:
    """All versions, oldest first."""
    return [Guideline(**dict(zip(_COLUMNS, row, strict=True))) for row in store.rows(select(_COLUMNS, "guidelines", "ORDER BY version"))]


def newest_version(store: Store) -> int | None:
    """Return the version in force (the newest); None if there is none yet."""
    found: int | None = store.rows("SELECT max(version) FROM guidelines")[0][0]
    return found


def add_question(store: Store, row: GuidelineQuestion) -> None:
    """Add a question that was just asked."""
    store.append("guideline_questions", _ASKED, [tuple(getattr(row, name) for name in _ASKED)])


def set_answer(store: Store, question: int, answer: str, answered_by: str, answered_at: str) -> None:
    """Set or replace the answer to *question*."""
    store.change(
        "UPDATE guideline_questions SET answer = ?, answered_by = ?, answered_at = ? WHERE question = ?",
        [answer, answered_by, answered_at, question],
    )


def load_questions(store: Store, *, record_id: str | None = None, number: int | None = None) -> list[GuidelineQuestion]:
    """Return the questions that match all given conditions (record, number), oldest first."""
    clause = "WHERE (?::VARCHAR IS NULL OR record_id = ?) AND (?::BIGINT IS NULL OR question = ?) ORDER BY question"
    found = store.rows(select(_ASKED, "guideline_questions", clause), [record_id, record_id, number, number])
    return [GuidelineQuestion(**dict(zip(_ASKED, row, strict=True))) for row in found]
