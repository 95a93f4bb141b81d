"""What all comparisons have in common: rows take turns, turns are merged, ratios come from one run, and it is all told in one way.

A benchmark makes ``Trial``s and hands them to ``holding.hold``. A trial has a row for each contestant, as a function that plays one
turn and gives its figures. Rows take turns, so that a busy minute of the machine is shared out, and a ratio is the median of the
ratios within each turn.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import tempfile
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.peers.contestants import OURS, Contestant, choose, installed, make

Figures = dict[str, Any]
# Plays turn number ... of a row.
Play = Callable[[int], Figures]
Column = tuple[str, Callable[[Figures], str]]


def middle(turns: Sequence[Figures]) -> Figures:
    """The median of each figure that is a float, with the least and the most as ``<figure>_range``; the rest is of the first turn."""
    merged = dict(turns[0])
    for key, value in turns[0].items():
        if isinstance(value, float):
            values = [turn[key] for turn in turns]
            merged[key] = statistics.median(values)
            if len(values) > 1:
                merged[f"{key}_range"] = [min(values), max(values)]
    return merged


@dataclass(frozen=True, kw_only=True)
class Trial:
    """``plays`` has a row for each contestant. Without ``columns`` all figures are shown, a line each.

    ``ratios`` are the figures by which row ``subject`` is divided by each other one. An error of a class in ``forgiven`` fails its
    row only.
    """

    name: str
    title: str
    plays: Mapping[str, Play]
    columns: Sequence[Column] = ()
    repeats: int = 1
    merge: Callable[[Sequence[Figures]], Figures] = middle
    ratios: Sequence[str] = ()
    subject: str = OURS
    forgiven: tuple[type[Exception], ...] = ()


def machine() -> dict[str, Any]:
    """What is measured on, and what else it does."""
    with Path("/proc/cpuinfo").open(encoding="utf-8") as lines:
        models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return {
        "cpu": models[0] if models else platform.processor(),
        "cores": len(models),
        "system": platform.release(),
        "python": platform.python_version(),
        "load": round(os.getloadavg()[0], 1),
    }


@dataclass(kw_only=True)
class Report:
    """What one command found, as it is written to ``--out``."""

    benchmark: str
    versions: Mapping[str, str]
    settings: Mapping[str, Any]
    date: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))
    machine: Mapping[str, Any] = field(default_factory=machine)
    results: dict[str, dict[str, Figures]] = field(default_factory=dict)
    # trial → row → figure → [median, least, most] of the subject divided by the row
    ratios: dict[str, dict[str, dict[str, list[float]]]] = field(default_factory=dict)


def arguments(doc: str | None, **defaults: Any) -> argparse.ArgumentParser:
    """A parser with what all comparisons take; *defaults* replace those of it."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", metavar="NAMES", help="contestants, separated by commas")
    parser.add_argument("--repeats", type=int, default=3, help="how often each is measured, by turns (%(default)s)")
    parser.add_argument("--peers", type=Path, default=Path("outputs/peers"), help="where the peers' environments are (%(default)s)")
    parser.add_argument("--make-peers", action="store_true", help="make the peers' environments there, and nothing else")
    parser.add_argument("--out", type=Path, help="also write everything as JSON")
    parser.set_defaults(**defaults)
    return parser


def prepared(benchmark: str, contestants: Sequence[Contestant], given: argparse.Namespace) -> tuple[list[Contestant], dict[str, str]]:
    """The contestants that are wanted, and their versions; ends here after ``--make-peers``, and if one is not installed."""
    given.peers = given.peers.absolute()
    chosen = choose(contestants, given.only)
    if given.make_peers:
        make(chosen, given.peers)
        raise SystemExit(0)
    return chosen, installed(chosen, given.peers, benchmark)


def some_of(trials: Sequence[str], names: str | None, default: Sequence[str]) -> list[str]:
    """The names of trials in *names* (separated by commas; None: *default*); raises ``SystemExit`` for one that is not in *trials*."""
    chosen = names.split(",") if names else list(default)
    if unknown := [name for name in chosen if name not in trials]:
        raise SystemExit(f"error: unknown trial {', '.join(unknown)}; there are {', '.join(trials)}")
    return chosen


def by_turns(trial: Trial, titles: Mapping[str, str]) -> dict[str, list[Figures]]:
    """The figures of each row, turn by turn; of a row that failed once only the failure, since it has no median."""
    turns: dict[str, list[Figures]] = {row: [] for row in trial.plays}
    for number in range(trial.repeats):
        # Every other turn goes backwards: what grows or shrinks all the while is shared out, too.
        for row in list(trial.plays)[:: -1 if number % 2 else 1]:
            if trial.repeats * len(trial.plays) > 1:
                print(f"{trial.name}, {number + 1} of {trial.repeats}: {titles.get(row, row)}", flush=True)
            try:
                turns[row].append(trial.plays[row](number))
            except trial.forgiven:
                turns[row].append({"failed": traceback.format_exc()})
    return {row: [turn for turn in found if "failed" in turn][:1] or found for row, found in turns.items()}


def ratios(trial: Trial, turns: Mapping[str, Sequence[Figures]]) -> dict[str, dict[str, list[float]]]:
    """By row and figure: median, least and most of the subject's figure divided by the row's, each of one turn."""
    divided: dict[str, dict[str, list[float]]] = {}
    for row, found in turns.items():
        if row == trial.subject or trial.subject not in turns:
            continue
        for key in trial.ratios:
            pairs = [(mine.get(key), theirs.get(key)) for mine, theirs in zip(turns[trial.subject], found, strict=False)]
            values = [mine / theirs for mine, theirs in pairs if mine and theirs]
            if values:
                divided.setdefault(row, {})[key] = [round(one, 4) for one in (statistics.median(values), min(values), max(values))]
    return divided


def cell(key: str, form: str = ".2f", *, ranged: bool = False) -> Callable[[Figures], str]:
    """A table's cell: figure *key* by the format *form*; *ranged*: with least and most, where it was measured more than once."""

    def shown(figures: Figures) -> str:
        low, high = figures.get(f"{key}_range", (0, 0)) if ranged else (0, 0)
        return spread(figures[key], low, high, form)

    return shown


def spread(middle_one: float, low: float, high: float, form: str = ".3f") -> str:
    """A median by the format *form*, with the least and the most where they differ."""
    text = format(middle_one, form)
    return text if low == high else f"{text} ({low:{form}}–{high:{form}})"


def driven(contestant: Contestant, peers: Path, spec: Mapping[str, Any]) -> Figures:
    """The figures of ``measure(spec)`` in a process of the contestant's environment, pinned to one core. Raises ``SystemExit``."""
    with tempfile.TemporaryDirectory() as name:
        told, result = Path(name) / "spec.json", Path(name) / "result.json"
        told.write_text(json.dumps(spec), encoding="utf-8")
        core = {min(os.sched_getaffinity(0))}
        done = subprocess.run(
            contestant.command(peers, told, result),
            env=contestant.variables(),
            check=False,
            capture_output=True,
            text=True,
            preexec_fn=lambda: os.sched_setaffinity(0, core),
        )
        if done.returncode:
            raise SystemExit(f"error: {contestant.title} ended with {done.returncode}:\n{done.stderr[-2000:]}")
        figures: Figures = json.loads(result.read_text(encoding="utf-8"))
        return figures
