"""Ages that stand in a text and were not redacted ("a 54-year-old man", "Edad: 54 años"), near a birth date that was."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Final

from pydantic import BaseModel, ConfigDict

from piiloom.foundation.yaml_files import load_yaml
from piiloom.surrogates.mentions import Mention

_NEAR: Final = 600  # code points on either side of the birth date
_OLDEST: Final = 119


class _AgesFile(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    patterns: list[str]


@cache
def _pattern() -> re.Pattern[str]:
    known = load_yaml(files("piiloom.surrogates") / "data" / "words" / "stated_ages.yaml", _AgesFile).patterns
    return re.compile("|".join(pattern.replace("{n}", r"(?<![\d.,/-])(?:1[01])?\d{1,2}") for pattern in known))


_NUMBER: Final = re.compile(r"\d{1,3}")


def stated_age(text: str, mentions: Sequence[Mention], number: int) -> int | None:
    """Return the age that the text states nearest to the birth date at mention *number*, or None.

    The next person named on either side ends the search if the birth date has a person of its own between.
    """
    start, end = mentions[number].start, mentions[number].end
    low, high = max(0, start - _NEAR), min(len(text), end + _NEAR)
    other = next((one.start for one in mentions[number + 1 :] if one.kind == mentions[number].kind), high)
    before = next((one.end for one in reversed(mentions[:number]) if one.kind == mentions[number].kind), low)
    best: tuple[int, int] | None = None
    for found in _pattern().finditer(text, max(low, before), min(high, other)):
        years = int(_NUMBER.findall(found.group())[0])
        distance = start - found.end() if found.end() <= start else found.start() - end
        if years <= _OLDEST and distance >= 0 and (best is None or distance < best[0]):
            best = distance, years
    return best[1] if best is not None else None
