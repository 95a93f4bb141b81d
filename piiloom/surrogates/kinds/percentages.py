"""Percentages, with their sign unless the text has it; sign, spaces and decimals of the original are kept."""

from __future__ import annotations

import re
from typing import Final

from piiloom.surrogates.documents import below, mix, pick
from piiloom.surrogates.draws import Draw
from piiloom.surrogates.kinds.calendars import in_words, other_word
from piiloom.surrogates.kinds.kind import salt_of
from piiloom.surrogates.kinds.wording import other_score

_SALT: Final = salt_of("percent")
_NUMBER: Final = re.compile(r"[0-9]+(?:[.,][0-9]+)?")
_USUAL: Final = (5, 10, 12, 15, 20, 25, 30, 35, 40, 45, 50, 55, 60, 65, 70, 75, 80, 85, 90, 95)
_SPACED: Final = frozenset({"de", "fr", "sv"})  # languages with a space before the sign


def percent(draw: Draw) -> str:
    """Draw a percentage: one near the original, else a usual one; only the number for ``form="bare"``, as in "[PERCENT] percent"."""
    seed = mix(draw.seed, _SALT)
    original = draw.original
    found = _NUMBER.search(original)
    if found is not None:
        return original[: found.start()] + other_score(found.group(), seed) + original[found.end() :]
    spelled = other_word(original, draw.language, lambda old: max(1, old - 1 - below(seed, 5))) if original else None
    if spelled is not None:
        return spelled
    number = pick(seed, _USUAL) if below(mix(seed, 1), 3) else 1 + below(mix(seed, 2), 99)
    if draw.form == "words":
        return in_words(number, draw.language) or str(number)
    return str(number) if draw.form == "bare" else f"{number} %" if draw.language in _SPACED else f"{number}%"
