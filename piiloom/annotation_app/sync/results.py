"""The result of a batch of operations, as reported to the browser that sent it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from piiloom.annotation_app.sync.outbox import Sent
from piiloom.corpus.store.annotation_events import AnnotationEvent

APPLIED, STALE, REFUSED = "edit", "stale", "refused"


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """An operation that was refused, with a code and a sentence for the user. It is kept in the log.

    ``code`` is one of ``documents.refusals``, "gone" (the record was deleted) or "not_allowed" (``may_edit`` raised an error).
    """

    client: str
    sequence: int
    record_id: str
    code: str
    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Stale:
    """An operation that was not applied, because it was made on a version (``base``) other than the current one (``version``).

    It is also stale if it follows a stale operation of the same client in the batch. It is kept in the log.
    """

    client: str
    sequence: int
    record_id: str
    base: int
    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchResult:
    """The result of one batch.

    ``acknowledged`` maps each client to the highest sequence number received from it: all operations up to it are on disk and
    need not be sent again. If a refused or stale operation is sent again, it is reported again, since the browser may have
    missed the first response.
    """

    acknowledged: Mapping[str, int]
    refused: tuple[Refused, ...] = ()
    stale: tuple[Stale, ...] = ()


def earlier_results(events: list[AnnotationEvent], sent: list[Sent]) -> tuple[list[Refused], list[Stale]]:
    """Return the earlier refusals and stale notices, taken from log *events*, for operations in *sent* that were sent before."""
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
