"""The settings of a project, which an admin can change, with their defaults; and who may see what under them.

Annotators work independently, so they see others' work only if the project allows it.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter, ValidationError

from piiloom.annotation_app.event_log import EventLog, StoreService
from piiloom.annotation_app.people.identity import AppUser
from piiloom.corpus.store.annotation_events import NewEvent
from piiloom.corpus.store.annotation_project import GuidelineQuestion, put_setting, read_settings
from piiloom.corpus.store.opening import SharedStore
from piiloom.foundation.errors import UsageError

MOST_PEOPLE = 50
DEFAULT_WEIGHTS = {"judges": 1.0, "screening": 0.8, "rare": 0.3, "random": 0.2}


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectSettings:
    """All settings of a project.

    ``overlap``: people per record, for records pooled from now on. ``blind``: annotators do not see where a record's labels come
    from. ``see_others``: annotators see others' work. ``lease_minutes``: how long a record is reserved for an inactive person.
    ``lease_limit``: unfinished records that one person can hold at once. ``qualifying_needed`` and ``qualifying_threshold``:
    whether people must pass a test first, and the passing score. ``control_share``: the share of control records among the new
    records handed out. ``priority_weights`` and ``by_uncertainty`` (of suggestions): see ``worklist.priorities``. ``seed``: for all
    random draws.
    """

    overlap: int = 1
    blind: bool = True
    see_others: bool = False
    lease_minutes: int = 30
    lease_limit: int = 10
    qualifying_needed: bool = False
    qualifying_threshold: float = 0.8
    control_share: float = 0.0
    priority_weights: Mapping[str, float] = field(default_factory=lambda: dict(DEFAULT_WEIGHTS))
    by_uncertainty: bool = False
    seed: int = 0


_NAMES = tuple(f.name for f in fields(ProjectSettings))


class SettingsStore(StoreService):
    """The settings in the store *shared*, cached in memory because only this process changes them. Thread-safe."""

    def __init__(self, shared: SharedStore, log: EventLog) -> None:
        super().__init__(shared, log)
        self._keeping = threading.Lock()
        self._known: ProjectSettings | None = None
        self._changes = 0

    def current(self) -> ProjectSettings:
        """Return the current settings."""
        known = self._known
        if known is None:
            before = self._changes
            with self._shared.reading() as store:
                known = settings_from(read_settings(store))
            with self._keeping:
                if self._changes == before:  # otherwise the settings read may be older than a concurrent change
                    self._known = known
        return known

    def change(self, actor: str, name: str, value: Any) -> ProjectSettings:
        """Set one setting and return all; raises ``UsageError`` for an unknown name or an invalid value."""
        checked = _checked(name, value)
        with self._shared.writing() as store:
            self._log.append(store, [NewEvent(actor=actor, kind="setting", entry={"name": name, "value": checked})])
            put_setting(store, name, checked)
        with self._keeping:
            self._changes += 1
            self._known = None
        return self.current()


class ProjectService(StoreService):
    """A service over a store that follows the settings of the project."""

    def __init__(self, shared: SharedStore, log: EventLog, settings: SettingsStore) -> None:
        super().__init__(shared, log)
        self._settings = settings


def settings_from(values: Mapping[str, Any]) -> ProjectSettings:
    """Build the settings from stored *values*; unknown names are ignored."""
    return ProjectSettings(**{name: value for name, value in values.items() if name in _NAMES})


def _checked(name: str, value: Any) -> Any:
    if name not in _CHECKS:
        raise UsageError(f"there is no setting {name!r}", remedy=f"Known: {', '.join(_NAMES)}.")
    accepted, wish = _CHECKS[name]
    try:
        TypeAdapter(accepted).validate_python(value, strict=True)
    except ValidationError as error:
        raise UsageError(f"{name} cannot be {value!r}", remedy=f"It must be {wish}.") from error
    return value


def _whole(low: int, high: int) -> Any:
    return Annotated[int, Field(ge=low, le=high)]


# The type and range of each setting, and their description.
_CHECKS: dict[str, tuple[Any, str]] = {
    "overlap": (_whole(1, MOST_PEOPLE), f"a whole number from 1 to {MOST_PEOPLE}"),
    "blind": (bool, "true or false"),
    "see_others": (bool, "true or false"),
    "lease_minutes": (_whole(1, 10_080), "a whole number of minutes, at most a week"),
    "lease_limit": (_whole(1, 1_000), "a whole number from 1 to 1000"),
    "qualifying_needed": (bool, "true or false"),
    "qualifying_threshold": (Annotated[float, Field(ge=0, le=1)], "a number from 0 to 1"),
    "control_share": (Annotated[float, Field(ge=0, le=0.5)], "a number from 0 to 0.5"),
    "priority_weights": (
        dict[Literal["judges", "screening", "rare", "random"], Annotated[float, Field(ge=0, allow_inf_nan=False)]],
        f"numbers from 0 on for {', '.join(DEFAULT_WEIGHTS)}",
    ),
    "by_uncertainty": (bool, "true or false"),
    "seed": (_whole(0, 2**63 - 1), "a whole number from 0 on"),
}


def may_see_people(person: AppUser, settings: ProjectSettings) -> bool:
    """Whether *person* may see who works on what, and what others flagged."""
    return person.may("adjudicator") or settings.see_others


def may_see_why(person: AppUser, settings: ProjectSettings) -> bool:
    """Whether *person* may see where a record's labels come from: plan, judges, model, priority."""
    return person.may("adjudicator") or not settings.blind


def may_see_question(person: AppUser, question: GuidelineQuestion, *, by_name: bool) -> bool:
    """Whether *person*, who sees others' names or not (*by_name*), may see *question*.

    Other people's unanswered questions are hidden: they could bias those who still have to annotate the record.
    """
    return by_name or bool(question.answer) or question.asked_by == person.name


def may_manage(person: AppUser) -> bool:
    """Whether *person* may pool, assign and release records and change settings."""
    return person.may("admin")
