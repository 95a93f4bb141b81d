"""Tags of tokens: B-PER and I-PER (IOB), with S- and E- (IOBES) or U- and L- (BILOU) for single and last tokens; O for none."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

_TAG: Final = re.compile(r"O|[BIESLU]-\S+")
_BEGINS: Final = "BSU"
_ENDS: Final = "SUEL"


def tag_in(field: str) -> str | None:
    """Return *field* if it is a tag, else None."""
    return field if _TAG.fullmatch(field) else None


def entities(tags: Sequence[str | None], sentences: Sequence[int]) -> Iterator[tuple[int, int, str]]:
    """Yield the first and the last token of each entity, and its type. An entity lies within one sentence."""
    first, kind = -1, ""
    for number, tag in enumerate(tags):
        prefix, _, label = (tag or "O").partition("-")
        goes_on = first >= 0 and label == kind and prefix not in _BEGINS and sentences[number] == sentences[number - 1]
        if first >= 0 and not goes_on:
            yield first, number - 1, kind
            first = -1
        if label and first < 0:
            first, kind = number, label
        if first >= 0 and prefix in _ENDS:
            yield first, number, kind
            first = -1
    if first >= 0:
        yield first, len(tags) - 1, kind


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
