"""Job titles with what they ask for (education, age) and what they pay."""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from pydantic import Field

from foundation.yaml_files import load_yaml
from pii_values.lexicons import FileModel, Text, spelled
from pii_values.sampling import Weighted, spread, weighted


class _Group(FileModel):
    field: str
    education: int = Field(ge=0, le=5)
    max_education: int = 5
    min_age: int = 18
    max_age: int = 120
    income: tuple[int, int] = Field(strict=False)
    weight: float = Field(default=1, gt=0)
    entries: list[Text] = Field(min_length=1)


class _File(FileModel):
    groups: list[_Group]


@dataclass(frozen=True, slots=True, kw_only=True)
class Occupation:
    """A job: ``education`` least and usual highest level (0 school … 5 doctorate), ``income`` thousands of USD a year."""

    title: str
    field: str
    education: int
    max_education: int
    min_age: int
    max_age: int
    income: tuple[int, int]
    weight: float


# Yearly pay of a job in local currency for one US dollar it pays in the United States (rounded, 2025).
_PAY_SCALE = {"en_US": 1.0, "en_GB": 0.62, "en_CA": 1.05, "en_AU": 1.2, "en_IN": 14.0}


@cache
def occupations(locale: str) -> tuple[Occupation, ...]:
    """All jobs in the spelling of *locale*, in file order."""
    source = load_yaml(files("pii_values") / "data" / "lexicons" / "occupations.yaml", _File)
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
        )
        for group in source.groups
        for title in group.entries
    )


@cache
def jobs_for(locale: str, education: int, age: int) -> Weighted[Occupation]:
    """The jobs open to somebody of this education level and age (years; younger than 18 counts as 18)."""
    years = max(18, age)
    return weighted(
        (job, job.weight)
        for job in occupations(locale)
        if job.education <= education <= job.max_education and job.min_age <= years <= job.max_age
    )


def yearly_pay(job: Occupation, locale: str, age: int, share: float, rng: random.Random) -> int:
    """What the job pays in local currency a year, rounded to hundreds (IN: thousands).

    ``share`` is the part earned (1 full pay; less for pensions and side jobs). Pay rises with age up to 50 within the band.
    """
    low, high = job.income
    seniority = min(1.0, max(0.0, (age - job.min_age) / max(1, 50 - job.min_age)))
    point = low + (high - low) * (0.25 + 0.5 * seniority) + (high - low) * spread(rng, -0.3, 0.3)
    pay = point * 1000 * share * _PAY_SCALE[locale]
    step = 1000 if locale == "en_IN" else 100
    return max(step, int(pay // step) * step)
