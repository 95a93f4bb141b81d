"""Values of the type finance."""

from __future__ import annotations

import random
from functools import cache
from typing import Final

from piiloom.pii_values import finance
from piiloom.pii_values.career import PAY_SHARE
from piiloom.pii_values.countries import Period, country_of
from piiloom.pii_values.drawers.kind import Kind, listed
from piiloom.pii_values.lexicons import phrase
from piiloom.pii_values.persona import Persona
from piiloom.pii_values.sampling import Weighted, weighted

_PARTS: Final[dict[Period, float]] = {"month": 12, "week": 52, "hour": 2080}  # of a year's full-time pay
_PAID_BY_THE_HOUR: Final = 2  # highest usual education of jobs that are paid by the hour
# From this attempt on, pay is raised, since its digits clash with another value (38,500 at the age of 38).
_CLASHES: Final = 4


@cache
def _periods(locale: str, salaried: bool) -> Weighted[Period]:
    shares = country_of(locale).periods
    return weighted((period, share) for period, share in shares.items() if share and not (salaried and period == "hour"))


def _yearly(p: Persona, attempt: int) -> int:
    return p.income + round(0.013 * p.income / 100) * 100 * (attempt // _CLASHES)


def _income(p: Persona, rng: random.Random, attempt: int) -> str:
    """The persona's pay by the year, month, week or hour."""
    yearly = _yearly(p, attempt)
    salaried = p.job.education > _PAID_BY_THE_HOUR or p.work == "retired"
    period = _periods(p.locale, salaried).draw(rng)
    if period == "year":
        amount = finance.told_amount(yearly, p.locale, rng)
    elif period == "hour":
        amount = finance.told_rate(yearly / PAY_SHARE[p.life_stage] / _PARTS["hour"], p.locale, rng)
    else:
        amount = finance.told_amount(finance.uneven(yearly / _PARTS[period], rng), p.locale, rng, short=0.08)
    return phrase("wording", f"income_{period}", p, rng, {"amount": amount, "k": finance.in_units(yearly, p.locale)})


def _salary(p: Persona, rng: random.Random, attempt: int) -> str:
    return phrase("wording", "salary", p, rng, {"amount": finance.told_amount(_yearly(p, attempt), p.locale, rng, short=0.35)})


def _debt(p: Persona, rng: random.Random, _: int) -> str:
    """A debt in proportion to the income, with what it is for."""
    amount = finance.told_amount(finance.draw_debt(p.income, rng), p.locale, rng)
    return phrase("money", "debt", p, rng, {"amount": amount})


def _savings(p: Persona, rng: random.Random, _: int) -> str:
    """Savings in proportion to income and age."""
    amount = finance.told_amount(finance.draw_savings(p.income, p.age, rng), p.locale, rng)
    return phrase("money", "savings", p, rng, {"amount": amount})


def _amount(p: Persona, rng: random.Random, _: int) -> str:
    return finance.told_amount(finance.draw_bill(p.locale, rng), p.locale, rng, short=0.15)


def _payment(p: Persona, rng: random.Random, _: int) -> str:
    """A regular payment that the income allows, by the month, now and then by the week or the year."""
    dice, monthly = rng.random(), finance.draw_payment(p.income, rng)
    period, amount = ("month", monthly) if dice < 0.75 else ("week", max(10, monthly // 4)) if dice < 0.9 else ("year", monthly * 3)
    told = finance.told_amount(amount, p.locale, rng, short=0.05)
    return phrase("money", f"payment_{period}", p, rng, {"amount": told})


KINDS: Final = (
    Kind(subtype="income", share=3, draw=_income, grown=True),
    Kind(subtype="salary", share=1.2, draw=_salary, grown=True),
    Kind(subtype="debt", share=2.5, draw=_debt, grown=True),
    Kind(subtype="savings", share=2, draw=_savings, grown=True),
    Kind(subtype="amount", share=1.5, draw=_amount, grown=True),
    Kind(subtype="payment", share=1.5, draw=_payment, grown=True),
    Kind(subtype="credit_score", share=1, draw=lambda p, rng, _n: str(finance.draw_credit_score(p.locale, rng)), grown=True),
    Kind(subtype="benefit", share=1, draw=listed("benefits"), grown=True),
    Kind(subtype="hardship", share=0.6, draw=listed("money", "hardship"), grown=True),
)
