"""Metrics: figures by stage, quantiles within their stated error, memory that does not grow."""

from __future__ import annotations

import math
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from piiloom.execution.watching.events import (
    Braked,
    CallAnswered,
    CallFailed,
    CallJudged,
    CallReplayed,
    CallStarted,
    ItemRejected,
    RecordAccepted,
    StageEntered,
    StagePassed,
)
from piiloom.execution.watching.metrics import LONGEST_S, SHORTEST_S, LatencyHistogram, RunMetrics


def answered(stage, item="0", *, latency_s=0.2, cost_usd=0.5, retries=0):
    return CallAnswered(stage, item, 0, latency_s, 100, 40, 10, cost_usd, retries)


def fed(*told, stages=()):
    metrics = RunMetrics(stages)
    for event in told:
        metrics(event)
    return metrics


def test_an_item_on_its_way_through_a_stage():
    way = [StageEntered("question", "0"), CallStarted("question", "0", 0), answered("question"), StagePassed("question", "0")]
    seen = [(m.queued, m.in_flight, m.done) for m in (fed(*way[: n + 1]).stages["question"] for n in range(4))]
    assert seen == [(1, 0, 0), (0, 1, 0), (1, 0, 0), (0, 0, 1)]


def test_figures_of_a_stage():
    metrics = fed(
        StageEntered("question", "0"),
        CallStarted("question", "0", 0, 1),
        CallFailed("question", "0", 0, "rate_limited", final=False),
        CallStarted("question", "0", 0, 2),
        answered("question", retries=1),
        CallJudged("question", "0", 0, accepted=False, code="leak"),
        CallStarted("question", "0", 1, 1),
        CallFailed("question", "0", 1, "invalid_request", final=True),
        ItemRejected("question", "0", "invalid_request"),
        CallReplayed("question", "1", 0),
        answered("question", cost_usd=None),
    )
    stage = metrics.stages["question"]
    assert (stage.retries, stage.failures, stage.refused, stage.replayed, stage.rejected) == (1, 1, 1, 1, 1)
    assert (stage.input_tokens, stage.cached_tokens, stage.output_tokens) == (200, 80, 20)
    assert (stage.answered, stage.cost_usd, stage.unpriced) == (2, 0.5, 1)
    assert metrics.cost_usd == 0.5


def test_what_concerns_the_whole_run():
    metrics = fed(RecordAccepted("0", "abc"), RecordAccepted("1", "abd"), Braked(2.0), Braked(0.5))
    assert (metrics.accepted, metrics.brakes, metrics.braked_s) == (2, 2, 2.5)
    assert metrics.stages == {}


def test_known_stages_come_in_their_order_and_others_after_them():
    metrics = fed(*(StageEntered(name, "0") for name in ("judge", "question", "topics")), stages=("topics", "values", "question"))
    assert list(metrics.stages) == ["topics", "question", "judge"]


@given(st.lists(st.floats(0.0, 1e6, allow_nan=False), min_size=1, max_size=200), st.floats(0.01, 1.0))
def test_quantiles_are_within_two_percent_of_the_nearest_rank(latencies, share):
    histogram = LatencyHistogram()
    for latency in latencies:
        histogram.add(latency)
    exact = sorted(latencies)[max(1, math.ceil(share * len(latencies))) - 1]
    exact = min(max(exact, SHORTEST_S), LONGEST_S)
    assert histogram.quantile(share) == pytest.approx(exact, rel=0.0202)


def test_no_call_has_no_quantile():
    assert LatencyHistogram().quantile(0.5) is None


def test_memory_is_the_same_after_many_calls():
    metrics = fed(CallStarted("question", "0", 0), answered("question"))
    histogram = metrics.stages["question"].latencies
    before = sys.getsizeof(histogram._counts)
    for number in range(20_000):
        metrics(CallStarted("question", str(number), 0))
        metrics(answered("question", latency_s=0.001 * number))
    assert sys.getsizeof(histogram._counts) == before < 5_000
    assert metrics.stages["question"].answered == 20_001
