"""Job titles with their required education and age, and their pay.

``data/<language>/lexicons/occupations.yaml`` lists them. Fillers for slots in a title (``{grade} teacher``) and phrases around a
title ("night shift {title}") are topics of ``job_parts.yaml``.

Draw names of companies, hospitals, charities, clubs and schools, composed from parts (tens of thousands of each kind).

Draw education that fits an age and a job: level, degree, field, student status.

Levels: 0 school, 1 certificate, 2 associate, 3 bachelor, 4 master, 5 doctorate or professional degree.

Draw education, work and life stage that fit an age.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final, Literal, cast

from pydantic import Field

from piiloom.foundation.errors import UsageError
from piiloom.foundation.yaml_files import FileModel, Text, load_yaml
from piiloom.pii_values.countries import country_of
from piiloom.pii_values.heritage import heritages
from piiloom.pii_values.lexicons import (
    Fitted,
    PersonGender,
    Weighted,
    filled,
    fitting,
    folder,
    gendered,
    has_topic,
    phrase,
    spelled,
    spread,
    weighted,
)
from piiloom.pii_values.regions import Region

_SLOT: Final = re.compile(r"\{([\w.]+)\}")
_PARTS: Final = "job_parts"


class _OccupationGroup(FileModel):
    field: str
    education: int = Field(ge=0, le=5)
    max_education: int = 5
    min_age: int = 18
    max_age: int = 120
    income: tuple[int, int] = Field(strict=False)
    weight: float = Field(default=1, gt=0)
    plain: bool = False
    locales: list[str] | None = None
    entries: list[Text] = Field(min_length=1)


class _OccupationsFile(FileModel):
    groups: list[_OccupationGroup]


@dataclass(frozen=True, slots=True, kw_only=True)
class Occupation:
    """A job.

    ``education`` and ``max_education``: lowest and usual highest level (0 school … 5 doctorate). ``income``: (low, high) in thousands of
    USD a year. ``title`` may have slots and ``<a|b>`` forms. ``plain``: the title gets no "senior", "part-time" and the like.
    """

    title: str
    field: str
    education: int
    max_education: int
    min_age: int
    max_age: int
    income: tuple[int, int]
    weight: float
    plain: bool


@cache
def occupations(locale: str) -> tuple[Occupation, ...]:
    """All jobs in the spelling of *locale*, in file order."""
    source = load_yaml(folder(locale) / "lexicons" / "occupations.yaml", _OccupationsFile)
    return tuple(
        Occupation(
            title=spelled(title, locale),
            field=group.field,
            education=group.education,
            max_education=group.max_education,
            min_age=group.min_age,
            max_age=group.max_age,
            income=group.income,
            weight=group.weight,
            plain=group.plain,
        )
        for group in source.groups
        if group.locales is None or locale in group.locales
        for title in group.entries
    )


@cache
def jobs_for(locale: str, education: int, age: int) -> Weighted[Occupation]:
    """Return the weighted jobs for a person of this education level and age (years; ages below 18 count as 18)."""
    years = max(18, age)
    return weighted(
        (job, job.weight)
        for job in occupations(locale)
        if job.education <= education <= job.max_education and job.min_age <= years <= job.max_age
    )


@cache
def _pieces(title: str, gender: PersonGender) -> tuple[str, ...]:
    return tuple(_SLOT.split(gendered(title, gender)))


def bare_title(job: Occupation, who: Fitted, rng: random.Random) -> str:
    """The job's title with its slots filled: "third grade teacher"."""
    pieces = _pieces(job.title, who.gender)
    return pieces[0] if len(pieces) == 1 else filled(pieces, _PARTS, who, rng)


def told_title(job: Occupation, who: Fitted, rng: random.Random) -> str:
    """Draw the title as a working person tells it, sometimes with a qualifier: "night shift nurse"."""
    title = bare_title(job, who, rng)
    if job.plain:
        return title
    topic = f"shape_{job.field}"
    told = phrase(_PARTS, topic if has_topic(_PARTS, topic, who) else "shape", who, rng, {"title": title})
    return title if _says_twice(told) else told


