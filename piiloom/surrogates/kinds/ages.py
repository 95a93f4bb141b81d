"""Ages: the owner's, else one near the original. The format is kept ("77-year-old", "seventy-seven", "(54)").

Ages over 89 stay over 89: few people have them, so health data gives them as "over 89" (HIPAA, 45 CFR 164.514). A range of ages, as De-ID
gives them ("in 60s", "in teens", "birth-12", "90+"), becomes one age in it.
"""

from __future__ import annotations

import re
from typing import Final

from piiloom.surrogates.documents import below, mix
from piiloom.surrogates.draws import Draw
from piiloom.surrogates.fitting import ANY, sounds
from piiloom.surrogates.kinds.calendars import LARGEST, calendars, in_words, other_word
from piiloom.surrogates.kinds.kind import salt_of

_SALT: Final = salt_of("age")
_NUMBER: Final = re.compile(r"[0-9]{1,3}")
_RANGE: Final = re.compile(r"(?:in )?(?:(?P<decade>[1-9]0)'?s|(?P<teens>teens)|birth ?- ?(?P<child>1[0-9])|(?P<old>90) ?\+)", re.IGNORECASE)
_REACH: Final = 3
_OLD: Final = 89
_ADULT: Final = (19, 60)
UNITS: Final = {"months": (30.436875, 23), "weeks": (7.0, 16), "days": (1.0, 20)}  # days of each, and the most of them that an age has
_KIN_AGES: Final = {"kin_old": (48, 38), "kin_young": (3, 13)}  # lowest age and how many
KIN: Final = frozenset({"kin", *_KIN_AGES})  # forms of an age that is a relative's: "my [AGE] father"
BEFORE_NOUNS: Final = KIN | {"attributive"}
_AFTER_AN: Final = (18,) * 10 + tuple(range(80, _OLD + 1))  # plausible ages that take the article "an"; 18 is half of them


def near_age(age: int, seed: int, sound: int = ANY) -> int:
    """Return another age, at most three years off and in the same decade, that begins with *sound*. Over 89 stays over 89.

    If none begins with it ("an 18-year-old"), *age* is kept if it does: the article gives it away anyway.
    """
    if age > _OLD:
        low, high = max(_OLD + 1, age - _REACH), min(age + _REACH, 120)
    else:
        low, high = max(age // 10 * 10, age - _REACH), min(age // 10 * 10 + 9, age + _REACH, _OLD)
    others = [other for other in range(low, high + 1) if other != age]
    fitting = [other for other in others if sounds(str(other), sound)]
    if not fitting and sounds(str(age), sound):
        return age
    others = fitting or others
    return others[below(seed, len(others))] if others else age


def suited_age(age: int, seed: int, sound: int) -> int:
    """Return *age* if it begins with *sound*, else another age that does."""
    return age if sounds(str(age), sound) else _AFTER_AN[below(seed, len(_AFTER_AN))] if sounds("18", sound) else near_age(age, seed, sound)


def middle_of_range(original: str) -> int | None:
    """Return the middle of the ages that *original* tells as a range ("in 60s"); None if it tells none."""
    told = _RANGE.fullmatch(original.strip())
    if told is None:
        return None
    if told["decade"]:
        return int(told["decade"]) + 5
    return 16 if told["teens"] else _OLD + 4 if told["old"] else int(told["child"]) // 2


def age_in(original: str, language: str) -> int | None:
    """Return the age in *original*, in digits or in words, or the middle of its range; None if there is none."""
    middle = middle_of_range(original)
    if middle is not None:
        return middle
    found = _NUMBER.search(original)
    if found is not None:
        return int(found.group())
    told: list[int] = []
    other_word(original, language, lambda number: told.append(number) or number)  # type: ignore[func-returns-value]
    return told[0] if told else None


def _later(age: int, years: int) -> int:
    return min(LARGEST, max(0, age + years))


def _in_units(draw: Draw, seed: int) -> str:
    """Return an age in months, weeks or days: the owner's where they are as young, else any."""
    days, most = UNITS[draw.form]
    owner = draw.owner
    told = round((owner.anchor - owner.born).days / days) if owner is not None else 0
    return str(told if 0 < told <= most else 1 + below(seed, most))


def age(draw: Draw, sound: int = ANY) -> str:
    """Draw an age in the format of the original, or in that of the form.

    Without either it is in digits. Forms: words; months, weeks, days; what stands before a noun ("my 72-year-old father").
    An owner whose age the text tells (``told_age``) keeps the distances between several of theirs ("smoked at 20, now 54").
    *sound* is the initial sound that the article before it requires. It is ignored if there is an owner, whose age is fixed.
    """
    seed = mix(draw.seed, _SALT)
    owner = draw.owner

    def new(old: int) -> int:
        if owner is None:
            return near_age(old, seed, sound)
        return owner.age if owner.told_age is None else _later(owner.age, old - owner.told_age)

    original = draw.original
    if original:
        middle = middle_of_range(original)
        if middle is not None:
            return str(new(middle))
        found = _NUMBER.search(original)
        if found is not None:
            return f"{original[: found.start()]}{new(int(found.group()))}{original[found.end() :]}"
        spelled = other_word(original, draw.language, new)
        if spelled is not None:
            return spelled
    low, count = _KIN_AGES.get(draw.form, _ADULT)
    years = owner.age if owner is not None else suited_age(low + below(seed, count), seed, sound)
    if draw.form in UNITS:
        return _in_units(draw, seed)
    if draw.form in BEFORE_NOUNS:
        known = calendars().get(draw.language)
        return (known.age_before_noun if known else "{n}").replace("{n}", str(years))
    return (in_words(years, draw.language) if draw.form == "words" else None) or str(years)
