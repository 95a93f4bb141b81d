"""Amounts of money in a locale's currency, and credit scores."""

from __future__ import annotations

import random

from taxonomy.locales import get_locale

# Lowest and highest score, mean and deviation of each locale's best-known consumer credit score.
_SCORES = {
    "en_US": (300, 850, 690, 85),
    "en_GB": (0, 999, 800, 150),
    "en_CA": (300, 900, 690, 90),
    "en_AU": (0, 1200, 800, 170),
    "en_IN": (300, 900, 710, 85),
}


def written_amount(amount: int, locale: str) -> str:
    """A whole amount with its currency sign: "$52,400", "₹9,60,000" (Indian grouping)."""
    symbol = get_locale(locale).currency_symbol
    return symbol + (_indian_groups(amount) if locale == "en_IN" else f"{amount:,}")


def _indian_groups(amount: int) -> str:
    """Digits grouped as in India: the last three, then pairs."""
    head, tail = divmod(amount, 1000)
    if not head:
        return str(tail)
    pairs = []
    while head:
        head, pair = divmod(head, 100)
        pairs.append(f"{pair:02d}" if head else str(pair))
    return ",".join([*reversed(pairs), f"{tail:03d}"])


def draw_debt(income: int, rng: random.Random) -> int:
    """A debt between some weeks' and a few years' income, small ones more often; hardly ever a round figure."""
    return _uneven(income * 0.02 * (120 ** rng.random()), rng)


def draw_savings(income: int, age: int, rng: random.Random) -> int:
    """Savings that grow with age, small ones more often."""
    reach = 8 + 2.2 * max(0, age - 18)
    return _uneven(income * 0.015 * (reach ** rng.random()), rng)


def _uneven(amount: float, rng: random.Random) -> int:
    """*amount* rounded to 10, 50 or 100 (at least 100), as people round what they tell."""
    step = rng.choice((10, 50, 50, 100))
    return max(100, int(amount // step) * step)


def draw_credit_score(locale: str, rng: random.Random) -> int:
    """A score inside the range that the locale's agencies use."""
    low, high, mean, deviation = _SCORES[locale]
    score = round(rng.gauss(mean, deviation))
    return score if low <= score <= high else rng.randint(mean - deviation, min(high, mean + deviation))
