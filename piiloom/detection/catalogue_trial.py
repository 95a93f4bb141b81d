"""Try an entry of the catalogue: whether values drawn for it are found as what they are, and look-alikes refused.

A value stands in a short line after a context word of the entry, and alone if the pattern is sure enough without one. Look-alikes are
those that the entry lists, and such that are made from drawn values: with a wrong check digit, grown into the letters and digits around
them, and, if a value is told by its context only, without any and as the number of an order.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from piiloom.foundation.seeding import derive_rng
from piiloom.patterns.engine import Match, PatternEngine
from piiloom.patterns.resolving import THRESHOLD, disjoint
from piiloom.pii_values.entity_values.drawing import draw_value, spoilt_value
from piiloom.taxonomy.entities.entity import Entity

POSITIVES: Final = 20
NEGATIVES: Final = 10
_ORDER: Final = "order no. "
_ROUNDS: Final = 4 * NEGATIVES


@dataclass(frozen=True, slots=True)
class Failure:
    """A text in which a value was not found as it should be, or a look-alike was taken for one. ``found``: the ids at its place."""

    kind: str
    text: str
    value: str
    found: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """How an entry did. ``validated``: all found values passed its validator, if it has one."""

    entity: Entity
    positives: int
    found: int
    negatives: int
    refused: int
    validated: bool
    failures: tuple[Failure, ...]

    @property
    def passed(self) -> bool:
        """Whether every value was found, every look-alike refused, and there were enough of both."""
        enough = self.positives >= POSITIVES and self.negatives >= NEGATIVES
        return enough and self.found == self.positives and self.refused == self.negatives and self.validated


def try_entity(entity: Entity, engine: PatternEngine, *, seed: int = 0, positives: int = POSITIVES, negatives: int = NEGATIVES) -> Trial:
    """Try *entity* with values of *seed*. Raises ``ConfigError`` if it has no generator, or one that gives nothing valid."""
    rng = derive_rng("catalogue trial", seed, entity.id)
    locale = engine.catalogue.locale
    failures: list[Failure] = []
    validated = True
    for number in range(positives):
        value = draw_value(entity, locale, rng)
        before, after = _carrier(entity, number)
        matches = disjoint(engine.find(f"{before}{value}{after}"))
        place = (len(before), len(before) + len(value))
        right = [one for one in matches if (one.start, one.end) == place and entity.id in (one.entity.id, one.entity.form_of)]
        if not right:
            failures.append(Failure("not found", f"{before}{value}{after}", value, _ids_at(matches, before, value)))
        elif entity.validator is not None and _validator_everywhere(entity):
            validated = validated and right[0].validated is True
    found = positives - len(failures)
    tried = refused = 0
    for kind, before, value, after in _look_alikes(entity, locale, rng, negatives):
        tried += 1
        matches = disjoint(engine.find(f"{before}{value}{after}"))
        place = (len(before), len(before) + len(value))
        if any((one.start, one.end) == place and one.entity.id == entity.id for one in matches):
            failures.append(Failure(kind, f"{before}{value}{after}", value, _ids_at(matches, before, value)))
        else:
            refused += 1
    return Trial(
        entity=entity,
        positives=positives,
        found=found,
        negatives=tried,
        refused=refused,
        validated=validated,
        failures=tuple(failures),
    )


def _ids_at(matches: list[Match], before: str, value: str) -> tuple[str, ...]:
    start, end = len(before), len(before) + len(value)
    return tuple(one.entity.id for one in matches if one.start < end and start < one.end)


def _validator_everywhere(entity: Entity) -> bool:
    return all(pattern.validator is None for pattern in entity.patterns)


def _needs_context(entity: Entity) -> bool:
    return all(pattern.score < THRESHOLD and not pattern.preceded_by for pattern in entity.patterns)


def _carrier(entity: Entity, number: int) -> tuple[str, str]:
    """What stands before and behind a value: a label of the entry, or nothing where it needs none."""
    labels = tuple(phrase for pattern in entity.patterns for phrase in pattern.preceded_by)
    if labels:
        return f"{labels[number % len(labels)]}: ", ""
    if number % 3 == 2 and all(pattern.score >= THRESHOLD for pattern in entity.patterns):
        return ("", "") if number % 2 else ("(", ")")
    context = entity.context[number % min(3, len(entity.context))] if entity.context else ""
    return (f"{context}: ", ".") if number % 2 else (f"{context} ", ", ok")


def _look_alikes(entity: Entity, locale: str, rng: random.Random, count: int) -> Iterator[tuple[str, str, str, str]]:
    """Yield (kind, text before, look-alike, text behind)."""
    given = 0
    for number, value in enumerate(entity.near_misses):
        before, after = _carrier(entity, number)
        yield "listed look-alike", before, value, after
        given += 1
    for number in range(_ROUNDS):
        if given >= count:
            return
        made = _made(entity, locale, number, draw_value(entity, locale, rng), rng)
        if made is not None:
            yield made
            given += 1


def _made(entity: Entity, locale: str, number: int, value: str, rng: random.Random) -> tuple[str, str, str, str] | None:
    before, after = _carrier(entity, number)
    match number % 4:
        case 0 | 2 if entity.validator is not None and _validator_everywhere(entity):
            return "wrong check digit", before, spoilt_value(entity, locale, rng), after
        case 1 if value[0].isalnum() and value[-1].isalnum() and all(p.boundary == "word" for p in entity.patterns):
            return "inside a longer word", f"{before}x7", value, f"8y{after}"
        case 2 if _needs_context(entity):
            return "without context", "", value, ""
        case 3 if _needs_context(entity):
            return "number of an order", _ORDER, value, ""
        case _:
            return None
