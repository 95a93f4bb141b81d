"""Height, weight, hair, eyes, build and marks."""

from __future__ import annotations

import random

from pii_values.lexicons import Gender, fitting
from taxonomy.locales import get_locale

# Mean and standard deviation of adult height in cm, and the range drawn from.
_HEIGHT: dict[Gender, tuple[float, float]] = {"female": (163, 7), "male": (177, 7.5), "nonbinary": (169, 9)}
_SHORTEST, _TALLEST = 146, 203
_CM_PER_INCH = 2.54
_LBS_PER_KG = 2.20462
_FEET_WORDS = {4: "four", 5: "five", 6: "six"}
_INCH_WORDS = "_ one two three four five six seven eight nine ten eleven".split()


def draw_height_cm(gender: Gender, rng: random.Random) -> int:
    """An adult height in whole centimetres."""
    mean, deviation = _HEIGHT[gender]
    return min(_TALLEST, max(_SHORTEST, round(rng.gauss(mean, deviation))))


def draw_weight_kg(height_cm: int, rng: random.Random) -> int:
    """A weight in whole kilograms for a height, from a body mass index of 18 to 40 (mean 26)."""
    index = min(40.0, max(18.0, rng.gauss(26, 4.5)))
    return round(index * (height_cm / 100) ** 2)


def written_height(height_cm: int, locale: str, rng: random.Random) -> str:
    """The height as people of *locale* write it: ``5'7"``, "5 ft 7", "170 cm"."""
    if get_locale(locale).measures == "metric":
        return f"{height_cm} cm" if rng.random() < 0.7 else f"{height_cm / 100:.2f} m"
    feet, inches = divmod(round(height_cm / _CM_PER_INCH), 12)
    spelled = f"{_FEET_WORDS[feet]} foot {_INCH_WORDS[inches]}" if inches else f"{_FEET_WORDS[feet]} feet"
    forms = (
        f"{feet}'{inches}\"",
        f"{feet} ft {inches}",
        f"{feet} foot {inches}",
        f"{feet} feet {inches} inches",
        f"{feet} ft {inches} in",
        spelled,
        f"{feet}-foot-{inches}",
    )
    return forms[int(rng.random() * len(forms))]


def written_weight(weight_kg: int, locale: str, rng: random.Random) -> str:
    """The weight as people of *locale* write it: "182 lbs", "83 kg"."""
    if get_locale(locale).measures == "metric":
        return f"{weight_kg} {'kg' if rng.random() < 0.75 else 'kilos'}"
    pounds = round(weight_kg * _LBS_PER_KG)
    return f"{pounds} {'lbs' if rng.random() < 0.6 else 'pounds'}"


def _part(topic: str, locale: str, age: int, rng: random.Random) -> str:
    return fitting("appearance", topic, locale, age).draw(rng).text


def draw_hair(locale: str, age: int, rng: random.Random, *, dark: bool = False) -> str:
    """Texture and color, or color and style: "curly red hair", "black dreadlocks"."""
    color = _part("hair_dark" if dark else "hair_color", locale, age, rng)
    if rng.random() < 0.15:
        return f"{color} {_part('hair_style', locale, age, rng)}"
    return f"{_part('hair_texture', locale, age, rng)} {color} hair"


def draw_eyes(locale: str, age: int, rng: random.Random, *, dark: bool = False) -> str:
    """Color, at times with a shade: "green eyes", "pale gray eyes"."""
    dice = rng.random()
    if dice < 0.05:
        return f"{_part('eye_special', locale, age, rng)} eyes"
    color = _part("eye_dark" if dark else "eye_color", locale, age, rng)
    if dice < 0.42:
        return f"{color} eyes"
    shade = _part("eye_shade", locale, age, rng)
    return f"{color} eyes" if " " in color or shade in color else f"{shade} {color} eyes"


def draw_build(locale: str, age: int, rng: random.Random) -> str:
    """Build as a count noun: "stocky build"."""
    return f"{_part('build', locale, age, rng)} {_part('build_noun', locale, age, rng)}"


def draw_body_mark(locale: str, age: int, rng: random.Random) -> str:
    """A tattoo, scar, birthmark, piercing or feature: "swallow tattoo", "jagged chin scar"."""
    dice = rng.random()
    where = _part("body_part", locale, age, rng)
    if dice < 0.4:
        motif = _part("tattoo", locale, age, rng)
        return f"{motif} tattoo" if dice < 0.25 else f"{motif} {where} tattoo"
    if dice < 0.7:
        return f"{_part('scar', locale, age, rng)} {where} scar"
    if dice < 0.8:
        return f"{_part('mark', locale, age, rng)} {where} birthmark"
    if dice < 0.88:
        return f"{_part('piercing', locale, age, rng)} piercing"
    return _part("feature", locale, age, rng)
