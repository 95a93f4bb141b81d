"""The figures of a run's progress."""

from __future__ import annotations

import pytest

from piiloom.cli.run_summary import Pace, cost_text
from piiloom.cli.terminal import count_text, dollars, duration_text, rate_text, seconds_text
from piiloom.execution.call_entries import CallTotals
from piiloom.generation.running.progress import RunProgress


def _progress(accepted, wanted=2307, **changes):
    return RunProgress(run_id="r0001", wanted=wanted, accepted=accepted, **changes)


def test_pace_counts_only_this_session():
    pace = Pace(started=100.0)
    pace.describe(_progress(1001), 100.1)
    line = pace.describe(_progress(1200, rejected=40), 110.0)
    assert line == "1,200/2,307 · 20/s · ETA 0:55 · 40 rejected · $0.00"


def test_pace_without_a_result_knows_no_end():
    assert "ETA unknown" in Pace(started=0.0).describe(_progress(0), 5.0)


@pytest.mark.parametrize(("rate", "text"), [(212.4, "212/s"), (4.25, "4.2/s"), (0.2, "12/min"), (0.01, "0.6/min"), (0, "0/min")])
def test_rates(rate, text):
    assert rate_text(rate) == text


@pytest.mark.parametrize(("seconds", "text"), [(7.4, "0:07"), (750, "12:30"), (11100, "3:05:00")])
def test_durations(seconds, text):
    assert duration_text(seconds) == text


def test_unpriced_calls_are_not_counted_as_free():
    assert cost_text(_progress(1, totals=CallTotals(cost_usd=0.01234))) == "$0.0123"
    assert cost_text(_progress(1, totals=CallTotals(cost_usd=12.345))) == "$12.35"
    assert cost_text(_progress(1, totals=CallTotals(unpriced=5))) == "$0.00 + 5 calls of unknown price"


@pytest.mark.parametrize(
    ("amount", "text"), [(0, "$0.00"), (1234.5, "$1,234.50"), (0.25, "$0.2500"), (0.00123, "$0.0012"), (0.000031, "$0.000031")]
)
def test_amounts(amount, text):
    assert dollars(amount) == text


@pytest.mark.parametrize(("seconds", "text"), [(None, "–"), (0.085, "85 ms"), (1.239, "1.24 s"), (45.2, "45.2 s"), (750, "12:30")])
def test_latencies(seconds, text):
    assert seconds_text(seconds) == text


@pytest.mark.parametrize(("number", "text"), [(0, "0"), (9_800, "9,800"), (12_345, "12.3k"), (999_600, "1M"), (4_560_000, "4.56M")])
def test_counts(number, text):
    assert count_text(number) == text


def test_what_prepares_the_first_item_does_not_count_for_the_rate():
    pace = Pace(started=0.0)
    assert pace.describe(_progress(0, preparing="topics 1/78"), 50.0) == "preparing: topics 1/78 · $0.00"
    pace.describe(_progress(0), 50.0)
    assert pace.describe(_progress(20), 60.0).startswith("20/2,307 · 2.0/s")
