"""Draw the values of one text: all about one persona and their relatives, none inside another, without common content words."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from piiloom.foundation.errors import PiiloomError, UsageError
from piiloom.foundation.words import content_words, whole_word
from piiloom.pii_values.drawers import ValueKind
from piiloom.pii_values.kinds import kinds_for
from piiloom.pii_values.lexicons import Weighted
from piiloom.pii_values.persona import Persona, draw_persona
from piiloom.pii_values.relatives import can_be_grown, draw_relative
from piiloom.taxonomy.entity_types import Taxonomy

SELF: Final = "self"
SOMEONE_ELSE: Final = "someone else"
ASKED_FOR: Final = "asked_for"

_TRIES: Final = 40  # draws for one value before the whole set is drawn again
_ROUNDS: Final = 6
# From this try on, values of one type may share a word that is not a number ("peanut allergy", "cat allergy").
_STRICT_TRIES: Final = 10
# A second name in a text cannot belong to the same person: after this many tries it is drawn for another person.
_OWN_NAME_TRIES: Final = 8
# The same for codes, such as a second license number made from name and birth date.
_OWN_CODE_TRIES: Final = 24
# A relative's fixed value (one per person) cannot be redrawn: after this many tries another relative is invented.
_SAME_PERSON_TRIES: Final = 3

_DIGITS: Final = re.compile(r"\d{2,}")
_NUMBERS_ARE_PARTS: Final = frozenset({"code", "name"})  # types in which a run of digits is not compared as a number


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnValue:
    """A value as it is written in a text. ``subject``: "self", a relation ("sister") or "someone else"."""

    entity_type: str
    subtype: str
    text: str
    subject: str = SELF


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueRequest:
    """A request for a value. ``subtypes``: the allowed subtypes (None or empty: any of the type).

    ``subject`` None means the persona. "@2" means the person that the value of request 2 (from 0) names ("sister"); if that value has the
    subtype "asked_for", it is the persona. Any other text is a relation: a person whom the persona calls by that word.
    """

    entity_type: str
    subtypes: tuple[str, ...] | None = None
    subject: str | None = None


@dataclass(frozen=True, slots=True)
class _Taken:
    """A value already drawn, with its case-folded text and words, for comparison with later ones."""

    value: DrawnValue
    folded: str
    words: frozenset[str]


def draw_value(persona: Persona, entity_type: str, subtype: str | None, rng: random.Random, taxonomy: Taxonomy) -> DrawnValue:
    """Draw one value of the persona; raises ``UsageError`` for an unknown type or subtype."""
    kind = kinds_for(entity_type, None if subtype is None else (subtype,), taxonomy).draw(rng)
    return DrawnValue(entity_type=entity_type, subtype=kind.subtype, text=kind.draw(persona, rng, 0))


def draw_values(persona: Persona, requests: Sequence[ValueRequest], rng: random.Random, taxonomy: Taxonomy) -> tuple[DrawnValue, ...]:
    """Draw one value per request, in the order of the requests.

    The texts differ (case-folded), none occurs as whole words inside another, no two share a number, and no two share a content
    word (two of one type may, if no others are found). All values with the same relative as subject belong to one invented person.
    Raises ``UsageError`` for unknown types, subtypes and "@" references, and ``PiiloomError`` if no such set is found, for
    example for two ages of one person.
    """
    kinds = [kinds_for(request.entity_type, request.subtypes, taxonomy) for request in requests]
    order = _order(requests, kinds)
    for _ in range(_ROUNDS):
        found = _draw_set(persona, requests, kinds, order, rng)
        if found is not None:
            return found
    wanted = ", ".join(f"{r.entity_type}.{'|'.join(r.subtypes or ('*',))}" for r in requests)
    raise PiiloomError(
        f"no set of values without common words was found for {wanted}",
        remedy="Ask for fewer values of one subtype, for other subtypes, or for another subject.",
    )


def _order(requests: Sequence[ValueRequest], kinds: Sequence[Weighted[ValueKind]]) -> list[int]:
    """Return the drawing order: referenced requests before those that refer to them, then fixed values (one per person) first.

    The sort is stable, so equal requests keep their order.
    """
    fixed = [all(kind.fixed for kind in of_request.items) for of_request in kinds]
    return sorted(range(len(requests)), key=lambda i: (_depth(requests, i), not fixed[i]))


def _depth(requests: Sequence[ValueRequest], index: int) -> int:
    """Return the length of the reference chain from a request; raises ``UsageError`` for a missing target or a cycle."""
    depth = 0
    while (target := _target(requests[index])) is not None:
        if not 0 <= target < len(requests) or depth > len(requests):
            raise UsageError(
                f"request {index} is about {requests[index].subject!r}, which is not another request of the list",
                remedy='Name a request by "@" and its number, from 0 on.',
            )
        index, depth = target, depth + 1
    return depth


def _target(request: ValueRequest) -> int | None:
    """Return the index of the request that *request* refers to, None if it refers to none, -1 if the reference is malformed."""
    subject = request.subject
    if subject is None or not subject.startswith("@"):
        return None
    return int(subject[1:]) if subject[1:].isdecimal() else -1


class _Circle:
    """The people that the values of one text are about: the persona and their relatives, by subject."""

    def __init__(self, persona: Persona, rng: random.Random) -> None:
        self._rng = rng
        self._around: dict[str, tuple[Persona, bool]] = {}  # (the person they are related to, whether they must be adults)
        self._people = {SELF: persona}

    def meet(self, subject: str, seen_from: str = SELF, *, grown: bool = False) -> Persona:
        """Return the person that *seen_from* calls *subject*, inventing them on first use; *grown*: they should be an adult."""
        if subject not in self._people:
            self._around[subject] = (self._people[seen_from], grown)
            self._invent(subject)
        return self._people[subject]

    def _invent(self, subject: str) -> None:
        near, grown = self._around[subject]
        self._people[subject] = draw_relative(near, subject, self._rng, grown=grown)

    def is_also(self, subject: str, other: str) -> None:
        """Make *subject* another name for the person *other*."""
        self._people[subject] = self._people[other]

    def replace(self, subject: str) -> bool:
        """Invent another person for *subject*; returns False if that is not possible (the persona)."""
        if subject not in self._around:
            return False
        self._invent(subject)
        return True


def _draw_set(
    persona: Persona, requests: Sequence[ValueRequest], kinds: Sequence[Weighted[ValueKind]], order: Sequence[int], rng: random.Random
) -> tuple[DrawnValue, ...] | None:
    taken: dict[int, _Taken] = {}
    circle = _Circle(persona, rng)
    grown = {
        request.subject for request, own in zip(requests, kinds, strict=True) if all(kind.grown for kind in own.items)
    }  # only adults have it
    for index in order:
        request, target = requests[index], _target(requests[index])
        of_age = f"@{index}" in grown  # the person that this value names must be an adult
        if target is None:
            subject = request.subject or SELF
            circle.meet(subject, grown=subject in grown)
        else:
            subject = _named(taken[target].value, circle, grown=request.subject in grown)
        found = _draw_apart(subject, circle, request, kinds[index], list(taken.values()), rng, of_age=of_age)
        if found is None:
            return None
        taken[index] = found
    return tuple(taken[i].value for i in range(len(requests)))


def _named(value: DrawnValue, circle: _Circle, *, grown: bool) -> str:
    """Return the subject that the kin word *value* names, and add that person to *circle*."""
    if value.subtype == ASKED_FOR:
        circle.is_also(value.text, value.subject)
    else:
        circle.meet(value.text, value.subject, grown=grown)
    return value.text


def _draw_apart(
    subject: str,
    circle: _Circle,
    request: ValueRequest,
    kinds: Weighted[ValueKind],
    taken: Sequence[_Taken],
    rng: random.Random,
    *,
    of_age: bool,
) -> _Taken | None:
    """Draw a value that does not clash with *taken*; None after too many tries. *of_age*: the person that it names can be an adult."""
    owner = circle.meet(subject)
    replaceable = all(t.value.subject != subject for t in taken) or subject == SOMEONE_ELSE
    attempts: dict[str, int] = {}
    for attempt in range(_TRIES):
        kind: ValueKind = kinds.draw(rng)
        number = attempts.get(kind.subtype, 0)
        if request.entity_type == "name" and attempt >= _OWN_NAME_TRIES:
            owner, subject = draw_persona(rng, owner.locale), SOMEONE_ELSE
        elif request.entity_type == "code" and attempt >= _OWN_CODE_TRIES:
            owner = draw_persona(rng, owner.locale)
        elif kind.fixed and replaceable and number >= _SAME_PERSON_TRIES and circle.replace(subject):
            owner, number = circle.meet(subject), 0
        text = kind.draw(owner, rng, number)
        attempts[kind.subtype] = number + 1
        value = DrawnValue(entity_type=request.entity_type, subtype=kind.subtype, text=text, subject=subject)
        candidate = _Taken(value, text.casefold(), _comparable_words(request.entity_type, text))
        if of_age and kind.subtype != ASKED_FOR and not can_be_grown(owner, text):
            continue
        if all(_apart(candidate, other, strict=attempt < _STRICT_TRIES) for other in taken):
            return candidate
    return None


def _comparable_words(entity_type: str, text: str) -> frozenset[str]:
    """Return the words of *text* to compare: content words, their parts before an apostrophe ("master's": "master"), and numbers."""
    found = content_words(text) or frozenset({text.casefold()})  # "A-" has no content word
    stems = {w.split("'")[0] for w in found if "'" in w and len(w.split("'")[0]) > 1}
    numbers = () if entity_type in _NUMBERS_ARE_PARTS else _DIGITS.findall(text)
    return found.union(stems, numbers)


def _apart(a: _Taken, b: _Taken, *, strict: bool) -> bool:
    common = a.words & b.words
    if common:
        alike = not strict and a.value.entity_type == b.value.entity_type
        if not alike or not a.words - common or not b.words - common or any(w[0].isdigit() for w in common):
            return False
    short, long = sorted((a.folded, b.folded), key=len)
    return short not in long or whole_word(short).search(long) is None
