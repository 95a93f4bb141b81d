"""The form in which each mention names its person, as the placeholder, the original, a title or the register has it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from surrogates.casting.name_forms import SUBTYPES
from surrogates.casting.registers import Register
from surrogates.mentions import Mention
from surrogates.originals import form_of, name_parts
from surrogates.planning import Plan
from surrogates.seeds import mix

_STYLE: Final = 0x30
_BEFORE: Final = 12
_TITLE: Final = re.compile(
    r"(?<!\w)(?:dr|drs|doctor|prof|professor|mr|mrs|ms|miss|mister|sir|madam|judge|justice|nurse|officer|sgt|capt|rev|sister|coach|"
    r"mevrouw|mevr|mw|meneer|heer|dhr|mej|ir|sra?|senhora?|dra|dona|herr|frau)\.?[ \u00a0]$",
    re.IGNORECASE,
)


def titled(text: str, start: int) -> bool:
    """Whether a title stands right before *start*."""
    return text[start - 1 : start] in {" ", "\u00a0"} and _TITLE.search(text, max(0, start - _BEFORE), start) is not None


def name_styles(plan: Plan, register: Register, seed: int) -> dict[int, str]:
    """The form (one of ``SUBTYPES``) of each mention of a person, by the mention's number."""
    styles: dict[int, str] = {}
    for cluster in plan.clusters:
        for turn, number in enumerate(cluster.places):
            styles[number] = _style(plan, register, cluster.places, number, first=turn == 0, seed=seed)
    return styles


def _style(plan: Plan, register: Register, places: Sequence[int], number: int, *, first: bool, seed: int) -> str:
    mention = plan.mentions[number]
    if mention.form in SUBTYPES:
        return mention.form
    if mention.original:
        return form_of(mention.original) or _single(plan, mention, number, places)
    if titled(plan.text, mention.start):
        return "family"
    tag = mention.same == "mention" and not mention.index
    style = register.style(mention.role, tag=tag, first=first, seed=mix(seed, _STYLE + number))
    return "full" if style == "titled" else style


def _single(plan: Plan, mention: Mention, number: int, places: Sequence[int]) -> str:
    """Whether a known name of one word is the family's or the person's own, as other mentions of the person tell."""
    given, _ = name_parts(mention.original)
    for other in places:
        givens, families = name_parts(plan.mentions[other].original)
        if other != number and givens != families and given:
            if given[0] in families:
                return "family"
            if given[0] in givens:
                return "given"
    return "family" if len(places) > 1 or titled(plan.text, mention.start) else "full"
