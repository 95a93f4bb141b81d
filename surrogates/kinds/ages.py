"""Ages: the owner's, else one near the original's. The way of writing stays ("77-year-old", "seventy-seven", "(54)").

Over 89 stays over 89: such ages are told as "over 89" in health data (HIPAA, 45 CFR 164.514) and name few people.
"""

from __future__ import annotations

import re
from typing import Final

from piiloom.surrogates.draws import Draw
from piiloom.surrogates.kinds.kind import salt_of
from piiloom.surrogates.kinds.numerals import in_words, other_word
from piiloom.surrogates.seeds import below, mix

_SALT: Final = salt_of("age")
_NUMBER: Final = re.compile(r"[0-9]{1,3}")
_REACH: Final = 3
_OLD: Final = 89
_ADULT: Final = (19, 60)


def near_age(age: int, seed: int) -> int:
    """Another age at most three years off, of the same ten years; over 89 stays over 89."""
    if age > _OLD:
        low, high = max(_OLD + 1, age - _REACH), min(age + _REACH, 120)
    else:
        low, high = max(age // 10 * 10, age - _REACH), min(age // 10 * 10 + 9, age + _REACH, _OLD)
    others = [other for other in range(low, high + 1) if other != age]
    return others[below(seed, len(others))] if others else age


def age(draw: Draw) -> str:
    """An age, as the original is written; digits where there is none. ``form="words"`` asks for words."""
    seed = mix(draw.seed, _SALT)
    owner = draw.owner

    def new(old: int) -> int:
        return owner.age if owner is not None else near_age(old, seed)

    original = draw.original
    if original:
        found = _NUMBER.search(original)
        if found is not None:
            return f"{original[: found.start()]}{new(int(found.group()))}{original[found.end() :]}"
        spelled = other_word(original, draw.language, new)
        if spelled is not None:
            return spelled
    years = owner.age if owner is not None else _ADULT[0] + below(seed, _ADULT[1])
    return (in_words(years, draw.language) if draw.form == "words" else None) or str(years)
