"""Education that fits an age and a job: level, degree, student status.

Levels: 0 school, 1 certificate, 2 associate, 3 bachelor, 4 master, 5 doctorate or professional degree.
"""

from __future__ import annotations

import random
from functools import cache
from typing import Final

from foundation.words import count_words
from pii_values.lexicons import fitting
from pii_values.sampling import Weighted, weighted

LEVELS: Final = ("school", "certificate", "associate", "bachelor", "master", "doctorate")
# Weight and least age (years) of each level.
_LEVELS: Final = ((24.0, 0), (14.0, 19), (12.0, 20), (29.0, 21), (15.0, 24), (6.0, 27))
_BACHELOR: Final = 3
_MAX_WORDS: Final = 6
_ACADEMIC: Final = (
    "health care science engineering technology education law finance business arts media agriculture government sports religion".split()
)
_VOCATIONAL: Final = "care technology business arts trades agriculture hospitality retail manufacturing service finance sports".split()
_PROFESSIONAL: Final = {"health": ("medical degree", "dental degree", "doctorate in pharmacy"), "law": ("law degree", "doctorate in law")}


@cache
def levels(age: int) -> Weighted[int]:
    """The education levels one can have at this age."""
    return weighted((level, weight) for level, (weight, least) in enumerate(_LEVELS) if age >= least)


def draw_study_field(job_field: str, level: int, locale: str, rng: random.Random, *, related: float) -> str:
    """A field of study at a level; with probability *related* one that leads to the job's field.

    Trades are not studied at universities, and nobody takes a night class in astronomy to become a roofer: unrelated
    fields are academic from the bachelor on and everyday subjects below.
    """
    if rng.random() < related and (level < _BACHELOR or job_field in _ACADEMIC):
        topic = job_field
    elif level >= _BACHELOR:
        topic = _ACADEMIC[int(rng.random() * len(_ACADEMIC))]
    else:
        topic = "general" if rng.random() < 0.6 else _VOCATIONAL[int(rng.random() * len(_VOCATIONAL))]
    return fitting("studies", topic, locale).draw(rng).text


def draw_degree(level: int, job_field: str, locale: str, rng: random.Random) -> str:
    """A degree of a level: "master's degree in chemistry", "high school diploma"."""
    related = (0.5, 0.85, 0.75, 0.7, 0.75, 1.0)[level]
    if level == len(LEVELS) - 1 and job_field in _PROFESSIONAL and rng.random() < 0.25:
        choices = _PROFESSIONAL[job_field]
        return choices[int(rng.random() * len(choices))]
    form = fitting("education", LEVELS[level], locale).draw(rng).text
    if "{field}" not in form:
        return form
    while True:
        degree = form.replace("{field}", draw_study_field(job_field, level, locale, rng, related=related))
        if count_words(degree) <= _MAX_WORDS:
            return degree


def draw_student_status(age: int, level: int, job_field: str, locale: str, rng: random.Random) -> str:
    """What a student of this age and highest level calls themself: "sophomore", "PhD student in genetics"."""
    study_level = _BACHELOR
    if age < 18:
        topic = "status_minor"
    elif age < 25 and level < _BACHELOR:
        topic = "status_young"
    elif level >= _BACHELOR and 22 <= age <= 48 and rng.random() < 0.65:
        topic = "status_graduate"
    else:
        topic, study_level = "status_mature", level
    form = fitting("education", topic, locale, max(age, 25) if topic == "status_mature" else age).draw(rng).text
    return form.replace("{field}", draw_study_field(job_field, study_level, locale, rng, related=0.3))


def draws_as_student(age: int, rng: random.Random) -> bool:
    """Whether somebody studies at this age."""
    share = 0.55 if age < 23 else 0.25 if age < 27 else 0.08 if age < 40 else 0.02
    return rng.random() < share
