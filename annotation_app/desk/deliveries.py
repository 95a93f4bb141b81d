"""What came of a batch, for the browser that sent it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from piiloom.annotation_app.desk.outbox import Sent
from piiloom.corpus.store.annotation_events import AnnotationEvent

APPLIED, STALE, REFUSED = "edit", "stale", "refused"


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """An operation that was not done: why, as a code and as a sentence for the person. It is kept in the log.

    ``code`` is one of ``documents.refusals``, "gone" (the record was deleted) or "not_allowed" (``may_edit`` says so).
    """

    client: str
    sequence: int
    record_id: str
    code: str
    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Stale:
    """An operation that was made on another version than the document has, and so was not done. It is kept in the log."""

    client: str
    sequence: int
    record_id: str
    base: int
    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """``acknowledged`` is, for each client, the newest number heard from it: all up to it is on disk and need not come again.

    What was not done is told again whenever it comes again, since the browser may not have heard it the first time.
    """

    acknowledged: Mapping[str, int]
    refused: tuple[Refused, ...] = ()
    stale: tuple[Stale, ...] = ()


def told_again(events: list[AnnotationEvent], sent: list[Sent]) -> tuple[list[Refused], list[Stale]]:
    """What was said before, by *events*, of operations that were *sent* again."""
    again = {(one.client, one.sequence) for one in sent}
    refused: list[Refused] = []
    stale: list[Stale] = []
    for event in events:
        client, sequence, record_id, entry = event.client, event.sequence, event.record_id, event.entry
        if client is None or sequence is None or record_id is None or (client, sequence) not in again:
            continue
        if event.kind == REFUSED:
            refused.append(Refused(client=client, sequence=sequence, record_id=record_id, code=entry["code"], sentence=entry["sentence"]))
        elif event.kind == STALE:
            stale.append(Stale(client=client, sequence=sequence, record_id=record_id, base=entry["base"], version=entry["version"]))
    return refused, stale
