"""Draw education, work and life stage that fit an age."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Final, Literal, cast

from piiloom.pii_values.lexicons import Fitted
from piiloom.pii_values.occupations import Occupation, jobs_for
from piiloom.pii_values.organisations import draw_organisation
from piiloom.pii_values.regions import Region
from piiloom.pii_values.sampling import Weighted, weighted
from piiloom.pii_values.schooling import draw_degree, draw_field, draw_student_status, draws_as_student, levels

LifeStage = Literal["minor", "student", "early career", "mid-career", "late career", "retired"]
WorkStatus = Literal["minor", "student", "employed", "self_employed", "jobless", "home", "retired"]

# The part of a job's full pay that people in a life stage get (side jobs, full pay, pensions).
PAY_SHARE: Final[dict[LifeStage, float]] = {
    "minor": 0.15,
    "student": 0.45,
    "early career": 0.9,
    "mid-career": 1.0,
    "late career": 1.05,
    "retired": 0.55,
}
_RETIREMENT: Final = 67
_EARLY_RETIREMENT: Final = 58
_FULL_AGE: Final = 18
_WORK: Weighted[WorkStatus] = weighted([("employed", 76.0), ("self_employed", 10.0), ("jobless", 8.0), ("home", 6.0)])  # our estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class Education:
    """A person's education. ``level``: 0 school … 5 doctorate or professional degree. ``student_status`` None: is no student now."""

    level: int
    degree: str
    field: str
    school: str
    student_status: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Career:
    """A person's education, job, way of working and life stage; for retired people the job is the last one."""

    education: Education
    job: Occupation
    work: WorkStatus
    stage: LifeStage


def draw_career(who: Fitted, place: Region, rng: random.Random) -> Career:
    """Draw a career that fits the age and gender of *who*; organizations are located in *place*."""
    age = who.age
    level = levels(age).draw(rng)
    job = jobs_for(who.locale, level, age).draw(rng)
    studying = age < _FULL_AGE or draws_as_student(age, rng)
    field = draw_field(level, job.field, who, rng)
    education = Education(
        level=level,
        degree=draw_degree(level, job.field, field, who, rng),
        field=field,
        school=draw_organisation("school", who, place, rng),
        student_status=draw_student_status(level, job.field, who, rng) if studying else None,
    )
    stage = _stage(age, studying=studying)
    return Career(education=education, job=job, work=_work(stage, age, rng), stage=stage)


def _stage(age: int, *, studying: bool) -> LifeStage:
    if age < _FULL_AGE:
        return "minor"
    if age >= _RETIREMENT:
        return "retired"
    if studying and age < 30:
        return "student"
    return "early career" if age < 33 else "mid-career" if age < 50 else "late career"


def _work(stage: LifeStage, age: int, rng: random.Random) -> WorkStatus:
    if stage in {"minor", "student", "retired"}:
        return cast("WorkStatus", stage)
    return "retired" if age >= _EARLY_RETIREMENT and rng.random() < 0.18 else _WORK.draw(rng)
