"""School, work and life stage that fit an age."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Final, Literal

from pii_values.occupations import Occupation, jobs_for
from pii_values.organisations import draw_organisation
from pii_values.places import Region
from pii_values.schooling import draw_degree, draw_student_status, draws_as_student, levels

LifeStage = Literal["minor", "student", "early career", "mid-career", "late career", "retired"]

# Part of a job's pay that people of a stage have: side jobs, full pay, pensions.
PAY_SHARE: Final[dict[LifeStage, float]] = {
    "minor": 0.15,
    "student": 0.45,
    "early career": 0.9,
    "mid-career": 1.0,
    "late career": 1.05,
    "retired": 0.55,
}
_RETIREMENT: Final = 67
_FULL_AGE: Final = 18


@dataclass(frozen=True, slots=True, kw_only=True)
class Education:
    """``level`` 0 school … 5 doctorate or professional degree; ``student_status`` None: does not study now."""

    level: int
    degree: str
    school: str
    student_status: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Career:
    """Education, job and stage of life; a retired person's job is the last one."""

    education: Education
    job: Occupation
    stage: LifeStage


def draw_career(age: int, locale: str, place: Region, rng: random.Random) -> Career:
    """A career that somebody of *age* can have had in *place*."""
    level = levels(age).draw(rng)
    job = jobs_for(locale, level, age).draw(rng)
    studying = age < _FULL_AGE or draws_as_student(age, rng)
    education = Education(
        level=level,
        degree=draw_degree(level, job.field, locale, rng),
        school=draw_organisation("school", locale, place, rng),
        student_status=draw_student_status(age, level, job.field, locale, rng) if studying else None,
    )
    return Career(education=education, job=job, stage=_stage(age, studying=studying))


def _stage(age: int, *, studying: bool) -> LifeStage:
    if age < _FULL_AGE:
        return "minor"
    if age >= _RETIREMENT:
        return "retired"
    if studying and age < 30:
        return "student"
    return "early career" if age < 33 else "mid-career" if age < 50 else "late career"
