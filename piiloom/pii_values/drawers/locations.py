"""Values of the type location."""

from __future__ import annotations

import random
from typing import Final

from piiloom.pii_values import places
from piiloom.pii_values.drawers.kind import Kind
from piiloom.pii_values.lexicons import phrase
from piiloom.pii_values.persona import Persona
from piiloom.pii_values.regions import regions

_WITH_CITY, _WITH_REGION = 0.15, 0.2  # shares of addresses with the city behind them, and with city and region
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
    """The persona's street address, then another one; now and then with the city behind it, or city and region."""
    street = p.street_address if attempt == 0 else places.draw_address(p, rng)
    dice = rng.random()
    if dice < _WITH_CITY:
        return f"{street}, {_city(p, rng, attempt)}"
    if dice < _WITH_CITY + _WITH_REGION:
        return f"{street}, {_city_region(p, rng, attempt)}"
    return street


KINDS: Final = (
    Kind(subtype="city", share=3, draw=_city),
    Kind(subtype="region", share=1.2, draw=_region),
    Kind(subtype="country", share=1.3, draw=lambda p, rng, _n: places.draw_country(rng, p.locale, home=p.country, origin=p.origin)),
    Kind(subtype="city_region", share=3, draw=_city_region),
    Kind(subtype="area", share=1.5, draw=_area),
    Kind(subtype="address", share=1.5, draw=_address),
    Kind(subtype="street", share=1, draw=lambda p, rng, _n: places.draw_street(p, rng)),
)
