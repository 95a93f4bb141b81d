"""Values of the type demographic."""

from __future__ import annotations

import random
from typing import Final

from piiloom.pii_values.drawers.kind import Kind
from piiloom.pii_values.heritage import heritages, profile
from piiloom.pii_values.languages import gendered
from piiloom.pii_values.lexicons import phrase
from piiloom.pii_values.persona import Persona

_OWN_ANCESTRY: Final = 3  # attempts for which ancestry is of the persona's own background


def _nationality(p: Persona, rng: random.Random, attempt: int) -> str:
    """The persona's nationality, then one from any background of the locale."""
    return p.nationality if attempt == 0 else gendered(heritages(p.locale).draw(rng).nationalities.draw(rng)[0], p.gender)


def _citizen(p: Persona, rng: random.Random, attempt: int) -> str:
    """Draw a phrase for the persona's citizenship; people from elsewhere may also have become citizens of their new country."""
    here = profile(p.locale)
    at_home = p.origin == p.country
    nationality = _nationality(p, rng, attempt)
    words = {"nationality": nationality, "country": p.origin, "home": here.citizen[int(rng.random() * len(here.citizen))]}
    return phrase("identity", "citizen_here" if at_home else "citizen_elsewhere", p, rng, words)


def _ethnicity(p: Persona, rng: random.Random, attempt: int) -> str:
    """The persona's ethnicity, then another of the same background."""
    return p.ethnicity if attempt == 0 else gendered(p.heritage.ethnicities.draw(rng), p.gender)


def _heritage(p: Persona, rng: random.Random, attempt: int) -> str:
    first = (p.heritage if attempt < _OWN_ANCESTRY else heritages(p.locale).draw(rng)).ancestries.draw(rng)
    second = heritages(p.locale).draw(rng).ancestries.draw(rng)
    topic = "ancestry" if first == second or rng.random() < 0.85 else "ancestries"
    return phrase("identity", topic, p, rng, {"adjective": gendered(first, "female"), "other": gendered(second, "female")})


def _gender(p: Persona, rng: random.Random, _: int) -> str:
    return phrase("identity", "trans_noun" if p.trans else "gender_noun", p, rng)


def _gender_identity(p: Persona, rng: random.Random, attempt: int) -> str:
    """The persona's gender identity, then another word for it."""
    return p.gender_identity if attempt == 0 else phrase("identity", "trans_adjective" if p.trans else "gender_adjective", p, rng)


def _language(p: Persona, rng: random.Random, attempt: int) -> str:
    """The persona's languages in turn, then any."""
    return p.languages[attempt] if attempt < len(p.languages) else heritages(p.locale).draw(rng).languages.draw(rng)


def _immigration(p: Persona, rng: random.Random, _: int) -> str:
    """A status that fits whether the persona comes from the country they live in."""
    return phrase("identity", "immigration_citizen" if p.origin == p.country else "immigration_foreign", p, rng)


KINDS: Final = (
    Kind(subtype="nationality", share=3, draw=_nationality),
    Kind(subtype="citizen", share=2, draw=_citizen),
    Kind(subtype="ethnicity", share=2, draw=_ethnicity),
    Kind(subtype="heritage", share=2, draw=_heritage),
    Kind(subtype="gender", share=1, draw=_gender),
    Kind(subtype="gender_identity", share=0.8, draw=_gender_identity),
    Kind(subtype="language", share=2, draw=_language),
    Kind(subtype="immigration_status", share=1.5, draw=_immigration),
)
