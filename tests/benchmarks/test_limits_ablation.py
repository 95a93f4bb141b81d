"""The ablation of the limiter: each variant still finds what it switches off, and the same seed gives the same figures."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks.limits_ablation import oracle_s, simulated
from benchmarks.limits_scenarios import SCENARIOS, calls
from benchmarks.limits_variants import VARIANTS

SMALL = [replace(scenario, calls=calls(80)) for scenario in SCENARIOS]


@pytest.mark.parametrize("name", VARIANTS)
def test_every_variant_brings_all_calls_to_their_end(name):
    at_once = next(scenario for scenario in SMALL if scenario.name == "takes 16 at once")
    outcome = simulated(at_once, 1, VARIANTS[name])
    assert len(outcome.latencies) + outcome.lost == 80
    assert outcome.seconds >= 0.9 * oracle_s(at_once, 1)


@pytest.mark.parametrize("scenario", SMALL, ids=lambda scenario: scenario.name)
def test_every_server_answers_alike_each_time(scenario):
    first, second = (simulated(scenario, 2, VARIANTS["all"]) for _ in range(2))
    assert first == second
    assert len(first.latencies) + first.lost == 80
    assert oracle_s(scenario, 2) == oracle_s(scenario, 2) > 0
