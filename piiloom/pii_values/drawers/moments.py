"""Values of the type datetime."""

from __future__ import annotations

import random
import re
from typing import Final

from piiloom.pii_values import dates
from piiloom.pii_values.drawers.kind import Kind
from piiloom.pii_values.persona import Persona

_IN_DIGITS: Final = 3  # day, month and year

KINDS: Final = (
    Kind(subtype="date", share=3.5, draw=lambda p, rng, _n: dates.written_date(dates.draw_day(p.birth_date, rng), p.locale, rng)),
    Kind(subtype="month_year", share=1.8, draw=lambda p, rng, _n: dates.written_month(dates.draw_day(p.birth_date, rng), p.locale, rng)),
    Kind(subtype="year", share=0.9, draw=lambda p, rng, _n: dates.draw_year(p.birth_date, rng)),
    Kind(subtype="time", share=2, draw=lambda p, rng, _n: dates.draw_time(p.locale, rng)),
    Kind(subtype="duration", share=2, draw=lambda p, rng, _n: dates.draw_duration(p, rng)),
)


def _birth_date(p: Persona, rng: random.Random, _: int) -> str:
    """The persona's date of birth, in a form with the year."""
    written = iter(lambda: dates.written_date(p.birth_date, p.locale, rng), "")
    return next(text for text in written if str(p.birth_date.year) in text or len(re.findall(r"\d+", text)) == _IN_DIGITS)


# Values of catalogue entities that fit the persona.
OF_ENTITIES: Final = (Kind(subtype="date_of_birth", share=0, draw=_birth_date, fixed=True),)
