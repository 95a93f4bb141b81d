"""Draw height, weight, hair, eyes, blood group and other looks."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Final

from piiloom.pii_values.countries import country_of, decimal
from piiloom.pii_values.lexicons import Fitted, PersonGender, listed, phrase, weighted

# Mean and standard deviation of adult height in cm: rounded from NCHS, Anthropometric Reference Data for Children and Adults:
# United States, 2015-2018 (women 161.3, men 175.3), a little taller as most of our locales are; nonbinary: our estimate.
_HEIGHT: dict[PersonGender, tuple[float, float]] = {"female": (163, 7), "male": (177, 7.5), "nonbinary": (169, 9)}
_SHORTEST, _TALLEST = 146, 203
# (age in years, height in cm) of children of any gender, interpolated linearly between these ages (our estimate, after common growth
# charts). From 16 on, people count as adults here.
_CHILD_HEIGHT: Final = ((0, 60), (2, 86), (4, 102), (6, 115), (8, 128), (10, 138), (12, 149), (14, 160), (16, 167))
_CM_PER_INCH: Final = 2.54
_LBS_PER_KG: Final = 2.20462
_LBS_PER_STONE: Final = 14
_GROWN: Final = 16

# Share of men who are bald or balding from an age on (our estimate).
_BALD: Final = ((0, 0.0), (25, 0.06), (35, 0.16), (50, 0.3), (65, 0.42))
# Blood groups in the United States in percent (Stanford Blood Center). People mention a rare group more readily than a common one,
# so the shares are flattened by a power (our estimate).
_BLOOD: Final = {"O+": 37.4, "O-": 6.6, "A+": 35.7, "A-": 6.3, "B+": 8.5, "B-": 1.5, "AB+": 3.4, "AB-": 0.6}
_BLOOD_TOLD: Final = weighted((group, share**0.35) for group, share in _BLOOD.items())


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """A person's looks. ``blood_type`` is in the short form ("AB-"). ``bald``: bald or balding."""

    height_cm: int
    weight_kg: int
    blood_type: str
    bald: bool
    hair: str
    eyes: str


def draw_body(who: Fitted, rng: random.Random, *, dark: bool) -> Body:
    """Draw the looks of a person of an age and gender; *dark*: hair and eyes are dark unless dyed or gray."""
    height = draw_height_cm(who.age, who.gender, rng)
    bald = _draw_bald(who.age, who.gender, rng)
    return Body(
        height_cm=height,
        weight_kg=draw_weight_kg(height, who.age, rng),
        blood_type=_BLOOD_TOLD.draw(rng),
        bald=bald,
        hair=draw_hair(who, rng, dark=dark, bald=bald),
        eyes=draw_eyes(who, rng, dark=dark),
    )


def draw_height_cm(age: int, gender: PersonGender, rng: random.Random) -> int:
    """Draw a height in whole centimeters."""
    if age < _GROWN:
        step = next(i for i in reversed(range(len(_CHILD_HEIGHT))) if age >= _CHILD_HEIGHT[i][0])
        (low_age, low), (high_age, high) = _CHILD_HEIGHT[step], _CHILD_HEIGHT[step + 1]
        return round(low + (high - low) * (age - low_age) / (high_age - low_age) + rng.gauss(0, 4))
    mean, deviation = _HEIGHT[gender]
    return min(_TALLEST, max(_SHORTEST, round(rng.gauss(mean, deviation))))


def draw_weight_kg(height_cm: int, age: int, rng: random.Random) -> int:
    """Draw a weight in whole kilograms for a height: body mass index 18 to 42 (mean 27), for children 14 to 24 (mean 18)."""
    low, high, mean, deviation = (18.0, 42.0, 27.0, 5.0) if age >= _GROWN else (14.0, 24.0, 18.0, 2.0)
    index = min(high, max(low, rng.gauss(mean, deviation)))
    return round(index * (height_cm / 100) ** 2)


def _draw_bald(age: int, gender: PersonGender, rng: random.Random) -> bool:
    """Draw whether a person is bald or balding (men only)."""
    return gender == "male" and rng.random() < next(share for start, share in reversed(_BALD) if age >= start)


def written_height(height_cm: int, who: Fitted, rng: random.Random) -> str:
    """Format the height in a unit drawn by the locale's shares (mostly its usual one): ``5'7"``, "5 ft 7", "170 cm"."""
    if height_cm < 100 or country_of(who.locale).height.draw(rng) == "metric":
        return phrase("wording", "height_metric", who, rng, {"cm": str(height_cm), "m": _metres(height_cm, who.locale)})
    feet, inches = divmod(round(height_cm / _CM_PER_INCH), 12)
    words = listed("numbers", who.locale)
    given = {"f": str(feet), "i": str(inches), "fw": words[feet], "iw": words[inches]}
    return phrase("wording", "height_imperial" if inches else "height_feet", who, rng, given)


def _metres(height_cm: int, locale: str) -> str:
    return f"{height_cm / 100:.2f}".replace(".", decimal(0.5, 1, locale)[1])


def written_weight(weight_kg: int, who: Fitted, rng: random.Random) -> str:
    """Format the weight in a unit drawn by the locale's shares (mostly its usual one): "182 lbs", "83 kg", "11 stone 4"."""
    measure = country_of(who.locale).weight.draw(rng)
    if measure == "kilograms":
        return phrase("wording", "weight_kilograms", who, rng, {"n": str(weight_kg)})
    pounds = round(weight_kg * _LBS_PER_KG)
    if measure == "pounds":
        return phrase("wording", "weight_pounds", who, rng, {"n": str(pounds)})
    stone, rest = divmod(pounds, _LBS_PER_STONE)
    return phrase("wording", "weight_stone" if rest else "weight_whole_stone", who, rng, {"st": str(stone), "lb": str(rest)})


def draw_hair(who: Fitted, rng: random.Random, *, dark: bool = False, bald: bool = False) -> str:
    """Texture and color, or color and style: "curly red hair", "black dreadlocks"."""
    if bald:
        return phrase("appearance", "hair_bald_dark" if dark else "hair_bald", who, rng)
    return phrase("appearance", "hair_of_dark" if dark else "hair", who, rng)


def draw_eyes(who: Fitted, rng: random.Random, *, dark: bool = False) -> str:
    """Color, at times with a shade: "green eyes", "pale gray eyes"."""
    while True:
        text = phrase("appearance", "eyes_of_dark" if dark else "eyes", who, rng)
        words = text.replace("-", " ").split()
        if len(set(words)) == len(words):  # "dark dark brown eyes"
            return text


def look_topics(body: Body, age: int, gender: PersonGender) -> tuple[str, ...]:
    """Return the lexicon topics of looks that fit a body; a topic listed twice is drawn twice as often."""
    if age < _GROWN:
        return ("look_any",)
    mean, deviation = _HEIGHT[gender]
    index = body.weight_kg / (body.height_cm / 100) ** 2
    found = ["look_any", "look_any"]
    if abs(body.height_cm - mean) > 0.8 * deviation:
        found.append("look_tall" if body.height_cm > mean else "look_short")
    # WHO (2000) calls a body mass index below 18.5 underweight, from 25 on overweight, from 30 on obese.
    found.append("look_thin" if index < 21 else "look_heavy" if index >= 30 else "look_overweight" if index >= 25.5 else "look_middling")
    found.append("look_bald" if body.bald else "look_haired")
    return tuple(found)
