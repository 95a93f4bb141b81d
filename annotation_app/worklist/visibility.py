"""Who may see what: annotators judge for themselves, so they see others' work only as the project allows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from piiloom.annotation_app.worklist.project_settings import ProjectSettings

PersonRole = Literal["annotator", "adjudicator", "admin"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Viewer:
    """The person who looks."""

    name: str
    role: PersonRole = "annotator"

    @property
    def oversees(self) -> bool:
        """Whether this person's task is to look at others' work."""
        return self.role in {"adjudicator", "admin"}


def may_see_people(viewer: Viewer, settings: ProjectSettings) -> bool:
    """Whether *viewer* may see who works on what, and what others flagged."""
    return viewer.oversees or settings.see_others


def may_see_versions(viewer: Viewer, settings: ProjectSettings, *, finished_own: bool) -> bool:
    """Whether *viewer* may see what others made of a record; in blind mode annotators only once they have finished their own."""
    if viewer.oversees:
        return True
    return settings.see_others and (finished_own or not settings.blind)


def may_see_why(viewer: Viewer, settings: ProjectSettings) -> bool:
    """Whether *viewer* may see why a record was labelled so: plan, judges, model, priority."""
    return viewer.oversees or not settings.blind


def may_manage(viewer: Viewer) -> bool:
    """Whether *viewer* may pool, assign, free records and change settings."""
    return viewer.role == "admin"
