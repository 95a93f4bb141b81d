"""Trials of catalogue entries: drawn values must be found as their entry, and look-alikes refused.

A drawn value follows a context word of its entry in a short line. It is also tried alone if every pattern is sure enough without context.
Look-alikes are those that the entry lists, and some made from drawn values: with a wrong check digit, or inside more letters and digits.
If only context makes the entry sure, a value without context and a value as the number of an order are look-alikes, too.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from piiloom.foundation.errors import PiiloomError, UsageError
from piiloom.foundation.seeding import derive_rng
from piiloom.foundation.settings import Converted, Settings, setting
from piiloom.patterns.engine import Match, PatternEngine, engine_for
from piiloom.patterns.resolving import THRESHOLD, disjoint
from piiloom.pii_values.entity_values.drawing import draw_entity_value, spoilt_value
from piiloom.taxonomy.entities.catalogue_file import DOMAINS, UNIVERSAL, Entity, read_catalogue_file
from piiloom.taxonomy.entities.entity_catalogue import LOCALES, catalogue_locales, known_locale, shipped_entities

POSITIVES: Final = 20
NEGATIVES: Final = 10
_ORDER: Final = "order no. "
_ROUNDS: Final = 4 * NEGATIVES
_DRAWN: Final = 5


class EntityFiles(Settings):
    """The entries of the catalogue, with those of the user's own files."""

    types: Converted[tuple[Path, ...], Sequence[str | Path]] = setting(
        (), "Your own entities, in the form of the catalogue. May be repeated.", metavar="FILE"
    )

    def entities(self) -> Iterator[Entity]:
        """Yield the entries that ship, and the user's own. Raises ``ConfigError`` for a faulty file."""
        yield from shipped_entities()
        for path in self.types:
            yield from read_catalogue_file(path).entities

    def entity(self, entity_id: str) -> Entity:
        """Return the entry of that id. Raises ``UsageError`` if there is none."""
        found = next((one for one in self.entities() if one.id == entity_id), None)
        if found is None:
            raise UsageError(f"there is no entity {entity_id!r}", where="ID", remedy="piiloom entities list shows all")
        return found


class EntityChoice(EntityFiles):
    """The entries of one locale."""

    locale: str | None = setting(None, 'Only entities of this locale, as pl_PL; "universal" for those of all.', metavar="CODE")

    def chosen(self, domain: str | None = None) -> list[Entity]:
        """Return the entries of the locale, and of *domain*. Raises ``UsageError`` for an unknown locale or domain."""
        if domain is not None and domain not in DOMAINS:
            raise UsageError(f"unknown domain {domain!r}", where="--domain", remedy=f"Known: {', '.join(DOMAINS)}")
        wanted = None if self.locale is None else UNIVERSAL if self.locale == UNIVERSAL else known_locale(self.locale)
        return [one for one in self.entities() if wanted in (None, one.locale) and (domain is None or domain in one.domains)]


def as_json(entity: Entity) -> dict[str, Any]:
    """Return *entity* as JSON values."""
    return {key: list(value) if isinstance(value, tuple) else value for key, value in asdict(entity).items() if key != "generator"}


def drawn_values(entity: Entity) -> list[str]:
    """Return a few values of *entity*; none if it has no generator."""
    if entity.generator is None:
        return []
    locale = catalogue_locales()[0] if entity.locale == UNIVERSAL else entity.locale
    rng = derive_rng("entities show", entity.id)
    return [draw_entity_value(entity, locale, rng) for _ in range(_DRAWN)]


@dataclass(frozen=True, slots=True)
class TrialFailure:
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
    failures: tuple[TrialFailure, ...]

    @property
    def passed(self) -> bool:
        """Whether every value was found, every look-alike refused, and there were enough of both."""
        enough = self.positives >= POSITIVES and self.negatives >= NEGATIVES
        return enough and self.found == self.positives and self.refused == self.negatives and self.validated


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialResults:
    """The trials of several entries, and the faults of those that could not be tried."""

    trials: tuple[Trial, ...]
    faults: tuple[tuple[Entity, str], ...]

    @property
    def tried(self) -> int:
        """The number of entries."""
        return len(self.trials) + len(self.faults)

    @property
    def passed(self) -> int:
        """The number of entries that passed."""
        return sum(one.passed for one in self.trials)

    def to_json(self) -> dict[str, Any]:
        """Return the trials as JSON values."""
        counts = ("positives", "found", "negatives", "refused", "validated", "passed")
        return {
            "tried": self.tried,
            "passed": self.passed,
            "entities": [
                {
                    "id": one.entity.id,
                    **{name: getattr(one, name) for name in counts},
                    "failures": [asdict(failure) for failure in one.failures],
                }
                for one in self.trials
            ],
            "faults": [{"id": entity.id, "where": entity.where, "error": error} for entity, error in self.faults],
        }


def try_entities(choice: EntityChoice, ids: Sequence[str] = (), *, seed: int = 0) -> TrialResults:
    """Try the entries with patterns, only those of *ids* if any are given; universal ones in the locales in turn.

    Raises ``UsageError`` for an id that no entry with patterns has.
    """
    found = [one for one in choice.chosen() if one.patterns and (not ids or one.id in ids)]
    for name in ids:
        if all(one.id != name for one in found):
            raise UsageError(f"there is no entity {name!r} with patterns", where="--id", remedy="piiloom entities list shows all")
    trials, faults = [], []
    for number, one in enumerate(found):
        locale = LOCALES[number % len(LOCALES)] if one.locale == UNIVERSAL else one.locale
        engine = engine_for(locale, choice.types, unconfirmed=True, also=frozenset() if one.default else frozenset({one.id}))
        try:
            trials.append(try_entity(engine.catalogue.entities[one.id], engine, seed=seed))
        except PiiloomError as fault:
            faults.append((one, str(fault)))
    return TrialResults(trials=tuple(trials), faults=tuple(faults))


def try_entity(entity: Entity, engine: PatternEngine, *, seed: int = 0, positives: int = POSITIVES, negatives: int = NEGATIVES) -> Trial:
    """Try *entity* with values of *seed*. Raises ``ConfigError`` if it has no generator, or one that gives nothing valid."""
    rng = derive_rng("catalogue trial", seed, entity.id)
    locale = engine.catalogue.locale
    failures: list[TrialFailure] = []
    validated = True
    for number in range(positives):
        value = draw_entity_value(entity, locale, rng)
        before, after = _carrier(entity, number)
        matches = disjoint(engine.find(f"{before}{value}{after}"))
        place = (len(before), len(before) + len(value))
        right = [one for one in matches if (one.start, one.end) == place and entity.id in (one.entity.id, one.entity.form_of)]
        if not right:
            failures.append(TrialFailure("not found", f"{before}{value}{after}", value, _ids_at(matches, before, value)))
        elif entity.validator is not None and _validator_everywhere(entity):
            validated = validated and right[0].validated is True
    found = positives - len(failures)
    tried = refused = 0
    for kind, before, value, after in _look_alikes(entity, locale, rng, negatives):
        tried += 1
        matches = disjoint(engine.find(f"{before}{value}{after}"))
        place = (len(before), len(before) + len(value))
        if any((one.start, one.end) == place and one.entity.id == entity.id for one in matches):
            failures.append(TrialFailure(kind, f"{before}{value}{after}", value, _ids_at(matches, before, value)))
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
    labels = tuple(phrase for pattern in entity.patterns if not pattern.followed_by for phrase in pattern.preceded_by)
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
        made = _made(entity, locale, number, draw_entity_value(entity, locale, rng), rng)
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