def former_title(title: str, topic: str, who: Fitted, rng: random.Random) -> str:
    """Draw the title as a person tells it who no longer works, by *topic* ("retired", "jobless"): "retired nurse"."""
    return phrase(_PARTS, f"shape_{topic}", who, rng, {"title": title})


def _says_twice(text: str) -> bool:
    words = text.replace("-", " ").split()
    return len(set(words)) < len(words)


def yearly_pay(job: Occupation, locale: str, age: int, share: float, rng: random.Random) -> int:
    """Draw the yearly pay of a job in local currency, rounded to hundreds (thousands for currencies of low value).

    *share*: the part of the full pay that is earned (less than 1 for pensions and side jobs). Pay rises with age up to 50 within the
    job's income range.
    """
    scale = country_of(locale).pay
    low, high = job.income
    seniority = min(1.0, max(0.0, (age - job.min_age) / max(1, 50 - job.min_age)))
    point = low + (high - low) * (0.25 + 0.5 * seniority) + (high - low) * spread(rng, -0.3, 0.3)
    pay = point * 1000 * share * scale
    step = 1000 if scale >= 5 else 100
    return max(step, int(pay // step) * step)


OrganisationKind = Literal["company", "hospital", "charity", "club", "school"]

_MAX_WORDS: Final = 6
_NAME_PARTS: Final = frozenset({"s", "c", "f", "f2", "f3"})  # slots of names: a stem, a city, family names
_SAME_FIELD: Final = 0.35  # share of employers drawn from those of the job's own field


class _EmployersFile(FileModel):
    employers: dict[str, list[Text]]


def draw_organisation(kind: OrganisationKind, who: Fitted, region: Region, rng: random.Random) -> str:
    """Draw a name of at most six words without repeated words; city names come from *region*."""
    while True:
        form = fitting("organisations", kind, who.locale, who.age, who.gender).draw(rng)
        parts = form.parts or (form.text,)
        given = {slot: _part(slot, who, region, rng) for slot in parts[1::2] if slot in _NAME_PARTS}
        name = filled(parts, "organisations", who, rng, given)
        words = name.split()
        if len(words) <= _MAX_WORDS and len({w.casefold() for w in words}) == len(words):
            return name


def _part(slot: str, who: Fitted, region: Region, rng: random.Random) -> str:
    """Draw the text for a slot of a name: "c" is a city of *region*, "s" a stem, all others a family name."""
    return region.cities.draw(rng) if slot == "c" else _stem(who, rng) if slot == "s" else _family(who.locale, rng)


def _stem(who: Fitted, rng: random.Random) -> str:
    """Draw a stem from two halves, such as "Bridgeport"; a letter that would be doubled at the joint is dropped."""
    stem, end = phrase("organisations", "_stem", who, rng), phrase("organisations", "_stem_end", who, rng)
    return stem + (end if stem[-1] != end[0] else end[1:])


def _family(locale: str, rng: random.Random) -> str:
    return heritages(locale).items[0].family.draw(rng) if rng.random() < 0.6 else heritages(locale).draw(rng).family.draw(rng)


@cache
def _employers(locale: str) -> Mapping[str, Weighted[str]]:
    source = files("piiloom.pii_values") / "data" / "employers" / f"{locale}.yaml"
    if not source.is_file():
        raise UsageError(f"no employers for locale {locale!r}", remedy="Add a file to piiloom/pii_values/data/employers.")
    by_field = load_yaml(source, _EmployersFile).employers
    every = dict.fromkeys(name for names in by_field.values() for name in names)
    found = {field: weighted((name, 1.0) for name in names) for field, names in by_field.items()}
    return {**found, "": weighted((name, 1.0) for name in every)}


def draw_employer(field: str, locale: str, rng: random.Random) -> str:
    """Draw a real, well-known employer of the country, often but not always one of the job's *field*."""
    known = _employers(locale)
    near = known.get(field)
    return (near if near is not None and rng.random() < _SAME_FIELD else known[""]).draw(rng)


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
