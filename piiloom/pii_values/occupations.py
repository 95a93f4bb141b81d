"""Job titles with their required education and age, and their pay.

``data/<language>/lexicons/occupations.yaml`` lists them. Fillers for slots in a title (``{grade} teacher``) and phrases around a
title ("night shift {title}") are topics of ``job_parts.yaml``.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from functools import cache
from typing import Final

from pydantic import Field

from piiloom.foundation.yaml_files import FileModel, Text, load_yaml
from piiloom.pii_values.countries import country_of
from piiloom.pii_values.languages import PersonGender, folder, gendered, spelled
from piiloom.pii_values.lexicons import Fitted, filled, has_topic, phrase
from piiloom.pii_values.sampling import Weighted, spread, weighted

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
