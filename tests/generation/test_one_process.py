"""A run in one process loads nothing of what runs in several need."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

RUN = """
import sys
from piiloom.cli.entry import main
sys.argv = ["piiloom", "generate", "--samples", "1", "--store", sys.argv[1], "--quiet"]
try:
    main()
except SystemExit as ended:
    assert not ended.code, ended.code
parts = ("piiloom.generation.distributed", "piiloom.execution.shared_limits", "piiloom.execution.shared_limits", "ray")
print("loaded:", [name for name in sys.modules if any(name == part or name.startswith(part + ".") for part in parts)])
print("generated:", "piiloom.generation.stages.pipeline" in sys.modules)
"""


@pytest.mark.long
def test_a_run_in_one_process_loads_nothing_of_the_others(tmp_path):
    command = [sys.executable, "-c", RUN, str(tmp_path / "s.duckdb")]
    found = subprocess.run(command, cwd=Path(__file__).parents[2], env=dict(os.environ), capture_output=True, text=True, check=True)
    assert "loaded: []" in found.stdout
    assert "generated: True" in found.stdout
