"""What a person is: values of the types name, age, demographic, relationship, sexual orientation, belief, health and appearance."""

from __future__ import annotations

import random
from typing import Final

from piiloom.pii_values import looks, people, relatives
from piiloom.pii_values.drawers import Drawer, ValueKind, from_lexicon, own_or
from piiloom.pii_values.heritage import creeds, heritages, one_of, profile
from piiloom.pii_values.lexicons import fitting, gendered, has_topic, listed, phrase
from piiloom.pii_values.people import child_topics
from piiloom.pii_values.persona import Persona

_GLUED_AFTER: Final = 4  # attempts after which handles contain no part of the name as a whole word


def _username(p: Persona, rng: random.Random, attempt: int) -> str:
    """The persona's user name, then others made of the name."""
    if attempt == 0:
        return p.username
    if attempt < _GLUED_AFTER:
        return people.draw_handle(p.given_name, p.family_name, p.birth_date.year, rng)
    return people.draw_glued_handle(p.given_name, p.family_name, rng)


NAME: Final = (
    ValueKind(subtype="full_name", share=2, draw=lambda p, _rng, _n: p.full_name, fixed=True),
    ValueKind(subtype="first_name", share=2, draw=lambda p, _rng, _n: p.given_name, fixed=True),
    ValueKind(subtype="last_name", share=0.7, draw=lambda p, _rng, _n: p.family_name, fixed=True),
    ValueKind(subtype="username", share=1, draw=_username),
)
_PARTS_OF_DECADE: Final = (("early", range(4)), ("mid", range(3, 8)), ("late", range(7, 10)))
_WHOLE_DECADE: Final = 0.2  # share of ages told as the whole decade


def _written(topic: str) -> Drawer:
    """Return a drawer for the age as a number or in words, in the forms of the wording topic *topic*."""

    def draw(p: Persona, rng: random.Random, _: int) -> str:
        words = listed("numbers", p.locale)
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
    given = {"decade": listed("decades", p.locale)[decade - 1], "tens": str(decade * 10)}
    # "10s" and "100s" are not used for ages of people.
    topic = f"age_group_{part}" if 2 <= decade <= 9 else f"age_group_{part}_words"
    return phrase("wording", topic if has_topic("wording", topic, p) else f"age_group_{part}", p, rng, given)


AGE: Final = (
    ValueKind(subtype="years", share=3, draw=lambda p, _rng, _n: str(p.age), fixed=True),
    ValueKind(subtype="years_old", share=3, draw=_written("years_old"), fixed=True),
    ValueKind(subtype="year_old", share=2.5, draw=_written("year_old"), fixed=True),
    ValueKind(subtype="age_group", share=2, draw=_age_group),
    ValueKind(subtype="age_gender", share=1.5, draw=_age_gender, fixed=True),
    ValueKind(subtype="life_stage", share=1.5, draw=from_lexicon("ages", "life_stage")),
)
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


DEMOGRAPHIC: Final = (
    ValueKind(subtype="nationality", share=3, draw=_nationality),
    ValueKind(subtype="citizen", share=2, draw=_citizen),
    ValueKind(subtype="ethnicity", share=2, draw=_ethnicity),
    ValueKind(subtype="heritage", share=2, draw=_heritage),
    ValueKind(subtype="gender", share=1, draw=_gender),
    ValueKind(subtype="gender_identity", share=0.8, draw=_gender_identity),
    ValueKind(subtype="language", share=2, draw=_language),
    ValueKind(subtype="immigration_status", share=1.5, draw=_immigration),
)


def _kin(p: Persona, rng: random.Random, _: int) -> str:
    """A kin word that fits age, marital status, orientation and children."""
    return people.kin_words(p.locale, p.age, p.gender, p.ties.partner, p.marital_kind, child_topics(p.children)).draw(rng).text


def _named_kin(p: Persona, rng: random.Random, attempt: int) -> str:
    """A kin word and what that person is called."""
    return relatives.draw_named(p, _kin(p, rng, attempt), rng)


def _marital_status(p: Persona, rng: random.Random, attempt: int) -> str:
    """The persona's status, then another word for it."""
    return p.marital_status if attempt == 0 else people.draw_marital_status(p.marital_kind, p, rng)


def _orientation(p: Persona, rng: random.Random, attempt: int) -> str:
    return p.orientation if attempt == 0 else phrase("identity", f"orientation_{p.drawn_to}", p, rng)


def _person(p: Persona, rng: random.Random, _: int) -> str:
    """A person named by orientation; the adjective is one that can stand before a word for a person."""
    return phrase("identity", f"orientation_person_{p.drawn_to}", p, rng)


RELATIONSHIP: Final = (
    ValueKind(subtype="kin", share=4, draw=_kin),
    ValueKind(subtype="named_kin", share=1.2, draw=_named_kin),
    ValueKind(subtype="family", share=2.5, draw=lambda p, rng, _n: relatives.draw_family(p, rng)),
    ValueKind(subtype="marital_status", share=1.2, draw=_marital_status, grown=True),
    ValueKind(subtype="parent_status", share=1.5, draw=lambda p, rng, _n: relatives.draw_parent_status(p, rng), grown=True),
    ValueKind(subtype="asked_for", share=0, draw=lambda p, rng, _n: relatives.draw_asked_for(p, rng)),
)
ORIENTATION: Final = (
    ValueKind(subtype="orientation", share=2, draw=_orientation, grown=True),
    ValueKind(subtype="person", share=1, draw=_person, grown=True),
)


