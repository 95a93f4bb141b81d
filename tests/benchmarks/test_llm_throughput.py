"""The benchmark runs end to end: the floor and piiloom, small, through the command line."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.longer import explored

ROOT = Path(__file__).parents[2]


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "benchmarks.llm_throughput", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)


@explored
@pytest.mark.long
def test_throughput_kill_and_refusals_of_piiloom(tmp_path: Path):
    out = tmp_path / "out.json"
    arguments = ("--only", "floor,ours", "--calls", "100", "--concurrency", "16", "--repeats", "1")
    done = run(*arguments, "--peers", str(tmp_path), "--trials", "throughput,kill,refused", "--out", str(out))
    assert done.returncode == 0, done.stderr
    report = json.loads(out.read_text())
    assert set(report["versions"]) == {"floor", "ours"}
    assert report["ratios"]["throughput"]["floor"].keys() == {"wall_s", "cpu_ms_per_call", "peak_mb"}
    results = report["results"]
    assert {name: found["rows"] for name, found in results["throughput"].items()} == {"floor": 100, "ours": 100}
    assert results["throughput"]["ours"]["requests"] == 100
    assert results["throughput"]["ours"]["cpu_ms_per_call"] > 0
    assert results["kill"]["ours"]["rows"] == 100
    # What was in flight, and what had come but was not on disk yet.
    assert results["kill"]["ours"]["paid_again"] <= 24
    assert results["refused"]["ours"]["rows"] == 97
    assert results["refused"]["ours"]["sends_of_refused"] == [1, 1, 1]


def test_unknown_names_are_told():
    done = run("--only", "nobody")
    assert done.returncode == 1
    assert "unknown contestant nobody; there are ours, curator" in done.stderr
    assert "unknown trial sleep" in run("--only", "floor", "--trials", "sleep").stderr


def test_a_peer_that_is_not_installed_is_told_before_anything_is_measured(tmp_path: Path):
    done = run("--only", "floor,ours,sdg-hub", "--peers", str(tmp_path))
    assert done.returncode == 1
    assert f"error: sdg-hub is not installed: {tmp_path}/sdg-hub/bin/python has no sdg-hub" in done.stderr
    assert f"--make-peers --peers {tmp_path} --only sdg-hub" in done.stderr
    assert "measure what is there: --only floor,ours" in done.stderr


def test_help_has_examples():
    done = run("--help")
    assert done.returncode == 0
    assert "--make-peers" in done.stdout
    assert "python -m benchmarks.llm_throughput --only floor,ours" in done.stdout
