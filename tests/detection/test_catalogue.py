"""Each entry of the catalogue finds what is drawn for it, and refuses what only looks like it."""

from __future__ import annotations

import pytest

from piiloom.detection.catalogue_trial import NEGATIVES, POSITIVES, try_entity
from piiloom.patterns.engine import engine_for
from piiloom.taxonomy.entities.entity import UNIVERSAL
from piiloom.taxonomy.entities.entity_catalogue import LOCALES, catalogue_locales, shipped_entities


def failures(locale: str, *, positives: int, negatives: int, seed: int, every: int = 1) -> list[str]:
    """The entities of *locale* that fail; each *every*-th one is tried, the universal ones in all locales in turn."""
    found = []
    listed = [one for one in shipped_entities([locale]) if one.patterns][::every]
    for number, entity in enumerate(listed):
        engine = engine_for(
            LOCALES[number % len(LOCALES)] if locale == UNIVERSAL else locale,
            unconfirmed=True,
            also=frozenset() if entity.default else frozenset({entity.id}),
        )
        trial = try_entity(engine.catalogue.entities[entity.id], engine, seed=seed, positives=positives, negatives=negatives)
        if trial.found < positives or trial.refused < trial.negatives or trial.negatives < negatives or not trial.validated:
            found.append(f"{entity.where} {entity.id}: {trial.found}/{trial.positives}, {trial.refused}/{trial.negatives}")
    return found


@pytest.mark.long
@pytest.mark.parametrize("locale", [UNIVERSAL, *catalogue_locales()])
def test_every_entity_of(locale: str) -> None:
    assert failures(locale, positives=POSITIVES, negatives=NEGATIVES, seed=1) == []


def test_some_entities_of_poland() -> None:
    assert failures("pl_PL", positives=3, negatives=3, seed=2, every=3) == []
