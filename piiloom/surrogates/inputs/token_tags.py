"""Tags of tokens: B-PER and I-PER (IOB), with S- and E- (IOBES) or U- and L- (BILOU) for single and last tokens; O for none."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

_TAG: Final = re.compile(r"O|[BIESLU]-\S+")
_BEGINS: Final = "BSU"
_ENDS: Final = "SUEL"


def tag_in(field: str) -> str | None:
    """Return *field* if it is a tag, else None."""
    return field if _TAG.fullmatch(field) else None


def continued(tags: Sequence[str | None], count: int) -> list[str | None]:
    """Return the tags of *count* tokens that take the place of those with *tags*. If some of these are of an entity, all new ones are."""
    told = [tag for tag in tags if tag not in {None, "O"}]
    if not told or None in tags:
        return [tags[0]] * count
    first, last, label = str(told[0]), str(told[-1]), str(told[0])[2:]
    whole = len(told) == len(tags)
    begins, ends = first[0] in _BEGINS or not whole, last[0] in _ENDS
    single, end = ("U", "L") if {first[0], last[0]} & {"U", "L"} else ("S", "E")
    found: list[str | None] = [f"I-{label}"] * count
    if begins:
        found[0] = f"B-{label}"
    if ends:
        found[-1] = f"{single if begins and count == 1 else end}-{label}"
    return found
