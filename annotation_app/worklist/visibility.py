"""Permissions: who may see and do what. Annotators work independently, so they see others' work only if the project allows it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from piiloom.annotation_app.worklist.project_settings import ProjectSettings

PersonRole = Literal["annotator", "adjudicator", "admin"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Viewer:
    """The person who views a page."""

    name: str
    role: PersonRole = "annotator"

    @property
    def oversees(self) -> bool:
        """Whether this person reviews others' work (adjudicators and admins)."""
        return self.role in {"adjudicator", "admin"}


def may_see_people(viewer: Viewer, settings: ProjectSettings) -> bool:
    """Whether *viewer* may see who works on what, and what others flagged."""
    return viewer.oversees or settings.see_others


def may_see_versions(viewer: Viewer, settings: ProjectSettings, *, finished_own: bool) -> bool:
    """Whether *viewer* may see others' versions of a record.

    Annotators may if the project has ``see_others``; in blind mode only after they finished their own version (*finished_own*).
    """
    if viewer.oversees:
        return True
    return settings.see_others and (finished_own or not settings.blind)


def may_see_why(viewer: Viewer, settings: ProjectSettings) -> bool:
    """Whether *viewer* may see where a record's labels come from: plan, judges, model, priority."""
    return viewer.oversees or not settings.blind


def may_manage(viewer: Viewer) -> bool:
    """Whether *viewer* may pool, assign and release records and change settings."""
    return viewer.role == "admin"
