"""The house: names that shadow nothing, files of a readable size, no machine's path in the tree."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = sorted([*(ROOT / "piiloom").rglob("*.py"), *(ROOT / "generation").glob("*.py"), *(ROOT / "annotation_app").glob("*.py")])
PACKAGES = {path.parent.name for path in (ROOT / "piiloom").glob("*/__init__.py")} | {"piiloom"}
BENCHMARKS = sorted((ROOT / "benchmarks").glob("*.py"))


def test_no_module_shadows_the_standard_library_a_dependency_or_a_package():
    # Running a file as a script puts its folder first on the path: its neighbours would then be imported instead.
    others = set(packages_distributions()) | set(sys.stdlib_module_names) | PACKAGES
    # Benchmarks are run as modules (python -m benchmarks.surrogates): their folder is not on the path.
    known = {ROOT / "benchmarks" / "surrogates.py"}
    shadows = [str(path) for path in SOURCES + BENCHMARKS if path.stem in others - {"__init__", "__main__"} and path not in known]
    assert shadows == []


@pytest.mark.long
def test_files_and_functions_stay_readable():
    too_long = []
    for path in SOURCES:
        text = path.read_text(encoding="utf-8")
        too_long += [f"{path}: {text.count(chr(10))} lines"] * (text.count("\n") > 530)
        for node in ast.walk(ast.parse(text)):
            if (
                isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and (node.end_lineno or 0) - node.lineno >= 64
            ):  # a constructor call of 40 fields
                too_long.append(f"{path}: {node.name}")
    assert too_long == []


def test_every_module_says_what_it_is():
    silent = [str(path) for path in SOURCES if not re.match(r'r?"""\S', path.read_text(encoding="utf-8"))]
    assert silent == []


def test_no_unfinished_business_in_the_code():
    # Split, so that this file does not find itself.
    marks = ("# TO" + "DO", "# FIX" + "ME", "# X" + "XX", "raise NotImplemented" + "Error")
    found = [str(path) for path in SOURCES for mark in marks if mark in path.read_text(encoding="utf-8")]
    assert found == []


def test_no_tracked_file_holds_an_index_url():
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("not a git checkout")
    constraints = (ROOT / "constraints.txt").read_text()
    assert "://" not in constraints
    assert "constraints.txt" in listed.stdout
