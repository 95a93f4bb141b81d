"""Draw passport, driving license, plate and booking numbers, and numbers given by schools, employers and insurers.

Only their shapes are realistic: those of ``data/countries.yaml`` for a locale, and of ``data/number_forms.yaml`` for any.
"""

from __future__ import annotations

import random
from typing import Final

from piiloom.pii_values.countries import shaped
from piiloom.pii_values.dates import REFERENCE_DATE
from piiloom.pii_values.identifiers import draw_national_id
from piiloom.pii_values.numbering.masks import fill_given, fill_mask, usual_masks
from piiloom.pii_values.persona import Persona

_MONTHS_FOR_WOMEN: Final = 50  # added to the month of a British driver number


def draw_passport(locale: str, rng: random.Random) -> str:
    """Draw a passport number."""
    return shaped("passport", locale, rng)


def draw_driving_licence(holder: Persona, rng: random.Random) -> str:
    """Draw a license number. As with real ones, the British one contains the holder's name and birth date, the Indian one the state."""
    family, birth = holder.family_name, holder.birth_date
    match holder.locale:
        case "en_GB":
            name = "".join(c for c in family.upper() if c.isascii() and c.isalpha())[:5].ljust(5, "9")
            month = birth.month + (_MONTHS_FOR_WOMEN if holder.gender == "female" else 0)
            born = f"{birth.year // 10 % 10}{month:02d}{birth.day:02d}{birth.year % 10}"
            return f"{name} {born} {holder.given_name[0].upper()}9{fill_mask('%@@', rng)}"
        case "en_IN":
            issued = min(REFERENCE_DATE.year - 1, birth.year + 18 + int(rng.random() * 12))
            return f"{holder.place.vehicle}{rng.randint(1, 60):02d} {issued}{fill_mask('#######', rng)}"
        case "en_SG":
            return draw_national_id(holder.locale, family, rng)  # a Singapore licence bears the identity card's number
        case _:
            return shaped("driving_licence", holder.locale, rng, initial=family[0].upper())


def draw_licence_plate(locale: str, vehicle: str | None, rng: random.Random) -> str:
    """Draw a license plate in a shape of the locale; *vehicle* is the Indian state's registration code."""
    return shaped("licence_plate", locale, rng, vehicle=vehicle or "DL")


def draw_number(kind: str, rng: random.Random, birth_year: int = REFERENCE_DATE.year - 30) -> str:
    """Draw a number of *kind* ("employee_id") in one of the forms of ``data/number_forms.yaml``.

    ``{entry}`` and ``{in}`` in it are the year, and its last two digits, in which somebody born in *birth_year* began to study.
    """
    entry = str(min(REFERENCE_DATE.year - 1, birth_year + 18 + int(rng.random() * 6)))
    return fill_given(usual_masks()[kind], rng, {"entry": entry, "in": entry[2:]})
