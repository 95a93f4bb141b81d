"""Values of the type datetime."""

from __future__ import annotations

from typing import Final

from piiloom.pii_values import dates
from piiloom.pii_values.drawers.kind import Kind

KINDS: Final = (
    Kind(subtype="date", share=3.5, draw=lambda p, rng, _n: dates.written_date(dates.draw_day(p.birth_date, rng), p.locale, rng)),
    Kind(subtype="month_year", share=1.8, draw=lambda p, rng, _n: dates.written_month(dates.draw_day(p.birth_date, rng), p.locale, rng)),
    Kind(subtype="year", share=0.9, draw=lambda p, rng, _n: dates.draw_year(p.birth_date, rng)),
    Kind(subtype="time", share=2, draw=lambda p, rng, _n: dates.draw_time(p.locale, rng)),
    Kind(subtype="date_of_birth", share=0, draw=lambda p, rng, _n: dates.written_date(p.birth_date, p.locale, rng), fixed=True),
    Kind(subtype="duration", share=2, draw=lambda p, rng, _n: dates.draw_duration(p, rng)),
)
