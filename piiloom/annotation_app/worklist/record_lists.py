"""Query the work list: filters, text search, sort order and pages, limited to what the person may see."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, get_args

from piiloom.annotation_app.event_log import stamp
from piiloom.annotation_app.people.identity import AppUser
from piiloom.annotation_app.worklist.project_settings import (
    ProjectService,
    ProjectSettings,
    may_manage,
    may_see_people,
    may_see_why,
)
from piiloom.corpus.store.annotation_items import (
    ItemRole,
    ItemStatus,
    ListedItem,
    ListFilter,
    OwnState,
    Sort,
    filter_choices,
    list_items,
    shown_status_counts,
)
from piiloom.foundation.errors import UsageError

_MOST_LINES = 500
_ALL_LINES = 10_000_000
# Annotators' lists show control records among the others; only an admin can tell them apart.
_SEEN_ROLES: tuple[ItemRole, ...] = ("work", "control")


@dataclass(frozen=True, slots=True, kw_only=True)
class ListQuery:
    """A query for the work list. None means no restriction; pages count from 1.

    ``own`` filters by the person's own progress on the record, ``annotator`` by a person who has worked on it or has it now.
    ``roles`` is for admins only: it can include practice, test and control records.
    """

    status: ItemStatus | None = None
    pair: str | None = None
    type: str | None = None
    locale: str | None = None
    model: str | None = None
    own: OwnState | None = None
    annotator: str | None = None
    flagged: bool | None = None
    text: str = ""
    roles: tuple[ItemRole, ...] | None = None
    sort: Sort = "priority"
    descending: bool = True
    page: int = 1
    per_page: int = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordListing:
    """One page of the list. ``page`` is the page shown: the last one if the query asked for a page beyond it."""

    lines: tuple[ListedItem, ...]
    total: int
    page: int
    pages: int


class RecordLists(ProjectService):
    """Queries on the work list of the store *shared*."""

    def find(self, person: AppUser, query: ListQuery) -> RecordListing:
        """Return one page of what *person* may see; raises ``UsageError`` if the query is invalid or not allowed for the person."""
        settings = self._settings.current()
        wanted = self._filter(person, query, settings)
        with self._shared.reading() as store:
            lines, total = list_items(store, wanted, query.sort, descending=query.descending)
            if not lines and wanted.offset:
                first = replace(wanted, offset=0)
                lines, total = list_items(store, first, query.sort, descending=query.descending)
                if total > wanted.limit:
                    last = replace(wanted, offset=(total - 1) // wanted.limit * wanted.limit)
                    lines, total = list_items(store, last, query.sort, descending=query.descending)
        pages = max(1, -(-total // wanted.limit))
        shown = tuple(_veiled(line, person, settings) for line in lines)
        return RecordListing(lines=shown, total=total, page=min(query.page, pages), pages=pages)

    def matching(self, person: AppUser, query: ListQuery) -> tuple[ListedItem, ...]:
        """Return everything that *query* matches, on all its pages, in the order of the list; raises the same errors as ``find``."""
        settings = self._settings.current()
        wanted = replace(self._filter(person, query, settings), limit=_ALL_LINES, offset=0)
        with self._shared.reading() as store:
            lines, _ = list_items(store, wanted, query.sort, descending=query.descending)
        return tuple(_veiled(line, person, settings) for line in lines)

    def choices(self, person: AppUser) -> Mapping[str, list[str]]:
        """Return the pairs, types, locales and models that *person* can filter by."""
        with self._shared.reading() as store:
            found = filter_choices(store)
        return found if may_see_why(person, self._settings.current()) else {**found, "pair": [], "model": []}

    def counts(self) -> dict[str, int]:
        """How many records have each status."""
        with self._shared.reading() as store:
            return shown_status_counts(store)

    def _filter(self, person: AppUser, query: ListQuery, settings: ProjectSettings) -> ListFilter:
        people = may_see_people(person, settings)
        if query.annotator not in {None, person.name} and not people:
            raise UsageError("In this project annotators see only their own work", remedy="Choose “any” under “Worked on by”.")
        if query.roles is not None and not may_manage(person):
            raise UsageError("Only an admin can ask for these records", remedy="Ask an admin.")
        if query.sort not in get_args(Sort) or query.page < 1 or not 1 <= query.per_page <= _MOST_LINES:
            raise UsageError("There is no such order or page", remedy=f"A page has at most {_MOST_LINES} lines.")
        if (query.pair is not None or query.model is not None) and not may_see_why(person, settings):
            raise UsageError(
                "In this project annotators don't see what a record was planned to be", remedy="Choose “any” under “Pair” and “Model”."
            )
        roles = query.roles if query.roles is not None else ("work",) if may_manage(person) else _SEEN_ROLES
        return ListFilter(
            viewer=person.name,
            now=stamp(self._log.clock()),
            all=people,
            roles=roles,
            statuses=None if query.status is None else (query.status,),
            pair=query.pair,
            type=query.type,
            locale=query.locale,
            model=query.model,
            own=query.own,
            annotator=query.annotator,
            flagged=query.flagged,
            text=query.text.strip() or None,
            limit=query.per_page,
            offset=(query.page - 1) * query.per_page,
        )


def _veiled(line: ListedItem, person: AppUser, settings: ProjectSettings) -> ListedItem:
    """Return *line* without the information that *person* may not see."""
    changes: dict[str, Any] = {} if may_manage(person) else {"role": "work"}
    if not may_see_people(person, settings):
        me = (person.name,)
        changes |= {"worked": tuple(n for n in line.worked if n in me), "holding": tuple(n for n in line.holding if n in me)}
    if not may_see_why(person, settings):
        hidden = ("model", "provider", "stage", "pair")
        changes |= {"reasons": (), "priority": 0.0, "facts": {k: v for k, v in line.facts.items() if k not in hidden}}
    return replace(line, **changes)
