"""What is imported is declared in pyproject.toml, what is declared is imported, and constraints.txt pins it."""

from __future__ import annotations

import ast
import sys
import tomllib
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
# Extras for work on piiloom itself.
WORKSHOP = ("dev", "docs")
# The user's design card. names-dataset is an extra: docs/decisions/0017.
CARD = {"openai", "anthropic", "tenacity", "pandas", "faker", "nameparser", "streamlit", "duckdb"}

# Distributions whose module has another name; the longest prefix counts.
DISTRIBUTIONS = {
    "argon2": "argon2-cffi",
    "markdown_it": "markdown-it-py",
    "opentelemetry": "opentelemetry-api",
    "opentelemetry.sdk": "opentelemetry-sdk",
    "pycrfsuite": "python-crfsuite",
    "re2": "google-re2",
    "sklearn": "scikit-learn",
    "stdnum": "python-stdnum",
    "yaml": "pyyaml",
}
# Declared, though no module of ours imports them.
INDIRECT = {
    "accelerate": "transformers loads models onto devices with it",
    "bitsandbytes": "transformers quantizes weights and steps AdamW with it",
    "furo": "the theme of the site, named in docs/conf.py",
    "hatchling": "builds the wheel, as a command",
    "import-linter": "a command",
    "mypy": "a command",
    "myst-parser": "an extension of Sphinx, named in docs/conf.py",
    "onnx": "torch.onnx writes files with it",
    "onnxscript": "torch.onnx makes graphs with it",
    "pre-commit": "a command",
    "pytest-cov": "a plug-in of pytest",
    "pytest-xdist": "a plug-in of pytest",
    "ruff": "a command",
    "sphinx": "a command",
    "types-pyyaml": "types for mypy",
    "types-regex": "types for mypy",
}
# Imported by the product, and declared for nobody.
OPTIONAL = {"google-re2": "an engine of patterns for platforms without Hyperscan; docs/install.md"}
# Folders and files that run in environments of their own.
ELSEWHERE = (
    "benchmarks/catalogue/peers/",
    "benchmarks/commands/presidio_fill.py",
    "benchmarks/detection/small_model_server.py",
    "benchmarks/peers/",
    "tests/peers/",
)
CODE = ("piiloom", "generation", "annotation_app")


@cache
def imported(path: Path) -> set[str]:
    """The modules that *path* imports, those that are named in a string among them."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            found.add(node.module or "")
        elif isinstance(node, ast.Call) and node.args and name_of(node.func) in {"import_module", "find_spec", "library", "importorskip"}:
            found.add(beginning(node.args[0]))
    return found - {""}


def name_of(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def beginning(argument: ast.expr) -> str:
    """The constant part at the beginning of a string, up to its last dot if more is filled in."""
    if isinstance(argument, ast.JoinedStr) and argument.values:
        return beginning(argument.values[0]).rpartition(".")[0]
    return argument.value if isinstance(argument, ast.Constant) and isinstance(argument.value, str) else ""


def distribution(module: str) -> str:
    """The canonical name of the distribution that brings *module*."""
    prefixes = [module.rsplit(".", cut)[0] for cut in range(module.count(".") + 1)]
    known = next((DISTRIBUTIONS[prefix] for prefix in prefixes if prefix in DISTRIBUTIONS), module.partition(".")[0])
    return canonicalize_name(known)


def imports_of(folders: tuple[str, ...]) -> dict[str, list[str]]:
    """The files below *folders* by the third-party distributions that they import."""
    found = defaultdict(list)
    for folder in folders:
        files = sorted((ROOT / folder).rglob("*.py"))
        siblings = {path.stem for path in files} | {path.name for path in (ROOT / folder).rglob("*") if path.is_dir()}
        for path in files:
            place = path.relative_to(ROOT).as_posix()
            if place.startswith(ELSEWHERE):
                continue
            for module in imported(path):
                top = module.partition(".")[0]
                # Tests import helpers beside them by their bare names, and the rooms as such.
                own = top in {"piiloom", "tests", "benchmarks", "docs", "_typeshed"} or (folder == "tests" and top in siblings)
                if not own and top not in sys.stdlib_module_names:
                    found[distribution(module)].append(place)
    return found


def declared(*extras: str) -> dict[str, Requirement]:
    """The requirements of *extras* by canonical name; those of the core for the name ``core``."""
    lines = [line for name in extras for line in (PROJECT["dependencies"] if name == "core" else PROJECT["optional-dependencies"][name])]
    return {canonicalize_name(each.name): each for each in map(Requirement, lines)}


EXTRAS = tuple(PROJECT["optional-dependencies"])
COMMANDS = tuple(extra for extra in EXTRAS if extra not in WORKSHOP)


@pytest.mark.long
@pytest.mark.parametrize(
    ("folders", "extras"),
    [(CODE, ("core", *COMMANDS)), (("docs",), ("core", *EXTRAS)), (("benchmarks", "tests"), ("core", *EXTRAS))],
    ids=["product", "docs", "tests and benchmarks"],
)
def test_what_is_imported_is_declared(folders, extras):
    known = declared(*extras).keys() | OPTIONAL.keys()
    assert {name: files for name, files in imports_of(folders).items() if name not in known} == {}


@pytest.mark.long
def test_what_is_declared_is_imported():
    product, all_of_it = imports_of(CODE), imports_of((*CODE, "docs", "benchmarks", "tests"))
    unused = {name for name in declared("core", *COMMANDS) if name not in product}
    unused |= {name for name in declared(*WORKSHOP) if name not in all_of_it}
    assert unused - INDIRECT.keys() == set()
    assert INDIRECT.keys() - declared("core", *EXTRAS).keys() == set()


def test_the_core_is_that_of_the_design_card_and_of_the_main_path():
    core = declared("core")
    assert core.keys() >= CARD
    assert "names-dataset" in declared("names").keys() - core.keys()
    assert PROJECT["optional-dependencies"]["annotate"] == []


def test_each_declared_distribution_is_pinned_to_a_version_that_fits():
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = {canonicalize_name(name): version for name, _, version in (line.partition("==") for line in lines if not line.startswith("#"))}
    wanted = declared("core", *EXTRAS)
    assert {name: str(each) for name, each in wanted.items() if name not in pins or not each.specifier.contains(pins[name])} == {}
    assert "://" not in "".join(lines)
