"""How a person lives: values of the types occupation, education, organization, finance, location, datetime and code."""

from __future__ import annotations

import random
import re
from functools import cache
from typing import Final

from piiloom.pii_values import dates, finance, identifiers, occupations, people, places
from piiloom.pii_values.countries import Period, country_of
from piiloom.pii_values.drawers import Drawer, ValueKind, from_lexicon
from piiloom.pii_values.lexicons import Weighted, has_topic, phrase, weighted
from piiloom.pii_values.occupations import PAY_SHARE, jobs_for, told_title
from piiloom.pii_values.persona import Persona
from piiloom.pii_values.regions import regions

_FIELD_FREE: Final = frozenset({"minor", "retired", "jobless", "home"})  # activities of these do not depend on a job's field


def _job_title(p: Persona, rng: random.Random, attempt: int) -> str:
    """The persona's job, then another one open to them."""
    return p.occupation if attempt == 0 else told_title(jobs_for(p.locale, p.education.level, p.age).draw(rng), p, rng)


def _activity(p: Persona, rng: random.Random, attempt: int) -> str:
    """Draw what the persona does for a living; from attempt 3 on, what people in other jobs open to them do."""
    if p.work in _FIELD_FREE:
        return phrase("activities", p.work, p, rng)
    field = p.job.field if attempt < 3 else jobs_for(p.locale, p.education.level, p.age).draw(rng).field
    topic = f"{field}_{'skilled' if p.job.education > 2 else 'basic'}"
    return phrase("activities", topic if has_topic("activities", topic, p) else field, p, rng)


OCCUPATION: Final = (
    ValueKind(subtype="job_title", share=6, draw=_job_title, grown=True),
    ValueKind(subtype="activity", share=2, draw=_activity, grown=True),
    ValueKind(subtype="status", share=0.7, draw=lambda p, rng, _n: phrase("work_status", p.work, p, rng), grown=True),
)


def _field(p: Persona, rng: random.Random, attempt: int) -> str:
    """What the persona has studied, then something else that fits level and job."""
    own = p.education
    return own.field if attempt == 0 else occupations.draw_field(own.level, p.job.field, p, rng)


def _degree(p: Persona, rng: random.Random, attempt: int) -> str:
    """The persona's degree, then another of the same level."""
    own = p.education
    return own.degree if attempt == 0 else occupations.draw_degree(own.level, p.job.field, _field(p, rng, attempt), p, rng)


def _student_status(p: Persona, rng: random.Random, attempt: int) -> str:
    """What the persona studies now, else what somebody of their age and level could."""
    own = p.education
    if attempt == 0 and own.student_status is not None:
        return own.student_status
    return occupations.draw_student_status(own.level, p.job.field, p, rng)


def _school(p: Persona, rng: random.Random, attempt: int) -> str:
    """The persona's school, then another one."""
    return p.education.school if attempt == 0 else occupations.draw_organisation("school", p, p.place, rng)


EDUCATION: Final = (
    ValueKind(subtype="degree", share=2, draw=_degree, grown=True),
    ValueKind(subtype="school", share=2, draw=_school),
    ValueKind(subtype="student_status", share=1.5, draw=_student_status),
    ValueKind(subtype="field", share=1.5, draw=_field),
)


def _organisation(kind: occupations.OrganisationKind) -> Drawer:
    """A company (first the employer), hospital, charity or club."""

    def draw(p: Persona, rng: random.Random, attempt: int) -> str:
        if kind == "company" and attempt == 0:
            return p.employer
        return occupations.draw_organisation(kind, p, p.place, rng)

    return draw


ORGANIZATION: Final = (
    ValueKind(subtype="company", share=3, draw=_organisation("company"), grown=True),
    ValueKind(subtype="employer", share=1, draw=lambda p, rng, _n: occupations.draw_employer(p.job.field, p.locale, rng), grown=True),
    ValueKind(subtype="hospital", share=1.5, draw=_organisation("hospital")),
    ValueKind(subtype="charity", share=1, draw=_organisation("charity")),
    ValueKind(subtype="club", share=1, draw=_organisation("club")),
)
_PARTS: Final[dict[Period, float]] = {"month": 12, "week": 52, "hour": 2080}  # of a year's full-time pay
_PAID_BY_THE_HOUR: Final = 2  # highest usual education of jobs that are paid by the hour
# From this attempt on, pay is raised, since its digits clash with another value (38,500 at the age of 38).
_PAY_CLASHES: Final = 4


