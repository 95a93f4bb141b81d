"""Ages: the owner's, else one near the original's. The way of writing stays ("77-year-old", "seventy-seven", "(54)").

Over 89 stays over 89: such ages are told as "over 89" in health data (HIPAA, 45 CFR 164.514) and name few people.
"""

from __future__ import annotations

import re
from typing import Final

from piiloom.surrogates.draws import Draw
from piiloom.surrogates.fitting import ANY, sounds
from piiloom.surrogates.kinds.kind import salt_of
from piiloom.surrogates.kinds.numerals import in_words, other_word
from piiloom.surrogates.seeds import below, mix

_SALT: Final = salt_of("age")
_NUMBER: Final = re.compile(r"[0-9]{1,3}")
_REACH: Final = 3
_OLD: Final = 89
_ADULT: Final = (19, 60)
_AFTER_AN: Final = (18,) * 10 + tuple(range(80, _OLD + 1))  # ages of people who write, or are written of, that "an" goes before


def near_age(age: int, seed: int, sound: int = ANY) -> int:
    """Another age at most three years off, of the same ten years, that begins with *sound*; over 89 stays over 89.

    Where none does ("an 18-year-old") it stays as it is, if it fits: what stands before it tells as much.
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
    """*age* where it begins with *sound*, else another that does."""
    return age if sounds(str(age), sound) else _AFTER_AN[below(seed, len(_AFTER_AN))] if sounds("18", sound) else near_age(age, seed, sound)


def age(draw: Draw, sound: int = ANY) -> str:
    """An age, as the original is written; digits where there is none. ``form="words"`` asks for words.

    An owner's age is theirs, whatever *sound* an article asks for.
    """
    seed = mix(draw.seed, _SALT)
    owner = draw.owner

    def new(old: int) -> int:
        return owner.age if owner is not None else near_age(old, seed, sound)

    original = draw.original
    if original:
        found = _NUMBER.search(original)
        if found is not None:
            return f"{original[: found.start()]}{new(int(found.group()))}{original[found.end() :]}"
        spelled = other_word(original, draw.language, new)
        if spelled is not None:
            return spelled
    years = owner.age if owner is not None else suited_age(_ADULT[0] + below(seed, _ADULT[1]), seed, sound)
    return (in_words(years, draw.language) if draw.form == "words" else None) or str(years)
