"""The work behind ``piiloom entities``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.table import Table

from piiloom.cli.terminal import harmless, say, say_json, say_table
from piiloom.detection.catalogue_trial import Trial, try_entity
from piiloom.foundation.errors import PiiloomError, UsageError
from piiloom.foundation.seeding import derive_rng
from piiloom.foundation.words import counted
from piiloom.patterns.engine import engine_for
from piiloom.pii_values.entity_values.drawing import draw_value
from piiloom.taxonomy.entities.catalogue_file import read_catalogue_file
from piiloom.taxonomy.entities.entity import DOMAINS, UNIVERSAL, Entity, EntityPattern
from piiloom.taxonomy.entities.entity_catalogue import LOCALES, catalogue_locales, known_locale, shipped_entities

_DRAWN = 5


def print_entities(locale: str | None, domain: str | None, own: Sequence[Path], *, as_json: bool) -> None:
    """List the entities of *locale* and *domain*."""
    if domain is not None and domain not in DOMAINS:
        raise UsageError(f"unknown domain {domain!r}", where="--domain", remedy=f"Known: {', '.join(DOMAINS)}")
    found = [one for one in _entities(locale, own) if domain is None or domain in one.domains]
    if as_json:
        say_json({"entities": [_told(one) for one in found]})
        return
    table = Table(title=counted(len(found), "entity"))
    for column in ("id", "name", "native", "type", "domains", "validator", "confirmed"):
        table.add_column(column)
    for one in found:
        confirmed = ("yes" if one.default else "on request") if one.confirmed else "no: off"
        row = (one.id, one.name, one.native, one.entity_type, ", ".join(one.domains), one.validator or "", confirmed)
        table.add_row(*map(harmless, row))
    say_table(table)


def print_entity(entity_id: str, own: Sequence[Path], *, as_json: bool) -> None:
    """Show one entity with drawn values."""
    entity = next((one for one in _entities(None, own) if one.id == entity_id), None)
    if entity is None:
        raise UsageError(f"there is no entity {entity_id!r}", where="ID", remedy="piiloom entities list shows all")
    told = {**_told(entity), "drawn": _drawn(entity)}
    if as_json:
        say_json(told)
        return
    for key, value in told.items():
        if key == "patterns":
            for pattern in entity.patterns:
                say(f"  pattern: {pattern.pattern}  ({', '.join(_options_of(pattern))})")
        elif value not in (None, [], ""):
            say(f"{key}: {', '.join(map(str, value)) if isinstance(value, list) else value}")


def print_trials(locale: str | None, only: Sequence[str], own: Sequence[Path], *, seed: int, verbose: bool, as_json: bool) -> bool:
    """Try entities and print how they did; whether all passed."""
    trials, faults = [], []
    for entity, engine_locale in _to_try(locale, only, own):
        engine = engine_for(engine_locale, tuple(own), unconfirmed=True, also=_asked_for(entity))
        try:
            trials.append(try_entity(engine.catalogue.entities[entity.id], engine, seed=seed))
        except PiiloomError as fault:
            faults.append((entity, str(fault)))
    failed = [one for one in trials if not one.passed]
    if as_json:
        say_json(
            {
                "tried": len(trials) + len(faults),
                "passed": len(trials) - len(failed),
                "entities": [_trial(one) for one in trials],
                "faults": [{"id": entity.id, "where": entity.where, "error": error} for entity, error in faults],
            }
        )
        return not failed and not faults
    for entity, error in faults:
        say(f"{entity.where} {entity.id}: {error}")
    for one in failed:
        words = f"{one.found}/{one.positives} found, {one.refused}/{one.negatives} look-alikes refused"
        say(f"{one.entity.where} {one.entity.id}: {words}{'' if one.validated else ', not validated'}")
        for failure in one.failures if verbose else ():
            say(f"    {failure.kind}: {failure.text!r}; found there: {', '.join(failure.found) or 'nothing'}")
    say(f"{len(trials) - len(failed)} of {counted(len(trials) + len(faults), 'entity')} passed")
    return not failed and not faults


def _entities(locale: str | None, own: Sequence[Path]) -> Iterator[Entity]:
    wanted = None if locale is None else UNIVERSAL if locale == UNIVERSAL else known_locale(locale)
    mine = (one for path in own for one in read_catalogue_file(path).entities)
    yield from (one for one in (*shipped_entities(), *mine) if wanted is None or one.locale == wanted)


def _to_try(locale: str | None, only: Sequence[str], own: Sequence[Path]) -> Iterator[tuple[Entity, str]]:
    """Yield entities with patterns, each with the locale in whose texts it is tried; the universal ones in turn in all."""
    found = [one for one in _entities(locale, own) if one.patterns and (not only or one.id in only)]
    for name in only:
        if all(one.id != name for one in found):
            raise UsageError(f"there is no entity {name!r} with patterns", where="--id", remedy="piiloom entities list shows all")
    for number, one in enumerate(found):
        yield one, LOCALES[number % len(LOCALES)] if one.locale == UNIVERSAL else one.locale


def _asked_for(entity: Entity) -> frozenset[str]:
    return frozenset() if entity.default else frozenset({entity.id})


def _told(entity: Entity) -> dict[str, Any]:
    return {key: list(value) if isinstance(value, tuple) else value for key, value in asdict(entity).items() if key != "generator"}


def _options_of(pattern: EntityPattern) -> Iterator[str]:
    """The score of a pattern, and what is not as usual."""
    yield f"score {pattern.score}"
    if pattern.ignore_case:
        yield "case: ignore"
    for name, value in (("boundary", pattern.boundary), ("guard", pattern.guard)):
        if value == "none":
            yield f"{name}: none"
    if pattern.validator is not None:
        yield f"validator: {pattern.validator}"
    if pattern.preceded_by:
        yield f"preceded_by: {' | '.join(pattern.preceded_by)}"


def _drawn(entity: Entity) -> list[str]:
    if entity.generator is None:
        return []
    locale = catalogue_locales()[0] if entity.locale == UNIVERSAL else entity.locale
    rng = derive_rng("entities show", entity.id)
    return [draw_value(entity, locale, rng) for _ in range(_DRAWN)]


def _trial(trial: Trial) -> dict[str, Any]:
    return {
        "id": trial.entity.id,
        "positives": trial.positives,
        "found": trial.found,
        "negatives": trial.negatives,
        "refused": trial.refused,
        "validated": trial.validated,
        "passed": trial.passed,
        "failures": [asdict(one) for one in trial.failures],
    }
