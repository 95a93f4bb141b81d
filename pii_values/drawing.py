"""Draw the values that one text discloses: all of one persona, none inside another, no content word in common."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from foundation.errors import PiiloomError
from foundation.words import content_words, whole_word
from pii_values.catalogue import Kind, kinds_for
from pii_values.persona import Persona, draw_persona
from pii_values.relatives import draw_relative

SELF: Final = "self"
SOMEONE_ELSE: Final = "someone else"

_TRIES: Final = 40  # draws for one value before the whole set is drawn anew
_ROUNDS: Final = 6
# A second name in a text cannot be the same person's: after this many tries it is somebody else's.
_OWN_NAME_TRIES: Final = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnValue:
    """A value as it stands in a text. ``subject``: "self", a relation ("sister") or "someone else"."""

    entity_type: str
    subtype: str
    text: str
    subject: str = SELF


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueRequest:
    """What is wanted: ``subtypes`` None or empty: any of the type; ``subject`` None: the persona."""

    entity_type: str
    subtypes: tuple[str, ...] | None = None
    subject: str | None = None


@dataclass(frozen=True, slots=True)
class _Taken:
    """A value already drawn, with what later ones are compared by."""

    value: DrawnValue
    folded: str
    words: frozenset[str]


def draw_value(persona: Persona, entity_type: str, subtype: str | None, rng: random.Random) -> DrawnValue:
    """One value of the persona; raises ``UsageError`` for an unknown type or subtype."""
    kind = kinds_for(entity_type, None if subtype is None else (subtype,)).draw(rng)
    return DrawnValue(entity_type=entity_type, subtype=kind.subtype, text=kind.draw(persona, rng, 0))


def draw_values(persona: Persona, requests: Sequence[ValueRequest], rng: random.Random) -> tuple[DrawnValue, ...]:
    """One value per request, in the order of the requests.

    Texts differ (case-folded), none stands as whole words inside another, and no two share a content word. Values of a
    relative come from one invented relative per subject. Raises ``UsageError`` for unknown types or subtypes and
    ``PiiloomError`` when no such set was found: two ages of one person, say, or two values of a subtype whose values share
    a word by nature (``email``: the reserved domains; ``eyes``; ``allergy``).
    """
    for request in requests:
        kinds_for(request.entity_type, request.subtypes)
    # What a person has exactly one of is drawn first; the sort is stable, so equal requests keep their order.
    order = sorted(range(len(requests)), key=lambda i: not _all_fixed(requests[i]))
    for _ in range(_ROUNDS):
        found = _draw_set(persona, [requests[i] for i in order], rng)
        if found is not None:
            placed = dict(zip(order, found, strict=True))
            return tuple(placed[i] for i in range(len(requests)))
    wanted = ", ".join(f"{r.entity_type}.{'|'.join(r.subtypes or ('*',))}" for r in requests)
    raise PiiloomError(
        f"no set of values without common words was found for {wanted}",
        remedy="Ask for fewer values of one subtype, for other subtypes, or for another subject.",
    )


def _all_fixed(request: ValueRequest) -> bool:
    return all(kind.fixed for kind in kinds_for(request.entity_type, request.subtypes).items)


def _draw_set(persona: Persona, requests: Sequence[ValueRequest], rng: random.Random) -> list[DrawnValue] | None:
    taken: list[_Taken] = []
    people: dict[str, Persona] = {SELF: persona}
    for request in requests:
        subject = request.subject or SELF
        if subject not in people:
            people[subject] = draw_relative(persona, subject, rng)
        found = _draw_apart(people[subject], request, taken, rng)
        if found is None:
            return None
        taken.append(found)
    return [t.value for t in taken]


def _draw_apart(owner: Persona, request: ValueRequest, taken: Sequence[_Taken], rng: random.Random) -> _Taken | None:
    """A value that stays apart from those taken, or None after too many tries."""
    kinds = kinds_for(request.entity_type, request.subtypes)
    subject = request.subject or SELF
    attempts: dict[str, int] = {}
    for attempt in range(_TRIES):
        kind: Kind = kinds.draw(rng)
        if request.entity_type == "name" and attempt >= _OWN_NAME_TRIES:
            owner, subject = draw_persona(rng, owner.locale), SOMEONE_ELSE
        text = kind.draw(owner, rng, attempts.get(kind.subtype, 0))
        attempts[kind.subtype] = attempts.get(kind.subtype, 0) + 1
        value = DrawnValue(entity_type=request.entity_type, subtype=kind.subtype, text=text, subject=subject)
        candidate = _Taken(value, text.casefold(), _comparable_words(text))
        if candidate.words and all(_apart(candidate, other) for other in taken):
            return candidate
    return None


def _comparable_words(text: str) -> frozenset[str]:
    """The content words, and what stands before an apostrophe in them: "master's" also counts as "master"."""
    found = content_words(text)
    return found | {w.split("'")[0] for w in found if "'" in w and len(w.split("'")[0]) > 1}


def _apart(a: _Taken, b: _Taken) -> bool:
    if a.words & b.words:
        return False
    short, long = sorted((a.folded, b.folded), key=len)
    return short not in long or whole_word(short).search(long) is None