def _religion(p: Persona, rng: random.Random, attempt: int) -> str:
    """The persona's religion, then another of the same background."""
    if attempt == 0:
        return p.religion
    family = p.heritage.religions.draw(rng)
    return gendered(one_of(creeds(p.locale, family).draw(rng).members, rng), p.gender)


def _faith(p: Persona, rng: random.Random, attempt: int) -> str:
    """A name of the persona's religion, then one of another religion of the same background."""
    if attempt < 3:
        return one_of(p.creed.faiths, rng)
    family = p.heritage.religions.draw(rng)
    return one_of(creeds(p.locale, family).draw(rng).faiths, rng)


def _practice(p: Persona, rng: random.Random, _: int) -> str:
    return phrase("practices", one_of(p.creed.practices, rng), p, rng)


BELIEF: Final = (
    ValueKind(subtype="religion", share=4, draw=_religion),
    ValueKind(subtype="faith", share=2, draw=_faith),
    ValueKind(subtype="political", share=3, draw=own_or(lambda p: p.political, from_lexicon("beliefs", "political")), grown=True),
    ValueKind(subtype="philosophy", share=2, draw=own_or(lambda p: p.philosophy, from_lexicon("beliefs", "philosophy"))),
    ValueKind(subtype="practice", share=2, draw=_practice),
)
_SAME_SYSTEM: Final = 0.6  # share of medicines and procedures that belong to the body system of the persona's condition
_ENOUGH: Final = 4  # only with more entries than this for a body system is it used; fewer would be repeated too often


def _condition(p: Persona, rng: random.Random, attempt: int) -> str:
    """One of the persona's conditions, then any that fits age and gender."""
    return p.conditions[int(rng.random() * len(p.conditions))] if attempt == 0 else phrase("conditions", None, p, rng)


def _treatment(lexicon: str) -> Drawer:
    """A medicine or procedure, more often than not one for the persona's condition."""

    def draw(p: Persona, rng: random.Random, attempt: int) -> str:
        own = p.body_system if attempt < 3 and rng.random() < _SAME_SYSTEM else None
        known = own is not None and len(fitting(lexicon, own, p.locale, p.age, p.gender).items) > _ENOUGH
        return phrase(lexicon, own if known else None, p, rng)

    return draw


HEALTH: Final = (
    ValueKind(subtype="condition", share=4, draw=_condition),
    ValueKind(subtype="shorthand", share=0.8, draw=from_lexicon("health_talk", "shorthand")),
    ValueKind(subtype="symptom", share=1.8, draw=from_lexicon("symptoms")),
    ValueKind(subtype="diagnosis", share=1.4, draw=from_lexicon("health_talk", "diagnosis")),
    ValueKind(subtype="state", share=1.2, draw=from_lexicon("health_talk", "state")),
    ValueKind(subtype="medication", share=2.2, draw=_treatment("medications")),
    ValueKind(subtype="procedure", share=1.8, draw=_treatment("procedures")),
    ValueKind(subtype="disability", share=1.2, draw=from_lexicon("disabilities")),
    ValueKind(subtype="allergy", share=1.2, draw=from_lexicon("allergies")),
)
_CLASHES: Final = 3  # attempts after which height or weight is raised by one unit, since its number clashes with another value


def _hair(p: Persona, rng: random.Random, attempt: int) -> str:
    return p.body.hair if attempt == 0 else looks.draw_hair(p, rng, dark=p.heritage.dark_features, bald=p.body.bald)


def _eyes(p: Persona, rng: random.Random, attempt: int) -> str:
    return p.body.eyes if attempt == 0 else looks.draw_eyes(p, rng, dark=p.heritage.dark_features)


def _look(p: Persona, rng: random.Random, _: int) -> str:
    topics = looks.look_topics(p.body, p.age, p.gender)
    return phrase("appearance", topics[int(rng.random() * len(topics))], p, rng)


def _blood_type(p: Persona, rng: random.Random, _: int) -> str:
    """The persona's group in one of the usual spellings."""
    group, sign = p.body.blood_type[:-1], p.body.blood_type[-1]
    return phrase("appearance", "blood_positive" if sign == "+" else "blood_negative", p, rng, {"group": group})


APPEARANCE: Final = (
    ValueKind(subtype="height", share=1.5, draw=lambda p, rng, n: looks.written_height(p.body.height_cm + n // _CLASHES, p, rng)),
    ValueKind(subtype="weight", share=1.5, draw=lambda p, rng, n: looks.written_weight(p.body.weight_kg + n // _CLASHES, p, rng)),
    ValueKind(subtype="hair", share=2.5, draw=_hair),
    ValueKind(subtype="eyes", share=1, draw=_eyes),
    ValueKind(subtype="body_mark", share=2, draw=from_lexicon("appearance", "body_mark")),
    ValueKind(subtype="build", share=1, draw=from_lexicon("appearance", "build")),
    ValueKind(subtype="feature", share=1.5, draw=from_lexicon("appearance", "feature")),
    ValueKind(subtype="blood_type", share=0.4, draw=_blood_type, fixed=True),
    ValueKind(subtype="look", share=1.2, draw=_look),
)
