"""What the places of a document ask of its values, taken together: one that comes again is the same everywhere."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from piiloom.surrogates.fitting import ANY, Place
from piiloom.surrogates.planning import PERSON, Plan

Asked = Mapping[tuple[int, int], Place]  # by value and owner
NOTHING_ASKED: Final[Asked] = {}


def asked_of_values(plan: Plan, notable: Mapping[int, Place]) -> Asked:
    """What articles and genitives around *notable* places ask of each value; of articles that contradict each other, the first."""
    asked: dict[tuple[int, int], Place] = {}
    for number, place in notable.items():
        if (place.sound or place.genitive) and plan.mentions[number].kind != PERSON:
            key = plan.values[number], plan.owners[number]
            known = asked.get(key, place)
            asked[key] = Place(known.sound or place.sound, known.genitive or place.genitive)
    return asked


def asked_of_place(of_value: Place | None, here: Place | None) -> Place | None:
    """What counts at one place: what is asked of its value, unless the article right here shows that it is another value."""
    return here if of_value is not None and here is not None and here.sound not in {ANY, of_value.sound} else of_value


def asked_of_age(plan: Plan, notable: Mapping[int, Place], owner: int) -> int:
    """The sound that the first article before an age of *owner* asks for."""
    places = (number for number in notable if plan.owners[number] == owner and plan.mentions[number].kind == "age")
    return next((sound for number in places if (sound := notable[number].sound)), ANY)
