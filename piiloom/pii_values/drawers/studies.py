"""Values of the type education."""

from __future__ import annotations

import random
from typing import Final

from piiloom.pii_values import organisations, schooling
from piiloom.pii_values.drawers.kind import Kind
from piiloom.pii_values.persona import Persona


def _field(p: Persona, rng: random.Random, attempt: int) -> str:
    """What the persona has studied, then something else that fits level and job."""
    own = p.education
    return own.field if attempt == 0 else schooling.draw_field(own.level, p.job.field, p, rng)


def _degree(p: Persona, rng: random.Random, attempt: int) -> str:
    """The persona's degree, then another of the same level."""
    own = p.education
    return own.degree if attempt == 0 else schooling.draw_degree(own.level, p.job.field, _field(p, rng, attempt), p, rng)


def _student_status(p: Persona, rng: random.Random, attempt: int) -> str:
    """What the persona studies now, else what somebody of their age and level could."""
    own = p.education
    if attempt == 0 and own.student_status is not None:
        return own.student_status
    return schooling.draw_student_status(own.level, p.job.field, p, rng)


def _school(p: Persona, rng: random.Random, attempt: int) -> str:
    """The persona's school, then another one."""
    return p.education.school if attempt == 0 else organisations.draw_organisation("school", p, p.place, rng)


KINDS: Final = (
    Kind(subtype="degree", share=2, draw=_degree, grown=True),
    Kind(subtype="school", share=2, draw=_school),
    Kind(subtype="student_status", share=1.5, draw=_student_status),
    Kind(subtype="field", share=1.5, draw=_field),
)
