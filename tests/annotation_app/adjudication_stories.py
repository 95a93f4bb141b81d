"""A project whose records are decided on: its store, its clock, and what people have made of its records."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from project_stories import finish, pool, record, without

from piiloom.annotation_app.adjudication.resolving import Resolver
from piiloom.annotation_app.adjudication.versions import PersonsVersion, SideBySide
from piiloom.annotation_app.event_log import EventLog
from piiloom.annotation_app.people.accounts import AppUser
from piiloom.corpus.record import Record
from piiloom.corpus.store.annotation_events import Adjudication, AnnotationEvent, load_adjudications, read_events
from piiloom.corpus.store.annotation_items import find_item
from piiloom.corpus.store.database import MEMORY, Store
from piiloom.corpus.store.opening import SharedStore
from piiloom.corpus.store.records import iter_records

JUDGE, ANNOTATOR = AppUser("eva", "Eva", "adjudicator"), AppUser("ada", "Ada", "annotator")
NOON = datetime(2026, 11, 2, 12, tzinfo=UTC)


def version_of(side: SideBySide, annotator: str) -> PersonsVersion:
    """The version of *annotator*."""
    return next(version for version in side.versions if version.annotator == annotator)


class Project:
    """Two records that two people are to finish, unless told otherwise."""

    def __init__(self, records: int = 2, *, wanted: int = 2) -> None:
        self.store = Store.open(MEMORY)
        self.bases = [record(n) for n in range(1, records + 1)]
        pool(self.store, self.bases, wanted=wanted)
        self.shared = SharedStore(self.store)
        self.now = NOON
        self.log = EventLog(self.shared, lambda: self.now)
        self.resolver = Resolver(self.shared, self.log)

    def finish(self, number: int, who: str, marks: object = None, **changes: Any) -> None:
        with self.shared.writing() as store:
            finish(store, self.bases[number - 1], who, marks, **{"at": self.log.now(), **changes})

    def status(self, number: int = 1) -> str:
        item = find_item(self.store, f"r{number}")
        assert item is not None
        return item.status

    def revisions(self, number: int = 1, status: str | None = None) -> list[Record]:
        return list(iter_records(self.store, ids=[f"r{number}"], status=status))

    def decisions(self) -> list[Adjudication]:
        return load_adjudications(self.store)

    def events(self) -> list[AnnotationEvent]:
        return read_events(self.store)

    def seen(self, number: int = 1) -> dict[str, int]:
        return {version.annotator: version.version for version in self.resolver.open(f"r{number}").versions}


def disputed(project: Project) -> None:
    """Two people finish the first record, each in another way."""
    project.finish(1, "ada", without("s1"))
    project.finish(1, "bob")
    project.resolver.settle_all()