@cache
def _periods(locale: str, salaried: bool) -> Weighted[Period]:
    shares = country_of(locale).periods
    return weighted((period, share) for period, share in shares.items() if share and not (salaried and period == "hour"))


def _yearly(p: Persona, attempt: int) -> int:
    return p.income + round(0.013 * p.income / 100) * 100 * (attempt // _PAY_CLASHES)


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


FINANCE: Final = (
    ValueKind(subtype="income", share=3, draw=_income, grown=True),
    ValueKind(subtype="salary", share=1.2, draw=_salary, grown=True),
    ValueKind(subtype="debt", share=2.5, draw=_debt, grown=True),
    ValueKind(subtype="savings", share=2, draw=_savings, grown=True),
    ValueKind(subtype="amount", share=1.5, draw=_amount, grown=True),
    ValueKind(subtype="payment", share=1.5, draw=_payment, grown=True),
    ValueKind(subtype="credit_score", share=1, draw=lambda p, rng, _n: str(finance.draw_credit_score(p.locale, rng)), grown=True),
    ValueKind(subtype="benefit", share=1, draw=from_lexicon("benefits"), grown=True),
    ValueKind(subtype="hardship", share=0.6, draw=from_lexicon("money", "hardship"), grown=True),
)
_WITH_CITY, _WITH_REGION, _WITH_POSTCODE = 0.1, 0.15, 0.35  # shares of addresses with more behind the street
_ABROAD: Final = 0.12  # share of second cities that lie in another country


def _city(p: Persona, rng: random.Random, attempt: int) -> str:
    """The persona's city, then another one of the locale or abroad."""
    if attempt == 0:
        return p.city
    if rng.random() < _ABROAD:
        return places.draw_abroad(p.locale, rng)[0]
    return regions(p.locale).draw(rng).cities.draw(rng)


def _city_region(p: Persona, rng: random.Random, attempt: int) -> str:
    """The persona's city with its region, then another one."""
    if attempt == 0:
        return places.draw_city_region(p.place, p.city, p, rng)
    if rng.random() < _ABROAD:
        city, country = places.draw_abroad(p.locale, rng)
        return phrase("wording", "city_country", p, rng, {"city": city, "country": country})
    region = regions(p.locale).draw(rng)
    return places.draw_city_region(region, region.cities.draw(rng), p, rng)


def _area(p: Persona, rng: random.Random, attempt: int) -> str:
    """A part of the persona's city or region, then of another one."""
    region = p.place if attempt == 0 else regions(p.locale).draw(rng)
    return places.draw_area(region, p.city if attempt == 0 else region.cities.draw(rng), p, rng)


def _region(p: Persona, rng: random.Random, attempt: int) -> str:
    return places.draw_region_name(p.place, p.locale, rng, elsewhere=attempt > 0)


def _address(p: Persona, rng: random.Random, attempt: int) -> str:
    """The persona's street address, then another one; often with the city behind it, or a whole postal address."""
    street = p.street_address if attempt == 0 else places.draw_address(p, rng)
    dice = rng.random()
    if dice < _WITH_CITY:
        return f"{street}, {_city(p, rng, attempt)}"
    if dice < _WITH_CITY + _WITH_REGION:
        return f"{street}, {_city_region(p, rng, attempt)}"
    if dice < _WITH_CITY + _WITH_REGION + _WITH_POSTCODE:
        given = {"line": street, "city": p.city, "short": p.place.short or p.place.name, "post": p.postcode}
        return phrase("wording", "full_address", p, rng, given)
    return street


LOCATION: Final = (
    ValueKind(subtype="city", share=3, draw=_city),
    ValueKind(subtype="region", share=1.2, draw=_region),
    ValueKind(subtype="country", share=1.3, draw=lambda p, rng, _n: places.draw_country(rng, p.locale, home=p.country, origin=p.origin)),
    ValueKind(subtype="city_region", share=3, draw=_city_region),
    ValueKind(subtype="area", share=1.5, draw=_area),
    ValueKind(subtype="address", share=1.5, draw=_address),
    ValueKind(subtype="street", share=1, draw=lambda p, rng, _n: places.draw_street(p, rng)),
)
_IN_DIGITS: Final = 3  # day, month and year

DATETIME: Final = (
    ValueKind(subtype="date", share=3.5, draw=lambda p, rng, _n: dates.written_date(dates.draw_day(p.birth_date, rng), p.locale, rng)),
    ValueKind(subtype="month_year", share=1.8, draw=lambda p, r, _n: dates.written_month(dates.draw_day(p.birth_date, r), p.locale, r)),
    ValueKind(subtype="year", share=0.9, draw=lambda p, rng, _n: dates.draw_year(p.birth_date, rng)),
    ValueKind(subtype="time", share=2, draw=lambda p, rng, _n: dates.draw_time(p.locale, rng)),
    ValueKind(subtype="duration", share=2, draw=lambda p, rng, _n: dates.draw_duration(p, rng)),
)


def _birth_date(p: Persona, rng: random.Random, _: int) -> str:
    """The persona's date of birth, in a form with the year."""
    written = iter(lambda: dates.written_date(p.birth_date, p.locale, rng, rng.choice(("date", "birth"))), "")
    return next(text for text in written if str(p.birth_date.year) in text or len(re.findall(r"\d+", text)) == _IN_DIGITS)


# Values of catalogue entities that fit the persona.
DATES_OF_ENTITIES: Final = (ValueKind(subtype="date_of_birth", share=0, draw=_birth_date, fixed=True),)
_GLUED_AFTER: Final = 4  # attempts after which addresses contain no part of the name as a whole word


def _email(p: Persona, rng: random.Random, attempt: int) -> str:
    """The persona's address, then others made of the name."""
    if attempt == 0:
        return p.email
    if attempt < _GLUED_AFTER:
        return people.draw_email(p.given_name, p.family_name, p.birth_date.year, rng)
    return people.draw_glued_email(p.given_name, p.family_name, rng)


def _phone(p: Persona, rng: random.Random, attempt: int) -> str:
    return p.phone if attempt == 0 else people.draw_phone(p.locale, p.place, rng)


def _national_id(p: Persona, rng: random.Random, _: int) -> str:
    return identifiers.draw_national_id(p.locale, p.family_name, rng, born=p.birth_date, gender=p.gender)


def _plate(p: Persona, rng: random.Random, _: int) -> str:
    return identifiers.draw_licence_plate(p.locale, p.place.vehicle, rng)


def _numbered(kind: str) -> Drawer:
    return lambda p, rng, _attempt: identifiers.draw_number(kind, rng, p.birth_date.year)


CODE: Final = (
    ValueKind(subtype="payment_card", share=1, draw=lambda p, rng, _n: identifiers.draw_payment_card(p.locale, rng), grown=True),
    ValueKind(subtype="bank_account", share=1, draw=lambda p, rng, _n: identifiers.draw_bank_account(p.locale, rng)),
    ValueKind(subtype="national_id", share=1, draw=_national_id),
    ValueKind(subtype="passport", share=1, draw=lambda p, rng, _n: identifiers.draw_passport(p.locale, rng)),
    ValueKind(subtype="driving_licence", share=1, draw=lambda p, rng, _n: identifiers.draw_driving_licence(p, rng), grown=True),
    ValueKind(subtype="licence_plate", share=1, draw=_plate, grown=True),
    ValueKind(subtype="ticket", share=1, draw=_numbered("ticket")),
    ValueKind(subtype="email", share=2, draw=_email),
    ValueKind(subtype="phone", share=2, draw=_phone),
    ValueKind(subtype="ip_address", share=1, draw=lambda _p, rng, _n: identifiers.draw_ip_address(rng)),
    ValueKind(subtype="student_id", share=0.7, draw=_numbered("student_id")),
    ValueKind(subtype="employee_id", share=0.7, draw=_numbered("employee_id"), grown=True),
    ValueKind(subtype="member_id", share=1, draw=_numbered("member_id")),
    ValueKind(subtype="case_number", share=1, draw=_numbered("case_number")),
    ValueKind(subtype="wallet", share=0.7, draw=lambda _p, rng, _n: identifiers.draw_wallet(rng), grown=True),
)

# Values of catalogue entities that fit the persona; taxonomy files name some of these kinds otherwise.
CODES_OF_ENTITIES: Final = (
    ValueKind(subtype="bank_account_number", share=0, draw=lambda p, rng, _n: identifiers.draw_bank_account(p.locale, rng)),
    ValueKind(subtype="passport_number", share=0, draw=lambda p, rng, _n: identifiers.draw_passport(p.locale, rng)),
    ValueKind(subtype="driving_licence_number", share=0, draw=lambda p, rng, _n: identifiers.draw_driving_licence(p, rng), grown=True),
    ValueKind(
        subtype="url",
        share=0,
        draw=lambda p, rng, _n: people.draw_site(p.given_name, p.family_name, p.birth_date.year, rng),
    ),
)
