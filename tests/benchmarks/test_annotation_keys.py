"""The benchmark of key presses runs, small, through its command line."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("playwright", reason="playwright is not installed")


@pytest.mark.long
def test_a_round() -> None:
    command = [sys.executable, "-m", "benchmarks.annotation_keys", "--rounds", "1"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=Path(__file__).parents[2], timeout=300)
    figures = json.loads(done.stdout)
    assert figures["presses"] == 9
    assert figures["ratio"] == pytest.approx(figures["long_ms"] / figures["short_ms"], rel=0.1)
