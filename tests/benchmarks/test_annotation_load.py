"""The benchmark of the annotation app runs, small, through its command line."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from piiloom.annotation_app.screens.dashboard import DASHBOARD_PARTS
from tests.longer import EXPLORE, explored

ROOT = Path(__file__).parents[2]


def lines(*arguments: str) -> list[dict[str, Any]]:
    command = [sys.executable, "-m", "benchmarks.annotation_load", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT, timeout=300)
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.long
def test_two_people_and_a_small_store() -> None:
    figures, bursts, accounted = lines("--people", "2", "--edits", "8", "--burst", "4", "--period", "1")
    assert figures["acknowledged"] == accounted["applied"] == 16
    assert set(bursts["bursts_ms"]) == {"p50", "p95", "p99", "max"}
    assert [accounted[name] for name in ("lost", "duplicated", "stale", "refused", "troubles")] == [0, 0, 0, 0, []]


@explored
@pytest.mark.long
def test_figures_over_a_store() -> None:
    printed = lines("--records", "30" if EXPLORE else "12")
    asked = {line["asked"]: line["median_ms"] for line in printed if "asked" in line}
    assert {"list, admin", "next_for", "readings, first", "agreement", "errors left"} <= asked.keys()
    assert all(taken > 0 for taken in asked.values())
    views = [(line["view"], line["cold"]) for line in printed if "view" in line]
    assert views == [(part, cold) for cold in (True, False) for part in DASHBOARD_PARTS]
