"""Who takes part in a comparison: one file each in a folder of ``benchmarks/peers``, and where it is installed.

A contestant's file begins with constants: ``TITLE``, ``PACKAGE`` (the distribution whose version is noted), ``REQUIREMENTS`` (what pip
installs for it; empty: it runs in the environment of the benchmark) and whatever else its benchmark asks for. They are literals and
are read without importing the file, which may import what only its own environment has. ``python`` runs ``measure(spec)`` of such a
file through ``driven.py``; a benchmark may also import the file and use what it defines.

Peers are never dependencies of piiloom: each has a virtual environment of its own, ``<peers>/<package>``.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
OURS = "ours"


@dataclass(frozen=True, slots=True, kw_only=True)
class Contestant:
    """What the constants of a file say. ``more`` are those that only its benchmark knows."""

    name: str
    title: str
    package: str
    requirements: tuple[str, ...]
    file: Path
    more: Mapping[str, Any]

    def environment(self, peers: Path) -> Path | None:
        """The folder of its virtual environment; None for the one that the benchmark runs in."""
        return peers / self.package if self.requirements else None

    def python(self, peers: Path) -> Path:
        """The interpreter that it runs under."""
        environment = self.environment(peers)
        return environment / "bin" / "python" if environment else Path(sys.executable)

    def command(self, peers: Path, *files: Path) -> list[str | Path]:
        """What runs ``measure`` of its file with *files*: see ``driven.py``."""
        return [self.python(peers), "-P", HERE / "driven.py", self.file, *files]

    def variables(self) -> dict[str, str]:
        """The environment variables of this process; only a contestant without an environment of its own finds this checkout."""
        clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        return clean if self.requirements else clean | {"PYTHONPATH": str(ROOT)}

    def version(self, peers: Path) -> str | None:
        """The version of its package there; None when it is not installed."""
        ask = f"import importlib.metadata as m; print(m.version({self.package!r}))"
        try:
            done = subprocess.run([self.python(peers), "-P", "-c", ask], capture_output=True, text=True, check=False)
        except OSError:
            return None
        return done.stdout.strip() or None


def contestants_of(kind: str) -> list[Contestant]:
    """All contestants of ``benchmarks/peers/<kind>``: piiloom, which is called "ours", then the others by name."""
    found = [_read(file) for file in sorted((HERE / kind).glob("*.py"))]
    return sorted(found, key=lambda one: one.name != OURS)


def _read(file: Path) -> Contestant:
    constants: dict[str, Any] = {}
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id in _LITERALS:
            constants[node.targets[0].id] = ast.literal_eval(node.value)
    if missing := {"TITLE", "PACKAGE", "REQUIREMENTS"} - constants.keys():
        raise SystemExit(f"error: {file} lacks {', '.join(sorted(missing))}; {HERE / 'contestants.py'} says what they are")
    return Contestant(
        name=OURS if file.stem == "piiloom" else file.stem.replace("_", "-"),
        title=constants.pop("TITLE"),
        package=constants.pop("PACKAGE"),
        requirements=tuple(constants.pop("REQUIREMENTS")),
        file=file,
        more=constants,
    )


# KEEPING: options with which an LLM peer keeps its work on disk best (benchmarks/llm/scenarios.py).
_LITERALS = frozenset({"TITLE", "PACKAGE", "REQUIREMENTS", "KEEPING"})


def choose(contestants: Sequence[Contestant], names: str | None) -> list[Contestant]:
    """Those called *names* (separated by commas; None: all); raises ``SystemExit`` for an unknown one."""
    if names is None:
        return list(contestants)
    by_name = {contestant.name: contestant for contestant in contestants}
    unknown = [name for name in names.split(",") if name not in by_name]
    if unknown:
        raise SystemExit(f"error: unknown contestant {', '.join(unknown)}; there are {', '.join(by_name)}")
    return [by_name[name] for name in names.split(",")]


def installed(contestants: Sequence[Contestant], peers: Path, benchmark: str) -> dict[str, str]:
    """Give the version of each contestant; raises ``SystemExit`` with the remedy if one is not installed."""
    found = {contestant.name: contestant.version(peers) for contestant in contestants}
    missing = [contestant for contestant in contestants if found[contestant.name] is None]
    if missing:
        absent = "\nerror: ".join(f"{one.title} is not installed: {one.python(peers)} has no {one.package}" for one in missing)
        there = ",".join(name for name, version in found.items() if version)
        names = ",".join(one.name for one in missing)
        raise SystemExit(
            f"error: {absent}\n  install in an environment of its own: python -m benchmarks.{benchmark} --make-peers --peers {peers} "
            f"--only {names}" + (f"\n  or measure what is there: --only {there}" if there else "")
        )
    return {one.name: f"{one.package} {found[one.name]}" for one in contestants}


def make(contestants: Sequence[Contestant], peers: Path) -> None:
    """Make an environment for each contestant that needs one and is not installed."""
    for contestant in contestants:
        folder = contestant.environment(peers)
        if folder is None or contestant.version(peers):
            print(f"{contestant.name}: is there ({contestant.version(peers)})")
            continue
        print(f"{contestant.name}: {' '.join(contestant.requirements)}", flush=True)
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
        pip = [str(contestant.python(peers)), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, *contestant.requirements], check=True)
