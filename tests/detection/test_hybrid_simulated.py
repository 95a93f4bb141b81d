"""The simulated model: it knows the gold, and errs as often as it is told to."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from benchmarks.detection.simulated_llm import NO_ERRORS, SimulatedLLM
from piiloom.corpus.record import Record, Span
from piiloom.detection.detector_settings import ModelSettings
from piiloom.detection.hybrid.hybrid_detectors import HybridDetector
from tests.detection.small_catalogue import BY_ID, LOCALE, found, settings

TEXT = "Jan Kowalski z miasta Kraków ma astma. Numer 44051401359 to jego. Anna ma 34 lat. PIN 4821."
GOLD = {
    "Jan Kowalski": "person_name",
    "Kraków": "city",
    "astma": "condition",
    "44051401359": "account",
    "Anna": "person_name",
    "4821": "pin",
}


def record(number=0):
    spans = tuple(
        Span(id=f"s{at}", start=TEXT.index(value), end=TEXT.index(value) + len(value), entity_type=BY_ID[name].entity_type, subtype=name)
        for at, (value, name) in enumerate(GOLD.items())
    )
    return Record(id=f"r{number}", context=TEXT, locale=LOCALE, spans=spans)


def examined(rates, *, count=1, phases=3, seed=0):
    records = [record(number) for number in range(count)]

    async def work(store):
        model = ModelSettings(provider="openai", model="simulated", replies=store, unpriced=True)
        async with HybridDetector(settings(phases), model, provider=SimulatedLLM(records, rates, seed=seed)) as detector:
            return await asyncio.gather(*(detector.examine_async(one.context, LOCALE, item_id=one.id) for one in records))

    with TemporaryDirectory() as folder:  # replies kept there are not those of other rates
        return asyncio.run(work(Path(folder) / "store.duckdb"))


def test_without_errors_everything_is_found_and_nothing_else():
    (findings,) = examined(NO_ERRORS)
    assert found(TEXT, findings) == list(GOLD.items())


@pytest.mark.long
def test_errors_have_their_effect_and_are_the_same_for_the_same_seed():
    assert found(TEXT, examined(replace(NO_ERRORS, missed=1.0))[0]) == [("44051401359", "account"), ("4821", "pin")]
    assert ("44051401359", "pl_pesel") in found(TEXT, examined(replace(NO_ERRORS, resolved=1.0))[0])
    assert ("34 lat", "age") in found(TEXT, examined(replace(NO_ERRORS, verified=1.0))[0])
    outside = examined(replace(NO_ERRORS, outside=1.0))[0]
    assert "left_to_rules: outside" in {one.reason for one in outside.set_aside}
    half = replace(NO_ERRORS, missed=0.5, invented=0.5)
    several = examined(half, count=20)
    shares = sum(len(found(TEXT, one)) for one in several) / (20 * len(GOLD))
    assert 0.4 < shares < 1.1
    assert several == examined(half, count=20)
    assert several != examined(half, count=20, seed=1)
    assert any(one.reason == "invented" for findings in several for one in findings.set_aside)
