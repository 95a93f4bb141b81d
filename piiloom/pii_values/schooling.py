"""Draw education that fits an age and a job: level, degree, field, student status.

Levels: 0 school, 1 certificate, 2 associate, 3 bachelor, 4 master, 5 doctorate or professional degree.
"""

from __future__ import annotations

import random
from functools import cache
from typing import Final

from piiloom.pii_values.lexicons import Fitted, phrase
from piiloom.pii_values.sampling import Weighted, weighted

LEVELS: Final = ("school", "certificate", "associate", "bachelor", "master", "doctorate")
# Weight and least age (years) of each level. Weights: US Census Bureau, Educational Attainment in the United States: 2022, people
# of 25 and over: no more than high school 37%, some college but no degree 15%, associate 10%, bachelor 23%, more 14% (how the 14
# divide, and that other countries are alike, is our estimate).
_LEVELS: Final = ((37.0, 0), (15.0, 19), (10.0, 20), (23.0, 21), (10.5, 24), (3.5, 27))
_BACHELOR: Final = 3
_ACADEMIC: Final = (
    "health care science engineering technology education law finance business arts media agriculture government sports religion".split()
)
_VOCATIONAL: Final = "care technology business arts trades agriculture hospitality retail manufacturing service finance sports".split()
PROFESSIONAL: Final = frozenset({"health", "law"})  # fields with doctorates of their own


@cache
def levels(age: int) -> Weighted[int]:
    """Return the weighted education levels that are possible at this age."""
    return weighted((level, weight) for level, (weight, least) in enumerate(_LEVELS) if age >= least)


def draw_study_field(job_field: str, level: int, who: Fitted, rng: random.Random, *, related: float) -> str:
    """Draw a field of study at a level; with probability *related* one that leads to the job's field.

    Other fields are academic from bachelor level on, since trades are not studied at universities, and general or vocational
    below it.
    """
    if rng.random() < related and (level < _BACHELOR or job_field in _ACADEMIC):
        topic = job_field
    elif level >= _BACHELOR:
        topic = _ACADEMIC[int(rng.random() * len(_ACADEMIC))]
    else:
        topic = "general" if rng.random() < 0.4 else _VOCATIONAL[int(rng.random() * len(_VOCATIONAL))]
    return phrase("studies", topic, who, rng)


def draw_field(level: int, job_field: str, who: Fitted, rng: random.Random) -> str:
    """Draw what a person of this level and job field has studied."""
    return draw_study_field(job_field, level, who, rng, related=(0.5, 0.85, 0.75, 0.7, 0.75, 1.0)[level])


def draw_degree(level: int, job_field: str, field: str, who: Fitted, rng: random.Random) -> str:
    """Draw a degree of a level: "master's degree in chemistry", "high school diploma", "MBA"."""
    topic = LEVELS[level]
    if level == len(LEVELS) - 1 and job_field in PROFESSIONAL and rng.random() < 0.5:
        topic = f"doctorate_{job_field}"
    elif topic == "master" and job_field == "business" and rng.random() < 0.4:
        topic = "master_business"
    return phrase("education", topic, who, rng, {"field": field})


def draw_student_status(level: int, job_field: str, who: Fitted, rng: random.Random) -> str:
    """Draw what a student of this age and education level calls themself: "sophomore", "PhD student in genetics"."""
    age, study_level = who.age, _BACHELOR
    if age < 18:
        topic = "status_minor" if age >= 11 else "status_child"
    elif age < 25 and level < _BACHELOR:
        topic = "status_young"
    elif level >= _BACHELOR and 22 <= age <= 48 and rng.random() < 0.65:
        topic = "status_graduate"
    else:
        topic, study_level = "status_mature" if age >= 25 else "status_young", level
    return phrase("education", topic, who, rng, {"field": draw_study_field(job_field, study_level, who, rng, related=0.3)})


def draws_as_student(age: int, rng: random.Random) -> bool:
    """Draw whether a person of this age is a student (shares are our estimate)."""
    share = 0.55 if age < 23 else 0.25 if age < 27 else 0.08 if age < 40 else 0.02
    return rng.random() < share
