"""Amounts of money in a locale's currency, and credit scores."""

from __future__ import annotations

import random

from piiloom.pii_values.countries import country_of, decimal, grouped

_SHORT_FROM = 10  # where the short unit is a thousand: number of units from which the short form ("48k") is used


def written_amount(amount: int, locale: str) -> str:
    """Format a whole amount in the most usual way: "$52,400", "₹9,60,000"."""
    return _exact(country_of(locale).exact.items[0], amount, locale)


def told_amount(amount: int, locale: str, rng: random.Random, *, short: float = 0.25) -> str:
    """Format *amount* in one of the ways people write it; with probability *short* in the rounded short form: "$48k", "₹9.6 lakh"."""
    here = country_of(locale)
    if amount >= here.unit * (1 if here.unit > 1000 else _SHORT_FROM) and rng.random() < short:
        count = amount / here.unit
        places = 1 if here.unit > 1000 or (count < 100 and rng.random() < 0.25) else 0
        return here.short.draw(rng).replace("{k}", decimal(count, places, locale))
    return _exact(here.exact.draw(rng), amount, locale)


def in_units(amount: int, locale: str) -> str:
    """Return *amount* in the locale's short units (thousands, lakhs), with at most one decimal."""
    return decimal(amount / country_of(locale).unit, 1, locale)


def told_rate(rate: float, locale: str, rng: random.Random) -> str:
    """Format a small amount such as hourly pay: "$23", "$18.75"."""
    here = country_of(locale)
    whole = rng.random() < 0.55 or rate >= 100
    quarters = int(rate) + rng.choice((0.25, 0.5, 0.75, 0.4, 0.8, 0.15))
    number = grouped(round(rate), locale) if whole else f"{quarters:.2f}".replace(".", here.decimal)
    return here.exact.items[0].replace("{n}", number)


def _exact(form: str, amount: int, locale: str) -> str:
    return form.replace("{n}", grouped(amount, locale)) if "{n}" in form else form.replace("{p}", str(amount))


def draw_debt(income: int, rng: random.Random) -> int:
    """Draw a debt between about a week's and a few years' income; small ones are more frequent, round figures rare."""
    return uneven(income * 0.02 * (120 ** rng.random()), rng)


def draw_savings(income: int, age: int, rng: random.Random) -> int:
    """Draw savings; their range grows with age, and small ones are more frequent."""
    reach = 8 + 2.2 * max(0, age - 18)
    return uneven(income * 0.015 * (reach ** rng.random()), rng)


def draw_bill(locale: str, rng: random.Random) -> int:
    """Draw an amount that a person is asked to pay, from a small fee to some months' pay, in local currency."""
    return uneven(60 * country_of(locale).pay * (280 ** rng.random()), rng, least=10)


def draw_payment(income: int, rng: random.Random) -> int:
    """Draw a regular monthly payment: 4% to 46% of the monthly pay."""
    return uneven(income / 12 * (0.04 + 0.42 * rng.random() ** 1.5), rng, least=10)


def uneven(amount: float, rng: random.Random, *, least: int = 100) -> int:
    """Round *amount* down to a multiple of 1 to 100, depending on its size, as people do; at least *least*."""
    step = rng.choice((1, 5, 5, 10) if amount < 1000 else (10, 50, 50, 100))
    return max(least, int(amount // step) * step)


def draw_credit_score(locale: str, rng: random.Random) -> int:
    """Draw a credit score in the range that the locale's agencies use."""
    low, high, mean, deviation = country_of(locale).scores
    score = round(rng.gauss(mean, deviation))
    return score if low <= score <= high else rng.randint(mean - deviation, min(high, mean + deviation))
