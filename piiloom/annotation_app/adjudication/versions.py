"""All people's versions of one record, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from piiloom.annotation_app.adjudication.stale_edits import StaleOffer, stale_offers
from piiloom.annotation_app.documents.document import State
from piiloom.corpus.record import Record
from piiloom.corpus.store.adjudications import Adjudication, load_adjudications
from piiloom.corpus.store.annotation_events import load_documents
from piiloom.corpus.store.annotation_items import AnnotationItem, base_records, find_item
from piiloom.corpus.store.database import Store
from piiloom.foundation.errors import UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """The version of *annotator*. ``version`` is the number of their edits, ``event`` the log number of the last one."""

    annotator: str
    version: int
    state: State
    changed_at: str
    guideline: int | None
    event: int

    @property
    def finished(self) -> bool:
        """Whether the annotator has accepted or rejected the record."""
        return self.state.verdict != "open"


@dataclass(frozen=True, slots=True, kw_only=True)
class SideBySide:
    """A record before annotation (``base``), all versions of it, and the earlier decisions on it."""

    item: AnnotationItem
    base: Record
    versions: tuple[Version, ...]
    stale: tuple[StaleOffer, ...]
    decisions: tuple[Adjudication, ...]

    @property
    def accepted(self) -> tuple[Version, ...]:
        """The versions that are accepted."""
        return tuple(version for version in self.versions if version.state.verdict == "accepted")


def side_by_side(store: Store, record_id: str) -> SideBySide:
    """Load all versions of *record_id*; raises ``UsageError`` if it is not in the work list or was deleted."""
    item = find_item(store, record_id)
    base = base_records(store, [record_id]).get(record_id)
    if item is None or base is None:
        raise UsageError("this record is not in the work list any more", where=f"record {record_id}", remedy="Go on with the next one")
    versions = versions_of(store, [record_id]).get(record_id, [])
    return SideBySide(
        item=item,
        base=base,
        versions=tuple(versions),
        stale=tuple(stale_offers(store, {record_id: base}).get(record_id, ())),
        decisions=tuple(load_adjudications(store, [record_id])),
    )


def versions_of(store: Store, record_ids: Sequence[str]) -> dict[str, list[Version]]:
    """Return the versions by record id, sorted by annotator; records without versions are left out."""
    found: dict[str, list[Version]] = {}
    for row in load_documents(store, record_ids=record_ids):
        version = Version(
            annotator=row.annotator,
            version=row.version,
            state=State.from_json(row.state),
            changed_at=row.changed_at,
            guideline=row.guideline,
            event=row.event,
        )
        found.setdefault(row.record_id, []).append(version)
    return found
