"""One person's own work: the pace by day, and how far it agrees with what was decided in the end.

The consensus on a record is what it was last validated as: what all who finished it had alike, or what an adjudicator chose. Records
that nobody else has finished say nothing, so they are left out. Hidden controls count as finished on their day, or they could be told
from other records; nothing is ever decided on them.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from piiloom.annotation_app.dashboard.progress import DayOfWork, days_of_work
from piiloom.annotation_app.documents.differences import compare
from piiloom.annotation_app.documents.document import Document, State
from piiloom.annotation_app.shares import Share
from piiloom.corpus.store.adjudications import load_adjudications
from piiloom.corpus.store.annotation_events import list_heads, load_documents
from piiloom.corpus.store.annotation_items import load_items
from piiloom.corpus.store.database import Store

# The newest decisions only: people change, and older ones say little of how somebody works now.
_MOST_RECORDS = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnAgreement:
    """How one person's versions of ``records`` compare with the consensus.

    ``alike``: records that are equal in text, question and all spans. ``spans``: spans of the consensus that the person has equal in ends,
    type and relevance. The other counts are of differences: spans that the person lacks or has too many, and those with other ends,
    another type, another relevance.
    """

    records: int
    alike: Share
    spans: Share
    missed: int
    surplus: int
    ends: int
    types: int
    relevance: int
    texts: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnWork:
    """The days on which the person worked, oldest first, and the agreement; None while no record of theirs is decided on."""

    days: tuple[DayOfWork, ...]
    agreement: OwnAgreement | None


def own_work(store: Store, person: str) -> OwnWork:
    """Return the work of *person*."""
    days = tuple(day for day in days_of_work(store, ("work", "control")) if day.person == person)
    return OwnWork(days=days, agreement=_agreement(store, person))


def _agreement(store: Store, person: str) -> OwnAgreement | None:
    finished = {head.record_id: head for head in list_heads(store, annotator=person) if head.verdict == "accepted"}
    decided = {item.record_id for item in load_items(store, list(finished), roles=["work"]) if item.status == "validated"}
    others = Counter(head.record_id for head in list_heads(store, record_ids=decided) if head.verdict != "open")
    several = [name for name in decided if others[name] > 1]
    final = {row.record_id: row for row in load_adjudications(store, several) if row.outcome == "validated"}
    newest = sorted(final.values(), key=lambda row: -row.event)[:_MOST_RECORDS]
    if not newest:
        return None
    consensus = {row.record_id: Document.from_json(row.document) for row in newest}
    own = load_documents(store, record_ids=list(consensus), annotator=person)
    return _compared([(consensus[row.record_id], State.from_json(row.state).document) for row in own])


def _compared(pairs: list[tuple[Document, Document]]) -> OwnAgreement:
    kinds: Counter[str] = Counter()
    alike = right = expected = texts = 0
    for consensus, own in pairs:
        differences = compare(consensus, own)
        wrong = {one.left.id for one in differences if one.left is not None}
        kinds.update(one.kind for one in differences)
        alike += not differences
        texts += any(one.kind in {"text", "question"} for one in differences)
        right += sum(mark.id not in wrong for mark in consensus.marks)
        expected += len(consensus.marks)
    return OwnAgreement(
        records=len(pairs),
        alike=Share.of(alike, len(pairs)),
        spans=Share.of(right, expected),
        missed=kinds["only_left"],
        surplus=kinds["only_right"],
        ends=kinds["boundary"],
        types=kinds["type"],
        relevance=kinds["relevance"],
        texts=texts,
    )
