"""The form in which each mention names its person, as the placeholder, the original, a title or the register has it."""

from __future__ import annotations

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
_TITLES: Final = frozenset(
    "dr drs doctor prof professor mr mrs ms miss mister sir madam judge justice nurse officer sgt capt rev sister coach "
    "mevrouw mevr mw meneer heer dhr mej ir sr sra senhor senhora dra dona herr frau".split()
)
_ENDS: Final = frozenset(form[-2:] for title in _TITLES for form in (title, title + "."))  # nearly all that is no title ends otherwise


def titled(text: str, start: int) -> bool:
    """Whether a title stands right before *start*."""
    if start < 2 or text[start - 1] not in " \u00a0" or text[start - 3 : start - 1].lower() not in _ENDS:
        return False
    words = text[max(0, start - _BEFORE) : start].split()
    return bool(words) and words[-1].rstrip(".").lower().lstrip("(\"'“‘") in _TITLES


def name_styles(plan: Plan, register: Register, seed: int) -> dict[int, str]:
    """The form (one of ``SUBTYPES``) of each mention of a person, by the mention's number."""
    styles: dict[int, str] = {}
    text, mentions = plan.text, plan.mentions
    for cluster in plan.clusters:
        turn = 0
        for number in cluster.places:
            start, _, _, role, index, same, form, _, original, _, _ = mentions[number]
            if form and form in SUBTYPES:
                style = form
            elif original:
                style = form_of(original) or _single(plan, mentions[number], number, cluster.places)
            elif titled(text, start):
                style = "family"
            elif same == "mention" and not index:
                style = register.of_tag(mix(seed, _STYLE + number))
            else:
                style = register.of_role(role)[turn]
            styles[number] = style
            turn = 1
    return styles


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
