"""Hold a comparison: play its trials, print their tables, and write everything as JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.peers.harness import Figures, Report, Trial, by_turns, cell, ratios, spread


def hold(report: Report, trials: Sequence[Trial], *, titles: Mapping[str, str], out: Path | None = None) -> None:
    """Play all *trials*, print each when it is over, and write *report* to *out*. *titles* are the names of rows in print."""
    console = Console(width=None if sys.stdout.isatty() else 140)
    console.print(f"{report.benchmark}, {report.date}, {dict(report.machine)}", markup=False)
    console.print(f"{dict(report.versions)} {dict(report.settings)}", markup=False)
    for trial in trials:
        turns = by_turns(trial, titles)
        report.results[trial.name] = {row: trial.merge(found) for row, found in turns.items()}
        report.ratios[trial.name] = ratios(trial, turns)
        _show(console, trial, report, titles)
    if out is not None:
        out.write_text(json.dumps(vars(report), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _show(console: Console, trial: Trial, report: Report, titles: Mapping[str, str]) -> None:
    """Print the table of *trial*, its ratios, and what failed."""
    results = report.results[trial.name]
    fine = {row: figures for row, figures in results.items() if "failed" not in figures}
    console.print(f"\n{trial.title}", markup=False)
    table = Table()
    table.add_column("")
    if trial.columns:
        for heading, _ in trial.columns:
            table.add_column(heading, justify="right")
        for row, figures in fine.items():
            table.add_row(titles.get(row, row), *(cell(figures) for _, cell in trial.columns))
    else:
        for row in fine:
            table.add_column(titles.get(row, row), justify="right")
        keys = {key: None for figures in fine.values() for key, value in figures.items() if isinstance(value, bool | int | float | str)}
        for key in keys:
            table.add_row(key, *(_shown(figures, key) for figures in fine.values()))
    console.print(table, markup=False)
    for row, found in report.ratios[trial.name].items():
        told = ", ".join(f"{key} {spread(*values)}" for key, values in found.items())
        console.print(f"{titles.get(trial.subject, trial.subject)} ÷ {titles.get(row, row)}: {told}", markup=False)
    for row, figures in results.items():
        if "failed" in figures:
            console.print(f"{titles.get(row, row)} could not be driven, which says nothing about it:\n{figures['failed']}", markup=False)


def _shown(figures: Figures, key: str) -> str:
    value = figures.get(key, "")
    return cell(key, ranged=True)(figures) if isinstance(value, float) else str(value)
