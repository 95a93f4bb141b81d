"""Values of the type age."""

from __future__ import annotations

import random
from typing import Final

from piiloom.pii_values.drawers.kind import Drawer, Kind, listed
from piiloom.pii_values.lexicons import has_topic, phrase
from piiloom.pii_values.lexicons import listed as listing
from piiloom.pii_values.persona import Persona

_PARTS_OF_DECADE: Final = (("early", range(4)), ("mid", range(3, 8)), ("late", range(7, 10)))
_WHOLE_DECADE: Final = 0.2  # share of ages told as the whole decade


def _written(topic: str) -> Drawer:
    """Return a drawer for the age as a number or in words, in the forms of the wording topic *topic*."""

    def draw(p: Persona, rng: random.Random, _: int) -> str:
        words = listing("numbers", p.locale)
        return phrase("wording", topic, p, rng, {"n": str(p.age), "word": words[min(p.age, len(words) - 1)]})

    return draw


def _age_gender(p: Persona, rng: random.Random, _: int) -> str:
    topic = "age_gender_nonbinary" if p.gender == "nonbinary" and has_topic("wording", "age_gender_nonbinary", p) else "age_gender"
    return phrase("wording", topic, p, rng, {"n": str(p.age)})


def _age_group(p: Persona, rng: random.Random, _: int) -> str:
    """The part of a decade the age falls in: "early thirties", "mid-forties"; now and then the whole decade."""
    decade, year = divmod(max(10, p.age), 10)
    fits = [part for part, years in _PARTS_OF_DECADE if year in years]
    part = "any" if p.age >= 20 and rng.random() < _WHOLE_DECADE else fits[int(rng.random() * len(fits))]
    given = {"decade": listing("decades", p.locale)[decade - 1], "tens": str(decade * 10)}
    # "10s" and "100s" are not used for ages of people.
    topic = f"age_group_{part}" if 2 <= decade <= 9 else f"age_group_{part}_words"
    return phrase("wording", topic if has_topic("wording", topic, p) else f"age_group_{part}", p, rng, given)


KINDS: Final = (
    Kind(subtype="years", share=3, draw=lambda p, _rng, _n: str(p.age), fixed=True),
    Kind(subtype="years_old", share=3, draw=_written("years_old"), fixed=True),
    Kind(subtype="year_old", share=2.5, draw=_written("year_old"), fixed=True),
    Kind(subtype="age_group", share=2, draw=_age_group),
    Kind(subtype="age_gender", share=1.5, draw=_age_gender, fixed=True),
    Kind(subtype="life_stage", share=1.5, draw=listed("ages", "life_stage")),
)
