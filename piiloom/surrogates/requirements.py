"""Combine what the surroundings of all mentions require of each value, since a repeated value is the same everywhere in a document."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from piiloom.surrogates.fitting import ANY, FIRST, Place, contradict
from piiloom.surrogates.planning import PERSON, Plan

Asked = Mapping[tuple[int, int], Place]  # keys: (value number, cluster number of the owner or NOBODY)
NOTHING_ASKED: Final[Asked] = {}


def asked_of_values(plan: Plan, notable: Mapping[int, Place]) -> Asked:
    """Return what the articles and genitives around *notable* mentions require of each value, people's names excepted.

    If two articles contradict each other, the first one in the text counts.
    """
    asked: dict[tuple[int, int], Place] = {}
    for number, place in notable.items():
        if (place.sound or place.genitive or place.noun) and plan.mentions[number].kind != PERSON:
            key = plan.values[number], plan.owners[number]
            known = asked.get(key, Place(place.sound, place.genitive, noun=place.noun))
            codes = {known.sound, *known.also}
            also = (
                (*known.also, place.sound)
                if place.sound >= FIRST and place.sound not in codes and not _against(place, known)
                else known.also
            )
            asked[key] = Place(known.sound or place.sound, known.genitive or place.genitive, also=also, noun=known.noun or place.noun)
    return asked


def asked_of_place(of_value: Place | None, here: Place | None) -> Place | None:
    """Return the requirement at one place: that of its value (*of_value*).

    If the article at this place contradicts it, the place's own requirement (*here*) is returned instead.
    """
    if of_value is None or here is None or here.sound in {ANY, of_value.sound}:
        return of_value
    return here if here.sound < FIRST or _against(here, of_value) else of_value


def _against(here: Place, known: Place) -> bool:
    """Whether no value fits the small word *here* and those of *known*."""
    return any(code >= FIRST and contradict(code, here.sound) for code in (known.sound, *known.also))


def asked_of_age(plan: Plan, notable: Mapping[int, Place], owner: int) -> int:
    """Return the sound that the first article before an age of *owner* (a cluster number) requires, or ``ANY``."""
    places = (number for number in notable if plan.owners[number] == owner and plan.mentions[number].kind == "age")
    return next((sound for number in places if (sound := notable[number].sound)), ANY)
