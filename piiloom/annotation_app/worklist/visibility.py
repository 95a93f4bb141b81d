"""Permissions: who may see and do what. Annotators work independently, so they see others' work only if the project allows it."""

from __future__ import annotations

from piiloom.annotation_app.people.identity import Person
from piiloom.annotation_app.worklist.project_settings import ProjectSettings
from piiloom.corpus.store.annotation_project import GuidelineQuestion


def may_see_people(person: Person, settings: ProjectSettings) -> bool:
    """Whether *person* may see who works on what, and what others flagged."""
    return person.may("adjudicator") or settings.see_others


def may_see_why(person: Person, settings: ProjectSettings) -> bool:
    """Whether *person* may see where a record's labels come from: plan, judges, model, priority."""
    return person.may("adjudicator") or not settings.blind


def may_see_question(person: Person, question: GuidelineQuestion, *, by_name: bool) -> bool:
    """Whether *person*, who sees others' names or not (*by_name*), may see *question*.

    Other people's unanswered questions are hidden: they could bias those who still have to annotate the record.
    """
    return by_name or bool(question.answer) or question.asked_by == person.name


def may_manage(person: Person) -> bool:
    """Whether *person* may pool, assign and release records and change settings."""
    return person.may("admin")
